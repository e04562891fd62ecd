"""Choose the columns that a screen shows, write their titles and cells, and lay them out on a line.

A line begins with the row's mark in one cell; the first column is right behind it. Then a number, a flag or a text has
two cells before it, a blank and its severity mark, a name one, which is both. Names stay, numbers are never cut, the
rest scrolls by column.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import NamedTuple

from riff_store.metrics import METRICS
from riff_tui.charts.sparklines import WHOLE
from riff_tui.table import Column, Row, Table
from riff_tui.text.column_fit import ELASTIC_KINDS, NameCut, fitted, name_cut, shrink
from riff_tui.text.glyphs import Glyphs, in_ascii
from riff_tui.text.numbers import BAR, cell_text, ends_text, is_right, percent
from riff_tui.text.safe_text import cell_width, one_line
from riff_tui.tui.data.lists import AS_IT_IS, INTERVAL, ColumnChoice, all_loaded, is_ranked, stays, with_intervals
from riff_tui.tui.navigation.location import Location
from riff_tui.view_query import MadeRows, outlines
from riff_tui.view_registry import find, spec_of
from riff_tui.views.parts.columns import CONVERSATION
from riff_tui.views.spec import ViewSpec, is_of_empty_store

TREND = Column(
    "trend",
    "last 10 runs",
    short="runs",
    kind="object",
    unit="share",
    decimals=2,
    trim=True,
    help="Success rate run by run, the latest at the right: full height is every call.",
)
PLACE = Column("place", "Place", kind="name", help="The flow, and the segment or state of it.")
WHY = Column("summary", "Why", kind="text", help="What is wrong there.")
LONGEST_TREND = 10
# In more rows than these, no column is searched for values.
_LOOKED_AT = 2_000
_MADE = 100
"""So many of the rows that are made when they are looked at show what they are like."""
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


def is_trend(column: Column) -> bool:
    """Return whether a column shows how rows went run by run."""
    return column.key == TREND.key


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
    """Return the text of a cell: as in a dump, but a trend as a sparkline and nothing that other cells show."""
    if is_trend(column):
        values = column.value(row.record)
        return glyphs.sparkline(values[-LONGEST_TREND:], WHOLE) if values else ""
    if column.key.startswith(INTERVAL):
        ends = column.value(row.record)
        return shown(ends_text(column, ends), glyphs) if ends else ""
    if column is PLACE and row.record.get("list") == "flows" and row.record.get("agent"):
        return shown(f"{row.display.get('place', '')} @ {row.record['agent']}", glyphs)
    if column is WHY and row.record.get("reasons"):
        return shown(row.display.get("why") or " · ".join(row.record["reasons"]), glyphs)
    if column.key == "worst_state" and row.record.get("worst_stall") is not None:
        return shown(f"{percent(row.record['worst_stall'])} {row.record['worst_state']}", glyphs)
    return cell_text(column, row, glyphs)


def visible_columns(
    table: Table, hide: frozenset[str] = frozenset(), choice: ColumnChoice = AS_IT_IS, leading: str = ""
) -> list[Column]:
    """Return the columns of a list, without those to `hide` and those that are empty.

    A choice of columns goes over that. A line of the worklist in its dump is one column here; a list of calls begins
    with the calls. The `leading` column is behind the first one.
    """
    if is_ranked(table):
        return [column for column in table.columns if column.key in ("list", "failed", "n")] + [PLACE, WHY]
    known = _known(table)
    found = [
        column for column in all_columns(table) if column.key not in hide and _is_wanted(column, table, known, choice)
    ]
    spec = spec_of(table.view)
    found.sort(key=lambda column: _place(column, spec, table.last or spec.last))
    ahead = [column for column in found[1:] if column.key == leading]
    return [*found[:1], *ahead, *(column for column in found[1:] if column.key != leading)] or list(table.columns)


def _place(column: Column, spec: ViewSpec, last: Sequence[str]) -> tuple[int, int]:
    """Return where a column is: names, what decides, everything else, and what comes last."""
    if column.key in spec.first:
        return 1, spec.first.index(column.key)
    if is_trend(column) and spec.first:
        return 1, len(spec.first)
    if column.key in last:
        return 3, last.index(column.key)
    return (0 if column.kind == "name" and spec.first else 2), 0


def home_of(columns: Sequence[Column], view: str, sort: str) -> int:
    """Return the column that the cursor begins on: of those that decide, what rows are sorted by, else the first."""
    key, numbers = sort.removeprefix("-"), [at for at, each in enumerate(columns) if each.kind not in ("name", "text")]
    first = spec_of(view).first if find(view) is not None else ()
    deciding = [at for at, each in enumerate(columns) if each.key in first]
    sorted_by = (at for at in numbers if at in deciding and columns[at].key == key)
    return next(sorted_by, min([*numbers[:1], *deciding[:1]], default=0))


def all_columns(table: Table) -> list[Column]:
    """Return every column that the rows could show, each interval after its value and the trend after the counts."""
    known = _known(table)
    found = with_intervals(table.columns, known)
    # Rows carry a trend, or will once the deferred part of the table is loaded.
    is_awaited = spec_of(table.view).trend and table.deferred is not None
    longest = LONGEST_TREND if is_awaited else max((len(row.record.get(TREND.key) or ()) for row in known), default=0)
    if longest:
        after = next((place for place, column in enumerate(found, 1) if column.key == "n"), len(found))
        runs = "last run" if longest == 1 else f"last {min(longest, LONGEST_TREND)} runs"
        found.insert(after, TREND._replace(title=runs))
    return found


def has_values(table: Table, column: Column) -> bool:
    """Return whether a column has values, as far as the rows are loaded."""
    known = _known(table)
    return not known or _is_measured(column, known)


def has_order(column: Column, table: Table) -> bool:
    """Return whether rows can be sorted by a column."""
    return column.kind not in ("object", "bar") and any(column.key == each.key for each in table.columns)


def _known(table: Table) -> Sequence[Row]:
    """Return the rows if all of them are loaded and they are few enough to look at, else none.

    Those that are made when they are looked at are not made for that, but for the first ones.
    """
    if len(table.rows) > _LOOKED_AT or not all_loaded(table.rows):
        return ()
    if not isinstance(table.rows, MadeRows):
        return table.rows
    return [*table.rows[:_MADE], *islice(outlines(table.rows), _MADE, None)]


def _is_wanted(column: Column, table: Table, known: Sequence[Row], choice: ColumnChoice) -> bool:
    if column.key in choice.shown:
        return True
    if not column.shown or (column.key in choice.hidden and not stays(column)):
        return False
    # What is drawn above the rows need not be in each of them.
    return table.figure is None if is_trend(column) else not known or _is_measured(column, known)


def _is_measured(column: Column, rows: Sequence[Row]) -> bool:
    # A trend that is not there yet will be.
    if is_trend(column) or column.kind == "bar":
        return True
    return any(column.key in row.display or column.value(row.record) is not None for row in rows)


NARROWEST = 10
NARROWEST_NAME = 12
NARROWEST_FIRST = 24
NARROWEST_ID = 16
NARROWEST_TEXT = 20
_WIDEST = 1_000
LEAST_BAR, LEAST_TREND = 4, 8


@dataclass(frozen=True, slots=True)
class Slot:
    """Place a column on a line: its text begins in cell `start`, after `gap` blank cells."""

    index: int
    start: int
    gap: int
    width: int
    right: bool


class ColumnLayout(NamedTuple):
    """Describe the slots of a line, and whether columns are beyond its ends.

    The first `pinned` columns stay; `first` is how many after them are scrolled away.
    """

    slots: tuple[Slot, ...] = ()
    pinned: int = 0
    first: int = 0
    more_left: bool = False
    more_right: bool = False

    @property
    def end(self) -> int:
        """Return the cell behind the last column."""
        return self.slots[-1].start + self.slots[-1].width if self.slots else 1

    def shows(self, index: int, width: int = 0) -> bool:
        """Return whether a column is on the line, in at least so many cells."""
        return any(slot.index == index and slot.width >= width for slot in self.slots)

    def column_at(self, x: int) -> int | None:
        """Return the index of the column that covers a cell of the line."""
        covering = (slot for slot in self.slots if slot.start - slot.gap <= x < slot.start + slot.width)
        return next((slot.index for slot in covering), None)


class ColumnWidths:
    """Measure rows as they come into view, and lay out columns as wide as the widest cell seen so far.

    Titles are long where everything fits with them or if the layout is to be `wide`, short elsewhere. The title of the
    column that rows are sorted by carries an arrow. Names that have no room are cut where they are alike; what all of
    them begin with is only left out where `whole` shows that every row is measured.
    """

    def __init__(
        self, columns: Sequence[Column], glyphs: Glyphs, sort: str | None, *, wide: bool = False, whole: bool = False
    ) -> None:
        self._columns = columns
        self._glyphs = glyphs
        self._sort = sort
        self._wide = wide
        self._whole = whole
        self._needed = [0] * len(columns)
        self._names: list[dict[str, None]] = [{} for _ in columns]
        self._cuts: dict[tuple[int, int], NameCut] = {}
        self.titles: list[str] = []

    def measure(self, rows: Iterable[Row]) -> bool:
        """Take in some rows; return whether any column has to be wider for them."""
        before = list(self._needed)
        for row in rows:
            for index, column in enumerate(self._columns):
                text = text_of(column, row, self._glyphs)
                length = cell_width(text)
                if column.kind == "name" and text != self._glyphs.not_measured:
                    self._names[index][text] = None
                if column.graded:
                    length += BAR + len(" ") + len("!")
                self._needed[index] = max(self._needed[index], min(length, _WIDEST))
        is_wider = self._needed != before
        if is_wider:
            self._cuts.clear()
        return is_wider

    def cell(self, slot: Slot, text: str) -> str:
        """Return the text of a cell in the cells of its slot."""
        if self._columns[slot.index].kind == "name":
            text = self._cut(slot).text(text)
        return fitted(text, slot.width, self._glyphs.ellipsis, right=slot.right)

    def graded(self, slot: Slot, share: float | None, text: str) -> str:
        """Return a bar for a share, and its text at the right of what the widest text leaves."""
        room = max(0, min(BAR, slot.width - self._needed[slot.index] + BAR))
        bar = " " * room if share is None or room < LEAST_BAR else self._glyphs.bar(share, room)
        return bar + fitted(text, slot.width - room, self._glyphs.ellipsis, right=True)

    def head(self, slot: Slot) -> str:
        """Return a title in the cells of its slot, with what the names below begin with if that is left out."""
        title, prefix = self.titles[slot.index], self._cut(slot).prefix
        text = f"{title} ({prefix})" if prefix else title
        return fitted(text, slot.width, self._glyphs.ellipsis, right=slot.right)

    def _cut(self, slot: Slot) -> NameCut:
        place = (slot.index, slot.width)
        if place not in self._cuts:
            # A name without letters begins like no other.
            names = [*self._names[slot.index], *([] if self._whole else [""])]
            # A beginning is left out only where the title has room to name it.
            most = slot.width - cell_width(self.titles[slot.index]) - len(" ()")
            self._cuts[place] = name_cut(names, slot.width, self._glyphs.ellipsis, most)
        return self._cuts[place]

    def layout(self, width: int, first: int, wanted: int) -> ColumnLayout:
        """Return the columns on a line, scrolled so that the wanted one is on it."""
        if self._wide:
            return self._titled_layout(width, first, wanted, short=False)[0]
        found, is_cut = self._titled_layout(width, first, wanted, short=False)
        return self._titled_layout(width, first, wanted, short=True)[0] if is_cut else found

    def _titled_layout(self, width: int, first: int, wanted: int, *, short: bool) -> tuple[ColumnLayout, bool]:
        """Return a layout with titles of one kind, and whether a column is cut or left out."""
        self.titles = [self._title(index, short=short) for index in range(len(self._columns))]
        widths = [max(cell_width(text), needed) for text, needed in zip(self.titles, self._needed, strict=True)]
        found = scroll_to_column(self._columns, widths, width, first, wanted, wide=self._wide)
        shrunk = any(slot.width < widths[slot.index] for slot in found.slots)
        return found, found.more_left or found.more_right or shrunk

    def _title(self, index: int, *, short: bool) -> str:
        """Return a title with its arrow; a short one only where the cells below have no room for the long one."""
        column = self._columns[index]
        full = title(column, self._glyphs, short=False) + self._arrow(column)
        if not short or cell_width(full) <= self._needed[index] - (BAR - LEAST_BAR if column.graded else 0):
            return full
        return title(column, self._glyphs, short=True) + self._arrow(column)

    def _arrow(self, column: Column) -> str:
        arrows = {column.key: self._glyphs.ascending, f"-{column.key}": self._glyphs.descending}
        arrow = arrows.get(self._sort or "", "")
        # A letter would be taken for one of the title.
        return f" {arrow}" if arrow and self._glyphs.ascii_only else arrow


def layout_columns(
    columns: Sequence[Column], widths: Sequence[int], total: int, first: int = 0, *, wide: bool = False
) -> ColumnLayout:
    """Lay out columns on a line of `total` cells; `first` is how many after the pinned ones are scrolled away.

    If `wide`, no width gives way but that of a pinned name that would leave less than half of the line. Where columns
    go on at the right the last cell is free to show it.
    """
    found = _laid_out(columns, widths, total, first, wide=wide)
    is_full = found.more_right and found.end >= total
    return _laid_out(columns, widths, total - 1, first, wide=wide) if is_full else found


def _laid_out(columns: Sequence[Column], widths: Sequence[int], total: int, first: int, *, wide: bool) -> ColumnLayout:
    natural, widths = widths, list(widths) if wide else _shrunk(columns, widths, total)
    pinned = _pinned_count(columns, widths, total)
    if wide and pinned < len(columns):
        widths[:1] = [min(width, max(total // 2, NARROWEST_FIRST)) for width in widths[:1]]
    if pinned == len(columns):
        first = 0
    slots: list[Slot] = []
    x = 1
    for index, column in enumerate(columns):
        if pinned <= index < pinned + first:
            continue
        gap = _gap(column) if slots else 0
        room = total - x - gap
        width = min(widths[index], room) if column.kind in ELASTIC_KINDS else widths[index]
        if width > room or width < 1 or (width < widths[index] and width < NARROWEST // 2):
            break
        slots.append(Slot(index, x + gap, gap, width, is_right(column) and not column.graded))
        x += gap + width
    last = slots[-1].index if slots else -1
    more = last < len(columns) - 1 or (wide and bool(slots) and slots[-1].width < widths[last])
    return ColumnLayout(tuple(_widened(slots, natural, total)), pinned, first, first > 0, more)


def scroll_to_column(
    columns: Sequence[Column], widths: Sequence[int], total: int, first: int, wanted: int, *, wide: bool = False
) -> ColumnLayout:
    """Return the layout nearest to `first` that shows the wanted column; if `wide`, whole where it can be."""
    found = layout_columns(columns, widths, total, first, wide=wide)
    if not columns or wanted < found.pinned:
        return found
    least = widths[wanted] if wide else 0
    if found.shows(wanted, least):
        return found
    if wanted < found.pinned + first:
        return layout_columns(columns, widths, total, wanted - found.pinned, wide=wide)
    while not found.shows(wanted, least) and first < min(wanted, len(columns) - 1) - found.pinned:
        first += 1
        found = layout_columns(columns, widths, total, first, wide=wide)
    return found


def _pinned_count(columns: Sequence[Column], widths: Sequence[int], total: int) -> int:
    """Return how many leading name columns stay while the rest scrolls: at least one, at most half of the line."""
    used = count = 0
    for column, width in zip(columns, widths, strict=True):
        used += width + 1
        if column.kind != "name" or (count and used > total // 2):
            break
        count += 1
    return min(max(1, count), len(columns))


def _shrunk(columns: Sequence[Column], widths: Sequence[int], total: int) -> list[int]:
    """Return widths with which a line has all columns: what is drawn gives way before names and texts do."""
    room = total - 1 - sum(_gap(column) for column in columns[1:])
    drawn = [
        width - (BAR - LEAST_BAR) if column.graded else min(width, LEAST_TREND) if is_trend(column) else width
        for column, width in zip(columns, widths, strict=True)
    ]
    widths = shrink(widths, drawn, sum(widths) - room)
    floors = {"name": NARROWEST_NAME, "text": NARROWEST_TEXT, "object": NARROWEST}
    least = [floors.get(column.kind, width) for column, width in zip(columns, widths, strict=True)]
    # Some letters distinguish an id from others, but a name is read.
    floors = {CONVERSATION.key: NARROWEST_ID}
    least[:1] = [floors.get(each.key, NARROWEST_FIRST) if each.kind == "name" else least[0] for each in columns[:1]]
    return shrink(widths, least, sum(widths) - room)


def _widened(slots: Sequence[Slot], natural: Sequence[int], total: int) -> list[Slot]:
    """Give cells that are left over back to the columns that shrank, from the left."""
    found: list[Slot] = []
    spare = total - 1 - (slots[-1].start + slots[-1].width) if slots else 0
    shift = 0
    for slot in slots:
        more = max(0, min(spare, natural[slot.index] - slot.width))
        found.append(replace(slot, start=slot.start + shift, width=slot.width + more))
        spare -= more
        shift += more
    return found


def _gap(column: Column) -> int:
    return 2 if is_right(column) or column.kind in ("flag", "text") else 1


# More rows than these are not summed up.
_SUMMED_UP = 20_000


def count_text(location: Location, table: Table, whole: int | None, marked: int = 0) -> str:
    """Return what follows the position of the cursor: ` match · 375 hidden` behind `3 of 37`.

    `whole` is the number of rows without the typed filter, if known.
    """
    return _counted(location, table, whole) + (f" · {marked:,} marked" if marked else "")


def _reason(location: Location) -> str:
    """Return by what calls are sorted where one came for that."""
    if not location.reason or location.chosen_order != location.reason:
        return ""
    key = location.reason.removeprefix("-")
    metric = next((each for each in METRICS if each.key == key), None)
    words = metric.title if metric is not None else key
    if metric is None or metric.unit not in ("share", "calls"):
        words = f"{'highest' if location.reason != key else 'lowest'} {words}"
    return f", {words} first"


def _counted(location: Location, table: Table, whole: int | None) -> str:
    rows, matched, _ = table.counts
    if table.deferred is not None and (table.sections or spec_of(location.view).row_kind == "call"):
        return f" {nouns(location, rows)} so far" if rows else ""
    if not rows:
        return f"0 of {whole:,} match" if location.filter and whole else f"0 {nouns(location, 0)}"
    if rows < matched:
        # Only the first ones are listed, with a filter and without.
        return f" shown, of {matched:,} {nouns(location, matched)}"
    if location.filter:
        gone = (whole or 0) - rows
        return " match" + (f" · {gone:,} hidden" if gone > 0 else "")
    summary = spec_of(location.view).words.summary
    if summary is not None and isinstance(table.rows, list | MadeRows) and rows <= _SUMMED_UP:
        return f" · {summary(table)}"
    return _reason(location) or f" {nouns(location, rows)}"


def nouns(location: Location, count: int) -> str:
    """Return the noun for so many rows of a location."""
    one, several = spec_of(location.view).words.nouns
    return one if count == 1 else several


def empty_text(location: Location, notes: Sequence[str] = (), *, awaited: bool = False) -> str:
    """Return what to do next at a location without rows, or that they are still `awaited`; its `notes` may show why."""
    if awaited:
        return f"The {nouns(location, 2)} are not read yet."
    if filled := next((note.partition(": ")[2] for note in notes if is_of_empty_store(note)), ""):
        # Of a store without calls nothing is good, and no filter is to blame.
        return f"The store is empty: {filled.removesuffix('.')}, riff-tui demo shows what it can do."
    if location.filter:
        return "Nothing matches the filter: Esc clears it, / changes it."
    empty = spec_of(location.view).words.empty
    if empty:
        return empty
    if location.scope:
        return f"There are no {nouns(location, 2)} here: q goes back."
    return "The store is empty: riff-tui ingest PATH... fills it, riff-tui demo shows what it can do."
