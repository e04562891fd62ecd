"""Make a run at the command line: show how far it is, feed a store, and end with what came of it."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from riff_tui.commands.live_ingest import LiveIngest
from riff_tui.commands.options import next_command, next_ingest, store_to_write
from riff_tui.commands.run_report import (
    done_event,
    launch_event,
    plan_text,
    planned_lines,
    progress_text,
    report,
    run_cost,
)
from riff_tui.text.words import counted

if TYPE_CHECKING:
    from riff_runner.run.prices import Cost
    from riff_runner.run.run_plan import RunPlan, RunRequest
    from riff_runner.run.run_tally import RunTally
    from riff_runner.run.runs import RunEnd, RunHooks
    from riff_tui.output.progress import ProgressLine


@dataclass(frozen=True, slots=True)
class After:
    """Hold what is to be done with the calls of a run: the store to bring them into, who judges, the store to name."""

    ingest: str | None
    judge: str | None
    as_json: bool
    next_store: str | None


def show_plan(request: RunRequest, as_json: bool) -> None:
    """Print the calls that would be made; nothing is written and nobody is asked."""
    from riff_runner.run.run_plan import plan_run
    from riff_tui.output.streams import say, standard_output
    from riff_tui.text.safe_text import one_line

    plan = plan_run(request)
    for warning in plan.warnings:
        say(f"{warning}.")
    if as_json:
        _print_json({**launch_event(plan, str(request.out)), "dry_run": True})
    else:
        stream = standard_output().stream
        stream.writelines(f"{one_line(line)}\n" for line in planned_lines(plan))
    say(plan_text(plan))


def make(request: RunRequest, after: After) -> None:
    """Make a run, and end the command as the run ended."""
    # Others write it meanwhile; where nobody did, one that was made for the run goes again with it.
    with nullcontext() if after.ingest is None else store_to_write(after.ingest, create=True):
        _make(request, after)


def _make(request: RunRequest, after: After) -> None:
    from riff_runner.run.runs import make_run
    from riff_tui.errors import StoreError, writing
    from riff_tui.output.progress import terminal_progress
    from riff_tui.output.streams import say

    assert request.out is not None
    with terminal_progress() as line:
        session = _Session(request, after, line)
        with _refused_at_first(), writing(str(request.out)), redirect_stdout(sys.stderr):  # what an agent's code prints
            end = make_run(request, session.hooks())
    cost = session.cost(end.tally)
    for text in report(end, cost):
        say(text)
    unfed = session.feed_rest()
    if after.as_json:
        _print_json(done_event(end, cost))
    _end(end, request.out)
    if after.judge is not None:
        _judge(request.out, end.plan.document.run_id, after.judge)
        unfed = session.feed_rest()
    if unfed is not None:
        again = next_ingest(request.out, after.ingest)
        raise StoreError(f"the calls are in {request.out}, but not all are in the store ({unfed})", again)
    say(f"Next: {_next(request.out, after)}")


class _Session:
    def __init__(self, request: RunRequest, after: After, line: ProgressLine | None) -> None:
        from riff_runner.run.prices import model_prices
        from riff_tui import settings

        self._request = request
        self._after = after
        self._line = line
        self._prices = model_prices(settings.prices())
        self._tally: RunTally | None = None
        self._told_error = False
        self._stdout = sys.stdout
        self._live = None
        if after.ingest is not None and request.out is not None:
            self._live = LiveIngest(request.out, after.ingest, lambda: self._tally.total.calls if self._tally else 0)

    def hooks(self) -> RunHooks:
        """Return what is to be told of the run."""
        from riff_runner.run.runs import RunHooks

        return RunHooks(self._began, self._show, self._stopped, self._live.follow if self._live else None)

    def cost(self, tally: RunTally) -> Cost | None:
        """Return what the run cost so far, `None` where that is not known."""
        return run_cost(tally, self._request.settings, self._prices)

    def feed_rest(self) -> str | None:
        """Bring what is left into the store, and return what went wrong."""
        return self._live.finish() if self._live is not None else None

    def _began(self, plan: RunPlan, tally: RunTally) -> None:
        from riff_tui.output.streams import say

        self._tally = tally
        for warning in plan.warnings:
            say(f"{warning}.")
        say(plan_text(plan))
        if self._after.as_json:
            with redirect_stdout(self._stdout):
                _print_json(launch_event(plan, str(self._request.out)))

    def _show(self) -> None:
        from riff_tui.output.streams import say

        tally = self._tally
        if self._line is not None and tally is not None:
            if tally.reasons and not self._told_error:
                self._told_error = True
                self._line.clear()
                say(f"First error: {next(iter(tally.reasons))}")
            rest = progress_text(tally, self.cost(tally))
            self._line.running(tally.done, tally.planned, tally.total.calls, rest)

    def _stopped(self) -> None:
        from riff_tui.output.streams import say

        if self._line is not None:
            self._line.clear()
        if self._tally is not None and self._tally.running:
            say(f"Stopping; {counted(self._tally.running, 'call')} still under way. Ctrl-C again drops them.")


@contextmanager
def _refused_at_first() -> Iterator[None]:
    """Turn a side that cannot be reached before anything was written into a usage error."""
    from riff_runner.run.protocol import EndpointRefused
    from riff_tui.errors import UsageError

    try:
        yield
    except EndpointRefused as error:
        raise UsageError(f"{error}; no call was made and nothing was written") from error


def _end(end: RunEnd, out: Path) -> None:
    """Raise what the command ends with where the run did not end well."""
    from riff_runner.run.protocol import EndpointRefused
    from riff_tui.errors import ExitCode, RunRefused, RunWithoutAnswer, writing
    from riff_tui.signals import end_by

    total = end.tally.total
    if isinstance(end.error, EndpointRefused):
        code = ExitCode.UNEXPECTED if total.calls else ExitCode.USAGE
        kept = f"{counted(total.calls, 'call')} kept, {end.tally.planned - end.tally.done} left"
        raise RunRefused(f"{end.error}; {kept}", "fix it and run the same command with --resume", code=code)
    if end.error is not None:
        with writing(str(out)):
            raise end.error
    if end.signal is not None:
        end_by(end.signal)
    if total.calls and total.errored == total.calls:
        [(reason, _), *_] = end.tally.reasons.most_common(1)
        went_away = total.diverged == total.calls
        raise RunWithoutAnswer(
            f"every call was errored (most of them: {reason})",
            "--caller scripted goes along with an agent" if went_away else "fix it and run it with --resume",
        )


def _judge(out: Path, run_id: str, name: str) -> None:
    """Have the calls judged; the scores go beside them where the directory has the name of the run."""
    from riff_tui.commands.judge import judge_calls

    judge_calls([out], name, out.parent if out.resolve().name == run_id else out)


def _next(out: Path, after: After) -> str:
    if after.ingest is None:
        return next_ingest(out, after.next_store)
    return next_command("ui", store=after.ingest)


def _print_json(event: dict[str, Any]) -> None:
    import json

    from riff_tui.errors import writing

    with writing("stdout"):
        sys.stdout.write(f"{json.dumps(event, ensure_ascii=True)}\n")
        sys.stdout.flush()
