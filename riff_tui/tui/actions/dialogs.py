"""Ask in a list over the screen: for a name to narrow a location to, an aspect, columns, or any action."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from functools import partial

from riff_tui.table import Column, Table
from riff_tui.text.glyphs import Glyphs
from riff_tui.tui.actions.action import Action
from riff_tui.tui.actions.context import ActionContext
from riff_tui.tui.actions.controls import Controls, context_of
from riff_tui.tui.actions.registry import ACTIONS, reason_against
from riff_tui.tui.data.list_state import AS_IT_IS, INTERVAL, ColumnChoice, offered
from riff_tui.tui.navigation.location import fixed_columns, noun
from riff_tui.tui.navigation.narrowing import calls_around, pick, picked_name
from riff_tui.tui.render.columns import all_columns, has_values, shown, title, visible_columns
from riff_tui.tui.widgets.check_list import CheckItem, CheckRequest
from riff_tui.tui.widgets.choice_list import ListItem
from riff_tui.tui.widgets.picker import PickRequest

_LAST = "Move"
# Where there are more keys for the same, the first one is enough here.
_MAX_KEYS_WIDTH = 7


def pick_name(controls: Controls, field: str) -> None:
    """Choose a name of a field; the location is narrowed to it."""
    controls.opening.begin(partial(_pick_name, controls, field), f"{field}s")


async def _pick_name(controls: Controls, field: str) -> None:
    host, picker, names = controls.host, controls.picker, controls.backend.names
    location, loaded = host.location, host.loaded
    where = calls_around(location, field, loaded.main if loaded else None)
    found = await host.worker.ask(lambda: names.counted(field, where.text)) if names is not None else []
    is_covered = picker.app.screen is not picker.screen or picker.is_open
    if is_covered or host.location.cache_key != location.cache_key:
        return
    texts = [f"{n:,} {'call' if n == 1 else 'calls'}" for _, n in found]
    width = max(map(len, texts), default=0)
    items = [ListItem(f"all {field}s")]
    items += [ListItem(name, text.rjust(width)) for (name, _), text in zip(found, texts, strict=True)]
    held = picked_name(location, field)
    at = next((index for index, (name, _) in enumerate(found, 1) if name == held), 0)

    def take(index: int) -> None:
        history = host.history
        host.visit(history.go(pick(history.stack, field, found[index - 1][0] if index else None)))

    picker.ask(PickRequest(f"{field}s", items, take, verb="narrow to it", at=at, uncounted=1))


def pick_aspect(controls: Controls) -> None:
    """Choose what the effects explain."""
    host = controls.host
    loaded, here = host.loaded, host.location
    known = list(loaded.main.extras.get("aspects") or ()) if loaded else []
    at = known.index(here.aspect) if here.aspect in known else 0

    def take(index: int) -> None:
        history = host.history
        # Quality is what is explained where nothing else is named.
        host.visit(history.instead(replace(history.here, aspect=known[index] if index else "")))

    items = [ListItem(name) for name in known]
    controls.picker.ask(PickRequest("explained", items, take, verb="explain it", at=at))


def pick_action(controls: Controls, perform: Callable[[Controls, str], None]) -> None:
    """Choose an action to `perform`; those that do not apply say why, and movements come last."""
    context = context_of(controls)
    actions = sorted(ACTIONS, key=lambda each: (bool(reason_against(each, context)), each.group == _LAST))
    items = [_item(each, context) for each in actions]

    def take(index: int) -> None:
        perform(controls, actions[index].id)

    controls.picker.ask(PickRequest("all actions", items, take, verb="do it"))


def _item(action: Action, context: ActionContext) -> ListItem:
    reason = reason_against(action, context)
    more = f"not now: {reason}" if reason else action.help
    keys = " ".join(action.keys)
    lead = keys if len(keys) <= _MAX_KEYS_WIDTH else action.keys[0]
    found_by = f"{action.title} {action.help} {keys}"
    return ListItem(action.label_in(context) or action.title, more, lead, found_by, reason)


def choose_columns(controls: Controls) -> None:
    """Choose which columns of the table to show."""
    host = controls.host
    loaded, location, glyphs = host.loaded, host.location, controls.table.glyphs
    if loaded is None:
        return
    table, hide, choice = loaded.main, fixed_columns(location), controls.list_state.columns(location)
    columns = offering(table, hide)

    def keys(choice: ColumnChoice) -> set[str]:
        return {column.key for column in visible_columns(table, hide, choice)}

    def take(ticked: Collection[str]) -> None:
        show_columns(controls, choice.asking(keys(AS_IT_IS), ticked, [column.key for column in columns]))

    checks = [_check(table, column, glyphs) for column in columns]
    controls.check_list.ask(CheckRequest(f"columns of {noun(table.view)}", checks, keys(choice), keys(AS_IT_IS), take))


def offering(table: Table, hide: frozenset[str]) -> list[Column]:
    """Return the columns that one can show or hide: neither names that stay nor those that the location fixes."""
    return [column for column in offered(table, all_columns(table)) if column.key not in hide]


def show_columns(controls: Controls, choice: ColumnChoice) -> None:
    """Show the same rows with other columns."""
    host = controls.host
    controls.list_state.choose_columns(host.location, choice)
    if host.loaded is not None:
        host.arrive(host.history, host.loaded)


def _check(table: Table, column: Column, glyphs: Glyphs) -> CheckItem:
    indent = "  " if column.key.startswith(INTERVAL) else ""
    unit = f" [{column.unit}]" if column.unit else ""
    empty = not has_values(table, column)
    about = f"{column.help}{unit}{' No values here.' if empty else ''}"
    return CheckItem(column.key, indent + title(column, glyphs, short=False), shown(about, glyphs), empty)
