"""The lists to choose from: names to narrow a place to, every action, what was typed earlier."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from riff_tui.tui.actions.registry import ACTIONS, ActionContext, refusal
from riff_tui.tui.navigation.name_filter import calls_around, pick, picked_name
from riff_tui.tui.widgets.choice_list import ListItem
from riff_tui.tui.widgets.picker import PickRequest

if TYPE_CHECKING:
    from riff_tui.tui.screens.explorer import ExplorerScreen

_LAST = "Move"
# Where there are more keys for the same, the first one is enough here.
_WIDEST_KEYS = 7


def pick_name(screen: ExplorerScreen, field: str) -> None:
    """Choose a name of a field; the place that one is at is narrowed to it."""
    screen.run_worker(_pick_name(screen, field), group="pick", exclusive=True, exit_on_error=False)


async def _pick_name(screen: ExplorerScreen, field: str) -> None:
    names, place = screen.explorer.names, screen.history.here
    where = calls_around(place, field, screen.loaded.main if screen.loaded else None)
    found = await screen.explorer.worker.ask(lambda: names.counted(field, where.text)) if names is not None else []
    if screen.history.here != place or screen.app.screen is not screen or screen.picker.is_open:
        return
    texts = [f"{n:,} {'call' if n == 1 else 'calls'}" for _, n in found]
    width = max(map(len, texts), default=0)
    choices = [ListItem(f"all {field}s")]
    choices += [ListItem(name, text.rjust(width)) for (name, _), text in zip(found, texts, strict=True)]
    held = picked_name(place, field)
    at = next((index for index, (name, _) in enumerate(found, 1) if name == held), 0)

    def take(index: int) -> None:
        name = found[index - 1][0] if index else None
        screen.settle()
        screen.visit(screen.history.go(pick(screen.history.stack, field, name)))

    screen.picker.ask(PickRequest(f"{field}s", choices, take, doing="narrow to it", at=at, uncounted=1))


def pick_aspect(screen: ExplorerScreen) -> None:
    """Choose what the effects here explain."""
    known = list(screen.loaded.main.extras.get("aspects") or ()) if screen.loaded else []
    here = screen.history.here
    at = known.index(here.aspect) if here.aspect in known else 0

    def take(index: int) -> None:
        screen.settle()
        # Quality is what is explained where nothing else is named.
        screen.visit(screen.history.instead(replace(screen.history.here, aspect=known[index] if index else "")))

    screen.picker.ask(PickRequest("explained", [ListItem(name) for name in known], take, doing="explain it", at=at))


def palette(screen: ExplorerScreen) -> None:
    """Choose an action; those that do not apply say why, and movements come last."""
    context = screen.context
    actions = sorted(ACTIONS, key=lambda each: (bool(refusal(each, context)), each.group == _LAST))
    choices = [_choice(each.id, context) for each in actions]

    def take(index: int) -> None:
        screen.action_do(actions[index].id)

    screen.picker.ask(PickRequest("everything that can be done here", choices, take, doing="do it"))


def _choice(id: str, context: ActionContext) -> ListItem:
    each = next(action for action in ACTIONS if action.id == id)
    reason = refusal(each, context)
    more = f"not now: {reason}" if reason else each.help
    spelled = " ".join(each.keys)
    lead = spelled if len(spelled) <= _WIDEST_KEYS else each.keys[0]
    return ListItem(each.said(context) or each.title, more, lead, f"{each.title} {each.help} {spelled}", reason)


def pick_earlier(screen: ExplorerScreen, earlier: Sequence[str], put: Callable[[str], None]) -> None:
    """Choose what was typed earlier, to be edited."""

    choices = [ListItem(expression) for expression in earlier]
    title = "typed earlier, the latest first"
    screen.picker.ask(PickRequest(title, choices, lambda index: put(earlier[index]), doing="take it to edit"))
