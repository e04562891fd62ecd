"""Show a flow as a funnel: in which order calls come to its states, how many do, and where they fail."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from riff_store.measure import THIN
from riff_tui.shapes import COUNT, COUNTS, TEXT, numbers, or_null, record
from riff_tui.table import NOT_MEASURED, Bar, Column, Folded, Row, Severity, Table
from riff_tui.text.glyphs import UNICODE
from riff_tui.text.numbers import listed, p_text, percent, points_text
from riff_tui.view_query import FilterParts, ViewQuery
from riff_tui.views.parts import cells, columns
from riff_tui.views.spec import Filters, Screen, ViewSpec, Words
from riff_tui.views.states import NO_STATES, with_excluded

if TYPE_CHECKING:
    from riff_store.queries.funnel import ComparedState, Funnel, FunnelRow

LISTED = 30
"""Flows that notes count the calls of, one a line."""
RARE = 0.01
"""States that a smaller share of the calls came to are one row where people read."""
FOLDED = f"Folded: states that less than {percent(RARE)} of the calls came to."
UNITS = "Order: when calls first come · bar: calls that came, hatched those that failed here · next: steps taken."
FIRST = ("state", "side", "reached", "bar", "difference", "failed", "failed_difference", "next")
_COLUMNS = (
    *columns.keys(("flow", "state")),
    Column("reached", "reached", kind="count", short="calls", help="Calls that came to the state."),
    Column("bar", "", kind="bar", help="The share of the calls that came here, hatched those that failed here."),
    columns.share("share", "share", shown=False, help="The share of the flow's calls that came to the state."),
    columns.FAILED_HERE._replace(pasted=True),
    Column("position", "place", unit="visits", shown=False, help="The mean place of its first visit among the visits."),
    Column("next", "Next", kind="object", help="Where calls went from here, and how often they took that step."),
    Column("outcome", "Outcome", kind="text", shown=False, help="success or escalation where the flow ends here."),
    Column("kinds", "What went wrong", kind="object", shown=False, help="What went wrong there, in how many calls."),
)  # fmt: skip
SIDES = ("A", "B")
UNITS_OF_SIDES = (
    "Order: when calls first come · bar: the share of a side's calls that came, hatched those that failed here"
    " · B − A: how much larger that share is in B, where beyond chance (Fisher's exact test, corrected across states)."
)
_SIDE = Column("side", "", kind="name", help="Which of the two sides the row is of, A or B.")
_P = "p of Fisher's exact test of that difference"


def _shift_columns(key: str, of: str, strong: bool = False) -> tuple[Column, ...]:
    return (
        columns.share(
            f"{key}difference", "B − A", better="lower" if strong else None, strong=strong,
            help=f"By how much more of B's calls {of}; blank if that may be chance.",
        ),
        Column(f"{key}p_adjusted", "p adj.", decimals=3, shown=False, help=f"{_P}, corrected over all states."),
        Column(f"{key}p", "p", decimals=3, shown=False, help=f"{_P}, not corrected."),
    )  # fmt: skip


_OF_SIDES = {"bar": _shift_columns("", "came here"), "failed": _shift_columns("failed_", "failed here", strong=True)}
"""The columns of a comparison, by the column that they stand behind."""
_SIGNS = {"success": UNICODE.success, "escalation": UNICODE.escalation}


def show(query: ViewQuery) -> Table:
    """Return the funnel of each flow in scope."""
    from riff_store.queries.funnel import compared_states, count_funnels, funnels

    by = ("flow", *(key for key in query.request.by if key != "flow"))

    def build(parts: FilterParts) -> Table:
        found = funnels(query.store, parts.calls, by)
        sides = _sides(query, found, by)
        if sides is None:
            return funnel(found, by)
        return funnel_of_sides(found, compared_states(found, by[1], sides), by[1], sides)

    query.parts()  # shows what is wrong with the filter
    # A funnel of some of the calls: whatever a filter speaks of, of no row of it alone.
    counted = (lambda: count_funnels(query.store)) if by == ("flow",) else None
    table = with_excluded(query, query.result(FilterParts(calls=query.predicate), build, count=counted))
    return table if table.sort else table._replace(rows=list(_under_one_name(table.rows)))


def funnel(answers: Sequence[Funnel], by: Sequence[str] = ("flow",)) -> Table:
    """Return a row for each state, the flows in the order of the answers; rare states are folded."""
    found = [(each, row) for each in answers for row in each.rows]
    rare = [side for side in found if _is_rare(side)]
    one = len(answers) == 1
    return Table(
        view="funnel",
        title=f"Funnel: {_scope(answers[0]) if one else columns.several_flows([each.keys for each in answers], by)}",
        columns=[
            *(column._replace(shown=column.key != "flow" or not one) for column in columns.keys(by)),
            *_COLUMNS[1:],
        ],
        rows=[_row(each, row) for each, row in found],
        notes=[UNITS, *_notes(answers, one=one), *([FOLDED] if rare else [])],
        folded=_folded(rare, by),
        identity=(*by, "state"),
        first=FIRST,
    )


def _sides(query: ViewQuery, found: Sequence[Funnel], by: Sequence[str]) -> tuple[str | None, str | None] | None:
    """Return the names of both sides where funnels are split in two, runs in order of time; else `None`."""
    if len(by) != 2:
        return None
    from riff_store.filters.dimensions import run_order

    order = run_order(query.store) if by[1] == "run" else {}
    names = sorted({each.keys[by[1]] for each in found}, key=lambda name: (order.get(name or "", 0), name or ""))
    return (names[0], names[1]) if len(names) == 2 else None


def funnel_of_sides(
    answers: Sequence[Funnel], states: Sequence[ComparedState], key: str, names: tuple[str | None, str | None]
) -> Table:
    """Return two rows for each state, of A and of B; B's says by how much more come or fail there, if that is sure.

    `key` distinguishes the sides, whose `names` are those of A and B.
    """
    from riff_tui.views.compare import Pair

    found = [(sign, side, state) for state in states for sign, side in zip(SIDES, state.sides, strict=True) if side]
    rare = [side for state in states for side in state.sides if side and _is_rare(*state.sides)]
    one = len({answer.keys["flow"] for answer in answers}) == 1
    sides = [_side(key, name, [answer for answer in answers if answer.keys[key] == name]) for name in names]
    shown = {"flow": not one, key: False}
    flows = columns.several_flows([each.keys for each in answers])
    return Table(
        view="funnel",
        title=f"Funnel of two {key}s: {answers[0].keys['flow'] if one else flows}",
        columns=[
            column._replace(shown=shown.get(column.key, column.shown))
            for each in (*columns.keys(("flow", "state")), _SIDE, *columns.keys((key,)), *_COLUMNS[2:])
            for column in (each, *_OF_SIDES.get(each.key, ()))
        ],
        rows=[_row_of_side(*each) for each in found],
        notes=[UNITS_OF_SIDES, *_alone(states), *_nowhere(answers), *([FOLDED] if rare else [])],
        extras={"a": sides[0], "b": sides[1]},
        lead=_lead(states, one=one),
        figure=Pair([f"{side['name'] or NOT_MEASURED}  {_counts(**side)}" for side in sides], SIDES),
        folded=_folded(rare, ("flow",)),
        identity=("flow", "state", key),
        first=FIRST,
    )


def _lead(states: Sequence[ComparedState], *, one: bool) -> str:
    """Return where more or fewer of B's calls fail beyond chance, then where more or fewer come."""
    shifts = (
        [(state, state.failed, "fail in") for state in states],
        [(state, state.came, "come to") for state in states],
    )
    sure = [
        f"{points_text(shift.difference)} {what} {state.state if one else f'{state.flow}/{state.state}'}"
        for some in shifts
        for state, shift, what in sorted(some, key=lambda each: -abs(each[1].difference) if each[1] else 0.0)
        if shift is not None and shift.is_sure
    ]
    if not sure and not any(state.came for state in states):
        return ""
    return f"B against A: {listed(sure)}." if sure else "No state differs beyond chance."


def _side(key: str, name: str | None, answers: Sequence[Funnel]) -> dict[str, Any]:
    calls, failed = (sum(getattr(answer, counted) for answer in answers) for counted in ("calls", "failed"))
    return {"kind": key, "name": name, "calls": calls, "failed": failed}


def _under_one_name(rows: Sequence[Row]) -> Iterator[Row]:
    """Yield rows of which the second of two about the same state does not repeat its name."""
    before: object = None
    for row in rows:
        state = (row.record["flow"], row.record["state"]) if "side" in row.record else None
        yield row._replace(display={**row.display, "state": ""}) if state is not None and state == before else row
        before = state


def _alone(states: Sequence[ComparedState]) -> Iterator[str]:
    """Yield which flows one side alone called."""
    for place, sign in enumerate(SIDES):
        flows = dict.fromkeys(state.flow or NOT_MEASURED for state in states if state.sides[1 - place] is None)
        if flows:
            yield f"Called by {sign} alone, so not compared: {listed(list(flows))}."


def _row_of_side(sign: str, side: tuple[Funnel, FunnelRow], state: ComparedState) -> Row:
    """Return the row of a side without the marks of its own: what is marked is where B differs."""
    row = _row(*side)
    shifts = {"": state.came, "failed_": state.failed} if sign == "B" else {"": None, "failed_": None}
    record, display = {**row.record, "side": sign}, dict(row.display)
    for prefix, shift in shifts.items():
        figures = ("difference", "p", "p_adjusted")
        record |= {f"{prefix}{figure}": shift and getattr(shift, figure) for figure in figures}
        display[f"{prefix}difference"] = points_text(shift.difference) if shift is not None and shift.is_sure else ""
        display |= {f"{prefix}{p}": p_text(record[f"{prefix}{p}"]) if shift else "" for p in ("p", "p_adjusted")}
    failed = shifts["failed_"]
    mark: Severity | None = None if failed is None or not failed.is_sure else "bad" if failed.difference > 0 else "good"
    marks = {} if mark is None else {"": mark, "failed_difference": mark}
    return row._replace(record=record, display=display, severity=marks, thin=0 < row.record["reached"] < THIN)


def _is_rare(*sides: tuple[Funnel, FunnelRow] | None) -> bool:
    """Return whether hardly any call of any side came to a state, and none failed there."""
    rows = [side[1] for side in sides if side is not None]
    return all(row.share < RARE and row.outcome is None and not row.failed for row in rows)


def _scope(answer: Funnel) -> str:
    names = " @ ".join(name or "·" for name in answer.keys.values())
    return f"{names} · {_counts(answer.calls, answer.failed)}"


def _counts(calls: int, failed: int, **_: object) -> str:
    return f"{cells.calls_text(calls)} · {failed:,} failed"


def _notes(answers: Sequence[Funnel], *, one: bool) -> Iterator[str]:
    if not one:
        yield from (f"{_scope(each)}." for each in answers[:LISTED])
        if len(answers) > LISTED:
            yield f"… and {len(answers) - LISTED:,} more, ordered by failed calls."
    yield from _nowhere(answers)


def _nowhere(answers: Sequence[Funnel]) -> Iterator[str]:
    nowhere = sum(each.nowhere for each in answers)
    if nowhere:
        yield f"Blamed on no state: {cells.calls_text(nowhere, 'failed ')}."


def _folded(rare: Sequence[tuple[Funnel, FunnelRow]], by: Sequence[str]) -> Folded | None:
    """Return that the rare states of each funnel, which the names in `by` distinguish, are one row."""
    if not rare:
        return None
    return Folded(frozenset(_id(*each) for each in rare), tuple(by), "state", "reached", "state")


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
    where, leads = _id(answer, row), ""
    if row.outcome is not None:
        # A call may go on where another one ends.
        where = cells.where({**answer.keys, "final_state": row.state})
        came = " | ".join(cells.where({field: row.state}) for field in ("final_state", "visited"))
        leads = f"{cells.where(answer.keys)} ({came}) errored=false"
    elif not row.reached:
        # What no call came to has no neighbours, only calls that are blamed on it.
        leads = cells.where({**answer.keys, "first_failed": row.state}) if row.failed else ""
    steps = ", ".join(f"{state} {n:,}" for state, n in row.next.items())
    display = {
        "state": f"{_SIGNS[row.outcome]} {row.state}" if row.outcome else row.state,
        "next": f"→ {steps}" if steps else "",
        "kinds": ", ".join(f"{kind} {n:,}" for kind, n in row.kinds.items()),
        **({} if row.failed else {"failed": ""}),
    }
    return Row(
        _id(answer, row),
        record,
        display,
        severity=marks,
        thin=0 < row.reached < 5,
        where=where if row.reached or row.failed else "",
        leads=leads,
        bars={"bar": Bar(row.share, min(failing, row.share))},
    )


_DIFFERENCES = ("difference", "p", "p_adjusted", "failed_difference", "failed_p", "failed_p_adjusted")


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
    rows={"next": COUNTS, "kinds": COUNTS, "side": TEXT, **numbers(_DIFFERENCES)},
    top=dict.fromkeys(("a", "b"), record({"kind": TEXT, "name": or_null(TEXT), "calls": COUNT, "failed": COUNT})),
    sometimes=("side", *_DIFFERENCES, "a", "b"),
    columns=_COLUMNS,
    filters=Filters(calls=True),
    first=FIRST,
    splits=True,
    words=Words(empty=NO_STATES),
    screen=Screen(
        key="V",
        help="The funnel of this flow, or of two marked runs or agents: where calls come and fail; again for more.",
        below=lambda row: "conversations" if row.leads else "neighbors",
        walk=("flow", "agent"),
        of_row=("flow",),
        compares=True,
    ),
)
