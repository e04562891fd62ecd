"""Make a run at the command line: show how far it is, feed a store, and end with what came of it."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sys
import time
from asyncio.subprocess import DEVNULL, PIPE
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext, redirect_stdout
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from riff_tui.commands.options import Diverged, next_command, next_ingest, store_to_write
from riff_tui.errors import ExitCode, GateFailed, RunRefused, RunWithoutAnswer, StoreError, UsageError, writing
from riff_tui.output.sinks.json import SCHEMA_VERSION
from riff_tui.output.streams import SAID_BEFORE_ERRORS, say, standard_output
from riff_tui.text.numbers import LISTED, counted

if TYPE_CHECKING:
    from riff_runner.judge.settings import Prices
    from riff_runner.run.files.run_document import RunSettings
    from riff_runner.run.prices import Cost
    from riff_runner.run.run_plan import RunPlan, RunRequest
    from riff_runner.run.run_tally import CallTally, RunTally
    from riff_runner.run.runs import RunEnd, RunHooks
    from riff_tui.output.progress import ProgressLine


@dataclass(frozen=True, slots=True)
class After:
    """Keep what is to be done with the calls of a run: the store to bring them into, who judges, the store to name.

    `diverged` shows what frozen calls are that went another way; without it they are errored as others are.
    """

    ingest: str | None
    judge: str | None
    as_json: bool
    next_store: str | None
    diverged: Diverged | None = None


def show_plan(request: RunRequest, as_json: bool) -> None:
    """Print the calls that would be made; nothing is written and nobody is asked."""
    from riff_runner.run.run_plan import plan_run
    from riff_tui.text.safe_text import one_line

    plan = plan_run(request)
    for warning in plan.warnings:
        say(f"{warning}.")
    if as_json:
        _print_json({**launch_event(plan, str(request.out)), "dry_run": True})
    else:
        stream = standard_output().stream
        for case in plan.due:
            line = f"{case.flow.name}  {case.scenario.name}  {case.persona.name}  {case.trial}"
            stream.write(f"{one_line(line)}\n")
    say(plan_text(plan))


def make(request: RunRequest, after: After) -> None:
    """Make a run, and end the command as the run ended."""
    # Others write it meanwhile; if nobody did, one that was made for the run goes again with it.
    with nullcontext() if after.ingest is None else store_to_write(after.ingest, create=True):
        _make(request, after)


def _make(request: RunRequest, after: After) -> None:
    from riff_runner.run.runs import make_run
    from riff_tui.commands.calls.judge import judge_calls
    from riff_tui.output.progress import terminal_progress

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
    _end(end, request.out, after.diverged)
    if after.judge is not None:
        # Scores go beside the calls where the directory has the name of the run.
        is_named_so = request.out.resolve().name == end.plan.document.run_id
        judge_calls([request.out], after.judge, request.out.parent if is_named_so else request.out)
        unfed = session.feed_rest()
    if unfed is not None:
        again = next_ingest(request.out, after.ingest)
        raise StoreError(f"the calls are in {request.out}, but not all are in the store ({unfed})", again)
    total = end.tally.total
    if after.diverged is Diverged.FAIL and total.diverged:
        raise GateFailed(f"{total.diverged} of {counted(total.calls, 'call')} went another way than the recorded one")
    is_fed = after.ingest is not None
    say(f"Next: {next_command('ui', store=after.ingest) if is_fed else next_ingest(request.out, after.next_store)}")


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
        """Return what is to be shown of the run."""
        from riff_runner.run.runs import RunHooks

        return RunHooks(self._began, self._show, self._stopped, self._live.follow if self._live else None)

    def cost(self, tally: RunTally) -> Cost | None:
        """Return what the run cost so far, `None` if that is not known."""
        return run_cost(tally, self._request.settings, self._prices)

    def feed_rest(self) -> str | None:
        """Bring what is left into the store, and return what went wrong."""
        return self._live.finish() if self._live is not None else None

    def _began(self, plan: RunPlan, tally: RunTally) -> None:
        self._tally = tally
        for warning in plan.warnings:
            say(f"{warning}.")
        say(plan_text(plan))
        if self._after.as_json:
            with redirect_stdout(self._stdout):
                _print_json(launch_event(plan, str(self._request.out)))

    def _show(self) -> None:
        tally = self._tally
        if self._line is not None and tally is not None:
            if tally.reasons and not self._told_error:
                self._told_error = True
                self._line.clear()
                say(f"First error: {next(iter(tally.reasons))}")
            parts = [f"{tally.running} running", f"{tally.total.errored} errored"]
            if tally.retried:
                parts.append(f"{tally.retried} retried")
            cost = self.cost(tally)
            if cost is not None and cost.amount:
                parts.append(_cost_text(cost))
            self._line.running(tally.done, tally.planned, tally.total.calls, " · ".join(parts))

    def _stopped(self) -> None:
        if self._line is not None:
            self._line.clear()
        if self._tally is not None and self._tally.running:
            say(f"Stopping; {counted(self._tally.running, 'call')} still under way. Ctrl-C again drops them.")


@contextmanager
def _refused_at_first() -> Iterator[None]:
    """Turn a side that cannot be reached before anything was written into a usage error."""
    from riff_runner.protocol import EndpointRefused

    try:
        yield
    except EndpointRefused as error:
        raise UsageError(f"{error}; no call was made and nothing was written") from error


def _end(end: RunEnd, out: Path, diverged: Diverged | None) -> None:
    """Raise what the command ends with where the run did not end well."""
    from riff_runner.protocol import EndpointRefused
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
    went_away = total.diverged == total.calls
    if total.calls and total.errored == total.calls and not (went_away and diverged):
        [(reason, _), *_] = end.tally.reasons.most_common(1)
        raise RunWithoutAnswer(
            f"every call was errored (most of them: {reason})",
            "--diverged ok accepts that, --caller scripted goes along with an agent"
            if went_away
            else "fix it and run it with --resume",
        )


def _print_json(event: dict[str, Any]) -> None:

    with writing("stdout"):
        sys.stdout.write(f"{json.dumps(event, ensure_ascii=True)}\n")
        sys.stdout.flush()


def plan_text(plan: RunPlan) -> str:
    """Return what is to be done in one line."""
    if not plan.due:
        return f"No call to make: all {plan.before} are there."
    flows = {case.flow.name for case in plan.due}
    text = f"{counted(len(plan.due), 'call')} to make of {counted(len(flows), 'flow')}"
    if plan.before:
        text += f"; {plan.before} of {plan.document.planned} are there"
    return f"{text}; {plan.again} of them were errored before." if plan.again else f"{text}."


def report(end: RunEnd, cost: Cost | None) -> Iterator[str]:
    """Yield what came of a run, a line each."""
    tally = end.tally
    for path, size in end.cut.items():
        yield f"{path}: {size} bytes of a line that was not finished were cut off; its call was made again."
    width = max((len(flow) for flow in tally.flows), default=0)
    for flow, each in sorted(tally.flows.items()):
        yield f"{flow:{width}}  {_outcome(each)}"
    if left := tally.planned - tally.done:
        yield f"{counted(left, 'call')} not made; --resume makes them."
    if tally.total.errored:
        is_astray = tally.total.diverged == tally.total.errored
        why = "the agent went another way than the recorded one" if is_astray else "--resume makes them again"
        yield f"{counted(tally.total.errored, 'call')} errored, which no mean counts; {why}:"
        yield from _reason_lines(tally)
    if tally.has_tokens:
        yield f"Spent: {_spent_text(tally, cost)}."


def launch_event(plan: RunPlan, out: str) -> dict[str, Any]:
    """Return what `--json` prints when a run begins."""
    document = plan.document
    return {
        "schema_version": SCHEMA_VERSION,
        "event": "launch",
        "run": document.run_id,
        "out": out,
        "agent": document.settings.agent.name,
        "caller": document.settings.caller.name,
        "flows": list(dict.fromkeys(case.flow.name for case in plan.due)),
        "planned": document.planned,
        "present": plan.before,
        "due": len(plan.due),
    }


def done_event(end: RunEnd, cost: Cost | None) -> dict[str, Any]:
    """Return what `--json` prints when a run has ended; `null` is what is not known."""
    tally, tokens = end.tally, end.tally.tokens.items()
    ended = end.plan.document.invocations[-1].ended if end.plan.due else None
    return {
        "schema_version": SCHEMA_VERSION,
        "event": "done",
        "run": end.plan.document.run_id,
        "calls": tally.total.calls,
        "errored": tally.total.errored,
        "caller_failed": tally.total.caller_failed,
        "diverged": tally.total.diverged,
        "completed": tally.total.completed,
        "stopped": dict(tally.total.stopped.most_common()),
        "reasons": [{"error": error, "calls": calls} for error, calls in tally.reasons.most_common(LISTED)],
        "retried": tally.retried,
        "left": tally.planned - tally.done,
        # Of a side that asked no model, as far as this run knows, there is nothing to say.
        "tokens": {side: asdict(each) if (each.input, each.output) != (0, 0) else None for side, each in tokens},
        "cost": None if cost is None else round(cost.amount, 6),
        "currency": None if cost is None else cost.currency,
        "ended": ended or "done",
    }


def run_cost(tally: RunTally, settings: RunSettings, prices: Mapping[str, Prices]) -> Cost | None:
    """Return what a run cost so far; `None` if a side has no known price."""
    from riff_runner.run.prices import SpentTokens, total_cost

    spent = []
    for side, each in ((settings.agent, tally.tokens["agent"]), (settings.caller, tally.tokens["caller"])):
        if side.kind in FREE:
            continue
        if side.model is None:
            return None
        spent.append(SpentTokens(side.model, each.input, each.output))
    return total_cost(spent, prices)


FREE = ("scripted", "frozen")
"""Callers that ask no model."""


_ENDS = {"terminal": "ended without success"}
"""What is said of a reason that tells people nothing."""


def _outcome(each: CallTally) -> str:
    text = f"{counted(each.calls, 'call')}, {each.completed} completed"
    ends = Counter({_ENDS.get(reason, reason): calls for reason, calls in each.stopped.items()})
    if each.handed_over:
        ends["handed over"] = each.handed_over
        ends[_ENDS["terminal"]] -= each.handed_over
    text += "".join(f", {calls} {end}" for end, calls in ends.most_common() if calls)
    if each.errored:
        text += f", {each.errored} errored"
    return f"{text} ({each.caller_failed} of them by the caller)" if each.caller_failed else text


def _reason_lines(tally: RunTally) -> Iterator[str]:
    """Yield why calls were errored, the most frequent reason first."""
    listed = tally.reasons.most_common(LISTED)
    width = len(str(max((calls for _, calls in listed), default=0)))
    for reason, calls in listed:
        yield f"  {calls:>{width}}  {reason}"
    if others := tally.total.errored - sum(calls for _, calls in listed):
        yield f"  {others:>{width}}  for other reasons; `error` in the transcripts has them"


def _spent_text(tally: RunTally, cost: Cost | None) -> str:
    parts = [
        f"{side} {_known(each.input)} tokens in, {_known(each.output)} out"
        for side, each in tally.tokens.items()
        if each.input != 0 or each.output != 0
    ]
    price = "the price is not known" if cost is None else _cost_text(cost)
    return "; ".join([*parts, price])


def _known(count: int | None) -> str:
    return "an unknown number of" if count is None else str(count)


def _cost_text(cost: Cost) -> str:
    return f"{cost.amount:.4f} {cost.currency}" if cost.amount < 1 else f"{cost.amount:.2f} {cost.currency}"


# Bring the calls of a run into a store while it is made, from a process of its own so that no latency suffers.
PAUSE = 10
"""The least pause between two ingests, as a multiple of what the last one took."""
SHORTEST_PAUSE_S = 1.0
_NICENESS = 10
_ENDING_S = 60.0


class LiveIngest:
    """Ingest a directory again and again; `count` shows how many calls are in it, so that nothing is done in vain."""

    def __init__(self, out: Path, location: str, count: Callable[[], int]) -> None:
        self._out = out
        self._location = location
        self._count = count
        self._ingested = 0

    async def follow(self) -> None:
        """Ingest what is new, with a pause after each time, until it is cancelled."""
        pause = SHORTEST_PAUSE_S
        while True:
            await asyncio.sleep(pause)
            due = self._count()
            if due == self._ingested:
                continue
            began = time.monotonic()
            if await self._ingest() is None:
                self._ingested = due
            pause = max(SHORTEST_PAUSE_S, PAUSE * (time.monotonic() - began))

    def finish(self) -> str | None:
        """Ingest what is left, and return what went wrong, `None` if nothing did."""
        return asyncio.run(self._ingest())

    async def _ingest(self) -> str | None:
        """Run `ingest` once, with less priority than the run."""
        argv = [sys.executable, "-m", "riff_tui", "ingest", str(self._out)]
        # Arguments are read by everybody on the machine, and the address of a store may contain a password.
        own = {**os.environ, "RIFF_TUI_STORE": self._location}
        process = await asyncio.create_subprocess_exec(
            *argv, stdin=DEVNULL, stdout=DEVNULL, stderr=PIPE, start_new_session=True, env=own
        )
        with contextlib.suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, process.pid, _NICENESS)
        try:
            _, said = await process.communicate()
        except asyncio.CancelledError:
            await _end_process(process)
            raise
        if not process.returncode:
            return None
        lines = said.decode(errors="replace").strip().splitlines()
        return lines[-1].removeprefix(SAID_BEFORE_ERRORS) if lines else f"ingest ended with {process.returncode}"


async def _end_process(process: asyncio.subprocess.Process) -> None:
    """Let an ingest that is under way end, since what it has read would be read again."""
    with contextlib.suppress(asyncio.TimeoutError, asyncio.CancelledError):
        await asyncio.wait_for(process.communicate(), _ENDING_S)
        return
    with contextlib.suppress(ProcessLookupError):
        process.kill()
    await process.wait()
