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
    from riff_store.queries.comparison import compare

    comparison = compare(
        store, baseline, candidate, calls, also=tuple(tolerance.aspect for tolerance in rules.tolerances)
    )
    _refuse_beginning("--baseline", baseline, comparison.a)
    _refuse_beginning("--candidate", candidate, comparison.b)
    _refuse_empty(comparison, calls)
    errored = _errored(store, comparison.b, calls)
    return decide(comparison, rules.tolerances, min_n=rules.min_n, strict=rules.strict, errored=errored)


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
