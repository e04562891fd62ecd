"""Hold what the handlers of actions work with, and read off it what decides which keys apply."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from textual.screen import Screen

from riff_tui.table import Row, Table
from riff_tui.tui.actions.context import ActionContext
from riff_tui.tui.backend import Backend
from riff_tui.tui.data.auto_refresh import AutoRefresh
from riff_tui.tui.data.deferred_load import DeferredLoad
from riff_tui.tui.data.paged_rows import PageLoader
from riff_tui.tui.find.finder import Finder
from riff_tui.tui.find.prompt_controller import PromptController
from riff_tui.tui.find.search import Search
from riff_tui.tui.host import Host
from riff_tui.tui.navigation.location import below, noun, state_of
from riff_tui.tui.navigation.navigator import Navigator
from riff_tui.tui.panes.detail_controller import DetailController
from riff_tui.tui.panes.header import Header
from riff_tui.tui.render.columns import has_order
from riff_tui.tui.render.palette import Palette
from riff_tui.tui.render.state_header import Fold
from riff_tui.tui.render.turn_lines import is_voice
from riff_tui.tui.session.column_choice import offered
from riff_tui.tui.session.list_state import ListState
from riff_tui.tui.widgets.bars import BottomLine
from riff_tui.tui.widgets.check_list import CheckList
from riff_tui.tui.widgets.file_prompt import FilePrompt
from riff_tui.tui.widgets.line_table import LineTable
from riff_tui.tui.widgets.picker import Picker
from riff_tui.view_registry import spec_of
from riff_tui.views import side_by_side

_FOLDS: dict[Fold, str] = {"all": "all of it", "graph": "neighbours", "latencies": "latencies", "list": "list only"}


@dataclass(frozen=True, slots=True)
class Controls:
    """Hold the screen as a host, its widgets and its controllers."""

    host: Host
    backend: Backend

    header: Header
    table: LineTable
    bottom: BottomLine
    picker: Picker
    check_list: CheckList
    file_prompt: FilePrompt

    auto_refresh: AutoRefresh
    deferred_load: DeferredLoad
    detail: DetailController
    finder: Finder
    list_state: ListState
    navigator: Navigator
    page_loader: PageLoader
    prompt: PromptController
    search: Search

    push_screen: Callable[[Screen[Any]], object]
    restyle: Callable[[Palette], None]
    exit: Callable[[], object]


def context_of(controls: Controls) -> ActionContext:
    """Return the context in which a key would be pressed."""
    host, header, refresh = controls.host, controls.header, controls.auto_refresh
    history, loaded = host.history, host.loaded
    location, table = history.here, loaded.main if loaded else None
    row = host.body.row if loaded else None
    column = controls.table.under if location.kind != "conversation" and table is not None else None
    position = controls.navigator.position() if location.kind == "conversation" else None
    state = location if location.kind == "state" else state_of(location, row) if location.kind == "list" else None
    marked = controls.list_state.marks(location)
    searched = controls.search.expression if location.kind == "conversation" else controls.search.filter
    return ActionContext(
        view=location.view,
        kind=location.kind,
        rows=len(table.rows) if table is not None else 0,
        below=_below(table, row, closes=controls.detail.is_visible),
        column=column.title if column and table is not None and has_order(column, table) else "",
        filtered=bool(location.filter),
        depth=len(history.stack),
        back=history.at > 0,
        forward=history.at < len(history.stacks) - 1,
        graph=header.focused_graph,
        fold=_FOLDS[header.next_fold] if location.kind == "state" else "",
        neighbors=state is not None,
        siblings=position[1] if position else 0,
        dump=bool(loaded and loaded.source.dump),
        failed=host.last_error is not None,
        loading=is_loading(controls),
        live=refresh.watcher is not None,
        paused=refresh.paused,
        searched=bool(searched),
        marks=len(marked),
        at_mark=row is not None and row.id in marked,
        unlike=side_by_side.refusal(spec_of(table.view)) if table is not None else "",
        pair=bool(location.pair),
        sided=bool(location.sides),
        pane=controls.detail.is_visible,
        covered=controls.detail.covers,
        last=history.last is not None,
        lanes=header.lanes.nearness if header.lanes is not None else "",
        choosable=table is not None and bool(offered(table, table.columns)),
    )


def is_loading(controls: Controls) -> bool:
    """Return whether something is being loaded or searched that Esc would stop."""
    return controls.navigator.is_loading or controls.deferred_load.is_loading or controls.finder.is_searching


def _below(table: Table | None, row: Row | None, *, closes: bool) -> str:
    """Return what Enter opens: what lies below a row, of a moment of a voice call the pane of details."""
    if is_voice(table) and row is not None:
        return "close details" if closes else "details"
    return noun(below(table, row)) if table is not None else ""
