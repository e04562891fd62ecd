"""Show how tools fare in each state: what was called, what failed, and the failed calls that are blamed on them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from riff_store.vocabulary import NONE_FOUND
from riff_tui.shapes import COUNT, INTERVALS, TEXT, or_null
from riff_tui.table import Column, Row, Severity, Table
from riff_tui.views.parts import cells, columns
from riff_tui.views.spec import EMPTY_STORE, Filters, Screen, ViewSpec, Words
from riff_tui.views.states import with_excluded

if TYPE_CHECKING:
    from riff_store.queries.states import ToolCell
    from riff_tui.view_query import ViewQuery

UNITS = (
    "Units: n times called · calls conversations that called it · errors times it failed · unrecovered errors without a"
    " good call of the tool later on · bad_args times its arguments did not fit its schema · lat_p95 seconds, mean over"
    " conversations · blamed failed conversations that blame the tool."
)
BELOW = (
    "Below a row: the failed conversations that blame it, else those with an error of it, else those that called it."
)
NEVER = "never"
NEVER_CALLED = "n never: no call here called it, and the failed conversations that blame it should have."
NO_TOOLS = "No call here that counts called a tool, or is known to have."
_KEYS = ("flow", "tool", "state", "agent")
_COUNTS = "n calls errors unrecovered bad_arguments"
_LATENCY = Column(
    "latency_p95",
    "lat_p95",
    unit="s",
    better="lower",
    help="The 95th percentile of how long a call of the tool took in a conversation, mean over these.",
)


def _count(key: str, title: str, help: str, **given: Any) -> Column:
    return Column(key, title, kind="count", better="lower", help=help, **given)


_MEASURES = (
    Column("n", "n", kind="count", thin=True, help="Calls of the tool, or never; below 5 thin, with `~`."),
    Column("calls", "calls", kind="count", short="conv", help="Conversations in which it was called there."),
    _count("errors", "errors", "Calls of the tool that failed."),
    _count(
        "unrecovered", "unrecovered", "Errors without a good call of the tool later in the conversation.", short="unrec"
    ),
    _count("bad_arguments", "bad_args", "Calls of the tool whose arguments do not fit its schema."),
    _LATENCY,
    _count(
        "failed",
        "blamed",
        "Failed conversations that blame the tool in this state, also for never having been called.",
        strong=True,
    ),
)


def show(query: ViewQuery) -> Table:
    """Return a row for each tool in each state by agent, those to blame for most failed calls first."""
    from riff_store.queries.conversations import count_conversations
    from riff_store.queries.states import tool_cells

    found = query.result(
        query.parts(),
        lambda parts: tools(tool_cells(query.store, parts.calls, query.keys), query.keys),
        count=lambda: len(tool_cells(query.store, None, query.keys)),
    )
    if not found.counts.total:
        return found._replace(notes=[*found.notes, NO_TOOLS if count_conversations(query.store) else EMPTY_STORE])
    return with_excluded(query, found)


def tools(answers: Sequence[ToolCell], by: Sequence[str] = _KEYS) -> Table:
    """Return a row for each cell, in the order of the answers; states come last where no tool was called in several."""
    tools = {tuple(name for key, name in cell.keys.items() if key != "state") for cell in answers}
    return Table(
        view="tools",
        title="Tools by state (those that failed calls blame first)",
        columns=[*columns.keys(by), *_MEASURES],
        rows=[_row(cell) for cell in answers],
        notes=[UNITS, BELOW, *([NEVER_CALLED] if any(not cell.n for cell in answers) else [])],
        last=("state",) if len(tools) == len(answers) else (),
    )


def _row(cell: ToolCell) -> Row:
    record: dict[str, Any] = {
        **cell.keys,
        **cells.values_of(cell, _COUNTS),
        "latency_p95": cell.latency_p95.mean,
        "failed": cell.failed,
        "intervals": cells.intervals({"latency_p95": cell.latency_p95}),
    }
    return Row(
        cells.where(cell.keys),
        record,
        display={} if cell.n else {"n": NEVER},
        severity=_marks(cell),
        thin=cells.is_thin(max(cell.n, cell.failed)),
        where=cells.where(cell.keys),
        leads=_leads(cell),
    )


def _marks(cell: ToolCell) -> dict[str, Severity]:
    """Mark what a tool does too often, and how long it takes; the key `""` is the row's own."""
    shares = {
        key: count / cell.n
        for key in ("errors", "unrecovered", "bad_arguments")
        if cell.n and (count := getattr(cell, key)) is not None
    }
    shares["failed"] = cell.failed / max(cell.calls, cell.failed, 1)
    marks = {key: mark for key, share in shares.items() if (mark := cells.stall_mark(share))}
    if slow := cells.latency_mark(cell.latency_p95.mean):
        marks["latency_p95"] = slow
    row = cells.worst_of(marks.values())
    return {**marks, "": row} if row else marks


def _leads(cell: ToolCell) -> str:
    """Return the filter of the conversations that a row is about, those that show most."""
    tool, state = cell.keys.get("tool"), cell.keys.get("state")
    others = {name: value for name, value in cell.keys.items() if name not in ("tool", "state")}
    if cell.failed:
        return cells.where({**others, "first_failed": state, "failed_tool": tool})
    place = f"{NONE_FOUND if state is None else state}/{tool}"
    called = cells.where({**others, "tool_error" if cell.errors else "tool": place})
    return f"{called} errored=false"


SPEC = ViewSpec(
    name="tools",
    title="Tools",
    help=(
        "How each tool fares in each state, by agent: those that failed calls blame first, then errors not made good.",
        "A tool that a failed call should have called and did not has a row too: n is never where nobody called it.",
        "Drill into a tool with conversations --where 'failed_tool=T', 'tool_error=T' or 'tool=STATE/T'.",
    ),
    order=98,
    show=show,
    keys=_KEYS,
    rows={"intervals": INTERVALS, "bad_arguments": or_null(COUNT), "state": or_null(TEXT)},
    columns=(*columns.keys(_KEYS), *_MEASURES),
    # A tool is looked for where it was called, as STATE/TOOL too.
    filters=Filters(call_fields=("tool",)),
    order_by="-failed",
    first=("failed", "n", "errors", "unrecovered"),
    comparable=True,
    splits=True,
    words=Words(nouns=("tool", "tools"), empty=NO_TOOLS, empty_store=""),
    screen=Screen(
        key="X",
        help="The tools of this place, those that failed calls blame first; again for more.",
        below="conversations",
    ),
)
