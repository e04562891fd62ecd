"""Say what a run is about to do, how far it is, and what came of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from riff_tui.text.words import LISTED, counted

if TYPE_CHECKING:
    from riff_runner.judge.settings import Prices
    from riff_runner.run.files.run_document import RunSettings
    from riff_runner.run.prices import Cost
    from riff_runner.run.run_plan import RunPlan
    from riff_runner.run.run_tally import CallTally, RunTally, TokenTally
    from riff_runner.run.runs import RunEnd


def planned_lines(plan: RunPlan) -> Iterator[str]:
    """Yield the calls that would be made, a line each: flow, scenario, persona and trial."""
    for case in plan.due:
        yield f"{case.flow.name}  {case.scenario.name}  {case.persona.name}  {case.trial}"


def plan_text(plan: RunPlan) -> str:
    """Return what is to be done in one line."""
    if not plan.due:
        return f"No call to make: all {plan.before} are there."
    flows = {case.flow.name for case in plan.due}
    text = f"{counted(len(plan.due), 'call')} to make of {counted(len(flows), 'flow')}"
    if plan.before:
        text += f"; {plan.before} of {plan.document.planned} are there"
    return f"{text}; {plan.again} of them were errored before." if plan.again else f"{text}."


def progress_text(tally: RunTally, cost: Cost | None) -> str:
    """Return how far a run is, beside what a progress line knows of time."""
    parts = [f"{tally.running} running", f"{tally.total.errored} errored"]
    if tally.retried:
        parts.append(f"{tally.retried} retried")
    if cost is not None and cost.amount:
        parts.append(_cost_text(cost))
    return " · ".join(parts)


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
        yield f"{counted(tally.total.errored, 'call')} errored, which no mean counts; {_what_to_do(tally.total)}:"
        yield from _reason_lines(tally)
    if tally.has_tokens:
        yield f"Spent: {_spent_text(tally, cost)}."


def _what_to_do(total: CallTally) -> str:
    if total.diverged == total.errored:
        return "the agent went another way than the recorded one"
    return "--resume makes them again"


def launch_event(plan: RunPlan, out: str) -> dict[str, Any]:
    """Return what `--json` says when a run begins."""
    document = plan.document
    return {
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
    """Return what `--json` says when a run has ended; `null` is what is not known."""
    tally = end.tally
    ended = end.plan.document.invocations[-1].ended if end.plan.due else None
    return {
        "event": "done",
        "run": end.plan.document.run_id,
        "calls": tally.total.calls,
        "errored": tally.total.errored,
        "caller_failed": tally.total.caller_failed,
        "completed": tally.total.completed,
        "stopped": dict(tally.total.stopped.most_common()),
        "reasons": [{"error": error, "calls": calls} for error, calls in tally.reasons.most_common(LISTED)],
        "retried": tally.retried,
        "left": tally.planned - tally.done,
        "tokens": {side: _tokens(each) for side, each in tally.tokens.items()},
        "cost": None if cost is None else round(cost.amount, 6),
        "currency": None if cost is None else cost.currency,
        "ended": ended or "done",
    }


def run_cost(tally: RunTally, settings: RunSettings, prices: Mapping[str, Prices]) -> Cost | None:
    """Return what a run cost so far; `None` where a side has no known price."""
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


def _outcome(each: CallTally) -> str:
    text = f"{counted(each.calls, 'call')}, {each.completed} completed"
    if each.stopped:
        text += f", {', '.join(f'{calls} {reason}' for reason, calls in each.stopped.most_common())}"
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


def _tokens(each: TokenTally) -> dict[str, int | None] | None:
    """Return what a side took; `None` where no model was asked, as far as this run knows."""
    return asdict(each) if each.input != 0 or each.output != 0 else None


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
