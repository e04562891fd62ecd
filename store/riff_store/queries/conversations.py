"""List calls."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import peewee as pw

from riff_store import schema as m
from riff_store.chunks import CALLS, STATES, is_packed
from riff_store.database import Store
from riff_store.errors import UsageError
from riff_store.filters.conditions import figure_of_call, one_of
from riff_store.filters.dimensions import DIMENSIONS, FAILURE, UNNAMED, Grouping, judges_meant, names_of
from riff_store.filters.notes import Note, authors_of, codes_of, marks, notes_by_call, verdict_of
from riff_store.filters.predicates import And, Predicate, all_of, conjuncts, terms
from riff_store.filters.sql import Scope, columns_of_states
from riff_store.metrics import OF_CALLS, POOLED
from riff_store.queries.calls import CallList, differing, names_needed
from riff_store.queries.sums import call_counts
from riff_store.vocabulary import SPELLED, Field, field_named, field_of, split_name

if TYPE_CHECKING:
    from riff_store.arrays.ordering import SortedCalls, SortKey


_SHOWN_AS = {"kind": "failure", "detail": "failure_detail"}
PLAIN = ("trial", "started_at", "duration_s", "completed", "errored", "caller_ok", "error_count", "defects", "error")
_KEPT = tuple(metric.of_call for metric in OF_CALLS.values() if metric.of_call)
_SHOWN_ASPECTS = ("correctness", "turn_count", "latency_p95")
_OF_NOTES: Mapping[str, Callable[[Sequence[Note]], Any]] = {
    "verdict": verdict_of, "codes": codes_of, "noted_by": authors_of, "notes": len,
}  # fmt: skip
"""The columns that say what people wrote, none of which is in the order of a table's rows."""
_CHUNK = 500


@dataclass(frozen=True, slots=True)
class Call:
    """Describe a line of the list of calls; `started_at` is microseconds since the epoch, durations are seconds.

    What is blamed of a failed call, its moment included, is `None` for any other: `turn`, `t`, and the entry `place` of
    the list `listed` of what happened. `caller` names what played the caller, `caller_ok` shows whether that kept to
    its part. `told_by` are the names that distinguish it from other calls of its id and run, empty if there are none.
    `notes` are what counts of what people wrote on it.
    """

    id: int
    run: str
    conversation: str
    flow: str
    agent: str
    persona: str | None
    scenario: str | None
    trial: int
    started_at: int | None
    duration_s: float | None
    completed: bool | None
    stop_reason: str | None
    final_state: str | None
    final_status: str | None
    errored: bool
    error: str | None
    correctness: float | None
    turn_count: float | None
    latency_p95: float | None
    error_count: int
    defects: int
    success: bool | None = None
    lost: bool | None = None
    last_ok: str | None = None
    first_failed: str | None = None
    failure: str | None = None
    failure_detail: str | None = None
    failure_error: str | None = None
    failed_tool: str | None = None
    who: str | None = None
    turn: int | None = None
    t: float | None = None
    listed: str | None = None
    place: int | None = None
    caller: str | None = None
    caller_ok: bool | None = None
    told_by: Mapping[str, str] = field(default_factory=dict)
    notes: Sequence[Note] = ()

    @property
    def failed(self) -> bool | None:
        """Return whether it is known to be no success, `None` if that is not known or an integration broke."""
        return None if self.errored or self.success is None else not self.success

    @property
    def moment(self) -> dict[str, Any] | None:
        """Return the turn and the time of what is blamed."""
        return None if self.failure is None else {"turn": self.turn, "t": self.t}

    @property
    def verdict(self) -> str | None:
        """Return what people say about it, as `verdict_of`."""
        return verdict_of(self.notes)

    @property
    def codes(self) -> list[str] | None:
        """Return the codes that people gave it, `None` if nobody wrote on it."""
        return codes_of(self.notes) if self.notes else None

    @property
    def noted_by(self) -> list[str] | None:
        """Return who wrote on it, `None` if nobody did."""
        return authors_of(self.notes) if self.notes else None


def conversations(
    store: Store, calls: Predicate | None = None, sort: str | None = None, limit: int | None = None, offset: int = 0
) -> list[Call]:
    """Return calls by `sort` (a column, `-` before it for downwards), then run start, run, flow and name.

    What is not measured comes last either way. A metric of states sorts by the call's highest value in
    the states that the filter names, and is not measured for an errored call. Raises `UsageError` for a
    column that calls do not have.
    """
    with store.snapshot():
        return calls_of(store, conversation_ids(store, calls, sort, limit, offset))


def count_conversations(store: Store, calls: Predicate | None = None) -> int:
    """Count calls."""
    return sum(map(sum, call_counts(store, calls, Grouping(("flow",))).values()))


def conversation_names(store: Store, most: int) -> list[str]:
    """Return the ids that calls have in their sources, none if there are more than `most`."""
    query = m.Conversation.select(m.Conversation.name).distinct().order_by(m.Conversation.name).limit(most + 1)
    found = [name for (name,) in store.execute(query)]
    return found if len(found) <= most else []


def conversation_ids(
    store: Store, calls: Predicate | None = None, sort: str | None = None, limit: int | None = None, offset: int = 0
) -> list[int]:
    """Return the keys of calls in order."""
    if sort is None or sort.removeprefix("-") in _OF_NOTES:
        listed = CallList(store, calls)
        if sort is not None:
            found = _by_notes(store, listed.first(listed.at_most), sort)[offset:]
            return found if limit is None else found[:limit]
        return listed.first(listed.at_most if limit is None else offset + limit)[offset:]
    placed = sorted_calls(store, calls, sort)
    if placed is not None:
        return placed[offset : None if limit is None else offset + limit]
    call = m.Conversation
    cell = m.CALLS.rollup
    first = cell.select(cell.run, pw.fn.MIN(cell.first_at).alias("first_at")).group_by(cell.run).alias("started")
    query = (
        call.select(call.id, _sort_value(store, calls, sort.removeprefix("-")))
        .join(m.Run, on=(m.Run.id == call.run))
        .join(m.Flow, on=(m.Flow.id == call.flow))
        .join(first, on=(first.c.run_id == call.run))
        .where(Scope(store).condition(calls))
    )
    order = [first.c.first_at.asc(nulls="LAST"), m.Run.name, m.Flow.name, call.name, call.agent, call.trial]
    value = pw.SQL("sorted_by")
    query = query.order_by(value.desc(nulls="LAST") if sort.startswith("-") else value.asc(nulls="LAST"), *order)
    if limit is not None:
        query = query.limit(limit)
    if offset:
        query = query.offset(offset) if limit is not None else query.limit(2**62).offset(offset)
    return [row[0] for row in store.execute(query)]


def ordered_ids(store: Store, calls: Predicate | None, sort: str, limit: int | None = None) -> Sequence[int]:
    """Return the keys of calls in order; those of very many are put in order no further than one looks."""
    placed = None if limit is not None else sorted_calls(store, calls, sort)
    return conversation_ids(store, calls, sort, limit) if placed is None else placed


def has_any(store: Store, keys: Collection[int], calls: Predicate | None = None) -> bool:
    """Return whether any of some calls matches."""
    call = m.Conversation
    query = call.select(pw.SQL("1")).where(one_of(call.id, keys), Scope(store).condition(calls)).limit(1)
    return bool(keys) and bool(store.execute(query))


def is_any(store: Store, calls: Predicate) -> bool:
    """Return whether any call matches, without counting them."""
    query = m.Conversation.select(pw.SQL("1")).where(Scope(store).condition(calls)).limit(1)
    return bool(store.execute(query))


def calls_of(store: Store, ids: Sequence[int]) -> list[Call]:
    """Return the calls of some keys, in the order of the keys; a key that is gone has none."""
    found: dict[int, Call] = {}
    for start in range(0, len(ids), _CHUNK):
        some = ids[start : start + _CHUNK]
        notes = notes_by_call(store, some)
        for call in _read(store, m.Conversation.id.in_(some), notes):
            found[call.id] = replace(call, notes=notes[call.id]) if call.id in notes else call
    return [found[key] for key in ids if key in found]


def _by_notes(store: Store, ids: Sequence[int], sort: str) -> list[int]:
    """Sort calls by what people wrote on them; those on which nobody did, or not that, keep their order at the end."""
    told = _OF_NOTES[sort.removeprefix("-")]
    values = {key: told(notes) for key, notes in notes_by_call(store).items()}
    having = [key for key in ids if values.get(key)]
    return [
        *sorted(having, key=lambda key: values[key], reverse=sort.startswith("-")),
        *(key for key in ids if not values.get(key)),
    ]


def _sort_value(store: Store, calls: Predicate | None, column: str) -> Any:
    call = m.Conversation
    column = _SHOWN_AS.get(column, column)
    name, judge = split_name(column)
    if column == "conversation":
        value: Any = call.name
    elif column in (*PLAIN, *_KEPT):
        value = getattr(call, column)
    elif column == "failed":
        value = pw.Case(None, ((call.errored, None),), 1 - call.success)
    elif column in DIMENSIONS and hasattr(call, DIMENSIONS[column].key):
        dimension = DIMENSIONS[column]
        table: Any = dimension.table.alias()
        value = table.select(getattr(table, dimension.column)).where(table.id == getattr(call, dimension.key))
    elif column in SPELLED or column in FAILURE:
        value = _failure_value(store, column)
    elif (field := sortable(name, judge)) is not None:
        value = _metric(store, calls, field, judge)
    else:
        raise UsageError(f"calls have no column {column}")
    return value.alias("sorted_by")


def _failure_value(store: Store, name: str) -> Any:
    """Return the value of each call to sort by, for one of the names that show where it first went wrong."""
    row: Any = m.CallFailure.alias()
    mine = row.conversation == m.Conversation.id
    if name in SPELLED:
        found = row.select(getattr(row, SPELLED[name][0])).where(mine)
    else:
        table: Any = FAILURE[name].table.alias()
        named = row.select(pw.fn.COALESCE(table.name, UNNAMED.get(name)))
        found = named.join(table, pw.JOIN.LEFT_OUTER, on=(table.id == getattr(row, FAILURE[name].key))).where(mine)
    states = names_of(store, DIMENSIONS["state"])
    marked: dict[str | None, list[int]] = {}
    for key, mark in marks(store).items():
        marked.setdefault(mark.told(states)[name], []).append(key)
    # Written out, since all cases together may have more keys than a statement may bind.
    cases = [
        (m.Conversation.id.in_(pw.SQL(f"({', '.join(map(str, keys))})")), pw.Value(text))
        for text, keys in marked.items()
    ]
    return pw.Case(None, cases, found) if cases else found


def _metric(store: Store, calls: Predicate | None, metric: Field, by: str | None) -> Any:
    if metric.level == "state":
        rows = m.StateScore.alias()
        states = columns_of_states(rows)
        about = Scope(store, m.Conversation, states).condition(about_states(calls))
        # What happened in an errored call shows nothing of the state, so it is not measured.
        about &= (rows.conversation == m.Conversation.id) & ~m.Conversation.errored
        return rows.select(pw.fn.MAX(states[metric.name])).where(about)
    if metric.name in POOLED:
        sums = m.CallInteraction.alias()
        return sums.select(figure_of_call(sums, POOLED[metric.name])).where(sums.conversation == m.Conversation.id)
    scores, aspect = m.AspectScore.alias(), m.Aspect.alias()
    judge = scores.judge != m.COMPUTED_JUDGE if metric.spreads else scores.judge == m.COMPUTED_JUDGE
    if by is not None:
        judge = one_of(scores.judge, judges_meant(store, by))
    return (
        scores.select(pw.fn.MAX(scores.value))
        .join(aspect, on=(aspect.id == scores.aspect))
        .where((scores.conversation == m.Conversation.id) & (aspect.name == metric.name) & judge)
    )


def _read(store: Store, condition: Any, notes: Mapping[int, Sequence[Note]]) -> Iterable[Call]:
    call = m.Conversation
    stop, final_state, final_status = m.Label.alias(), m.Label.alias(), m.Label.alias()
    failure, last_ok, first_failed = m.CallFailure, m.State.alias(), m.State.alias()
    detail, failed_with, tool = m.Label.alias(), m.Label.alias(), m.Label.alias()
    scores = [m.AspectScore.alias() for _ in _SHOWN_ASPECTS]
    query = (
        call.select(
            call.id, m.Run.name, call.name, m.Flow.name, m.Agent.name, m.Persona.name, m.Scenario.name, call.trial,
            call.started_at, call.duration_s, call.completed, stop.name, final_state.name, final_status.name,
            call.errored, call.error, call.error_count, call.defects, *(score.value for score in scores),
            failure.kind, last_ok.name, first_failed.name, detail.name, failed_with.name, m.Caller.name, call.caller_ok,
            call.success, call.lost, failure.who, failure.turn, failure.t, failure.list, failure.place, tool.name,
            *differing(),
        )
        .join(m.Run, on=(m.Run.id == call.run))
        .join(m.Flow, on=(m.Flow.id == call.flow))
        .join(m.Agent, on=(m.Agent.id == call.agent))
        .join(m.Persona, pw.JOIN.LEFT_OUTER, on=(m.Persona.id == call.persona))
        .join(m.Scenario, pw.JOIN.LEFT_OUTER, on=(m.Scenario.id == call.scenario))
        .join(m.Caller, pw.JOIN.LEFT_OUTER, on=(m.Caller.id == call.caller))
        .join(stop, pw.JOIN.LEFT_OUTER, on=(stop.id == call.stop_reason))
        .join(final_state, pw.JOIN.LEFT_OUTER, on=(final_state.id == call.final_state))
        .join(final_status, pw.JOIN.LEFT_OUTER, on=(final_status.id == call.final_status))
        .join(failure, pw.JOIN.LEFT_OUTER, on=((failure.conversation == call.id) & ~call.errored))
        .join(last_ok, pw.JOIN.LEFT_OUTER, on=(last_ok.id == failure.last_ok))
        .join(first_failed, pw.JOIN.LEFT_OUTER, on=(first_failed.id == failure.state))
        .join(detail, pw.JOIN.LEFT_OUTER, on=(detail.id == failure.detail))
        .join(failed_with, pw.JOIN.LEFT_OUTER, on=(failed_with.id == failure.error))
        .join(tool, pw.JOIN.LEFT_OUTER, on=(tool.id == failure.tool))
    )  # fmt: skip
    for name, score in zip(_SHOWN_ASPECTS, scores, strict=True):
        mine = (score.conversation == call.id) & (score.judge == m.COMPUTED_JUDGE)
        aspect = m.Aspect.select(m.Aspect.id).where(m.Aspect.name == name)
        query = query.join(score, pw.JOIN.LEFT_OUTER, on=(mine & (score.aspect == aspect)))
    calls = [_call(row) for row in store.execute(query.where(condition))]
    marked = marks(store, {call.id: notes[call.id] for call in calls if call.failure is not None and call.id in notes})
    if not marked:
        return calls
    states = names_of(store, DIMENSIONS["state"])
    return [replace(call, **marked[call.id].told(states)) if call.id in marked else call for call in calls]


def _call(row: Sequence[Any]) -> Call:
    failed, last_ok, first_failed, detail, failed_with, caller, caller_ok, *others = row[21:]
    success, lost, who, turn, t, listed, place, tool, *differs = others
    return Call(
        id=row[0], run=row[1], conversation=row[2], flow=row[3], agent=row[4], persona=row[5], scenario=row[6],
        trial=row[7], started_at=row[8], duration_s=row[9], completed=None if row[10] is None else bool(row[10]),
        stop_reason=row[11], final_state=row[12], final_status=row[13], errored=bool(row[14]), error=row[15],
        error_count=row[16], defects=row[17], correctness=row[18], turn_count=row[19], latency_p95=row[20],
        told_by=names_needed((row[3], row[4], row[7]), differs),
        failure=failed, failure_detail=detail, failure_error=failed_with,
        success=None if success is None else bool(success), lost=None if lost is None else bool(lost),
        who=who, turn=turn, t=t, listed=listed, place=place, failed_tool=tool,
        caller=caller, caller_ok=None if caller_ok is None else bool(caller_ok),
        last_ok=None if failed is None else last_ok or UNNAMED["last_ok"],
        first_failed=None if failed is None else first_failed or UNNAMED["first_failed"],
    )  # fmt: skip


def sorted_calls(store: Store, calls: Predicate | None, sort: str) -> SortedCalls | None:
    """Return the keys of calls in order, `None` unless there are very many and columns have what they are sorted by."""
    key = _sort_key(store, calls, sort.removeprefix("-")) if is_packed(store.execute_sql) else None
    if key is None:
        return None
    from riff_store.arrays.ordering import SortedCalls

    return SortedCalls(store, calls, key, down=sort.startswith("-"))


def _sort_key(store: Store, calls: Predicate | None, column: str) -> SortKey | None:
    from riff_store.arrays.ordering import SortKey

    name, judge = split_name(column)
    if column in (*PLAIN, *_KEPT):
        return SortKey(figure=column) if column in CALLS else None
    if column in DIMENSIONS:
        dimension = DIMENSIONS[column]
        return SortKey(dimension=dimension.key, names=names_of(store, dimension)) if dimension.key in CALLS else None
    field = sortable(name, judge)
    if field is None or field.name in POOLED:
        return None
    if field.level == "state":
        return SortKey(state=field.name, about=about_states(calls)) if field.name in STATES else None
    aspects = [key for key, text in store.execute(m.Aspect.select(m.Aspect.id, m.Aspect.name)) if text == field.name]
    judges = judges_meant(store, judge) if field.spreads else {m.COMPUTED_JUDGE}
    return SortKey(scores=[(aspect, judge) for aspect in aspects for judge in sorted(judges)])


def sortable(name: str, judge: str | None) -> Field | None:
    """Return the field that calls can be sorted by, of one judge where it spreads over judges."""
    field = field_named(name)
    if field is None or field.kind != "number" or field.level == "row" or not (judge is None or field.spreads):
        return None
    return field


def about_states(calls: Predicate | None) -> Predicate | None:
    """Return the parts of a filter that are about states alone."""
    found: list[Predicate] = []
    for part in conjuncts(calls):
        if isinstance(part, And):
            inner = about_states(part)
            found += [] if inner is None else [inner]
        elif all(term.field is not None and field_of(term.field).level == "state" for term in terms(part)):
            found.append(part)
    return all_of(found)
