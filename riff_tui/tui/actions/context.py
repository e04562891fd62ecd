"""What decides which keys apply, read off the screen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from riff_tui.table import Row, Table
from riff_tui.tui.actions.registry import ActionContext
from riff_tui.tui.navigation.location import below, noun, state_of
from riff_tui.tui.render.columns import has_order
from riff_tui.tui.render.state_header import Fold
from riff_tui.tui.render.turn_lines import is_voice
from riff_tui.tui.session.column_choice import offered
from riff_tui.view_registry import spec_of
from riff_tui.views import side_by_side

if TYPE_CHECKING:
    from riff_tui.tui.screens.explorer import ExplorerScreen

_FOLDS: dict[Fold, str] = {"all": "all of it", "graph": "neighbours", "latencies": "latencies", "list": "list only"}


def _below(screen: ExplorerScreen, table: Table | None, row: Row | None) -> str:
    """What Enter opens: what lies below the row, of a moment of a voice call the pane that tells all of it."""
    if is_voice(table) and row is not None:
        return "close details" if screen.detail.is_visible else "details"
    return noun(below(table, row)) if table is not None else ""


def context_of(screen: ExplorerScreen) -> ActionContext:
    """The context that one is in now."""
    place, reading, history = screen.history.here, screen.loaded, screen.history
    table = reading.main if reading else None
    row = screen.body.row if reading else None
    column = screen.table.under if place.kind != "conversation" and table is not None else None
    position = screen.position() if place.kind == "conversation" else None
    under = place if place.kind == "state" else state_of(place, row) if place.kind == "list" else None
    marked = screen.list_state.marks.of(place)
    return ActionContext(
        view=place.view,
        kind=place.kind,
        rows=len(table.rows) if table is not None else 0,
        below=_below(screen, table, row),
        column=column.title if column and table is not None and has_order(column, table) else "",
        filtered=bool(place.filter),
        depth=len(history.stack),
        back=history.at > 0,
        forward=history.at < len(history.stacks) - 1,
        graph=screen.head.focused_graph,
        fold=_FOLDS[screen.head.next_fold] if place.kind == "state" else "",
        neighbors=under is not None,
        siblings=position[1] if position else 0,
        dump=bool(reading and reading.source.dump),
        trouble=screen.last_error is not None,
        travelling=screen.navigator.is_under_way or screen.deferred_load.waits or screen.finder.is_under_way,
        live=screen.refresher.watcher is not None,
        paused=screen.refresher.paused,
        sought=bool(screen.search.sought if place.kind == "conversation" else screen.search.words),
        marks=len(marked),
        at_mark=row is not None and row.id in marked,
        unlike=side_by_side.refusal(spec_of(table.view)) if table is not None else "",
        pair=bool(place.pair),
        sided=bool(place.sides),
        pane=screen.detail.is_visible,
        covered=screen.detail.covers,
        last=history.last is not None,
        lanes=screen.head.lanes.nearness if screen.head.lanes is not None else "",
        choosable=table is not None and bool(offered(table, table.columns)),
    )
