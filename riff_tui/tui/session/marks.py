"""Rows that carry a mark: by id, in the list that they were marked in, whatever its order and its filter."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

from riff_tui.table import Row
from riff_tui.tui.data.paged_rows import at_hand, indices_at_hand
from riff_tui.tui.navigation.location import Location

Marked = Mapping[str, tuple[str, ...]]
"""The ids of the marked rows by `list_of` the place that they are in, in the order in which they were marked."""


def list_of(place: Location) -> str:
    """What names the list that a place shows: its view, and what the rows above narrow it to."""
    return f"{place.view} {place.scope}".rstrip()


class Marks:
    """Marks and takes back, through `keep`, which is told the marks of a list whenever they change."""

    def __init__(self, marked: Callable[[], Marked], keep: Callable[[str, Collection[str]], None]) -> None:
        self._marked = marked
        self._keep = keep
        self._seen: dict[tuple[object, str], int] = {}

    def of(self, place: Location) -> tuple[str, ...]:
        """The ids of the marked rows, the first that was marked first."""
        return self._marked().get(list_of(place), ())

    def toggle(self, place: Location, row: Row, index: int) -> bool:
        """Mark a row that stands at `index`, or take its mark back; whether it has one now."""
        before = self.of(place)
        is_new = row.id not in before
        self._seen[place.question, row.id] = index
        self._keep(list_of(place), (*before, row.id) if is_new else tuple(each for each in before if each != row.id))
        return is_new

    def clear(self, place: Location) -> int:
        """Take back every mark of a list; how many there were."""
        count = len(self.of(place))
        self._keep(list_of(place), ())
        return count

    def next(self, place: Location, rows: Sequence[Row], cursor: int) -> int | None:
        """Where the next marked row below `cursor` is, from the top again below the last; None where none is seen.

        Of a long list only the rows at hand are looked at; where others were marked in this same
        order is remembered.
        """
        ids = frozenset(self.of(place))
        found = {index for index in indices_at_hand(rows) if rows[index].id in ids}
        for row_id in ids:
            index = self._seen.get((place.question, row_id))
            if index is not None and index < len(rows) and not at_hand(rows, index):
                found.add(index)
        return min((index for index in found if index > cursor), default=min(found, default=None))
