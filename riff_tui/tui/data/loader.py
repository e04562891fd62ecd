"""What a place shows: the tables that it asks the store for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from riff_tui.filters import Filter
from riff_tui.request import Request
from riff_tui.table import Deferred, Table
from riff_tui.tui.data.paged_rows import PAGE, PagedRows
from riff_tui.tui.navigation.location import Location
from riff_tui.tui.navigation.pairs import load_pair
from riff_tui.tui.navigation.scope_filters import without_bare_words
from riff_tui.view_registry import spec_of

STALLED_FIRST = "-stall"


class ShowView(Protocol):
    """Asks the store for a view."""

    def __call__(self, view: str, request: Request, /) -> Table:
        """The table; raises what stopped it."""
        ...


class NameSource(Protocol):
    """Asks the store which names there are."""

    def known(self, field: str, where: str = "") -> Sequence[str]:
        """Every name of a field in order."""
        ...

    def counted(self, field: str, where: str = "") -> Sequence[tuple[str, int]]:
        """The names that such calls have, each with how many."""
        ...


@dataclass(frozen=True, slots=True)
class LoadedView:
    """The table that is walked and, for a state, its neighbours with its metrics and latencies."""

    main: Table
    neighbors: Table | None = None

    @property
    def source(self) -> Table:
        """The table whose dump prints what the place is about."""
        return self.neighbors or self.main

    @property
    def dumps(self) -> list[str]:
        """The commands that print all of it."""
        return [table.dump for table in (self.neighbors, self.main) if table is not None and table.dump]

    @property
    def deferred(self) -> Deferred | None:
        """What was left for later."""
        return self.source.deferred

    def completed(self, table: Table) -> LoadedView:
        """The same with the table that the rest ended with."""
        return LoadedView(table) if self.neighbors is None else replace(self, neighbors=table)


def read(show: ShowView, place: Location) -> LoadedView:
    """Ask for what a place shows; what takes long is left to the reading's `rest`."""
    rows = read_rows(show, place)
    if place.kind != "state":
        return LoadedView(rows)
    where = place.scope & Filter.of(without_bare_words(place.filter.predicate))
    request = Request(where=where.text, predicate=where.predicate, defer=True)
    return LoadedView(rows, neighbors=show(place.view, request))


def read_rows(show: ShowView, place: Location) -> Table:
    """Ask for the rows that one walks through alone."""
    if place.pair:
        return load_pair(show, place)
    if place.kind == "conversation":
        return show(place.view, Request(where=place.scope.text, predicate=place.scope.predicate, text=True))
    spec, where = spec_of(place.view), place.where
    if spec.rows_of:
        request = Request(where=where.text, predicate=where.predicate, sort=place.sort or STALLED_FIRST)
        return _buffered(show(spec.rows_of, request), place.index)
    request = Request(
        where=where.text,
        predicate=where.predicate,
        sort=place.sort,
        trend=spec.trend,
        defer=True,
        sides=place.between,
        aspect=place.aspect or None,
    )
    return _buffered(show(place.view, request), place.index)


def _buffered(table: Table, index: int) -> Table:
    """The table with rows that keep no screen waiting; those around `index` are at hand."""
    if isinstance(table.rows, list | tuple):
        return table
    rows = PagedRows(table.rows)
    rows.load(max(0, min(index, len(rows) - 1)) // PAGE)
    return replace(table, rows=rows)
