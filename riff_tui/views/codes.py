"""Show the codes that people gave calls, with how much of what they failed each explains."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from riff_tui.table import Column, Row, Table
from riff_tui.text.numbers import counted, percent
from riff_tui.views.failure_matrix import EXAMPLE, counts_text
from riff_tui.views.parts import cells, columns
from riff_tui.views.spec import EMPTY_STORE, Screen, ViewSpec, Words

if TYPE_CHECKING:
    from riff_store.queries.codes import Code, Codes
    from riff_tui.view_query import ViewQuery

NAMED = 3
"""Names with their counts that a cell has room for."""
UNITS = (
    "Units: n calls with the code, from anybody · share of the calls that people failed, with its 95 % interval; a call"
    " may have several codes."
)
NO_CODE = (
    "No call here has a code: in the explorer s on a turn of a call gives one, riff-tui notes add does from a script."
)
_SHARE = columns.share("share", "share", help="Its share of the calls that people failed.")
_INTERVAL = columns.interval(_SHARE)
_COLUMNS = (
    Column("code", "Code", kind="name", help="What people called the failure."),
    Column("n", "n", kind="count", strong=True, help="Calls that have the code from anybody, without errored ones."),
    _SHARE,
    _INTERVAL,
    Column("states", "States", kind="object", help="Where people saw it, in how many calls; · is the whole call."),
    Column("agents", "Agents", kind="object", help="The agents that led the calls, with counts."),
    Column("authors", "Authors", kind="object", shown=False, help="Who gave the code to how many calls."),
    EXAMPLE,
    Column("flows", "Flows", kind="object", shown=False, help="The flows of the calls, with counts."),
    Column("failed_calls", "failed", kind="count", shown=False, help="Calls with the code that people failed."),
    Column("errored_calls", "errored", kind="count", shown=False, help="Errored calls with it, counted nowhere else."),
    Column("first_given", "First given (UTC)", kind="time", shown=False, help="When it was given first."),
    Column("last_given", "Last given (UTC)", kind="time", shown=False, help="When it was given last."),
)
_COUNTS = ("states", "agents", "authors", "flows")


def show(query: ViewQuery) -> Table:
    """Return the codes of the calls in scope; a filter of codes chooses rows, whose shares stay as they are."""
    from riff_store.queries.codes import codes as asked
    from riff_store.queries.conversations import count_conversations

    table = query.result(query.parts().of_rows_alone(), lambda parts: codes(asked(query.store, parts.calls)))
    if table.rows or table.counts.total:
        return table
    return replace(table, notes=[*table.notes, NO_CODE] if count_conversations(query.store) else [EMPTY_STORE])


def codes(answer: Codes) -> Table:
    """Return a row for each code, in the order of the answer."""
    return Table(
        view="codes",
        title="Codes (what people say went wrong, the most calls first)",
        columns=_COLUMNS,
        rows=[_row(code) for code in answer.codes],
        notes=list(_notes(answer)),
        extras={
            **cells.values_of(answer, "read failed uncoded errored"),
            "since_new_code": answer.since_new,
        },
    )


def _row(code: Code) -> Row:
    where = cells.where({"code": code.code})
    record: dict[str, Any] = {
        "code": code.code,
        "n": code.n,
        "share": code.share.mean,
        **{key: cells.named_counts(getattr(code, key)) for key in ("states", "agents", "authors")},
        "example": cells.call_where(code.example),
        "flows": cells.named_counts(code.flows),
        "failed_calls": code.failed_calls,
        "errored_calls": code.errored,
        "first_given": cells.moment(code.first_at),
        "last_given": cells.moment(code.last_at),
        "intervals": cells.intervals({"share": code.share}),
    }
    display = {
        **{key: _most(record[key]) for key in _COUNTS},
        **cells.interval_texts((_INTERVAL,), record),
        "example": code.example.conversation,
    }
    return Row(where, record, display, where=where)


def _most(counts: Mapping[str, int]) -> str:
    """Return the names that count most, and how many more there are."""
    more = len(counts) - NAMED
    if more <= 1:
        return counts_text(counts)
    return f"{counts_text(dict(list(counts.items())[:NAMED]))}, {more} more"


def _notes(answer: Codes) -> Iterator[str]:
    if not answer.read:
        return
    failed = f" and failed {answer.failed} ({percent(answer.failed / answer.read)})" if answer.failed else ""
    yield f"People read {answer.read} of these calls{failed}."
    if answer.uncoded:
        filter = "--where 'verdict=fail code=· errored=false'"
        yield f"Of those failed, {answer.uncoded} {'has' if answer.uncoded == 1 else 'have'} no code: {filter}."
    if answer.codes:
        if answer.since_new:
            yield f"No new code in the last {answer.since_new} of {answer.read} read calls."
        else:
            yield "The call that was read last brought a new code."
        yield UNITS
    if answer.errored:
        calls = counted(answer.errored, "errored call")
        yield f"Left out: {calls} with a code, which {'is' if answer.errored == 1 else 'are'} no failure of the flow."


SPEC = ViewSpec(
    name="codes",
    title="Codes",
    help=(
        "What people say went wrong, in codes: how many calls have each, where, and who says so.",
        "The share is over the calls that people failed, so it tells of those that were read, not of all calls.",
        "Drill into a code with conversations --where 'code=C'; riff-tui notes rename merges two.",
    ),
    order=97,
    show=show,
    keys=("code",),
    columns=_COLUMNS,
    words=Words(nouns=("code", "codes"), empty=NO_CODE, empty_store=""),
    screen=Screen(
        key="#",
        help="What people say went wrong in the calls of this place, the most first; again to widen.",
        below="conversations",
    ),
)
