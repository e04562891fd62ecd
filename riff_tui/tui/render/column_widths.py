"""How wide the columns of one table have to be: as wide as what was seen of them, and never narrower again."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from riff_tui.table import Column, Row
from riff_tui.text.glyphs import Glyphs
from riff_tui.text.safe_text import cell_width
from riff_tui.tui.render.column_layout import ColumnLayout, scrolled_to
from riff_tui.tui.render.columns import text_of, title

_WIDEST_NAME = 40
_WIDEST = 200


class ColumnWidths:
    """Measures rows as they come into view and arranges the columns on a line.

    Titles are long where everything fits with them or if it is to be `wide`, short elsewhere; that of
    the column that the rows are sorted by carries an arrow.
    """

    def __init__(self, columns: Sequence[Column], glyphs: Glyphs, sort: str | None, *, wide: bool = False) -> None:
        self._columns = columns
        self._glyphs = glyphs
        self._sort = sort
        self._wide = wide
        self._needed = [0] * len(columns)
        self.titles: list[str] = []

    def look(self, rows: Iterable[Row]) -> bool:
        """Take in some rows; whether any column has to be wider for them."""
        before = list(self._needed)
        for row in rows:
            for index, column in enumerate(self._columns):
                length = cell_width(text_of(column, row, self._glyphs))
                if length > self._needed[index]:
                    narrow = column.kind == "name" and not self._wide
                    self._needed[index] = min(length, _WIDEST_NAME if narrow else _WIDEST)
        return self._needed != before

    def arrange(self, width: int, first: int, wanted: int) -> ColumnLayout:
        """The columns on a line, scrolled so that the wanted one is on it."""
        found = self._with_titles(False, width, first, wanted)
        return found or self._with_titles(True, width, first, wanted) or ColumnLayout((), 0, 0, False, False)

    def _with_titles(self, short: bool, width: int, first: int, wanted: int) -> ColumnLayout | None:
        self.titles = [self._titled(column, short) for column in self._columns]
        widths = [max(cell_width(said), needed) for said, needed in zip(self.titles, self._needed, strict=True)]
        found = scrolled_to(self._columns, widths, width, first, wanted, wide=self._wide)
        cut = found.more_left or found.more_right or any(slot.width < widths[slot.index] for slot in found.slots)
        return None if cut and not short and not self._wide else found

    def _titled(self, column: Column, short: bool) -> str:
        signs = {column.key: self._glyphs.rising, f"-{column.key}": self._glyphs.falling}
        return title(column, self._glyphs, short=short) + signs.get(self._sort or "", "")
