"""Show a flow as a funnel: in which order calls come to its states, how many do, and where they fail."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from riff_tui.table import Bar, Column, Row, Severity, Table
from riff_tui.text.glyphs import UNICODE
from riff_tui.text.numbers import counted, percent
from riff_tui.view_query import FilterParts
from riff_tui.views.parts import cells, columns
from riff_tui.views.spec import Filters, Screen, ViewSpec, Words
from riff_tui.views.states import NO_STATES, with_excluded

if TYPE_CHECKING:
    from riff_store.queries.funnel import Funnel, FunnelRow
    from riff_tui.view_query import ViewQuery

LISTED = 30
"""Flows that notes count the calls of, one a line."""
RARE = 0.01
"""States that a smaller share of the calls came to are left to a sentence where people read."""
UNITS = "Order: when calls first come · bar: calls that came, hatched those that failed here · next: steps taken."
FIRST = ("state", "reached", "bar", "failed", "next")
_COLUMNS = (
    *columns.keys(("flow", "state")),
    Column("reached", "reached", kind="count", short="calls", help="Calls that came to the state."),
    Column("bar", "", kind="bar", help="The share of the calls that came here, hatched those that failed here."),
    columns.share("share", "share", shown=False, help="The share of the flow's calls that came to the state."),
    replace(columns.FAILED_HERE, pasted=True),
    Column("position", "place", unit="visits", shown=False, help="The mean place of its first visit among the visits."),
    Column("next", "Next", kind="object", help="Where calls went from here, and how often they took that step."),
    Column("outcome", "Outcome", kind="text", shown=False, help="success or escalation where the flow ends here."),
    Column("kinds", "What went wrong", kind="object", shown=False, help="What went wrong there, in how many calls."),
)  # fmt: skip
_SIGNS = {"success": UNICODE.success, "escalation": UNICODE.escalation}


def show(query: ViewQuery) -> Table:
    """Return the funnel of each flow in scope."""
    from riff_store.queries.funnel import funnels

    by = ("flow", *(key for key in query.request.by if key != "flow"))

    def build(parts: FilterParts) -> Table:
        return funnel(funnels(query.store, parts.calls, by), by)

    query.parts()  # says what is wrong with the filter
    # A funnel of some of the calls: whatever a filter speaks of, of no row of it alone.
    return with_excluded(query, query.result(FilterParts(calls=query.predicate), build))


def funnel(answers: Sequence[Funnel], by: Sequence[str] = ("flow",)) -> Table:
    """Return a row for each state, the flows in the order of the answers; rare states are folded."""
    found = [(each, row) for each in answers for row in each.rows]
    rare = [(each, row) for each, row in found if row.share < RARE and row.outcome is None and not row.failed]
    one = len(answers) == 1
    return Table(
        view="funnel",
        title=f"Funnel: {_scope(answers[0]) if one else _several(answers, by)}",
        columns=[
            *(replace(column, shown=column.key != "flow" or not one) for column in columns.keys(by)),
            *_COLUMNS[1:],
        ],
        rows=[_row(each, row) for each, row in found],
        notes=[UNITS, *_notes(answers, one=one), *_folded(rare)],
        folded=frozenset(_id(each, row) for each, row in rare),
        identity=(*by, "state"),
        first=FIRST,
    )


def _several(answers: Sequence[Funnel], by: Sequence[str]) -> str:
    flows = counted(len({each.keys["flow"] for each in answers}), "flow")
    return " by ".join((flows, *(key for key in by if key != "flow")))


def _scope(answer: Funnel) -> str:
    names = " @ ".join(name or "·" for name in answer.keys.values())
    return f"{names} · {cells.calls_text(answer.calls)} · {answer.failed:,} failed"


def _notes(answers: Sequence[Funnel], *, one: bool) -> Iterator[str]:
    if not one:
        yield from (f"{_scope(each)}." for each in answers[:LISTED])
        if len(answers) > LISTED:
            yield f"… and {len(answers) - LISTED:,} more, ordered by failed calls."
    nowhere = sum(each.nowhere for each in answers)
    if nowhere:
        yield f"Blamed on no state: {cells.calls_text(nowhere, 'failed ')}."


def _folded(rare: Sequence[tuple[Funnel, FunnelRow]]) -> Iterator[str]:
    """Yield how many rows texts leave out, and how often calls came to them."""
    if rare:
        states, came = counted(len(rare), "state"), counted(sum(row.reached for _, row in rare), "call")
        yield f"Folded in text: {states} that less than {percent(RARE)} of the calls came to ({came})."


def _id(answer: Funnel, row: FunnelRow) -> str:
    return cells.where({**answer.keys, "state": row.state})


def _row(answer: Funnel, row: FunnelRow) -> Row:
    failing = row.failed / answer.calls
    record: dict[str, Any] = {
        **answer.keys,
        **cells.values_of(row, "state reached share failed position"),
        "next": dict(row.next),
        "outcome": row.outcome,
        "kinds": dict(row.kinds),
    }
    marks: dict[str, Severity] = {}
    if mark := cells.stall_mark(row.failed / row.reached if row.reached else None) if row.reached >= 5 else None:
        marks = {"failed": mark, "": mark}
    where = _id(answer, row)
    steps = ", ".join(f"{state} {n:,}" for state, n in row.next.items())
    display = {
        "state": f"{_SIGNS[row.outcome]} {row.state}" if row.outcome else row.state,
        "next": f"→ {steps}" if steps else "",
        "kinds": ", ".join(f"{kind} {n:,}" for kind, n in row.kinds.items()),
        **({} if row.failed else {"failed": ""}),
    }
    return Row(
        where,
        record,
        display,
        severity=marks,
        thin=0 < row.reached < 5,
        where=where if row.outcome is None else cells.where({**answer.keys, "final_state": row.state}),
        bars={"bar": Bar(row.share, min(failing, row.share))},
    )


SPEC = ViewSpec(
    name="funnel",
    title="Funnel",
    help=(
        "The states of a flow in the order in which calls first come to them, and how many calls do.",
        "Failed are the calls that are blamed on the state; over a flow they add up to its failed calls.",
        "Drill into a state with neighbors --where 'flow=F state=S'.",
    ),
    order=45,
    show=show,
    keys=("flow", "state"),
    columns=_COLUMNS,
    filters=Filters(calls=True),
    first=FIRST,
    splits=True,
    words=Words(nouns=("state", "states"), empty=NO_STATES),
    screen=Screen(
        key="V",
        help="The funnel of this flow: which states calls come to, and where they fail; press again for more.",
        below=lambda row: "neighbors" if row.record.get("outcome") is None else "conversations",
        walk=("flow", "agent"),
        of_row=("flow",),
    ),
)
