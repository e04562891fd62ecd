"""Go somewhere else: down and up, back and forward, to another view or state; leave."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from functools import partial

from riff_tui.browser import is_in_browser
from riff_tui.descent import Scope, conjunction, narrow
from riff_tui.filters import Filter
from riff_tui.table import Table
from riff_tui.tui.actions.action import NOT_READ, Action, Controls, Run, always, needs_rows
from riff_tui.tui.data.lists import PAGE, PagedRows
from riff_tui.tui.data.loader import is_voice, pair_of_sides
from riff_tui.tui.navigation.history import History, fold, is_folded, is_same, unfold_all
from riff_tui.tui.navigation.location import (
    Location,
    about_calls_or_names,
    below,
    descend,
    name_term,
    noun,
    recentred,
    split_by_sides,
    state_of,
)
from riff_tui.tui.navigation.stacks import choose, since_last_run, take_off, whole_store, widening
from riff_tui.tui.render.headers import Fold
from riff_tui.view_registry import spec_of
from riff_tui.views.spec import ViewSpec

_FOLDS: dict[Fold, str] = {"all": "all of it", "graph": "neighbours", "latencies": "latencies", "list": "list only"}


def _open(controls: Controls) -> None:
    host = controls.host
    loaded, row = host.loaded, host.body.row
    if controls.header.focused_graph:
        chosen, reason = controls.header.chosen(host.location)
        if chosen is None:
            host.say(reason, "warn")
        elif chosen.view == host.location.view:
            host.visit(host.history.go(recentred(host.history.stack, chosen)))
        else:
            host.visit(host.history.down(chosen))
    elif loaded and is_voice(loaded.main):
        controls.detail.toggle()
    elif loaded and isinstance(loaded.main.rows, PagedRows) and not loaded.main.rows.has(host.body.cursor):
        load = partial(_open_once_loaded, controls, loaded.main.rows, host.body.cursor)
        controls.opening.begin(load, "rows", is_for_text=False)
    elif loaded and row and row.folds:
        host.visit(host.history.unfold())
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


def _below(controls: Controls) -> str:
    """Return what Enter opens: what is below a row, of a moment of a voice call the pane of details."""
    table = controls.shown
    row = controls.host.body.row if table is not None else None
    if table is None:
        return ""
    if is_voice(table) and row is not None:
        return "close details" if controls.detail.is_visible else "details"
    if row is not None and not row.id and spec_of(table.view).row_kind == "call":
        return noun("conversation")  # its page is on the way
    if row is not None and row.folds:
        return "unfold"
    return noun(below(table, row))


def _needs_below(controls: Controls) -> str:
    if not controls.has_rows:
        return NOT_READ if controls.is_loading else "there is no row to open"
    if _below(controls):
        return ""
    if controls.here.pair:
        return "these are two rows side by side; q goes back to their list, where Enter opens one"
    return controls.spec.words.unopened or f"nothing is below a row of {noun(controls.here.view)}"


def _close(controls: Controls) -> None:
    host, here = controls.host, controls.host.location
    if controls.finder.is_searching:
        controls.finder.stop()
    elif controls.navigator.is_loading:
        controls.navigator.give_up()
        controls.table.refreshed()
    elif controls.deferred_load.is_loading:
        controls.deferred_load.stop()
    elif controls.detail.is_in_the_way:
        controls.detail.close()
    elif controls.header.focused_graph:
        _focus_graph(controls, focused=False)
    elif here.kind == "conversation" and controls.search.expression:
        controls.search.end()
    elif here.filter:
        controls.search.remember(here.filter.text)
        host.visit(host.history.instead(replace(here, filter=Filter())))
    else:
        host.visit(host.history.up())


def _take_off(controls: Controls) -> None:
    host = controls.host
    left = None if _is_over(controls) or host.location.filter else take_off(host.history.stack)
    if left is None:
        _close(controls)
    else:
        host.visit(host.history.go(left))


def _is_over(controls: Controls) -> bool:
    """Return whether something is under way or open that goes before the place is left."""
    return controls.is_loading or controls.detail.is_in_the_way or controls.header.focused_graph


def _needs_something_to_close(controls: Controls) -> str:
    is_begun = _is_over(controls)
    is_searching = controls.is_call and controls.searched
    if is_begun or controls.here.filter or is_searching or len(controls.host.history.stack) > 1:
        return ""
    return f"this is the first screen; {controls.key_of('quit_or_back')} quits"


def _focus_graph(controls: Controls, *, focused: bool) -> None:
    """Put the cursor into the neighbour graph, or back into the rows."""
    controls.header.focus_graph(focused)
    controls.table.activate(not focused)
    controls.host.update_lines()


UP_AND_DOWN: tuple[Action, ...] = (
    Action(
        "open",
        ("Enter",),
        "open",
        "Go down to what is below the row; in the neighbour graph, put that state in the middle, or list the calls"
        " that took that step.",
        _open,
        _needs_below,
        lambda controls: controls.header.enter or "centre" if controls.header.focused_graph else _below(controls),
    ),
    Action(
        "close",
        ("Esc",),
        "up",
        "Go up; before that give up waiting, close the pane, leave the graph, clear the filter or the search.",
        _close,
        _needs_something_to_close,
        lambda controls: "clear filter" if controls.here.filter else "up",
    ),
    Action(
        "take_off",
        ("Backspace",),
        "take off",
        "Take the last name off the scope in the title bar; without one, do what Esc does.",
        _take_off,
        _needs_something_to_close,
    ),
)


def _step(step: Callable[[History], History]) -> Run:
    return lambda controls: controls.host.visit(step(controls.host.history))


def _needs_forward(controls: Controls) -> str:
    history = controls.host.history
    return "" if history.at < len(history.stacks) - 1 else "there is no later place"


STEPS: tuple[Action, ...] = (
    Action(
        "back",
        ("[",),
        "back",
        "Go to the place before this one.",
        _step(History.back),
        lambda controls: "" if controls.host.history.at > 0 else "there is no earlier place",
    ),
    Action(
        "forward", ("]",), "forward", "Go to the place after this one again.", _step(History.forward), _needs_forward
    ),
    Action(
        "last_view",
        ("-",),
        "last view",
        "Go to the view before this one, or to the order before it was sorted; press again to come back here.",
        _step(History.to_last),
        lambda controls: "" if controls.host.history.last is not None else "no other view was left so far",
        lambda controls: "undo sort" if controls.host.done in ("sort", "reverse") else "last view",
    ),
)


def to_view(spec: ViewSpec) -> Action:
    """Return the key of a view; the one about a state needs a row about one."""
    title = spec.words.label or spec.name
    also = " ".join((spec.words.noun, *spec.aliases, spec.words.also))
    if spec.screen.kind == "state":
        return Action(
            action_of(spec),
            (spec.screen.key,),
            title,
            spec.screen.help,
            _neighbors,
            _needs_state,
            partial(_label_of_state, title),
            also=also,
        )

    def label(controls: Controls) -> str:
        if not controls.here.scope or controls.here.view != spec.name:
            return title
        scope = choose(controls.host.history.stack, spec.name)[-1].scope.predicate
        return whole_store(scope)

    go = _view(spec.name)
    return Action(action_of(spec), (spec.screen.key,), title, spec.screen.help, go, always, label, also=also)


def _label_of_state(title: str, controls: Controls) -> str:
    if controls.is_call:
        return "short head" if controls.header.is_whole_call else "timeline"
    return _FOLDS[controls.header.next_fold] if controls.here.kind == "state" else title


def action_of(spec: ViewSpec) -> str:
    """Return the id of the action that goes to a view."""
    return f"view:{spec.name}"


def _view(view: str) -> Run:
    def go(controls: Controls) -> None:
        history, table = controls.host.history, controls.shown
        conditions = _conditions(history.here, table) if table is not None else None
        split = _by_sides(controls, view, conditions)
        if split is not None:
            controls.host.visit(history.down(split))
            return
        stack = choose(history.stack, view, narrow(conditions, _of_row(controls, view)))
        if is_same(stack, history.stack) and history.here.by and spec_of(view).regroups:
            remark = "every flow with every agent; the same key folds them" if is_folded(history.here) else ""
            controls.host.visit(unfold_all(history), remark=remark)
            return
        controls.host.visit(history.go(stack), remark=widening(history.stack, stack))

    return go


def _by_sides(controls: Controls, view: str, conditions: Scope) -> Location | None:
    """Return a view split by the two runs or agents that are marked or compared, if it puts them next to each other."""
    here, table = controls.here, controls.shown
    if table is None or not spec_of(view).screen.compares or here.view == view:
        return None
    pair = table if here.sides else pair_of_sides(table, controls.marks)
    above = here.scope.predicate
    within = narrow(narrow(above, conditions), _of_row(controls, view) if here.sides else None)
    return None if pair is None else split_by_sides(pair, view, within, above)


def _of_row(controls: Controls, view: str) -> Scope:
    """Return the names of the row under the cursor that another view is about, where the place does not name them."""
    row = controls.host.body.row
    if row is None or controls.here.view == view:
        return None
    wanted = {field: row.record.get(field) for field in spec_of(view).screen.of_row}
    return conjunction([name_term(field, str(name)) for field, name in wanted.items() if name is not None])


def _conditions(here: Location, table: Table) -> Scope:
    """Return what other views are narrowed to beside the place: what was typed here, or who a call is about."""
    if here.kind != "conversation":
        return about_calls_or_names(here.filter.predicate, table)
    call = table.extras.get("call", {})
    return conjunction([name_term(field, call[field]) for field in ("flow", "agent") if call.get(field)])


def _state_under_cursor(controls: Controls) -> Location | None:
    """Return the location of the state that the row under the cursor is about."""
    table = controls.shown
    return state_of(controls.here, table, controls.host.body.row if table is not None else None)


def _neighbors(controls: Controls) -> None:
    host = controls.host
    if controls.is_call:
        controls.header.unfold_call()
        host.update_lines()
        return
    if controls.here.kind == "state":
        _focus_graph(controls, focused=controls.header.unfold() == "graph")
        return
    location = _state_under_cursor(controls)
    if location is not None:
        host.visit(host.history.down(location))


def _needs_state(controls: Controls) -> str:
    kind = controls.here.kind
    if controls.is_call:
        return "" if controls.header.unfolds_call else "the head of this call shows all that it has"
    is_about_state = kind == "state" or (kind == "list" and _state_under_cursor(controls) is not None)
    return "" if is_about_state else "put the cursor on a state: neighbours belong to a state"


def _since_last_run(controls: Controls) -> None:
    history, table = controls.host.history, controls.shown
    stack = since_last_run(history.stack, _conditions(history.here, table) if table is not None else None)
    controls.host.visit(history.go(stack), remark=widening(history.stack, stack))


def _fold(controls: Controls) -> None:
    history = controls.host.history
    is_of_rows = controls.shown is not None and controls.shown.folded
    controls.host.visit(history.unfold() if is_of_rows else fold(history, controls.table.row))


def _fold_label(controls: Controls) -> str:
    if controls.shown is not None and controls.shown.folded:
        return "fold" if controls.here.unfolded else "unfold"
    return "agents" if is_folded(controls.here) else "by flow"


def _needs_folding(controls: Controls) -> str:
    if controls.shown is not None and controls.shown.folded:
        return ""
    if controls.here.pair or not controls.spec.regroups:
        return f"only flows fold and unfold; {controls.key_of('view:flows')} goes there"
    return needs_rows(controls)


OTHER_ROWS: tuple[Action, ...] = (
    Action(
        "since_last_run",
        ("L",),
        "since last run",
        "What changed between the last two runs of this scope, beyond chance first.",
        _since_last_run,
    ),
    Action(
        "fold",
        ("b",),
        "by flow",
        "Unfold the flow under the cursor into its agents, or rare states or routes; from there, or where nothing"
        " is folded, fold them.",
        _fold,
        _needs_folding,
        _fold_label,
    ),
)


def _quit_or_back(controls: Controls) -> None:
    history = controls.host.history
    if controls.detail.covers:
        controls.detail.close()
    elif controls.header.focused_graph:
        _focus_graph(controls, focused=False)
    elif len(history.stack) > 1:
        controls.host.visit(history.up())
    else:
        controls.host.leave()


def _needs_shell(controls: Controls) -> str:
    if is_in_browser():
        return "a page has no shell to go back to"
    # A session's first process has none above it that could continue what is stopped.
    quit = controls.key_of("quit")
    return f"no shell is behind it that could bring it back; {quit} quits" if os.getpgrp() == os.getsid(0) else ""


OUT: tuple[Action, ...] = (
    Action(
        "quit_or_back",
        ("q",),
        "back",
        "Go up; from the first screen, quit.",
        _quit_or_back,
        always,
        lambda controls: "back" if len(controls.host.history.stack) > 1 or controls.header.focused_graph else "quit",
        also="exit leave close",
    ),
    Action(
        "quit", ("Q",), "quit", "Quit from anywhere.", lambda controls: controls.host.leave(), also="exit leave end"
    ),
    Action(
        "suspend",
        ("ctrl+z",),
        "to the shell",
        "Go back to the shell for a while; fg there comes back to the same place.",
        lambda controls: controls.host.suspend(),
        _needs_shell,
        also="suspend stop background terminal",
    ),
)
