"""Handle the keys that go somewhere else: down and up, back and forward, to another view, state, call or name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial

from riff_tui.filters import Filter
from riff_tui.table import Table
from riff_tui.tui.actions.controls import Controls
from riff_tui.tui.actions.dialogs import pick_aspect, pick_name
from riff_tui.tui.actions.registry import action_of
from riff_tui.tui.actions.siblings import visit_sibling
from riff_tui.tui.data.loader import is_begun
from riff_tui.tui.data.paged_rows import PAGE, PagedRows
from riff_tui.tui.navigation.folding import fold, is_folded, unfold_all
from riff_tui.tui.navigation.history import History, is_same
from riff_tui.tui.navigation.kept_place import choose, since_last_run, widening
from riff_tui.tui.navigation.location import Location, descend, state_of
from riff_tui.tui.navigation.scope_filters import Scope, about_calls_or_names, conjunction, name_term
from riff_tui.tui.render.turn_lines import is_voice
from riff_tui.view_registry import views

Handler = Callable[[Controls], None]


def _open(controls: Controls) -> None:
    host = controls.host
    loaded, row = host.loaded, host.body.row
    if controls.header.focused_graph:
        _open_neighbor(controls)
    elif loaded and is_voice(loaded.main):
        controls.detail.toggle()
    elif loaded and isinstance(loaded.main.rows, PagedRows) and not loaded.main.rows.has(host.body.cursor):
        load = partial(_open_once_loaded, controls, loaded.main.rows, host.body.cursor)
        controls.opening.begin(load, "rows", is_for_text=False)
    elif loaded and row:
        location = descend(host.location, loaded.main, row)
        if location is not None:
            host.visit(host.history.down(location))


async def _open_once_loaded(controls: Controls, rows: PagedRows, index: int) -> None:
    """Open the row under the cursor once it was loaded, unless the cursor or the list is another one then."""
    host = controls.host
    await host.worker.ask(partial(rows.load, index // PAGE))
    loaded, cursor = host.loaded, host.body.cursor
    if loaded is not None and loaded.main.rows is rows and cursor == index and rows.has(index):
        controls.table.refreshed()
        _open(controls)


def _open_neighbor(controls: Controls) -> None:
    host = controls.host
    location, reason = controls.header.chosen(host.location)
    if location is None:
        host.say(reason, "warn")
    else:
        host.visit(host.history.instead(location))


def _close(controls: Controls) -> None:
    host, here = controls.host, controls.host.location
    if controls.finder.is_searching:
        controls.finder.stop()
    elif controls.navigator.is_loading:
        controls.navigator.stay()
        controls.table.refreshed()
    elif controls.deferred_load.is_loading:
        controls.deferred_load.stop()
    elif controls.detail.is_visible:
        controls.detail.toggle()
    elif controls.header.focused_graph:
        _focus_graph(controls, focused=False)
    elif here.kind == "conversation" and controls.search.expression:
        controls.search.end()
    elif here.filter:
        controls.search.remember(here.filter.text)
        host.visit(host.history.instead(replace(here, filter=Filter())))
    else:
        host.visit(host.history.up())


def _quit_or_back(controls: Controls) -> None:
    history = controls.host.history
    if controls.detail.covers:
        controls.detail.toggle()
    elif controls.header.focused_graph:
        _focus_graph(controls, focused=False)
    elif len(history.stack) > 1:
        controls.host.visit(history.up())
    else:
        controls.host.leave()


def _focus_graph(controls: Controls, *, focused: bool) -> None:
    """Put the cursor into the neighbour graph, or back into the rows."""
    controls.header.focus_graph(focused)
    controls.table.activate(not focused)
    controls.host.update_lines()


def _step(step: Callable[[History], History]) -> Handler:
    return lambda controls: controls.host.visit(step(controls.host.history))


def _view(view: str) -> Handler:
    def go(controls: Controls) -> None:
        history, loaded = controls.host.history, controls.host.loaded
        stack = choose(history.stack, view, _conditions(history.here, loaded.main) if loaded else None)
        if is_same(stack, history.stack) and history.here.by:
            remark = "every flow with every agent; the same key folds them" if is_folded(history.here) else ""
            controls.host.visit(unfold_all(history), remark=remark)
            return
        controls.host.visit(history.go(stack), remark=widening(history.stack, stack))

    return go


def _fold(controls: Controls) -> None:
    host = controls.host
    host.visit(fold(host.history, controls.table.row))


def _since_last_run(controls: Controls) -> None:
    history, loaded = controls.host.history, controls.host.loaded
    stack = since_last_run(history.stack, _conditions(history.here, loaded.main) if loaded else None)
    controls.host.visit(history.go(stack), remark=widening(history.stack, stack))


def _conditions(here: Location, table: Table) -> Scope:
    """Return what other views are narrowed to beside the place: what was typed here, or who a call is about."""
    if here.kind != "conversation":
        return about_calls_or_names(here.filter.predicate, table)
    call = table.extras.get("call", {})
    return conjunction([name_term(field, call[field]) for field in ("flow", "agent") if call.get(field)])


def _neighbors(controls: Controls) -> None:
    host = controls.host
    here = host.location
    if here.kind == "state":
        _focus_graph(controls, focused=controls.header.unfold() == "graph")
        return
    location = state_of(here, host.loaded.main if host.loaded else None, host.body.row)
    if location is not None:
        host.visit(host.history.down(location))


def _sibling(direction: int) -> Handler:
    def go(controls: Controls) -> None:
        host, navigator = controls.host, controls.navigator
        table, position = navigator.list_above(), navigator.position()
        if table is None or position is None:
            host.say("nothing further matches here, and no list leads to another conversation", "warn")
            return
        index = position[0] - 1 + direction
        if index < 0:
            host.say("this is the first of the list", "warn")
        elif index >= len(table.rows):
            host.say(f"this is the last of the list{' so far' if is_begun(table) else ''}", "warn")
        else:
            visit_sibling(controls, table, index)

    return go


def _match(direction: int) -> Handler:
    def match(controls: Controls) -> None:
        if controls.host.location.kind != "conversation":
            controls.search.step(direction)
        elif not controls.search.step_within(direction):
            if direction < 0:
                controls.search.begin_at_end()
            _sibling(direction)(controls)

    return match


def _pick(field: str) -> Handler:
    return lambda controls: pick_name(controls, field)


NAVIGATION_HANDLERS: Mapping[str, Handler] = {
    "open": _open,
    "close": _close,
    "quit_or_back": _quit_or_back,
    "back": _step(History.back),
    "forward": _step(History.forward),
    "last_view": _step(History.to_last),
    **{
        action_of(spec): _neighbors if spec.screen.kind == "state" else _view(spec.name)
        for spec in views()
        if spec.screen.help
    },
    "since_last_run": _since_last_run,
    "fold": _fold,
    "next": _match(1),
    "previous": _sibling(-1),
    "filter": lambda controls: controls.prompt_controller.open(),
    "next_match": _match(1),
    "previous_match": _match(-1),
    "pick_flow": _pick("flow"),
    "pick_agent": _pick("agent"),
    "pick_run": _pick("run"),
    "aspect": pick_aspect,
}
