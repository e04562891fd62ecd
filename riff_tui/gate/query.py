"""Ask the store for what a gate decides on: both runs by their whole names, compared, and what the candidate lost."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from riff_store.filters.predicates import And, Not, Or, Predicate, Term, all_of, both
from riff_store.metrics import metric_of
from riff_tui.errors import FilterError, UsageError
from riff_tui.filters import render
from riff_tui.filters.parser import parse
from riff_tui.gate.decision import Check, Decision, Quarantined
from riff_tui.gate.floors import KINDS, checks
from riff_tui.gate.quarantine import NIGHTS, Quarantine
from riff_tui.gate.rules import Rules, by_gravity, decide

if TYPE_CHECKING:
    from riff_store.database import Store
    from riff_store.queries.comparison import Comparison
    from riff_store.queries.conversations import Call
    from riff_store.queries.sides import ComparedCalls, Side
    from riff_store.schema.sums import CallSums


LATELY = ("latest", "previous")


def decision_on(store: Store, baseline: str, candidate: str, calls: Predicate | None, rules: Rules) -> Decision:
    """Decide on the candidate, over the calls that a filter leaves.

    Raises `UsageError` for a run that is not there and if there is nothing to compare.
    """
    return _decided(store, baseline, candidate, calls, rules)[0]


def decision_with_commands(
    store: Store, baseline: str, candidate: str, calls: Predicate | None, rules: Rules, store_name: str = ""
) -> Decision:
    """Decide as `decision_on` does, and add to each check that failed or recovered the command that opens its calls.

    Of one that failed it shows since which run as well. Commands name the store by `store_name`, if that is not empty.
    What is in quarantine decides nothing, and is listed beside it.
    """
    others = rules.quarantine.others(calls)
    with store.snapshot():
        decision, comparison = _decided(store, baseline, candidate, others, rules)
        decision = with_first_runs(store, decision, comparison, others, rules)
        decision = decision._replace(quarantined=tuple(_quarantined(store, comparison, calls, rules.quarantine)))
        return with_commands(store, decision, comparison, calls, rules.quarantine, store_name)


def _decided(
    store: Store, baseline: str, candidate: str, calls: Predicate | None, rules: Rules
) -> tuple[Decision, Comparison]:
    comparison = _compared(store, baseline, candidate, calls, rules)
    _refuse_beginning("--baseline", baseline, comparison.a)
    _refuse_beginning("--candidate", candidate, comparison.b)
    _refuse_empty(comparison, calls)
    return _with_coverage(store, _decide(comparison, rules), comparison, calls, rules), comparison


def _with_coverage(
    store: Store, decision: Decision, comparison: Comparison, calls: Predicate | None, rules: Rules
) -> Decision:
    """Return the decision with checks of what the candidate touched of its flows, if there are to be any."""
    if not rules.min_coverage:
        return decision
    from riff_store.queries.sides import calls_of_side
    from riff_store.queries.steps import coverage

    baseline, candidate = (coverage(store, calls_of_side(side, calls)) for side in (comparison.a, comparison.b))
    found = checks(rules.min_coverage, baseline, candidate, comparison.b.name)
    return decision._replace(checks=by_gravity([*decision.checks, *found]))


def _compared(store: Store, baseline: str, candidate: str, calls: Predicate | None, rules: Rules) -> Comparison:
    from riff_store.queries.comparison import compare

    also = tuple(tolerance.aspect for tolerance in rules.tolerances)
    return compare(store, baseline, candidate, calls, also=also, allowed=rules.allowed)


def _decide(comparison: Comparison, rules: Rules) -> Decision:
    return decide(
        comparison, rules.tolerances, min_n=rules.min_n, strict=rules.strict, max_errored=rules.max_errored
    )  # fmt: skip


def _refuse_beginning(option: str, name: str, side: Side) -> None:
    """Refuse a run that merely begins like the one that is missing: no build is decided by it."""
    if name not in (side.name, f"{side.kind}:{side.name}", *LATELY):
        raise UsageError(
            f"{option} {name}: there is no {side.kind} of that name; a gate takes whole names, {side.name}"
        )


def _refuse_empty(comparison: Comparison, calls: Predicate | None) -> None:
    """Refuse a filter that leaves nothing of a side."""
    empty = next((side for side in (comparison.a, comparison.b) if not side.n + side.excluded), None)
    if empty is not None and calls is not None:
        raise UsageError(
            f"nothing to compare in {comparison.a.name} and {comparison.b.name}:"
            f" the options leave no call that counts of the {empty.kind} {empty.name}"
        )


def _quarantined(
    store: Store, comparison: Comparison, calls: Predicate | None, quarantine: Quarantine
) -> Iterator[Quarantined]:
    """Yield what became of the calls of each entry of a quarantine."""
    from riff_store.filters.dimensions import Grouping
    from riff_store.queries.sides import calls_of_side
    from riff_store.queries.sums import call_sums

    if not quarantine.entries:
        return
    meant, group = both(calls, quarantine.calls), Grouping(("flow", "scenario"))
    sides = [call_sums(store, calls_of_side(side, meant), group) for side in (comparison.a, comparison.b)]
    nights = _nights(store, comparison.b, meant)
    for entry in quarantine.entries:
        found = [[sums for names, sums in side.items() if entry.covers(*names)] for side in sides]
        baseline, candidate = (
            (sum(sums.success for sums in side), sum(sums.success_n for sums in side)) for side in found
        )
        passed = 0
        for night in nights:
            of_night = [sums for names, sums in night.items() if entry.covers(*names)]
            measured = sum(sums.success_n for sums in of_night)
            if sum(sums.success for sums in of_night) < measured or passed == NIGHTS:
                break
            passed += bool(measured)
        yield Quarantined(
            flow=entry.flow, scenario=entry.scenario, owner=entry.owner, reason=entry.reason,
            until=entry.until.isoformat(), ended=quarantine.day > entry.until, baseline=baseline, candidate=candidate,
            calls=sum(sums.n + sums.excluded for side in found for sums in side),
            nights=passed, recovered=passed == NIGHTS,
        )  # fmt: skip


def _nights(store: Store, side: Side, calls: Predicate | None) -> list[Mapping[tuple[str | None, ...], CallSums]]:
    """Return how calls went in each night up to the candidate, the last first: its branch's, or those of an agent."""
    from riff_store.filters.dimensions import Grouping, run_branches, run_order
    from riff_store.queries.sides import calls_of_side
    from riff_store.queries.sums import call_sums

    order, branches = run_order(store), run_branches(store)
    if side.kind == "run":
        order = {
            run: at for run, at in order.items() if at <= order[side.name] and branches[run] == branches[side.name]
        }
    else:
        calls = calls_of_side(side, calls)
    found: dict[str, dict[tuple[str | None, ...], CallSums]] = {}
    for (run, *names), sums in call_sums(store, calls, Grouping(("run", "flow", "scenario"))).items():
        found.setdefault(run or "", {})[tuple(names)] = sums
    return [found[run] for run in sorted(order, key=order.__getitem__, reverse=True) if run in found]


_TOLD_APART_BY = ("trial", "agent", "scenario", "persona")


def with_commands(
    store: Store,
    decision: Decision,
    comparison: Comparison,
    calls: Predicate | None,
    quarantine: Quarantine,
    store_name: str,
) -> Decision:
    """Return the decision with the command of each check that failed or recovered, and the agent of its calls.

    `calls` is the filter of the gate; `store_name` is put into the commands if it is not empty. They leave out what of
    their flow is in quarantine.
    """
    told = [check for check in decision.checks if check.status == "failed" or check.recovered]
    if not told:
        return decision
    others = quarantine.others(calls)
    agents = _agents(store, comparison, others)
    paired = _paired(store, comparison, others, [check for check in told if check.kind == "aspect"])
    found = {
        check: check._replace(
            agent=agents.get(check.flow),
            **_commands(
                check,
                _where(check, comparison, quarantine.others(calls, check.flow)),
                paired.get(_key(check)) if check.kind == "aspect" else None,
                store_name,
            ),
        )
        for check in told
    }
    return decision._replace(checks=tuple(found.get(check, check) for check in decision.checks))


def _key(check: Check) -> tuple[str, tuple[str, str | None]]:
    return check.flow, (check.aspect, check.judge)


def _agents(store: Store, comparison: Comparison, calls: Predicate | None) -> dict[str, str]:
    """Return the agent of each flow that one alone led on the candidate's side."""
    from riff_store.filters.dimensions import Grouping
    from riff_store.queries.sides import calls_of_side
    from riff_store.queries.sums import call_counts

    found: dict[str, list[str]] = {}
    counts = call_counts(store, calls_of_side(comparison.b, calls), Grouping(("flow", "agent")))
    for (flow, agent), (counted, _) in counts.items():
        if flow is not None and agent is not None and counted:
            found.setdefault(flow, []).append(agent)
    return {flow: agents[0] for flow, agents in found.items() if len(agents) == 1}


def _paired(
    store: Store, comparison: Comparison, calls: Predicate | None, checks: Iterable[Check]
) -> Mapping[tuple[str, tuple[str, str | None]], ComparedCalls]:
    """Return the calls of the checks that leave some out for want of a partner."""
    from riff_store.queries.sides import compared_calls

    alone = {(each.flow, (each.aspect, each.judge)) for each in comparison.differences if each.alone_b}
    wanted = [key for key in map(_key, checks) if key in alone]
    return compared_calls(store, (comparison.a, comparison.b), calls, wanted) if wanted else {}


def _where(check: Check, comparison: Comparison, calls: Predicate | None) -> str:
    """Return the filter that leaves the candidate's calls which a check rests on, or which it counts."""
    side = Term(comparison.b.kind, "=", comparison.b.name)
    errored = Term("errored", "=", float(check.kind == "errored"))
    parts: list[Predicate] = [side, Term("flow", "=", check.flow), errored]
    more = [] if calls is None or calls in parts else [_grouped(calls)]
    if check.kind == "errored":
        return " ".join([render(all_of(parts)), *more])
    if check.kind == "covered":
        items = (Term("kind", "=", KINDS[check.aspect]), Term("calls", "=", 0.0))
        return " ".join([render(all_of([*parts[:2], *items])), *more])
    is_measured = Term(_field(check), "measured" if check.kind == "aspect" else "missing")
    # In ASCII, for what is pasted anywhere.
    return " ".join([render(all_of(parts)), render(is_measured).removesuffix("·") + "none", *more])


def _grouped(part: Predicate) -> str:
    return f"({render(part)})" if isinstance(part, And | Or) else render(part)


def _field(check: Check) -> str:
    """Return what a filter calls that which is checked of each call."""
    metric = metric_of(check.aspect)
    if check.judge is not None:
        return f"{check.aspect}.{check.judge}"
    return check.aspect if metric is None else metric.of_call or metric.of_turns or check.aspect


def _commands(check: Check, where: str, paired: ComparedCalls | None, store_name: str) -> dict[str, Any]:
    """Return the commands with the worst calls first; calls without a partner are left out if a filter can do that."""
    from riff_tui.catalog import Request, dump_argv, ui_argv, ui_command

    view, order = "coverage", None
    if check.kind != "covered":
        texts = [f"{where} {_grouped(part)}" for part in _with_partner(paired)] if paired is not None else []
        view, where = "conversations", min(filter(_can_be_read, texts), key=len, default=where)
        worst_first = _field(check) if check.better == "higher" else f"-{_field(check)}"
        order = worst_first if check.kind == "aspect" else None
    request = Request(where=where, sort=order, store=store_name)
    return {
        "command": ui_command(view, request, store=store_name),
        "argv": (*dump_argv(view, request), "--format", "json"),
        "opens": tuple(ui_argv(view, request, store=store_name)),
    }


def _with_partner(found: ComparedCalls) -> Iterator[Predicate]:
    """Yield filters that leave the calls that have a partner, of those that were measured."""
    for field in _TOLD_APART_BY:
        compared, alone = ({getattr(call, field) for call in calls} for calls in found)
        if not compared & alone:
            yield _any(_is(field, value) for value in sorted(compared, key=str))
            yield Not(_any(_is(field, value) for value in sorted(alone, key=str)))
    yield _any(map(_named, found.compared))
    yield Not(_any(map(_named, found.alone)))


def _any(parts: Iterable[Predicate]) -> Predicate:
    known = tuple(parts)
    return known[0] if len(known) == 1 else Or(known)


def _is(field: str, value: str | int | None) -> Term:
    return Term(field, "missing") if value is None else Term(field, "=", float(value) if field == "trial" else value)


def _named(call: Call) -> Predicate:
    terms = [
        _is(field, int(name) if field == "trial" else name)
        for field, name in {"conversation": call.conversation, **call.told_by}.items()
    ]
    return terms[0] if len(terms) == 1 else And(tuple(terms))


def _can_be_read(text: str) -> bool:
    try:
        parse(text)
    except FilterError:
        return False
    return True


# Find since which run a check has failed, so that a regression is reported as new once.
MOST_RUNS = 20
"""As many runs before the candidate are looked at."""


def with_first_runs(
    store: Store, decision: Decision, comparison: Comparison, calls: Predicate | None, rules: Rules
) -> Decision:
    """Return the decision with the run since which each failed check has failed against the same baseline.

    Looked at are the runs between baseline and candidate, of the candidate's branch, the last first. Runs in which a
    check could not be decided are passed over.
    """
    if comparison.b.kind != "run":
        return decision
    # What runs before the candidate touched is not a matter of chance: their own gates told it.
    failed = [check for check in decision.of("failed") if check.kind != "covered"]
    since = {_key_in_any_run(check): decision.candidate for check in failed}
    open_ones = set(since)
    for run in _runs_between(store, decision):
        if not open_ones:
            break
        checks = {_key_in_any_run(check): check for check in _checks(store, decision.baseline, run, calls, rules)}
        for key in sorted(open_ones, key=str):
            status = checks[key].status if key in checks else "too few"
            if status == "failed":
                since[key] = run
            elif status != "too few":
                open_ones.discard(key)
    dated = (check._replace(since=since.get(_key_in_any_run(check))) for check in decision.checks)
    return decision._replace(checks=tuple(dated))


def _key_in_any_run(check: Check) -> tuple[str, str, str | None, str]:
    return check.flow, check.aspect, check.judge, check.kind


def _runs_between(store: Store, decision: Decision) -> list[str]:
    from riff_store.filters.dimensions import run_branches, run_order

    order, branches = run_order(store), run_branches(store)
    first, last = order[decision.baseline], order[decision.candidate]
    branch = branches[decision.candidate]
    between = [run for run, place in order.items() if first < place < last and branches[run] == branch]
    return between[::-1][:MOST_RUNS]


def _checks(store: Store, baseline: str, run: str, calls: Predicate | None, rules: Rules) -> tuple[Check, ...]:
    # Whatever a run is called, a run is meant.
    comparison = _compared(store, f"run:{baseline}", f"run:{run}", calls, rules)
    try:
        return _decide(comparison, rules).checks
    except UsageError:
        return ()
