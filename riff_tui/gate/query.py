"""Ask the store for what a gate decides on: both runs by their whole names, compared, and what the candidate lost."""

from __future__ import annotations

from typing import TYPE_CHECKING

from riff_tui.errors import UsageError
from riff_tui.gate.decision import Decision
from riff_tui.gate.rules import decide
from riff_tui.gate.settings import Rules

if TYPE_CHECKING:
    from riff_store.answers.comparison import Comparison, Side
    from riff_store.database import Store
    from riff_store.predicates import Predicate

LATELY = ("latest", "previous")


def decision_on(store: Store, baseline: str, candidate: str, calls: Predicate | None, rules: Rules) -> Decision:
    """Decide on the candidate, over the calls that a filter leaves.

    Raises `UsageError` for a run that is not there and where there is nothing to compare.
    """
    return _decided(store, baseline, candidate, calls, rules)[0]


def told_decision_on(
    store: Store, baseline: str, candidate: str, calls: Predicate | None, rules: Rules, store_name: str = ""
) -> Decision:
    """Decide as `decision_on` does, and tell of each check that failed or recovered which command opens its calls.

    Of one that failed it tells since which run as well. Commands name the store by `store_name`, if that is not empty.
    """
    from riff_tui.gate.check_calls import with_commands
    from riff_tui.gate.since import with_first_runs

    with store.snapshot():
        decision, comparison = _decided(store, baseline, candidate, calls, rules)
        decision = with_first_runs(store, decision, comparison, calls, rules)
        return with_commands(store, decision, comparison, calls, store_name)


def _decided(
    store: Store, baseline: str, candidate: str, calls: Predicate | None, rules: Rules
) -> tuple[Decision, Comparison]:
    from riff_store.queries.comparison import compare

    comparison = compare(
        store, baseline, candidate, calls, also=tuple(tolerance.aspect for tolerance in rules.tolerances)
    )
    _refuse_beginning("--baseline", baseline, comparison.a)
    _refuse_beginning("--candidate", candidate, comparison.b)
    _refuse_empty(comparison, calls)
    errored = _errored(store, comparison.b, calls)
    decision = decide(comparison, rules.tolerances, min_n=rules.min_n, strict=rules.strict, errored=errored)
    return decision, comparison


def _refuse_beginning(option: str, name: str, side: Side) -> None:
    """Refuse a run that merely begins like the one that is missing: no build is decided by it."""
    if name not in (side.name, f"{side.kind}:{side.name}", *LATELY):
        raise UsageError(
            f"{option} {name}: there is no {side.kind} of that name; a gate takes whole names, {side.name}"
        )


def _refuse_empty(comparison: Comparison, calls: Predicate | None) -> None:
    """Refuse a filter that leaves nothing of a side."""
    empty = next((side for side in (comparison.a, comparison.b) if not side.n), None)
    if empty is not None and calls is not None:
        raise UsageError(
            f"nothing to compare in {comparison.a.name} and {comparison.b.name}:"
            f" --where leaves no call that counts of the {empty.kind} {empty.name}"
        )


def _errored(store: Store, side: Side, calls: Predicate | None) -> dict[str, int]:
    """Count the errored calls of each flow on a side."""
    from riff_store.queries.dimensions import Grouping
    from riff_store.queries.sides import calls_of_side
    from riff_store.queries.sums import call_counts

    counts = call_counts(store, calls_of_side(side, calls), Grouping(("flow",)))
    return {flow: excluded for (flow,), (_, excluded) in counts.items() if flow is not None and excluded}
