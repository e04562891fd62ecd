"""Hold a caller to its part: it speaks, it does not repeat itself, and it says what its case says."""

from __future__ import annotations

from dataclasses import replace

from riff_ingest.runner.case import CallCase
from riff_ingest.runner.protocol import CallerFailed, CallerSession, CallerTurn, CallView, StopReason

SAME_LINES = 3
"""Lines of a caller in a row that are the same before it counts as repeating itself."""


class CheckedCaller:
    """Ask a caller, once more where what it says makes no sense, and remember whether it kept to its part."""

    def __init__(self, session: CallerSession, case: CallCase) -> None:
        self._session = session
        self._case = case
        self._lines: list[str] = []

    async def say(self, heard: str, view: CallView) -> CallerTurn:
        """Return what the caller says; raises `CallerFailed` where it makes no sense a second time."""
        turn = await self._session.say(heard, view)
        if self._fault(turn):
            turn = await self._session.say(heard, replace(view, again=True))
            if fault := self._fault(turn):
                raise CallerFailed(fault)
        self._lines.append(turn.text)
        return turn

    async def end(self, reason: StopReason) -> None:
        """Take note that the call is over."""
        await self._session.end(reason)

    def broke(self) -> str | None:
        """Return in what the caller did not keep to its part, `None` where it did."""
        return None

    def _fault(self, turn: CallerTurn) -> str | None:
        if turn.ends:
            return None
        if not turn.text.strip():
            return "says nothing"
        last = self._lines[1 - SAME_LINES :]
        if len(last) == SAME_LINES - 1 and all(line == turn.text for line in last):
            return "repeats itself"
        return None
