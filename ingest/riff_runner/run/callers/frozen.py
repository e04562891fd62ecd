"""Play the caller of a call that was recorded: its own lines, as long as the agent takes the same way."""

from __future__ import annotations

from collections.abc import Iterable

from riff_runner.protocol import CallerFailed, CallerNotes, CallerTurn, CallView, InProcess, StopReason
from riff_runner.run.cases.case import CallCase
from riff_store.errors import UsageError


def refuse_unrecorded(cases: Iterable[CallCase]) -> None:
    """Raise `UsageError` if a scenario was made of no call, and so has no lines to be said."""
    if unrecorded := next((case.scenario.name for case in cases if not case.scenario.script), None):
        raise UsageError(
            f"the scenario {unrecorded!r} has no recorded lines that a frozen caller could say",
            "name cases with --scenarios FILE.toml (riff-tui case writes one), or leave out --caller frozen",
        )


class FrozenCaller(InProcess):
    """Play the lines of scenarios that were made of calls."""

    name = "frozen"

    async def begin(self, case: CallCase, notes: CallerNotes) -> FrozenSession:
        """Begin a call."""
        return FrozenSession(case)


class FrozenSession:
    """Describe the recorded lines one after the other and hang up with the last of them.

    A line makes sense only where it was said: in another state than the recorded one the call has diverged.
    """

    def __init__(self, case: CallCase) -> None:
        self._scenario = case.scenario
        self._said = 0

    async def say(self, heard: str, view: CallView) -> CallerTurn:
        """Return the next line; raises `CallerFailed` if there is none, or none for this state."""
        script = self._scenario.script
        if not script:
            raise CallerFailed(f"the scenario {self._scenario.name} has no recorded lines; play it with another caller")
        line = script[self._said]
        self._said += 1
        if line.state is not None and view.state is not None and view.state != line.state:
            raise CallerFailed(
                f"diverged at turn {self._said}: the agent is in {view.state} where {line.state} was recorded",
                reason="diverged",
            )
        is_last = self._said == len(script)
        return CallerTurn(line.text, is_last, reason="the recording ends" if is_last else None, recorded=True)

    async def end(self, reason: StopReason) -> None:
        """Do nothing: nothing is kept."""
