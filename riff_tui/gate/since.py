"""Find since which run a check has failed, so that a regression is told as new once."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from riff_tui.errors import UsageError
from riff_tui.gate.decision import Check, Decision
from riff_tui.gate.rules import decide
from riff_tui.gate.settings import Rules

if TYPE_CHECKING:
    from riff_store.answers.comparison import Comparison
    from riff_store.database import Store
    from riff_store.predicates import Predicate

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
    since = {_key(check): decision.candidate for check in decision.of("failed")}
    open_ones = set(since)
    for run in _runs_between(store, decision):
        if not open_ones:
            break
        checks = {_key(check): check for check in _checks(store, decision.baseline, run, calls, rules)}
        for key in sorted(open_ones, key=str):
            status = checks[key].status if key in checks else "too few"
            if status == "failed":
                since[key] = run
            elif status != "too few":
                open_ones.discard(key)
    dated = (replace(check, since=since.get(_key(check))) for check in decision.checks)
    return replace(decision, checks=tuple(dated))


def _key(check: Check) -> tuple[str, str, str | None]:
    return check.flow, check.aspect, check.judge


def _runs_between(store: Store, decision: Decision) -> list[str]:
    from riff_store.queries.dimensions import run_branches, run_order

    order, branches = run_order(store), run_branches(store)
    first, last = order[decision.baseline], order[decision.candidate]
    branch = branches[decision.candidate]
    between = [run for run, place in order.items() if first < place < last and branches[run] == branch]
    return between[::-1][:MOST_RUNS]


def _checks(store: Store, baseline: str, run: str, calls: Predicate | None, rules: Rules) -> tuple[Check, ...]:
    from riff_store.queries.comparison import compare

    also = tuple(tolerance.aspect for tolerance in rules.tolerances)
    # Whatever a run is called, a run is meant.
    comparison = compare(store, f"run:{baseline}", f"run:{run}", calls, also=also)
    try:
        return decide(comparison, rules.tolerances, min_n=rules.min_n).checks
    except UsageError:
        return ()
