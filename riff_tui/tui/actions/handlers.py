"""What each action of the registry does on the screen."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from riff_tui.filters import Filter
from riff_tui.tui.actions.lane_handlers import LANE_HANDLERS
from riff_tui.tui.actions.list_handlers import LIST_HANDLERS
from riff_tui.tui.actions.registry import action_of
from riff_tui.tui.actions.sort_order import following_order
from riff_tui.tui.data.paged_rows import at_hand
from riff_tui.tui.find.find_target import FindTarget
from riff_tui.tui.navigation.history import History
from riff_tui.tui.navigation.links import link_to
from riff_tui.tui.navigation.location import choose, descend, state_of
from riff_tui.tui.navigation.scope_filters import about_calls_or_names
from riff_tui.tui.render.palette import next_palette
from riff_tui.tui.render.turn_lines import is_voice
from riff_tui.tui.widgets.line_table import LineTable
from riff_tui.view_registry import views

if TYPE_CHECKING:
    from riff_tui.tui.screens.explorer import ExplorerScreen

Handler = Callable[["ExplorerScreen"], None]


def _move(rows: int) -> Handler:
    def move(screen: ExplorerScreen) -> None:
        if screen.head.focused_graph:
            screen.head.move(rows, 0)
        else:
            screen.body.move(rows)

    return move


def _sideways(columns: int) -> Handler:
    def sideways(screen: ExplorerScreen) -> None:
        if screen.head.focused_graph:
            screen.head.move(0, columns)
        elif isinstance(screen.body, LineTable):
            screen.body.sideways(columns)

    return sideways


def _page(pages: int) -> Handler:
    return lambda screen: (screen.detail if screen.detail.covers else screen.body).page(pages)


def _to_end(end: int) -> Handler:
    return lambda screen: screen.body.to_end(end)


def _bad(direction: int) -> Handler:
    def bad(screen: ExplorerScreen) -> None:
        body = screen.body
        if not body.to_bad(direction):
            there = partial(body.to_bad, direction, whole=True)
            screen.finder.go(FindTarget("bad cell", body.is_bad, there), direction)

    return bad


def _open(screen: ExplorerScreen) -> None:
    if screen.head.focused_graph:
        place, reason = screen.head.chosen(screen.history.here)
        if place is None:
            screen.say(reason, "warn")
        else:
            screen.settle()
            screen.visit(screen.history.instead(place))
        return
    reading, row = screen.loaded, screen.body.row
    if reading and is_voice(reading.main):
        screen.detail.toggle()
        return
    place = descend(screen.history.here, reading.main, row) if reading and row else None
    if place is not None:
        screen.settle()
        screen.visit(screen.history.down(place))


def _close(screen: ExplorerScreen) -> None:
    here = screen.history.here
    if screen.finder.is_under_way:
        screen.finder.stop()
    elif screen.navigator.is_under_way:
        screen.navigator.stay()
    elif screen.deferred_load.waits:
        screen.deferred_load.leave()
    elif screen.detail.is_visible:
        screen.detail.toggle()
    elif screen.head.focused_graph:
        screen.into_graph(False)
    elif here.kind == "conversation" and screen.search.sought:
        screen.search.end()
    elif here.filter:
        screen.search.remember(here.filter.text)
        screen.settle()
        screen.visit(screen.history.instead(replace(screen.history.here, filter=Filter())))
    else:
        _up(screen)


def _up(screen: ExplorerScreen) -> None:
    screen.settle()
    screen.visit(screen.history.up())


def _step(step: Callable[[History], History]) -> Handler:
    def go(screen: ExplorerScreen) -> None:
        screen.settle()
        screen.visit(step(screen.history))

    return go


def _view(view: str) -> Handler:
    def go(screen: ExplorerScreen) -> None:
        screen.settle()
        here, table = screen.history.here, screen.loaded.main if screen.loaded else None
        conditions = about_calls_or_names(here.filter.predicate, table) if table else None
        screen.visit(screen.history.go(choose(screen.history.stack, view, conditions)))

    return go


def _neighbors(screen: ExplorerScreen) -> None:
    if screen.history.here.kind == "state":
        screen.into_graph(screen.head.unfold() == "graph")
        return
    place = state_of(screen.history.here, screen.body.row)
    if place is not None:
        screen.settle()
        screen.visit(screen.history.down(place))


def _sibling(direction: int) -> Handler:
    def go(screen: ExplorerScreen) -> None:
        table, position = screen.above(), screen.position()
        if table is None or position is None:
            screen.say("nothing further matches here, and no list leads to another conversation", "warn")
            return
        index = position[0] - 1 + direction
        if not 0 <= index < len(table.rows):
            screen.say("this is the last of the list" if direction > 0 else "this is the first of the list", "warn")
        elif not at_hand(table.rows, index):
            screen.fetch(table.rows, index, lambda: go(screen))
        else:
            row = table.rows[index]
            above = replace(screen.history.stack[-2], row=row.id, index=index)
            place = descend(above, table, row)
            if place is not None:
                screen.visit(screen.history.go((*screen.history.stack[:-2], above, place)))

    return go


def _sort(*, other_way: bool) -> Handler:
    def sort(screen: ExplorerScreen) -> None:
        column, here = screen.table.under, screen.history.here
        if column is None:
            return
        screen.settle()
        screen.explorer.session.sort(here.view, following_order(here.sort, column, other_way=other_way))
        screen.visit(screen.history)

    return sort


def _filter(screen: ExplorerScreen) -> None:
    screen.prompt_controller.open()


def _match(direction: int) -> Handler:
    def match(screen: ExplorerScreen) -> None:
        if screen.history.here.kind != "conversation":
            screen.search.step(direction)
        elif not screen.search.within(direction):
            if direction < 0:
                screen.search.arrive_at_end()
            _sibling(direction)(screen)

    return match


def _pick(field: str) -> Handler:
    def pick(screen: ExplorerScreen) -> None:
        from riff_tui.tui.actions.dialogs import pick_name

        pick_name(screen, field)

    return pick


def _aspect(screen: ExplorerScreen) -> None:
    from riff_tui.tui.actions.dialogs import pick_aspect

    pick_aspect(screen)


def _palette(screen: ExplorerScreen) -> None:
    from riff_tui.tui.actions.dialogs import palette

    palette(screen)


def _copy(screen: ExplorerScreen) -> None:
    from riff_tui.tui.screens.copy_menu import CopyMenu

    screen.app.push_screen(CopyMenu(screen))


def _dump(screen: ExplorerScreen) -> None:
    if screen.loaded:
        said = "  ·  ".join(screen.loaded.dumps)
        screen.say(link_to(screen) if screen.bottom.before == said else said)


def _refresh(screen: ExplorerScreen) -> None:
    screen.refresher.refresh()


def _pause(screen: ExplorerScreen) -> None:
    screen.refresher.pause()


def _theme(screen: ExplorerScreen) -> None:
    palette = next_palette(screen.explorer.palette)
    screen.explorer.palette = palette
    screen.explorer.session.take_theme(palette.name)
    screen.restyle(palette)
    screen.say(f"theme: {palette.name}")


def _help(screen: ExplorerScreen) -> None:
    from riff_tui.tui.render.help_lines import help_lines
    from riff_tui.tui.screens.reader import Reader

    explorer, context = screen.explorer, screen.context
    table, dumps = (screen.loaded.main, screen.loaded.dumps) if screen.loaded else (None, [])
    glyphs, palette = explorer.glyphs, explorer.palette
    screen.app.push_screen(Reader(lambda width: help_lines(table, context, width, glyphs, palette, dumps)))


def _trouble(screen: ExplorerScreen) -> None:
    from riff_tui.tui.render.help_lines import error_lines
    from riff_tui.tui.screens.reader import Reader

    error, explorer = screen.last_error, screen.explorer
    if error is not None:
        screen.app.push_screen(Reader(lambda width: error_lines(error, width, explorer.glyphs, explorer.palette)))


def _quit_or_back(screen: ExplorerScreen) -> None:
    if screen.detail.covers:
        screen.detail.toggle()
    elif screen.head.focused_graph:
        screen.into_graph(False)
    elif len(screen.history.stack) > 1:
        _up(screen)
    else:
        screen.app.exit()


def _quit(screen: ExplorerScreen) -> None:
    screen.app.exit()


HANDLERS: Mapping[str, Handler] = {
    "down": _move(1),
    "up": _move(-1),
    "page_down": _page(1),
    "page_up": _page(-1),
    "first": _to_end(-1),
    "last": _to_end(1),
    "left": _sideways(-1),
    "right": _sideways(1),
    "next_bad": _bad(1),
    "previous_bad": _bad(-1),
    "open": _open,
    "close": _close,
    "back": _step(History.back),
    "forward": _step(History.forward),
    **{action_of(spec): _neighbors if spec.screen == "state" else _view(spec.name) for spec in views() if spec.key},
    "next": _match(1),
    "previous": _sibling(-1),
    "filter": _filter,
    "next_match": _match(1),
    "previous_match": _match(-1),
    "pick_flow": _pick("flow"),
    "pick_agent": _pick("agent"),
    "pick_run": _pick("run"),
    "aspect": _aspect,
    "palette": _palette,
    "sort": _sort(other_way=False),
    "reverse": _sort(other_way=True),
    "copy": _copy,
    "dump": _dump,
    "refresh": _refresh,
    "pause": _pause,
    "trouble": _trouble,
    "theme": _theme,
    "help": _help,
    "quit_or_back": _quit_or_back,
    "quit": _quit,
    **LIST_HANDLERS,
    **LANE_HANDLERS,
}
