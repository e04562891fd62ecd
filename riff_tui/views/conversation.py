"""Show one call as it went: the proof behind a cell of a matrix."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeGuard

from riff_store.filters.predicates import Predicate, Term, all_of, conjuncts
from riff_store.metrics import metric_of
from riff_store.vocabulary import MARKED
from riff_tui.errors import UsageError
from riff_tui.shapes import ANY, COUNT, COUNTS, FLAG, NUMBER, TEXT, Shape, by_name, list_of, or_null, record
from riff_tui.table import Column, Row, Severity, Table
from riff_tui.text.numbers import fixed
from riff_tui.text.safe_text import shell_quoted
from riff_tui.timeline_events import Entry, Moment, duration, entries, moments, name, number, spans
from riff_tui.view_query import FilterParts, ViewQuery
from riff_tui.views.conversations import BLAME, CALL_ROW, COLUMNS, caller_texts, failure_text, record_of
from riff_tui.views.parts import cells, columns, moment_details, notes
from riff_tui.views.parts.moment_details import CallWords, Redact, detail_of, failed, tell_repeats
from riff_tui.views.spec import Filters, Screen, ViewSpec, Words, shapes_of

if TYPE_CHECKING:
    from riff_store.database import Store
    from riff_store.queries.conversation import CallDetail, VisitedState
    from riff_store.queries.conversations import Call

NAMED = 3
NAMED_ALIKE = 8
_MOST = 200
_COLUMNS: Sequence[Column] = (
    Column("t", "t(s)", unit="s", help="Seconds since the call started."),
    Column(
        "kind", "Kind", kind="name", help="turn, state, slot, guard, tool or retried; step: one that the task asks for."
    ),
    Column("state", "State", kind="name", help="The state that the call was in."),
    Column("role", "Who", kind="name", help="agent or caller."),
    Column("text", "Text", kind="text", said=True, help="What was said."),
    Column("latency_ms", "latency(ms)", unit="ms", better="lower", decimals=0, help="How long the agent took."),
    Column("detail", "Detail", kind="text", help="The slot, the guard, the tool; of a turn, which judges named it."),
)
NO_TEXT_KEPT = "The store keeps no transcript of this call; ingest it without --no-text to see its turns."
TEXT_LEFT_OUT = "What was said and collected is left out; --text puts it in, redacted."


def show(query: ViewQuery) -> Table:
    """Return the call with what was said in it, if that is asked for; raises `UsageError` if it is not one call."""
    from riff_store.queries.conversation import conversation as asked
    from riff_tui.text.redaction import LIMITS, Redactor

    request = query.request
    call = find_call(query.store, query.predicate)
    detail = asked(query.store, call)
    if detail is None:
        raise UsageError(f"conversation {call.conversation} of run {call.run} is gone; run it again")
    table = conversation(detail, text=request.text, redact=Redactor() if request.redact else None)
    if request.text and request.redact:
        table = table._replace(notes=[*table.notes, LIMITS])
    table = query.result(FilterParts(), lambda _: table)
    return table if request.around is None else _around(table, request.around)


def _around(table: Table, many: int) -> Table:
    """Return a call with no more than so many rows before and after the one that is blamed, else with its last ones."""
    blame = table.extras["blame"]
    at = blame["moment"]["row"] if blame and blame["moment"]["row"] is not None else len(table.rows) - 1
    first = max(0, at - many)
    rows = table.rows[first : at + many + 1]
    times = [row.record["t"] for row in rows if row.record["t"] is not None]
    states = {row.record["state"] for row in rows}

    def is_near(entry: Mapping[str, Any]) -> bool:
        return entry["t"] is None or (bool(times) and times[0] <= entry["t"] <= times[-1])

    extras = {**table.extras, "visits": [each for each in table.extras["visits"] if each["state"] in states]}
    extras |= {key: [each for each in extras[key] if is_near(each)] for key in _OF_MOMENTS}
    if blame and blame["moment"]["row"] is not None:
        extras["blame"] = {**blame, "moment": {**blame["moment"], "row": at - first}}
    return table._replace(rows=rows, extras=extras)


def call_named(store: Store, where: str, unnamed: str) -> CallDetail:
    """Return the one call that a filter selects; raise `UsageError`, with `unnamed` if there is no filter."""
    from riff_store.queries.conversation import conversation
    from riff_tui.filters.parser import parse

    predicate = parse(where)
    if predicate is None:
        raise UsageError(unnamed)
    call = find_call(store, predicate)
    detail = conversation(store, call)
    if detail is None:
        raise UsageError(f"conversation {call.conversation} of run {call.run} is gone; run it again")
    return detail


def find_call(store: Store, predicate: Predicate | None) -> Call:
    """Return the call; the beginning of its id, or the id as a bare word, is enough where no other has it.

    Raises `UsageError` with what to type instead.
    """
    from riff_store.queries.conversations import conversations, count_conversations

    if predicate is None:
        one = "riff-tui dump conversation --where 'run=R conversation=C'"
        raise UsageError(f"conversation needs to know which one: {one}")
    found, parts = conversations(store, predicate, limit=_MOST), conjuncts(predicate)
    if not found:
        # Ids only have to contain what was asked for, and then to begin with it.
        loosened = all_of([replace(each, operator="contains") if _names_id(each) else each for each in parts])
        beginnings = tuple(str(each.value) for each in parts if _names_id(each))
        alike = conversations(store, loosened, limit=_MOST) if beginnings else []
        found = [call for call in alike if all(call.conversation.startswith(text) for text in beginnings)]
    elif len(found) > 1:
        found = _named_by_word(found, predicate) or found
    if len(found) == 1:
        return found[0]
    if not found:
        from riff_tui.filters.nearest_names import unknown_names

        unknown = "; ".join(said.rstrip(".") for said in unknown_names(store, predicate))
        lists = "riff-tui dump conversations lists what there is"
        raise UsageError(f"no call matches this filter; {unknown or lists}")
    most = NAMED_ALIKE if len({(call.run, call.conversation) for call in found}) == 1 else NAMED
    few = " or ".join(shell_quoted(cells.call_where(call)) for call in found[:most])
    total = count_conversations(store, predicate) or len(found)
    raise UsageError(f"{total} calls match this filter; name one of them, such as {few}")


def _named_by_word(found: list[Call], predicate: Predicate) -> list[Call]:
    """Return the one of several calls that is called exactly like a bare word or a part of an id."""
    held = [part for part in conjuncts(predicate) if isinstance(part, Term) and part.operator == "contains"]
    words = {part.value for part in held if part.field in (None, "conversation")}
    named = [call for call in found if call.conversation in words]
    return named if len(named) == 1 else []


_OF_MOMENTS = ("turns", "slots", "guards", "tool_calls")
_OF_VISIT = "state segment progress stall escalation revisit dwell_turns latency_p95_ms guard_error slot_fill_rate slow"


def _names_id(part: Predicate) -> TypeGuard[Term]:
    return isinstance(part, Term) and part.field == "conversation" and part.operator == "="


def conversation(detail: CallDetail, *, text: bool = True, redact: Redact | None = None) -> Table:
    """Return the call's moments as rows; its facts, visits, slots, guards, tool calls and aspects as extras.

    Without `text` nothing that a caller or a model said or that was collected from it is in the table;
    `redact` is applied to all of it.
    """
    from riff_store.voice import voice_of
    from riff_tui.charts.transcript import Transcript
    from riff_tui.charts.visit_timeline import VisitTimeline

    words = CallWords(text, redact)
    found = moments(detail.document)
    entered = [moment.state for moment in found if moment.kind == "state"]
    visits = sorted(
        detail.states, key=lambda visit: entered.index(visit.state) if visit.state in entered else len(entered)
    )
    call = detail.call
    ends = call.duration_s if call.duration_s is not None and call.duration_s >= 0 else None
    timeline = VisitTimeline.of(spans(detail.document, ends), found, call.first_failed)
    voice = voice_of(detail.document)
    table = Table(
        view="conversation",
        title=f"Conversation {call.conversation} of run {call.run}",
        columns=_COLUMNS,
        rows=_rows(detail, found, words),
        notes=_notes(detail, visits, found, words),
        extras=_extras(detail, visits, found, words),
        figure=timeline,
        prose=Transcript(
            [
                *_facts(detail, words),
                *notes.verdict_lines(detail.verdicts, words)[:1],
                *(notes.note_line(note, words) for note in detail.notes),
            ]
        ),
    )
    if voice is not None:
        from riff_tui.views.parts.voice_call import with_voice

        table = with_voice(table, voice, words)
    table = notes.at_moments(table, detail.notes, words)
    table = moment_details.with_steps(table, moment_details.taken_steps(detail, found), detail, words)
    return _with_blame(table, detail, found, words)


def _with_blame(table: Table, detail: CallDetail, found: Sequence[Moment], words: CallWords) -> Table:
    """Return the table with what is blamed for the failure, whose row is marked and where a cursor begins."""
    call = detail.call
    if call.failure is None:
        return table._replace(extras={**table.extras, "blame": None})
    blamed = str(at + 1) if (at := _blamed(call, detail.document, found)) is not None else ""
    place = next((nr for nr, row in enumerate(table.rows) if row.id == blamed), None)
    blame = {
        "state": call.first_failed,
        "kind": call.failure,
        "detail": _detail(call, words),
        "error": words(call.failure_error),
        "who": call.who,
        "tool": call.failed_tool,
        "moment": {"turn": call.turn, "t": call.t, "row": place},
    }
    rows = [*table.rows]
    if place is not None:
        rows[place] = rows[place]._replace(severity={**rows[place].severity, "": "bad"})
        entered = [
            at
            for at, row in enumerate(rows[: place + 1])
            if row.record.get("kind") == "state" and row.record.get("state") == call.first_failed
        ]
        if entered:
            divider = rows[entered[-1]]
            said = f"first failed here: {cells.kind_text(call.failure, _detail(call, words))}"
            rows[entered[-1]] = divider._replace(record={**divider.record, "blame": said})
    begin = table.begin or (blamed if place is not None else "")
    return table._replace(rows=rows, begin=begin, extras={**table.extras, "blame": blame})


def _detail(call: Call, words: CallWords) -> str | None:
    """Return the detail of what is blamed; an answer that was never given is words, as what was said is."""
    return words(call.failure_detail) if call.failure == "missing answer" else call.failure_detail


def _blamed(call: Call, document: Mapping[str, object] | None, found: Sequence[Moment]) -> int | None:
    """Return the place among the moments of what is blamed: the last one if that is the end of the call."""
    if not found:
        return None
    if call.listed is None and call.turn is not None and call.failure == MARKED:
        turns = [at for at, moment in enumerate(found) if moment.kind == "turn"]
        return turns[min(call.turn, len(turns)) - 1] if turns and call.turn > 0 else None
    if call.listed is None or call.place is None:
        return len(found) - 1
    # An exit has no moment of its own: what came next represents it.
    later = {id(entry) for entry in entries(document, call.listed)[call.place :]}
    return next((at for at, moment in enumerate(found) if id(moment.entry) in later), len(found) - 1)


def _rows(detail: CallDetail, found: Sequence[Moment], words: CallWords) -> list[Row]:
    """Return the moments; turns that judges named show by whom, if the transcript has turns to be counted."""
    named = notes.named_turns(detail.verdicts) if entries(detail.document, "turns") else {}
    turns = 0
    rows = []
    for number_, moment in enumerate(found, 1):
        turns += moment.kind == "turn"
        rows.append(_row(number_, moment, words, named.get(turns), typed=detail.typed))
    tell_repeats(rows)
    if rows:
        rows[-1] = _with_end(rows[-1], detail.call)
    return rows


def _with_end(row: Row, call: Call) -> Row:
    """Return the last moment with how the call ended."""
    if not call.stop_reason:
        return row
    where = f" in {call.final_state}" if call.final_state else ""
    status = f" · status {call.final_status}" if call.final_status else ""
    marks = row.severity if call.success is not False else {**row.severity, "ended": "bad"}
    return row._replace(record={**row.record, "ended": f"ended: {call.stop_reason}{where}{status}"}, severity=marks)


def _row(number_: int, moment: Moment, words: CallWords, named: str | None, *, typed: bool) -> Row:
    entry = moment.entry
    turn = moment.kind == "turn"
    record = {
        **cells.values_of(moment, "t kind state"),
        "role": name(entry.get("role")) if turn else name(entry.get("by")) if moment.kind == "tool" else None,
        "text": words(name(entry.get("text"))) if turn else None,
        "latency_ms": duration(entry.get("latency_ms")) if turn else None,
        "detail": named if turn else detail_of(moment, words),
    }
    # What a moment cannot have is left blank; the sign for "not measured" is kept for what it could have had.
    can_have = {"latency_ms"} if record["role"] == "agent" and turn else set()
    blank = {key: "" for key, value in record.items() if value is None and key not in {"t", "state", *can_have}}
    if moment.kind == "tool" and (result := words(entry.get("result"))) is not None:
        record["result"] = result
    return Row(str(number_), record, display=blank, severity=_marks(moment, record, typed=typed))


def _marks(moment: Moment, record: Mapping[str, Any], *, typed: bool) -> dict[str, Severity]:
    latency = record["latency_ms"]
    mark = cells.latency_mark(None if latency is None or typed else latency / 1000)
    if mark:
        return {"latency_ms": mark, "": mark}
    is_bad = moment.kind in ("guard", "tool") and failed(moment.entry.get("error"))
    return {"detail": "bad", "": "bad"} if is_bad else {}


def _extras(
    detail: CallDetail, visits: Sequence[VisitedState], found: Sequence[Moment], words: CallWords
) -> dict[str, Any]:
    interaction = columns.interaction_record(detail.interaction)
    of_kind = {kind: [moment for moment in found if moment.kind == kind] for kind in ("slot", "guard", "tool")}
    return {
        "call": record_of(detail.call)
        | {"detail": _detail(detail.call, words)}
        | {key: words(getattr(detail.call, key)) for key in ("error", "failure_error", "noted_by")},
        "aspects": {
            "computed": dict(detail.aspects),
            "judged": [notes.verdict_record(verdict, words) for verdict in detail.verdicts],
            "stored": _stored(detail.document),
        },
        **({"interaction": interaction} if interaction else {}),
        "annotations": [notes.note_record(note, words) for note in detail.notes],
        "visits": [cells.values_of(state, _OF_VISIT) | {"to_states": dict(state.to_states)} for state in visits],
        "turns": [_turn(turn, words) for turn in entries(detail.document, "turns")],
        "slots": _slots(detail.document, of_kind["slot"], words),
        "guards": [
            {
                "t": moment.t,
                "state": moment.state,
                "guard": name(moment.entry.get("guard")),
                "result": words(moment.entry.get("result")),
                "error": _error(moment.entry.get("error"), words),
            }
            for moment in of_kind["guard"]
        ],
        "tool_calls": [
            {
                "t": moment.t,
                "state": moment.state,
                "name": name(moment.entry.get("name")),
                "by": name(moment.entry.get("by")) or "agent",
                "arguments": words(moment.entry.get("arguments")),
                "error": _error(moment.entry.get("error"), words),
                "result": words(moment.entry.get("result")),
            }
            for moment in of_kind["tool"]
        ],
        "source": {"path": detail.source_path, "line": detail.source_line},
    }


def _error(error: object, words: CallWords) -> Any:
    """Return what went wrong; without words, that something did."""
    return words(error) if words.wanted or not failed(error) else True


def _turn(turn: Entry, words: CallWords) -> dict[str, Any]:
    return {
        "t": number(turn.get("t")),
        "role": name(turn.get("role")),
        "state": name(turn.get("state")),
        "latency_ms": duration(turn.get("latency_ms")),
        "text": words(name(turn.get("text"))),
    }


def _slots(document: Mapping[str, object] | None, filled: Sequence[Moment], words: CallWords) -> list[dict[str, Any]]:
    if filled:
        return [
            cells.values_of(each, "t state")
            | {"slot": name(each.entry.get("slot")), "value": words(each.entry.get("value"))}
            for each in filled
        ]
    at_the_end = document.get("slots") if document else None
    if not isinstance(at_the_end, Mapping):
        return []
    return [{"t": None, "state": None, "slot": slot, "value": words(value)} for slot, value in at_the_end.items()]


def _stored(document: Mapping[str, object] | None) -> dict[str, float | bool]:
    """Return the figures that the source of a call kept itself and that are others than ours."""
    found = document.get("stored") if document else None
    given = found.items() if isinstance(found, Mapping) else ()
    return {key: value for key, value in given if isinstance(value, bool) or number(value) is not None}


def _facts(detail: CallDetail, words: CallWords) -> list[str]:
    """Return who took part and how the call ended, what it scored, and which steps of its task it took."""
    call = detail.call
    caller = caller_texts({**record_of(call), "error": words(call.error)})
    metrics = {aspect: metric_of(aspect) for aspect in detail.aspects}
    decimals = {aspect: 1 if metric is None else metric.decimals for aspect, metric in metrics.items()}
    stored = {key: _figure(value, decimals.get(key, 0)) for key, value in _stored(detail.document).items()}
    scores = (
        f"{aspect} {fixed(value, decimals[aspect])}" + (f" (stored {stored[aspect]})" if aspect in stored else "")
        for aspect, value in detail.aspects.items()
    )
    beside = [f"{key} {value}" for key, value in stored.items() if key not in detail.aspects]
    known = [("flow", call.flow), ("agent", call.agent), ("persona", call.persona), ("scenario", call.scenario)]
    heard = columns.interaction_text(columns.interaction_record(detail.interaction))
    ended = [("stop", call.stop_reason), ("final state", call.final_state), ("status", call.final_status)]
    return [
        " · ".join([*(f"{title} {value}" for title, value in [*known, *ended] if value), *caller]),
        f"Computed: {' · '.join(scores)}",
        *([f"Stored: {' · '.join(beside)}"] if beside else []),
        *([f"Interaction: {heard}"] if heard else []),
        *([f"{failure_text(record_of(call) | {'detail': _detail(call, words)})}."] if call.failure is not None else []),
        *([f"Steps: {moment_details.steps_summary(detail.steps)}."] if detail.steps else []),
    ]


def _figure(value: float | bool, fewest: int) -> str:
    """Return a figure of the source, with as many decimals as ours has and not less than it has itself."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    whole = fixed(value, 3, trim=True)
    return fixed(value, fewest) if len(whole.partition(".")[2]) < fewest else whole


def _notes(detail: CallDetail, visits: Sequence[VisitedState], found: Sequence[Moment], words: CallWords) -> list[str]:
    call = detail.call
    lines = _facts(detail, words)
    lines += [notes.note_line(note, words) for note in detail.notes]
    times = [moment.t for moment in found if moment.kind == "turn"]
    lines += notes.verdict_lines(detail.verdicts, words, times)
    lines += [_visit_line(state) for state in visits]
    if call.caller_ok is False:
        lines.append("Excluded: its caller failed, so the call is not counted in averages.")
    elif call.errored:
        why = words(call.error) or "the agent or its backend was broken"
        lines.append(f"Errored: {why}; the call is not counted in averages.")
    if detail.document is None:
        lines.append(NO_TEXT_KEPT)
    elif not words.wanted:
        lines.append(TEXT_LEFT_OUT)
    return lines


def _visit_line(state: VisitedState) -> str:
    parts = [word for word in ("progress", "stall", "escalation") if getattr(state, word)]
    parts += [f"revisit {state.revisit}", f"dwell {fixed(state.dwell_turns, 1)}"]
    if state.latency_p95_ms is not None:
        parts.append(f"lat_p95 {fixed(state.latency_p95_ms / 1000, 1)} s")
    if state.guard_error:
        parts.append(f"guard errors {state.guard_error}")
    if state.slot_fill_rate is not None:
        parts.append(f"slot_fill {fixed(state.slot_fill_rate, 2, trim=True)}")
    return f"{state.state} ({state.segment}): {' · '.join(parts)}"


_ROW: Mapping[str, Shape] = {
    **dict.fromkeys(("turn", "words_changed"), or_null(COUNT)),
    **dict.fromkeys(("turn_taking", "as_at"), or_null(NUMBER)),
    **dict.fromkeys(("changed", "reason", "meant", "heard", "blame", "ended"), or_null(TEXT)),
    "notes": or_null(list_of(TEXT)),
    "result": ANY,
}
_AT: Mapping[str, Shape] = {"t": or_null(NUMBER), "state": or_null(TEXT)}
_TOOL: Mapping[str, Shape] = {**dict.fromkeys(("name", "by"), or_null(TEXT)), "arguments": ANY, "error": ANY}
_TOP: Mapping[str, Shape] = {
    "call": record(shapes_of(COLUMNS, CALL_ROW)),
    "aspects": record({"computed": by_name(ANY), "judged": list_of(notes.VERDICT), "stored": by_name(ANY)}),
    "interaction": columns.INTERACTION_OF_CALL,
    "annotations": list_of(notes.NOTE),
    "visits": list_of(record({**dict.fromkeys(_OF_VISIT.split(), ANY), "to_states": COUNTS})),
    "turns": list_of(record({**_AT, "role": or_null(TEXT), "latency_ms": or_null(NUMBER), "text": or_null(TEXT)})),
    "slots": list_of(record({**_AT, "slot": or_null(TEXT), "value": ANY})),
    "guards": list_of(record({**_AT, "guard": or_null(TEXT), "result": ANY, "error": ANY})),
    "tool_calls": list_of(record({**_AT, **_TOOL, "result": ANY})),
    "source": record({"path": TEXT, "line": or_null(COUNT)}),
    "voice": {"type": "object"},
    "expected_steps": list_of(
        record({**_AT, "by": TEXT, **dict.fromkeys(("called", "matched"), FLAG), "asked": ANY, "given": ANY})
    ),
    "blame": or_null(record(BLAME)),
}
_ALWAYS = ("call", "aspects", "annotations", "visits", "turns", "slots", "guards", "tool_calls", "source", "blame")


SPEC = ViewSpec(
    name="conversation",
    title="One conversation",
    help=(
        "One call as it went: turns, states, slots, guards, tool calls; of a voice call its sound.",
        "The filter has to select it, such as run=R conversation=C; the beginning of an id is enough.",
        "A Markdown dump leaves out what was said unless --text asks for it, and redacts it then.",
    ),
    order=180,
    show=show,
    rows=_ROW,
    top=_TOP,
    sometimes=(*_ROW, *(key for key in _TOP if key not in _ALWAYS)),
    columns=_COLUMNS,
    filters=Filters(calls=True),
    text=True,
    words=Words(nouns=("conversation", "conversations"), empty_store=""),
    screen=Screen(kind="conversation", depth=4),
)
