"""What a place shows: the tables that it asks the store for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from riff_tui.catalog import Request
from riff_tui.table import Row, Table
from riff_tui.tui.buffer import PAGE, Buffer
from riff_tui.tui.pairing import compared
from riff_tui.tui.places import Place
from riff_tui.tui.scopes import kept

# Beyond this a list is not put into another order here: it would have to be read whole.
_ORDERED = 5_000


class Show(Protocol):
    """Asks the store for a view."""

    def __call__(self, view: str, request: Request, /) -> Table:
        """The table; raises what stopped it."""
        ...


@dataclass(frozen=True, slots=True)
class Reading:
    """The table that is walked and, for a state, its neighbours and its metrics."""

    main: Table
    neighbors: Table | None = None
    cell: Table | None = None

    @property
    def source(self) -> Table:
        """The table whose dump prints this place."""
        return self.neighbors or self.main


def read(show: Show, place: Place) -> Reading:
    """Ask for everything that a place shows."""
    if place.pair:
        return Reading(compared(show, place))
    if place.kind == "conversation":
        return Reading(show("conversation", Request(where=place.scope, text=True)))
    if place.kind == "list":
        return Reading(_buffered(show(place.view, Request(where=place.where, sort=place.sort)), place.index))
    state = kept(place.scope, ("flow", "agent", "state"))
    calls = show("conversations", Request(where=place.where, sort=place.sort))
    if place.sort is None:
        calls = replace(calls, rows=_stalled_first(calls.rows, place.crumb))
    return Reading(
        _buffered(calls, place.index),
        neighbors=show("neighbors", Request(where=state)),
        cell=show("states", Request(where=state)),
    )


def _buffered(table: Table, index: int) -> Table:
    """The table with rows that keep no screen waiting; those around `index` are at hand."""
    if isinstance(table.rows, list | tuple):
        return table
    rows = Buffer(table.rows)
    rows.load(max(0, min(index, len(rows) - 1)) // PAGE)
    return replace(table, rows=rows)


def _stalled_first(rows: Sequence[Row], state: str) -> Sequence[Row]:
    """The conversations that ended in the state without being completed, before all others."""
    if len(rows) > _ORDERED:
        return rows

    def stalled(row: Row) -> bool:
        record = row.record
        return record.get("final_state") == state and not record.get("completed") and not record.get("errored")

    return sorted(rows, key=lambda row: not stalled(row))
