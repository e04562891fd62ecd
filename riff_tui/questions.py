"""One question per view: which queries it asks, and what the filter narrows, calls or rows."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

from riff_store.matching import tester
from riff_store.predicates import Predicate, Term, all_of, conjuncts
from riff_store.vocabulary import ALIASES
from riff_tui.arranging import excluded_text, left_out, limited, ordered, sort_column
from riff_tui.errors import UsageError
from riff_tui.filtering import split, take_judges
from riff_tui.table import Column, Row, Table, drained, in_a_step

if TYPE_CHECKING:
    from riff_store.answers.neighbors import PooledLatency
    from riff_store.database import Store
    from riff_tui.catalog import Request

Make: TypeAlias = Callable[[Predicate | None], Table]

_STATE_METRICS = (
    "progress", "stall", "escalation", "revisit", "dwell_turns", "latency_p95", "guard_error", "slot_fill_rate"
)  # fmt: skip
_ROW_FIELDS: dict[str, tuple[str, ...]] = {
    "flows": (
        "flow", "agent", "n", "excluded", "operability", "correctness", "completion", "errors", "latency_p95",
        "latency_mean", "turn_count", "humanness", "success_rate",
    ),
    "segments": ("flow", "segment", "n", *_STATE_METRICS, "worst_state", "worst_stall", "worst_n"),
    "states": ("flow", "state", "segment", "n", *_STATE_METRICS, "to_states", "expected", "missed", "wrong_args"),
    "neighbors": ("direction", "count", "share", "n"),
    "runs": ("run", "label", "commit", "branch", "started_at", "flows", "n", "excluded"),
    "judges": ("judge", "model", "prompt_hash", "n", "mean", "unscored", "agreement"),
    "archetypes": (
        "archetype", "flows", "n", "excluded", "operability", "correctness", "completion", "worst_flow",
        "worst_operability",
    ),
    "timeline": ("run", "started_at", "commit", "flows", "n", "excluded", "quality"),
    "flow-table": ("flow", "n", "excluded"),
    "skipped": ("path", "line", "kind", "reason", "conversation"),
}  # fmt: skip
WORKLIST_LIMIT = 10
EMPTY = "The store holds nothing of this yet: riff-tui ingest PATH... fills it."
NO_STATES = "No call that counts has events, and states come from those."
_FILLED_BY_INGEST = ("flows", "segments", "states", "runs", "judges", "archetypes", "timeline", "flow-table")
_ALL = 10**9


def row_fields(view: str) -> Collection[str]:
    """What a filter can say of the rows of a view; nothing where all of it is said of calls."""
    return _ROW_FIELDS.get(view, ())


def ask(store: Store, view: str, request: Request, predicate: Predicate | None) -> Table:
    """The table of a view, filtered, ordered and cut as requested; the view's name is resolved."""
    return _QUESTIONS[view](store, request, predicate)


def _flows(store: Store, request: Request, predicate: Predicate | None) -> Table:
    from riff_store.queries.flows import flow_cells
    from riff_store.queries.scope import needs
    from riff_tui.views.flows import flows

    by = _keys(("flow", "agent"), request.by)
    judges, rest = take_judges(predicate)
    calls, rows = split(rest, _fields("flows", request.by))

    def table(*, trend: bool) -> Table:
        def make(some: Predicate | None) -> Table:
            # All rows are only counted, unless they are what was asked for.
            return flows(flow_cells(store, some, by, judges, trend=trend and some is calls), request.by)

        return _Answer(request, calls, rows).of(make)

    if request.trend and request.hurried and needs(calls, by) == "base":
        steps = partial(in_a_step, "reading how it went run by run", partial(table, trend=True))
        return replace(table(trend=False), rest=steps)
    return table(trend=request.trend)


def _segments(store: Store, request: Request, predicate: Predicate | None) -> Table:
    from riff_store.queries.segments import segment_cells
    from riff_tui.views.segments import segments

    by = _keys(("flow", "segment"), request.by)
    calls, rows = split(predicate, _fields("segments", request.by))

    def make(calls: Predicate | None) -> Table:
        return segments(segment_cells(store, calls, by=by), request.by, _scope(predicate))

    return _with_excluded(store, calls, request, _Answer(request, calls, rows).of(make))


def _states(store: Store, request: Request, predicate: Predicate | None) -> Table:
    from riff_store.queries.states import state_cells
    from riff_tui.views.states import states, successors

    by = _keys(("flow", "state"), request.by)
    calls, rows = split(predicate, _fields("states", request.by))

    def make(calls: Predicate | None) -> Table:
        return states(state_cells(store, calls, by=by), request.by, _scope(predicate))

    table = _with_excluded(store, calls, request, _Answer(request, calls, rows).of(make))
    if not any(term.field == "flow" for term in _terms_said(predicate)):
        return table
    return replace(table, notes=[*table.notes, *successors(table.rows)])


def _neighbors(store: Store, request: Request, predicate: Predicate | None) -> Table:
    from riff_store.queries.latencies import LatencyReading
    from riff_store.queries.neighbors import neighborhood
    from riff_tui.one_state import QUICK_CALLS, calls_around, in_steps, named_state
    from riff_tui.views.neighbors import neighbors

    flow, state, rest = named_state(predicate)
    said, rows = split(all_of(rest), _ROW_FIELDS["neighbors"])
    calls = calls_around(state, said)
    with store.snapshot():
        around, reading = neighborhood(store, flow, state, calls), LatencyReading(store, flow, state, calls)

    def table(pooled: PooledLatency | None) -> Table:
        return _Answer(request, None, rows).of(lambda _: neighbors(around, pooled), recount=False)

    if request.hurried and reading.kept > QUICK_CALLS and not reading.too_many:
        return replace(table(None), rest=lambda: in_steps(reading, table))
    return drained(in_steps(reading, table))


def _worklist(store: Store, request: Request, predicate: Predicate | None) -> Table:
    from riff_store.queries.conversations import count_conversations
    from riff_store.queries.worklist import worklist as ranked
    from riff_tui.views.worklist import worklist

    limit = WORKLIST_LIMIT if request.limit is None else request.limit
    calls, _ = split(predicate, ())
    answer = _Answer(replace(request, limit=limit), calls, None)
    table = answer.of(lambda narrowed: worklist(ranked(store, narrowed, _ALL)), recount=False)
    return table if table.rows or count_conversations(store) else replace(table, notes=[*table.notes, EMPTY])


def _runs(store: Store, request: Request, predicate: Predicate | None) -> Table:
    from riff_store.queries.runs import runs as summaries
    from riff_tui.views.runs import runs

    answer = _Answer(request, *split(predicate, _ROW_FIELDS["runs"]))
    return answer.of(lambda calls: runs(summaries(store, calls)))


def _conversations(store: Store, request: Request, predicate: Predicate | None) -> Table:
    from riff_store.queries.conversations import calls_of, conversation_ids, count_conversations
    from riff_tui.views.conversations import COLUMNS, conversations, gone, row
    from riff_tui.window import Window

    calls, _ = split(predicate, ())
    sort = _call_sort(request.sort, COLUMNS)
    try:
        ids = conversation_ids(store, calls, sort, request.limit)
    except ValueError:
        keys = ", ".join(column.key for column in COLUMNS)
        raise UsageError(f"--sort: calls have no column {request.sort}; there are {keys}") from None

    def fetch(offset: int, limit: int) -> list[Row]:
        wanted = ids[offset : offset + limit]
        found = {call.id: row(call) for call in calls_of(store, wanted)}
        return [found.get(key) or gone(key) for key in wanted]

    total = count_conversations(store)
    notes = [] if total else [EMPTY]
    return replace(conversations(Window(len(ids), fetch, ids)), notes=notes, hidden=max(0, total - len(ids)))


def _conversation(store: Store, request: Request, predicate: Predicate | None) -> Table:
    from riff_store.queries.conversation import conversation as told
    from riff_tui.one_call import the_call
    from riff_tui.redaction import LIMITS, Redactor
    from riff_tui.views.conversation import conversation

    call = the_call(store, predicate)
    detail = told(store, call.run, call.conversation)
    if detail is None:
        raise UsageError(f"conversation {call.conversation} of run {call.run} is gone; run it again")
    table = conversation(detail, text=request.text, redact=Redactor() if request.redact else None)
    if request.text and request.redact:
        table = replace(table, notes=[*table.notes, LIMITS])
    return _Answer(request, None, None).of(lambda _: table)


def _judges(store: Store, request: Request, predicate: Predicate | None) -> Table:
    from riff_store.queries.judges import judges as summaries
    from riff_tui.views.judges import judges

    answer = _Answer(request, *split(predicate, _ROW_FIELDS["judges"]))
    return answer.of(lambda calls: judges(summaries(store, calls)))


def _archetypes(store: Store, request: Request, predicate: Predicate | None) -> Table:
    from riff_store.queries.archetypes import archetypes as families
    from riff_tui.views.archetypes import archetypes

    answer = _Answer(request, *split(predicate, _ROW_FIELDS["archetypes"]))
    return answer.of(lambda calls: archetypes(families(store, calls)))


def _timeline(store: Store, request: Request, predicate: Predicate | None) -> Table:
    from riff_store.queries.timeline import timeline as by_run
    from riff_tui.views.timeline import timeline

    judges, rest = take_judges(predicate)
    answer = _Answer(request, *split(rest, _ROW_FIELDS["timeline"]))
    return answer.of(lambda calls: timeline(by_run(store, calls, judges)))


def _flow_table(store: Store, request: Request, predicate: Predicate | None) -> Table:
    from riff_store.queries.flow_table import flow_table as by_flow
    from riff_tui.views.flow_table import flow_table

    judges, rest = take_judges(predicate)
    answer = _Answer(request, *split(rest, _ROW_FIELDS["flow-table"]))
    return answer.of(lambda calls: flow_table(by_flow(store, calls, judges)))


def _skipped(store: Store, request: Request, predicate: Predicate | None) -> Table:
    from riff_store.queries.skipped import skipped as entries
    from riff_tui.views.skipped import skipped

    calls, rows = split(predicate, _ROW_FIELDS["skipped"])
    if calls is not None:
        raise UsageError(f"skipped can be filtered by {', '.join(_ROW_FIELDS['skipped'])} only")
    return _Answer(request, None, rows).of(lambda _: skipped(entries(store)))


@dataclass(frozen=True, slots=True)
class _Answer:
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
    holds = tester(predicate, [column.key for column in table.columns if column.kind == "name"])
    return [row for row in table.rows if holds(row.record)]


def _keys(own: tuple[str, ...], by: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*own, *by)))


def _fields(view: str, by: Iterable[str]) -> Collection[str]:
    return {*_ROW_FIELDS[view], *by}


def _terms_said(predicate: Predicate | None) -> list[Term]:
    """The terms that hold as they stand, neither negated nor one of several."""
    return [part for part in conjuncts(predicate) if isinstance(part, Term)]


def _scope(predicate: Predicate | None) -> str:
    """The flows that a matrix is about, for its title."""
    named = [term for term in _terms_said(predicate) if term.field == "flow"]
    if len(named) == 1 and named[0].operator in ("=", "contains"):
        return f"{'' if named[0].operator == '=' else 'flows with '}{named[0].value}"
    return "all flows" if predicate is None else "filtered flows"


def _with_excluded(store: Store, calls: Predicate | None, request: Request, table: Table) -> Table:
    """State rows hold no errored calls, so those of the flows on show and of flows without any other are counted."""
    from riff_store.queries.dimensions import Grouping
    from riff_store.queries.sums import call_counts

    keys = _keys(("flow",), request.by)
    shown = {tuple(row.record[key] for key in keys) for row in table.rows}
    counts = call_counts(store, calls, Grouping(keys))
    excluded = sum(errored for names, (n, errored) in counts.items() if names in shown or not n)
    units, *others = table.notes
    if counts and EMPTY in others:
        others[others.index(EMPTY)] = NO_STATES
    left = [f"Excluded: {excluded_text(excluded)}."] if excluded else []
    return replace(table, notes=[units, *left, *others])


def _call_sort(sort: str | None, known: Sequence[Column]) -> str | None:
    """The column as the queries call it; a metric of states is none of the list's but can be sorted by."""
    if sort is None:
        return None
    try:
        key = sort_column(known, sort).key
    except UsageError:
        name = sort.removeprefix("-")
        key = ALIASES.get(name.lower(), name)
    return f"-{key}" if sort.startswith("-") else key


_QUESTIONS: dict[str, Callable[[Store, Request, Predicate | None], Table]] = {
    "flows": _flows,
    "segments": _segments,
    "states": _states,
    "neighbors": _neighbors,
    "worklist": _worklist,
    "runs": _runs,
    "conversations": _conversations,
    "conversation": _conversation,
    "judges": _judges,
    "archetypes": _archetypes,
    "timeline": _timeline,
    "flow-table": _flow_table,
    "skipped": _skipped,
}
