"""What actions work with in an explorer that shows a table, without a terminal: for conditions, hints and help."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from riff_tui.table import Table
from riff_tui.text.glyphs import UNICODE
from riff_tui.tui.actions.action import Controls
from riff_tui.tui.data.backend import Backend
from riff_tui.tui.data.loader import LoadedView
from riff_tui.tui.data.query_worker import QueryWorker
from riff_tui.tui.navigation.history import History
from riff_tui.tui.navigation.location import START, Location
from riff_tui.tui.render.columns import visible_columns
from riff_tui.tui.render.styled_lines import PALETTES
from riff_tui.tui.screen import ExplorerScreen
from tests.support.fake_catalog import FakeCatalog

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
    opened from, `done` the last action, and `was_elsewhere` says that there are other places to go back to.
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
        controls.navigator.load_errors._retry = _ON_ITS_WAY
    if listed is not None:
        controls.navigator.keep(History((stack[:-1],)), LoadedView(listed))
    backend.session.mark(f"{location.view} {location.scope.text}".rstrip(), marked)
    return controls
