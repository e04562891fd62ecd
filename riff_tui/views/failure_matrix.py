"""Show where failed calls first went wrong: the last good state beside the first failed one."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from riff_store.filters.predicates import terms
from riff_store.measure import wilson
from riff_store.vocabulary import MARKED, NONE_FOUND, START
from riff_tui.shapes import COUNT, COUNTS, or_null
from riff_tui.table import Column, Row, Severity, Table
from riff_tui.text.numbers import p_text, percent
from riff_tui.view_query import EVERYTHING, BuildTable, FilterParts, ViewQuery
from riff_tui.views.failures import SIDE, side_notes, side_record, sides_of
from riff_tui.views.parts import cells, columns
from riff_tui.views.parts.cells import marked_note
from riff_tui.views.parts.changes import MARKS
from riff_tui.views.spec import EMPTY_STORE, Filters, Screen, ViewSpec, Words

if TYPE_CHECKING:
    from riff_store.queries.failures import FailureCell, FailureMatrix, FailureShift, FailureShifts
    from riff_tui.charts.failure_grid import FailureGrid


COUNTING = "counting who took each step"
NONE_FAILED = "No call failed: each was served, or errored, or nothing shows how it ended."
GRID = "Grid: failed calls by last good state (rows) and first failed state (columns); [] the most; · none."
LAST_OK = Column("last_ok", "Last good", kind="name", help="The state, or the step of the task, before it.")
FIRST_FAILED = Column(
    "first_failed",
    "First failed",
    kind="name",
    help="The earliest state in which something went wrong, or step missed.",
)
EXAMPLE = Column(
    "example", "Shortest", kind="text", help="The shortest of these calls, as a filter in the data formats."
)
_COLUMNS = (
    columns.FLOW,
    LAST_OK,
    FIRST_FAILED,
    Column("n", "n", kind="count", strong=True, help="Failed calls that first went wrong so."),
    columns.share("share", "share", help="Their share of the flow's failed calls."),
    columns.share(
        "rate", "failed there", better="lower",
        help="Calls that first went wrong at the end of this step, of those that took it.",
    ),
    Column("taken", "took step", kind="count", help="Calls, failed or not, that went from the one state to the other."),
    Column("kinds", "What went wrong", kind="object", help="What went wrong there, in how many of the calls."),
    EXAMPLE,
)  # fmt: skip


def show(query: ViewQuery) -> Table:
    """Return the cells of the flows in scope, with a grid if there is one flow."""
    from riff_store.queries.failures import failure_matrix as asked

    def table(whole: bool) -> Table:
        def build(parts: FilterParts) -> Table:
            # Of everything, beside what is asked for, the rows are counted alone.
            return failure_matrix(asked(query.store, parts.calls, whole=whole and parts is not EVERYTHING))

        return shown(query, build)

    # The grid of one flow would push down rows that were there before.
    has_grid = any(term.field == "flow" for term in terms(query.predicate))
    return table(True) if has_grid else in_two_parts(query, table, COUNTING, ("rate", "taken"))


def in_two_parts(query: ViewQuery, table: Callable[[bool], Table], doing: str, later: Collection[str]) -> Table:
    """Return a table at once, or in two parts where chunks of arrays have to be read for it."""
    from riff_store.queries.sums import reads_columns

    is_long = reads_columns(query.store, query.parts().of_rows_alone().calls)
    return query.in_two_parts(table, doing, later) if is_long else table(True)


def shown(query: ViewQuery, build: BuildTable, *, recounts: bool = True) -> Table:
    """Return a table of failed calls; a filter of where they failed chooses rows, whose shares stay as they are."""
    from riff_store.queries.conversations import count_conversations

    table = query.result(query.parts().of_rows_alone(), build, recounts=recounts)
    if table.rows or table.counts.total:
        return table
    return table._replace(notes=[NONE_FAILED if count_conversations(query.store) else EMPTY_STORE])


def failure_matrix(answer: FailureMatrix) -> Table:
    """Return a row for each cell with calls, the fullest first; of one flow with several a grid is above them."""
    from riff_tui.charts.failure_grid import FailureGrid

    flows = list(dict.fromkeys(cell.flow for cell in answer.cells))
    counts = {(cell.last_ok, cell.first_failed): cell.n for cell in answer.cells}
    grid = None
    if len(flows) == 1 and len(counts) > 1 and answer.states:
        grid = FailureGrid(counts, (START, *answer.states[flows[0]], NONE_FOUND))
    return Table(
        view="failure-matrix",
        title="Failure matrix (where failed calls first went wrong)",
        columns=_COLUMNS,
        rows=[_row(cell) for cell in answer.cells],
        notes=list(_notes(answer, flows, grid)),
        extras={"failed": dict(answer.failed), "calls": dict(answer.calls)},
        figure=grid,
        identity=("flow", "last_ok", "first_failed"),
    )


def _row(cell: FailureCell) -> Row:
    place = cells.values_of(cell, "flow last_ok first_failed")
    record: dict[str, Any] = {
        **place,
        **cells.values_of(cell, "n share taken"),
        "rate": cell.n / cell.taken if cell.taken else None,
        "kinds": dict(cell.kinds),
        "example": cells.call_where(cell.example),
    }
    where = cells.where(place)
    display = {"kinds": counts_text(cell.kinds), "example": cell.example.conversation}
    return Row(where, record, display, severity=_marks(cell), where=where)


def counts_text(counts: Mapping[str, int]) -> str:
    """Return names with their counts, one that is alone without."""
    return ", ".join(f"{name} {n}" if len(counts) > 1 else name for name, n in counts.items())


def _marks(cell: FailureCell) -> dict[str, Severity]:
    """Mark a step at whose end calls fail, where the whole interval shows it and enough calls took it."""
    if cell.taken is None or cells.is_thin(cell.taken):
        return {}
    mark = cells.stall_mark(wilson(cell.n, cell.taken)[0])
    return {"rate": mark, "": mark} if mark else {}


def _notes(answer: FailureMatrix, flows: list[str], grid: FailureGrid | None) -> Iterator[str]:
    for flow in flows if len(flows) == 1 else ():
        failed, calls = answer.failed[flow], answer.calls[flow]
        yield f"{flow}: {failed} of {calls} calls failed ({percent(failed / calls)})."
    yield from marked_note(sum(cell.kinds.get(MARKED, 0) for cell in answer.cells), sum(answer.failed.values()))
    if len(flows) > 1:
        yield "Of several flows there is no grid: filter by one, flow=F."
    if grid is not None:
        yield GRID
        if grid.left_out:
            yield f"The grid leaves {grid.left_out} calls to the list."


SPEC = ViewSpec(
    name="failure-matrix",
    title="Failure matrix",
    help=(
        "Where failed calls first went wrong: how many had which last good and which first failed state.",
        "The earliest step that fails comes first: what is fixed there never reaches the later ones.",
        "Drill into a cell with conversations --where 'flow=F last_ok=S first_failed=T'.",
    ),
    order=95,
    show=show,
    keys=("flow", "last_ok", "first_failed"),
    rows={"kinds": COUNTS, "taken": or_null(COUNT)},
    top={"failed": COUNTS, "calls": COUNTS},
    columns=_COLUMNS,
    filters=Filters(call_fields=("flow",)),
    words=Words(
        noun="failure matrix",
        label="matrix",
        also="failures",
        nouns=("cell", "cells"),
        empty="No call failed here: errored calls are not failures of the flow.",
        empty_store="",
    ),
    screen=Screen(
        key="M",
        help="Where the failed calls of this place first went wrong: last good by first failed state; again for more.",
        below="conversations",
    ),
)

SURE = 0.05
UNITS_OF_SHIFTS = (
    "Units: shares of the calls of the flow that were not errored, lower is better · p corrected across all cells"
    " (Benjamini-Hochberg); noise: above 0.05."
)


def _of_side(side: str) -> tuple[Column, ...]:
    name = side.upper()
    return (
        Column(f"n_{side}", f"n {name}", kind="count", help=f"Calls of {name} that first went wrong so."),
        Column(f"calls_{side}", f"calls {name}", kind="count", shown=False, help=f"Calls of {name} that are compared."),
        columns.share(
            f"share_{side}", f"share {name}", better="lower",
            help=f"Share of {name}'s calls of the flow that first went wrong so.",
        ),
    )  # fmt: skip


_OF_SHIFTS = (
    Column("verdict", "B is", kind="name", help="worse or better beyond chance, else noise."),
    columns.FLOW,
    LAST_OK,
    FIRST_FAILED,
    *_of_side("a"),
    *_of_side("b"),
    columns.share("difference", "b − a", better="lower", help="B's share less A's."),
    Column("p_adjusted", "p corr", decimals=3, help="How likely it is by chance, corrected across all cells."),
    Column("p", "p", decimals=3, shown=False, help="The same, not corrected."),
    Column("test", "test", kind="text", shown=False, help="McNemar on pairs of the same task, else Fisher."),
    Column("pairs", "pairs", kind="count", shown=False, help="Pairs that were compared, if any."),
)


def show_shifts(query: ViewQuery) -> Table:
    """Return where the failed calls of two sides differ."""
    from riff_store.queries.failures import failure_shifts as asked

    a, b = sides_of(query)
    return shown(query, lambda parts: failure_shifts(asked(query.store, a, b, parts.calls)), recounts=False)


def failure_shifts(answer: FailureShifts) -> Table:
    """Return a row for each cell, the surest difference first."""
    return Table(
        view="failure-shifts",
        title=f"Where calls first went wrong: B {answer.b.name} against A {answer.a.name}",
        columns=_OF_SHIFTS,
        rows=[_shift_row(cell, answer) for cell in answer.cells],
        notes=[*side_notes(answer.a, answer.b), UNITS_OF_SHIFTS],
        extras={"a": side_record(answer.a), "b": side_record(answer.b)},
        identity=("flow", "last_ok", "first_failed"),
    )


def _shift_row(cell: FailureShift, answer: FailureShifts) -> Row:
    place = cells.values_of(cell, "flow last_ok first_failed")
    verdict = "noise" if cell.p_adjusted > SURE else "worse" if cell.difference > 0 else "better"
    record: dict[str, Any] = {
        "verdict": verdict,
        **place,
        "n_a": cell.n_a,
        "calls_a": cell.calls_a,
        "share_a": cell.n_a / cell.calls_a,
        "n_b": cell.n_b,
        "calls_b": cell.calls_b,
        "share_b": cell.n_b / cell.calls_b,
        **cells.values_of(cell, "difference p_adjusted p test pairs"),
    }
    mark = MARKS.get(verdict)
    side = answer.b if cell.n_b else answer.a
    display = {key: p_text(record[key]) for key in ("p", "p_adjusted")}
    return Row(
        cells.where(place),
        record,
        display,
        severity={"verdict": mark, "": mark} if mark else {},
        where=cells.where({side.kind: side.name, **place}),
    )


SHIFTS = ViewSpec(
    name="failure-shifts",
    title="Failure matrix of two sides",
    help=(
        "Where the calls of two runs or agents first went wrong, with the difference and whether it is chance.",
        "Calls of the same task are compared in pairs where there are enough, by McNemar's test, else by Fisher's.",
        "Drill into a cell with conversations --where 'run=R flow=F last_ok=S first_failed=T'.",
    ),
    order=201,
    command="riff-tui compare A B --failure-matrix",
    show=show_shifts,
    rows={"pairs": or_null(COUNT)},
    top={"a": SIDE, "b": SIDE},
    columns=_OF_SHIFTS,
    sides=True,
    words=Words(nouns=("cell", "cells"), empty="No call of these sides failed.", empty_store=""),
    screen=Screen(depth=4, below="conversations"),
)
SPECS = (SPEC, SHIFTS)
