"""Show a list of calls, whose rows may be read as they come into view."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from riff_store.vocabulary import ALIASES, MARKED, START
from riff_tui.errors import UsageError
from riff_tui.shapes import COUNT, NUMBER, TEXT, list_of, or_null, record
from riff_tui.table import Column, LazyRows, Row, Severity, Table, in_one_step
from riff_tui.view_query import ViewQuery, sort_column
from riff_tui.views.parts import cells, columns
from riff_tui.views.parts.cells import FAILURE_DETAIL, kind_text
from riff_tui.views.spec import EMPTY_STORE, Filters, Screen, ViewSpec, Words

if TYPE_CHECKING:
    from riff_store.filters.predicates import Predicate
    from riff_store.queries.calls import CallList
    from riff_store.queries.conversations import Call

COUNTING = "counting the calls"
LOOKED_AT = 50_000
"""Of more calls than these a screen shows the first that match before all are counted."""
BEGUN = 1024
"""So many of them at most."""
COLUMNS: Sequence[Column] = (
    columns.RUN,
    columns.CONVERSATION,
    columns.FLOW,
    columns.AGENT,
    columns.PERSONA,
    columns.SCENARIO,
    Column("trial", "Trial", kind="count", help="Which repeat of the same flow, scenario and persona it is."),
    Column(
        "started_at",
        "Started (UTC)",
        kind="time",
        shown=False,
        help="When the call started.",
        get=lambda call: cells.moment(call.started_at),
    ),
    Column("duration_s", "dur(s)", unit="s", shown=False, help="How long the call took."),
    Column("completed", "completed", kind="flag", better="higher", help="Whether the flow ran to its own end."),
    Column("stop_reason", "Stop", kind="name", help="Why the call ended."),
    Column("final_state", "Final state", kind="name", help="The state that it ended in."),
    Column("final_status", "Status", kind="name", help="The status that the flow reported."),
    Column("errored", "errored", kind="flag", help="A broken agent or backend: the call is not counted in averages."),
    Column("correctness", "correctness", unit="0-10", better="higher", strong=True, help=columns.CORRECTNESS.help),
    Column("latency_p95", "lat_p95", unit="s", better="lower", help="95th percentile of the call's turn latencies."),
    Column("turn_count", "turns", unit="turns", decimals=0, help="Agent turns in the call."),
    Column("success", "success", kind="flag", better="higher", shown=False, help="Served, correct and complete."),
    Column("failed", "failed", kind="flag", better="lower", shown=False, help="Known to be no success."),
    Column(
        "lost", "lost", kind="flag", better="lower", shown=False, help="Failed where it ended: given up, handed over."
    ),
    Column("first_failed", "First failed", kind="name", shown=False, help="The state that is blamed for it."),
    Column(
        "kind",
        "Failure",
        kind="name",
        help="What went wrong there: an error, a dead end, a loop.",
        get=lambda call: call.failure,
    ),
    Column("last_ok", "Last good", kind="name", shown=False, help="The state of the visit before that one."),
    FAILURE_DETAIL._replace(key="detail", get=lambda call: call.failure_detail),
    Column(
        "failure_error",
        "Failed with",
        kind="text",
        said=True,
        shown=False,
        help="Its message without numbers and names.",
    ),
    Column("failed_tool", "Tool", kind="name", shown=False, help="The tool that is blamed for it."),
    Column("who", "Who", kind="name", shown=False, help="Whose fault it was: the agent's, the caller's, a backend's."),
    Column("moment", "Moment", kind="object", shown=False, help="The turn and the second at which it went wrong."),
    Column("verdict", "Verdict", kind="name", help="What people say: pass, fail, or split where they differ."),
    Column("codes", "Codes", kind="text", said=True, help="What people say went wrong."),
    Column("noted_by", "Noted by", kind="text", said=True, shown=False, help="Who wrote on the call."),
    Column(
        "notes",
        "notes",
        kind="count",
        shown=False,
        get=lambda call: len(call.notes),
        help="Notes in effect on the call.",
    ),
    Column("error_count", "errs", kind="count", better="lower", shown=False, help="Errors during the call."),
    Column("defects", "defects", kind="count", better="lower", shown=False, help="Defects of its event stream."),
    Column("error", "Error", kind="text", said=True, shown=False, help="Why the call was errored."),
    columns.CALLER._replace(shown=False),
    Column(
        "caller_ok",
        "caller ok",
        kind="flag",
        better="higher",
        shown=False,
        help="Whether the caller kept to its part; if not, the call is not counted in averages.",
    ),
)

_FOLDED = ("verdict", "codes")


def show(query: ViewQuery) -> Table:
    """Return the calls, sorted by the store; where counting takes long, at first only those that are first."""
    from riff_store.queries.calls import CallList

    sort, calls, request = _sort_key(query.request.sort, query.spec.columns), query.parts().calls, query.request
    if sort is not None:
        return _list_of(query, calls, _in_order(query, calls, sort), sort)
    listed = CallList(query.store, calls)
    if request.limit is not None:
        # All are counted in any case, and if that is done first, only runs that have some are looked through.
        listed.settle()
        return _list_of(query, calls, listed.first(request.limit), matched=len(listed))
    if request.defer and not listed.is_counted and listed.at_most > LOOKED_AT:
        begun = listed.first(BEGUN, LOOKED_AT)
        if begun:
            return _list_of(query, calls, begun)._replace(
                deferred=partial(in_one_step, COUNTING, partial(_counted, query, calls, listed)),
            )
    return _counted(query, calls, listed)


def of_calls(query: ViewQuery, keys: Sequence[int]) -> Table:
    """Return the list of some calls, in the order of their keys, the newest of which may be found first."""
    from riff_store.queries.conversations import calls_of
    from riff_store.queries.sums import typed_flows

    with query.store.snapshot():
        typed = typed_flows(query.store)
        found = calls_of(query.store, keys)
    rows = [row(call, typed=call.flow in typed) for call in found]
    return conversations(rows, noted=any(call.notes for call in found))


def _counted(query: ViewQuery, calls: Predicate | None, listed: CallList) -> Table:
    with query.store.snapshot():
        listed.settle()
        return _list_of(query, calls, listed)


def _in_order(query: ViewQuery, calls: Predicate | None, sort: str) -> Sequence[int]:
    from riff_store.queries.conversations import ordered_ids

    try:
        return ordered_ids(query.store, calls, sort, query.request.limit)
    except UsageError:
        keys = ", ".join(column.key for column in query.spec.columns)
        raise UsageError(f"--sort: calls have no column {query.request.sort}; there are {keys}") from None


def _list_of(
    query: ViewQuery, calls: Predicate | None, keys: Sequence[int], sort: str = "", matched: int | None = None
) -> Table:
    """Return the list of calls of some keys, which are read page by page as they are touched."""
    from riff_store.filters.notes import notes_by_call
    from riff_store.queries.conversations import calls_of, count_conversations, has_any
    from riff_store.queries.sums import typed_flows

    store, limit = query.store, query.request.limit

    def fetch(offset: int, limit: int) -> list[Row]:
        wanted = keys[offset : offset + limit]
        typed = typed_flows(store)
        found = {call.id: row(call, typed=call.flow in typed) for call in calls_of(store, wanted)}
        # A key may be gone since it was read, and since they were counted even its place.
        lost = (gone(place) for place in range(offset + len(wanted), offset + limit))
        return [*(found.get(key) or gone(key) for key in wanted), *lost]

    noted = notes_by_call(store).keys()
    is_noted = not noted.isdisjoint(keys) if limit is not None else has_any(store, noted, calls)
    find = getattr(keys, "place_of", None)
    table = conversations(LazyRows(len(keys), fetch, keys, find), noted=is_noted)
    if matched is None:
        matched = len(keys) if limit is None else count_conversations(store, calls)
    total = count_conversations(store)
    return table._replace(
        notes=[] if total else [EMPTY_STORE],
        total=total,
        matched=matched,
        limit=limit,
        sort=sort,
    )


def _sort_key(sort: str | None, known: Sequence[Column]) -> str | None:
    """Return the column as queries call it; a metric of states is none of the list's but can be sorted by."""
    if sort is None:
        return None
    try:
        key = sort_column(known, sort).key
    except UsageError:
        name = sort.removeprefix("-")
        key = ALIASES.get(name.lower(), name)
    return f"-{key}" if sort.startswith("-") else key


def conversations(calls: Sequence[Row], *, noted: bool = True) -> Table:
    """Return the list of rows that `row` made; if none is `noted` what people say is there to be chosen alone."""
    shown = [each._replace(shown=each.shown and (noted or each.key not in _FOLDED)) for each in COLUMNS]
    identity = ("run", "conversation")
    return Table(view="conversations", title="Conversations", columns=shown, rows=calls, identity=identity)


def row(call: Call, *, typed: bool = False) -> Row:
    """Return one call as a line of the list, its latency marked unless it was `typed`."""
    record = record_of(call)
    where = cells.call_where(call)
    display = {"kind": ""} if call.success else {}
    return Row(where, record, display=display, severity=_marks(call, record, typed=typed), where=where)


def gone(key: int) -> Row:
    """Return the line of a call that was taken out of the store since the list was made."""
    return Row(f"gone {key}", {}, display={"conversation": "(gone)"}, thin=True)


def record_of(call: Call) -> dict[str, Any]:
    """Return what is known of a call at large."""
    return cells.record_by_columns(COLUMNS, call)


def failure_text(call: Mapping[str, Any], *, is_short: bool = False) -> str:
    """Return in words what went wrong in a failed call, such as `Failed in triage: dead end, after greet`.

    If it `is_short` it begins with what went wrong: `dead end in triage, after greet`.
    """
    kind = call["kind"]
    if kind == "none":
        return "Failed, and no event shows where"
    before = "from the start" if call["last_ok"] == START else f"after {call['last_ok']}"
    if kind == MARKED:
        code = f": {call['detail']}" if call["detail"] else ""
        return f"Failed in {call['first_failed']} (marked){code}, {before}"
    what = kind_text(kind, call["detail"])
    if is_short:
        return f"{what} in {call['first_failed']}, {before}"
    return f"Failed in {call['first_failed']}: {what}, {before}"


def caller_texts(call: Mapping[str, Any]) -> list[str]:
    """Return in words what played the caller and whether it kept to its part, nothing if neither is known."""
    named = f"caller {call['caller']}" if call.get("caller") else "caller"
    if call.get("caller_ok") is False:
        why = (call.get("error") or "").removeprefix("caller:").strip()
        return [f"{named} failed{f': {why}' if why else ''}"]
    if call.get("caller_ok"):
        return [f"{named} kept to its part"]
    return [named] if call.get("caller") else []


def _marks(call: Call, record: dict[str, Any], *, typed: bool) -> dict[str, Severity]:
    marks: dict[str, Severity] = {}
    if call.errored:
        # An errored call shows nothing about the flow, so nothing of it is held against it.
        return {"caller_ok": "warn"} if call.caller_ok is False else {"errored": "warn"}
    marks |= cells.score_marks(record, ("correctness",))
    if call.completed is False:
        marks["completed"] = "bad"
    latency = None if typed else cells.latency_mark(call.latency_p95)
    if latency:
        marks["latency_p95"] = latency
    if call.error_count:
        marks["error_count"] = "warn"
    if call.verdict in ("fail", "split"):
        marks["verdict"] = "bad" if call.verdict == "fail" else "warn"
    graver = cells.worst_of(mark for key, mark in marks.items() if key in ("correctness", "completed"))
    if graver or call.success is False:
        marks[""] = graver or "bad"
    return marks


BLAME = {
    **dict.fromkeys(("state", "detail", "error", "who", "tool"), or_null(TEXT)),
    "kind": TEXT,
    "moment": or_null(record({**dict.fromkeys(("turn", "row"), or_null(COUNT)), "t": or_null(NUMBER)})),
}
CALL_ROW = {
    **dict.fromkeys(("run", "conversation", "flow", "agent"), TEXT),
    "moment": or_null(record({"turn": or_null(COUNT), "t": or_null(NUMBER)})),
    "codes": or_null(list_of(TEXT)),
    "noted_by": or_null(list_of(TEXT)),
}


SPEC = ViewSpec(
    name="conversations",
    title="Conversations",
    help=(
        "The calls behind a place, in order of run, flow and id unless sorted.",
        "Errored ones are listed, but not counted in averages: a broken backend is not the flow's fault.",
        "A metric of a state in the filter, such as stall=1, finds calls by what happened in them.",
    ),
    order=50,
    show=show,
    of_calls=of_calls,
    rows=CALL_ROW,
    columns=COLUMNS,
    filters=Filters(calls=True),
    order_by="run",
    first=(
        "verdict",
        "codes",
        "kind",
        "stop_reason",
        "turn_count",
        "latency_p95",
        "final_state",
        "persona",
        "completed",
        "correctness",
        "final_status",
    ),
    last=("scenario", "run", "trial", "errored"),
    row_kind="call",
    comparable=True,
    words=Words(nouns=("conversation", "conversations"), empty_store=""),
    screen=Screen(
        key="4",
        help="The conversations behind this place; press again for more.",
        depth=3,
        below="conversation",
        walk=("flow", "agent", "segment", "state"),
    ),
)
