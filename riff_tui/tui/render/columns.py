"""Choose the columns that a screen shows, and write their titles and cells."""

from __future__ import annotations

from collections.abc import Sequence

from riff_store.metrics import METRICS
from riff_tui.charts.sparklines import WHOLE
from riff_tui.table import Column, Row, Table
from riff_tui.text.glyphs import Glyphs, in_ascii
from riff_tui.text.numbers import cell_text, ends_text, fixed
from riff_tui.text.safe_text import one_line
from riff_tui.tui.data.paged_rows import all_loaded
from riff_tui.tui.session.column_choice import AS_IT_IS, INTERVAL, ColumnChoice, is_ranked, stays, with_intervals
from riff_tui.view_registry import spec_of
from riff_tui.views.spec import ViewSpec

TREND = Column(
    "trend",
    "runs",
    kind="object",
    unit="share",
    decimals=2,
    trim=True,
    help="Success rate run by run, the latest at the right: full height is every call.",
)
PLACE = Column("place", "Place", kind="name", help="The flow, and the segment or state of it.")
WHY = Column("summary", "Why", kind="text", help="What is wrong there.")
LONGEST_TREND = 8
# In more rows than these, no column is searched for values.
_LOOKED_AT = 2_000
_SHORT = {
    **{metric.title: metric.short for metric in METRICS if metric.short and metric.kind != "judged"},
    "completed": "done",
    "errored": "err",
    "worst member": "worst",
    "only A failed": "only A",
    "only B failed": "only B",
    "both failed": "both",
    "final state A": "ended A",
    "final state B": "ended B",
}


def shown(text: str, glyphs: Glyphs) -> str:
    """Return data as a line of the screen may show it."""
    safe = one_line(text)
    return in_ascii(safe) if glyphs.ascii_only else safe


def title(column: Column, glyphs: Glyphs, *, short: bool) -> str:
    """Return a column's title; a `short` one abbreviates long words and omits the prefix of a judge."""
    full = shown(column.title, glyphs)
    if short and column.short:
        return shown(column.short, glyphs)
    return _SHORT.get(full, full.removeprefix("hum:")) if short else full


def text_of(column: Column, row: Row, glyphs: Glyphs) -> str:
    """Return the text of a cell: as in a dump, but a trend as a sparkline and nothing that other cells say."""
    if column is TREND:
        values = column.value(row.record)
        return glyphs.sparkline(values[-LONGEST_TREND:], WHOLE) if values else ""
    if column.key.startswith(INTERVAL):
        ends = column.value(row.record)
        return shown(ends_text(column, ends), glyphs) if ends else ""
    if column is PLACE and row.record.get("list") == "flows" and row.record.get("agent"):
        return shown(f"{row.display.get('place', '')} @ {row.record['agent']}", glyphs)
    if column is WHY and row.record.get("reasons"):
        worst = row.record.get("worst_state")
        return shown(" · ".join([*([f"worst {worst}"] if worst else []), *row.record["reasons"]]), glyphs)
    if column.key == "worst_state" and row.record.get("worst_stall") is not None:
        return shown(f"{fixed(row.record['worst_stall'], 2, trim=True)} {row.record['worst_state']}", glyphs)
    return cell_text(column, row, glyphs)


def visible_columns(
    table: Table, hide: frozenset[str] = frozenset(), choice: ColumnChoice = AS_IT_IS, leading: str = ""
) -> list[Column]:
    """Return the columns of a list, without those to `hide` and those that are empty.

    A choice of columns goes over that. What a line of the worklist says in its dump is one
    column here; a list of calls begins with the calls. The `leading` column stands behind the first one.
    """
    if is_ranked(table):
        return [column for column in table.columns if column.key in ("list", "lost", "n")] + [PLACE, WHY]
    known = _known(table)
    found = [
        column
        for column in all_columns(table)
        if column.key not in hide and _is_wanted(column, choice, unasked=_is_shown_unasked(column, table, known))
    ]
    found.sort(key=lambda column: _place(column, spec_of(table.view)))
    ahead = [column for column in found[1:] if column.key == leading]
    return [*found[:1], *ahead, *(column for column in found[1:] if column.key != leading)] or list(table.columns)


def _place(column: Column, spec: ViewSpec) -> tuple[int, int]:
    """Return where a column stands: names, what decides, everything else, and what comes last."""
    if column.key in spec.first:
        return 1, spec.first.index(column.key)
    if column is TREND and spec.first:
        return 1, len(spec.first)
    if column.key in spec.last:
        return 3, spec.last.index(column.key)
    return (0 if column.kind == "name" and spec.first else 2), 0


def all_columns(table: Table) -> list[Column]:
    """Return every column that the rows could show, each interval after its value and the trend after the counts."""
    known = _known(table)
    found = with_intervals(table.columns, known)
    if _has_trend(table, known):
        after = next((place for place, column in enumerate(found, 1) if column.key == "n"), len(found))
        found.insert(after, TREND)
    return found


def has_values(table: Table, column: Column) -> bool:
    """Return whether a column has values, as far as the rows are loaded."""
    known = _known(table)
    return not known or _is_measured(column, known)


def has_order(column: Column, table: Table) -> bool:
    """Return whether rows can be sorted by a column."""
    return column.kind != "object" and any(column.key == each.key for each in table.columns)


def _known(table: Table) -> Sequence[Row]:
    """Return the rows if all of them are loaded and they are few enough to look at, else none."""
    return table.rows if len(table.rows) <= _LOOKED_AT and all_loaded(table.rows) else ()


def _has_trend(table: Table, known: Sequence[Row]) -> bool:
    """Return whether rows carry a trend, or will once the deferred part of the table is loaded."""
    return (spec_of(table.view).trend and table.deferred is not None) or any(row.record.get(TREND.key) for row in known)


def _is_wanted(column: Column, choice: ColumnChoice, *, unasked: bool) -> bool:
    if column.key in choice.shown:
        return True
    return column.shown and unasked and (stays(column) or column.key not in choice.hidden)


def _is_shown_unasked(column: Column, table: Table, known: Sequence[Row]) -> bool:
    if column is TREND:
        # What is drawn above the rows need not stand in each of them.
        return table.figure is None
    return not known or _is_measured(column, known)


def _is_measured(column: Column, rows: Sequence[Row]) -> bool:
    # A trend that is not there yet will be.
    return column is TREND or any(column.key in row.display or column.value(row.record) is not None for row in rows)
