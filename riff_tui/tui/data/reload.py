"""Read again what was read before: for a place that changed, and for the list that a place came from."""

from __future__ import annotations

from dataclasses import replace

from riff_tui.errors import RiffError
from riff_tui.table import Table
from riff_tui.tui.data.loader import LoadedView, ShowView, read
from riff_tui.tui.data.paged_rows import PagedRows, position
from riff_tui.tui.navigation.location import Location, Stack
from riff_tui.view_registry import spec_of


def read_again(show: ShowView, place: Location, before: LoadedView) -> LoadedView:
    """Ask again for what a place shows; of a long list the row under the cursor is at hand wherever it is now."""
    reading = read(show, place)
    rows, old = reading.main.rows, before.main.rows
    if isinstance(rows, PagedRows) and isinstance(old, PagedRows):
        rows.follow(old, place.index, place.row)
    return reading


def read_list(show: ShowView, stack: Stack) -> tuple[Location, LoadedView] | None:
    """The list that a conversation lies in, with the cursor on it; nothing where it lies in none that can be read."""
    if len(stack) < 2 or spec_of(stack[-2].view).row_kind != "call":
        return None
    place = stack[-2]
    try:
        reading = read(show, place)
    except RiffError:
        return None
    return replace(place, index=position(reading.main.rows, place.row, place.index)), reading


def changed_rows(before: Table, now: Table) -> frozenset[str]:
    """The ids of rows that say something else than before; of a list read whole, also of rows that are new."""
    rows = now.rows if isinstance(now.rows, list | tuple) else ()
    old = {row.id: row for row in before.rows} if isinstance(before.rows, list | tuple) else {}
    return frozenset(row.id for row in rows if old.get(row.id) != row) if old else frozenset()
