"""Show two sides of a failure matrix beside each other, with what is more than chance."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from riff_tui.table import Column, Row, Severity, Table
from riff_tui.text.numbers import fixed
from riff_tui.views.failure_matrix import FIRST_FAILED, LAST_OK, shown
from riff_tui.views.failures import side_notes, side_record, sides_of
from riff_tui.views.parts import cells, columns
from riff_tui.views.spec import Screen, ViewSpec, Words

if TYPE_CHECKING:
    from riff_store.queries.failure_shifts import FailureShift, FailureShifts
    from riff_tui.view_query import ViewQuery

SURE = 0.05
UNITS = (
    "Units: shares of the calls of the flow that were not errored, lower is better · p corrected across all cells"
    " (Benjamini-Hochberg); noise: above 0.05."
)
_SEVERITY: dict[str, Severity] = {"worse": "bad", "better": "good"}


def _of_side(side: str) -> tuple[Column, ...]:
    name = side.upper()
    return (
        Column(f"n_{side}", f"n {name}", kind="count", help=f"Calls of {name} that first went wrong so."),
        Column(f"calls_{side}", f"calls {name}", kind="count", shown=False, help=f"Calls of {name} that are compared."),
        Column(f"share_{side}", f"share {name}", unit="share", better="lower", decimals=2, trim=True,
               help=f"Share of {name}'s calls of the flow that first went wrong so."),
    )  # fmt: skip


_COLUMNS = (
    Column("verdict", "B is", kind="name", help="worse or better beyond chance, else noise."),
    columns.FLOW,
    LAST_OK,
    FIRST_FAILED,
    *_of_side("a"),
    *_of_side("b"),
    Column("difference", "b − a", unit="share", better="lower", decimals=2, trim=True, help="B's share less A's."),
    Column("p_adjusted", "p corr", decimals=3, help="How likely it is by chance, corrected across all cells."),
    Column("p", "p", decimals=3, shown=False, help="The same, not corrected."),
    Column("test", "test", kind="text", shown=False, help="McNemar on pairs of the same task, else Fisher."),
    Column("pairs", "pairs", kind="count", shown=False, help="Pairs that were compared, if any."),
)


def show(query: ViewQuery) -> Table:
    """Return where the failed calls of two sides differ."""
    from riff_store.queries.failure_shifts import failure_shifts as asked

    a, b = sides_of(query)
    return shown(query, lambda parts: failure_shifts(asked(query.store, a, b, parts.calls)), recounts=False)


def failure_shifts(answer: FailureShifts) -> Table:
    """Return a row for each cell, the surest difference first."""
    return Table(
        view="failure-shifts",
        title=f"Where calls first went wrong: B {answer.b.name} against A {answer.a.name}",
        columns=_COLUMNS,
        rows=[_row(cell, answer) for cell in answer.cells],
        notes=[*side_notes(answer.a, answer.b), UNITS],
        extras={"a": side_record(answer.a), "b": side_record(answer.b)},
        identity=("flow", "last_ok", "first_failed"),
    )


def _row(cell: FailureShift, answer: FailureShifts) -> Row:
    place = {"flow": cell.flow, "last_ok": cell.last_ok, "first_failed": cell.first_failed}
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
        "difference": cell.difference,
        "p_adjusted": cell.p_adjusted,
        "p": cell.p,
        "test": cell.test,
        "pairs": cell.pairs,
    }
    mark = _SEVERITY.get(verdict)
    side = answer.b if cell.n_b else answer.a
    display = {key: "<0.001" if record[key] < 0.001 else fixed(record[key], 3) for key in ("p", "p_adjusted")}
    return Row(
        cells.where(place),
        record,
        display,
        severity={"verdict": mark, "": mark} if mark else {},
        where=cells.where({side.kind: side.name, **place}),
    )


SPEC = ViewSpec(
    name="failure-shifts",
    title="Failure matrix of two sides",
    help=(
        "Where the calls of two runs or agents first went wrong, with the difference and whether it is chance.",
        "Calls of the same task are compared in pairs where there are enough, by McNemar's test, else by Fisher's.",
        "Drill into a cell with conversations --where 'run=R flow=F last_ok=S first_failed=T'.",
    ),
    order=201,
    command="riff-tui compare A B --failure-matrix",
    show=show,
    columns=_COLUMNS,
    sides=True,
    words=Words(nouns=("cell", "cells"), empty="No call of these sides failed.", empty_store=""),
    screen=Screen(depth=4, below="conversations"),
)
