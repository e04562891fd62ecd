"""What actions work with in an explorer that shows a table, without a terminal: for conditions, hints and help."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from tests.support.fake_catalog import FakeCatalog
from tests.surface.explorer import (
    PALETTES,
    START,
    Backend,
    Controls,
    ExplorerScreen,
    History,
    LoadedView,
    Location,
    QueryWorker,
    visible_columns,
)
from tests.surface.tui import UNICODE, Table

_WORKER = QueryWorker()
_ON_ITS_WAY: Any = object()


def controls_at(
    here: str | Location = "flows",
    table: Table | None = None,
    *,
    depth: int = 1,
    column: str = "",
    graph: bool = False,
    loading: bool = False,
    listed: Table | None = None,
    marked: Collection[str] = (),
    done: str = "",
    was_elsewhere: bool = False,
) -> Controls:
    """Return the controls of a screen at a location, by default without rows, `depth` locations below each other.

    The cursor is on the first row and, where one is named, on a `column`. `listed` is the list that the location was
    opened from, `done` the last action, and `was_elsewhere` shows that there are other places to go back to.
    """
    location = Location(here) if isinstance(here, str) else here
    stack = (*START * (depth - 1), location)
    backend = Backend(FakeCatalog().show, worker=_WORKER)
    history = History((START, stack), 1, START) if was_elsewhere else History((stack,))
    screen = ExplorerScreen(backend, history, PALETTES["ansi"], UNICODE)
    controls = screen.controls
    shown = table if table is not None else Table(location.view, "", (), ())
    screen.loaded, screen.done = LoadedView(shown), done
    controls.table.table, controls.table.columns = shown, visible_columns(shown)
    keys = [each.key for each in controls.table.columns]
    controls.table.column = keys.index(column) if column else 0
    controls.transcript.table = shown
    controls.header.focused_graph = graph
    if loading:
        controls.navigator._retry = _ON_ITS_WAY
    if listed is not None:
        controls.navigator.keep(History((stack[:-1],)), LoadedView(listed))
    backend.session.mark(f"{location.view} {location.scope.text}".rstrip(), marked)
    return controls
