"""From a view's rows to what was requested: filtered, ordered, cut, and saying what that left out."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

from riff_store.predicate_eval import compile_predicate
from riff_store.predicates import Predicate, Term, conjuncts
from riff_tui.table import Row, Table
from riff_tui.view_queries.sort_limit import left_out, limited, ordered

if TYPE_CHECKING:
    from riff_tui.catalog import Request

Make: TypeAlias = Callable[[Predicate | None], Table]

_STATE_METRICS = (
    "progress", "stall", "escalation", "revisit", "dwell_turns", "latency_p95", "guard_error", "slot_fill_rate"
)  # fmt: skip
ROW_FIELDS: dict[str, tuple[str, ...]] = {
    "flows": (
        "flow", "agent", "n", "excluded", "operability", "correctness", "completion", "errors", "latency_p95",
        "latency_mean", "turn_count", "humanness", "success_rate",
    ),
    "segments": ("flow", "segment", "n", *_STATE_METRICS, "worst_state", "worst_stall", "worst_n"),
    "states": ("flow", "state", "segment", "n", *_STATE_METRICS, "to_states", "expected", "missed", "wrong_args"),
    "neighbors": ("direction", "count", "share", "n"),
    "runs": ("run", "label", "commit", "branch", "started_at", "flows", "n", "excluded"),
    "judges": ("judge", "model", "prompt_hash", "prompt_version", "aspect", "n", "mean", "unscored", "agreement"),
    "agreement": (
        "first", "second", "aspect", "n", "exact", "kappa", "kappa_unweighted", "spearman", "mean_difference",
    ),
    "disputes": ("aspect", "spread", "highest", "lowest", "scores"),
    "repeats": (
        "flow", "agent", "groups", "trials", "pass1", "pass_k", "k", "flaky", "always_passed", "always_failed",
        "spread", "excluded",
    ),
    "archetypes": (
        "archetype", "flows", "n", "excluded", "operability", "correctness", "completion", "worst_flow",
        "worst_operability",
    ),
    "timeline": ("run", "started_at", "commit", "flows", "n", "excluded", "quality"),
    "flow-table": ("flow", "n", "excluded"),
    "effects": ("factor", "level", "n", "observations", "effect", "low", "high", "mean", "share", "alone"),
    "compare": ("flow", "aspect", "verdict", "test", "effect", "low", "high", "p", "p_adjusted", "pairs"),
    "failures": ("failed", "flow", "scenario", "persona", "trial"),
    "edits": (
        "flow", "commit", "time", "author", "subject", "path", "previous_run", "next_run", "runs", "together",
        "quality_before", "quality_after", "change", "n_before", "n_after",
    ),
    "skipped": ("path", "line", "kind", "reason", "conversation"),
}  # fmt: skip
EMPTY = "The store holds nothing of this yet: riff-tui ingest PATH... fills it."
_FILLED_BY_INGEST = ("flows", "segments", "states", "runs", "judges", "archetypes", "timeline", "flow-table")


@dataclass(frozen=True, slots=True)
class ViewResult:
    """A table on its way to what was requested: filtered by its rows, ordered, cut, and saying what it left out."""

    request: Request
    calls: Predicate | None
    rows: Predicate | None

    def of(self, make: Make, *, recount: bool = True) -> Table:
        """The table that `make` gives for the calls; with `recount` rows that are gone for want of calls are hidden."""
        table = make(self.calls)
        total = len(make(None).rows) if recount and self.calls is not None else len(table.rows)
        table = replace(table, rows=_matching(table, self.rows))
        if self.request.sort is not None:
            table = ordered(table, self.request.sort)
        table = limited(table, self.request.limit)
        notes = [*table.notes, *left_out(table.rows)]
        if not total and self.calls is None and self.rows is None and table.view in _FILLED_BY_INGEST:
            notes.append(EMPTY)
        return replace(table, notes=notes, hidden=max(0, total - len(table.rows)))


def _matching(table: Table, predicate: Predicate | None) -> Sequence[Row]:
    if predicate is None:
        return table.rows
    holds = compile_predicate(predicate, [column.key for column in table.columns if column.kind == "name"])
    return [row for row in table.rows if holds(row.record)]


def keys_of(own: tuple[str, ...], by: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*own, *by)))


def fields_of(view: str, by: Iterable[str]) -> Collection[str]:
    return {*ROW_FIELDS[view], *by}


def terms_said(predicate: Predicate | None) -> list[Term]:
    """The terms that hold as they stand, neither negated nor one of several."""
    return [part for part in conjuncts(predicate) if isinstance(part, Term)]


def scope_of(predicate: Predicate | None) -> str:
    """The flows that a matrix is about, for its title."""
    named = [term for term in terms_said(predicate) if term.field == "flow"]
    if len(named) == 1 and named[0].operator in ("=", "contains"):
        return f"{'' if named[0].operator == '=' else 'flows with '}{named[0].value}"
    return "all flows" if predicate is None else "filtered flows"
