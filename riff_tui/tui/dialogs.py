"""The lists to choose from: names to narrow a place to, every action, what was typed earlier."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from riff_tui.actions import ACTIONS, Situation, refusal
from riff_tui.tui.picking import holds, picked, surroundings
from riff_tui.tui.widgets.choices import Choice
from riff_tui.tui.widgets.picker import Asked

if TYPE_CHECKING:
    from riff_tui.tui.screens.explorer import ExplorerScreen

_LAST = "Move"
# Where there are more keys for the same, the first one is enough here.
_WIDEST_KEYS = 7


def pick_name(screen: ExplorerScreen, field: str) -> None:
    """Choose a name of a field; the place that one is at is narrowed to it."""
    screen.run_worker(_pick_name(screen, field), group="pick", exclusive=True, exit_on_error=False)


async def _pick_name(screen: ExplorerScreen, field: str) -> None:
    names, place = screen.explorer.names, screen.trail.here
    where = surroundings(place, field, screen.reading.main if screen.reading else None)
    found = await screen.explorer.asker.ask(lambda: names.counted(field, where)) if names is not None else []
    if screen.trail.here != place or screen.app.screen is not screen or screen.picker.is_open:
        return
    texts = [f"{n:,} {'call' if n == 1 else 'calls'}" for _, n in found]
    width = max(map(len, texts), default=0)
    choices = [Choice(f"all {field}s")]
    choices += [Choice(name, text.rjust(width)) for (name, _), text in zip(found, texts, strict=True)]
    held = holds(place, field)
    at = next((index for index, (name, _) in enumerate(found, 1) if name == held), 0)

    def take(index: int) -> None:
        name = found[index - 1][0] if index else None
        screen.settle()
        screen.visit(screen.trail.go(picked(screen.trail.stack, field, name)))

    screen.picker.ask(Asked(f"{field}s", choices, take, doing="narrow to it", at=at, uncounted=1))


def pick_aspect(screen: ExplorerScreen) -> None:
    """Choose what the effects here explain."""
    known = list(screen.reading.main.extras.get("aspects") or ()) if screen.reading else []
    here = screen.trail.here
    at = known.index(here.aspect) if here.aspect in known else 0

    def take(index: int) -> None:
        screen.settle()
        # Quality is what is explained where nothing else is named.
        screen.visit(screen.trail.instead(replace(screen.trail.here, aspect=known[index] if index else "")))

    screen.picker.ask(Asked("explained", [Choice(name) for name in known], take, doing="explain it", at=at))


def palette(screen: ExplorerScreen) -> None:
    """Choose an action; those that do not apply say why, and movements come last."""
    situation = screen.situation
    actions = sorted(ACTIONS, key=lambda each: (bool(refusal(each, situation)), each.group == _LAST))
    choices = [_choice(each.id, situation) for each in actions]

    def take(index: int) -> None:
        screen.action_do(actions[index].id)

    screen.picker.ask(Asked("everything that can be done here", choices, take, doing="do it"))


def _choice(id: str, situation: Situation) -> Choice:
    each = next(action for action in ACTIONS if action.id == id)
    reason = refusal(each, situation)
    more = f"not now: {reason}" if reason else each.help
    spelled = " ".join(each.keys)
    lead = spelled if len(spelled) <= _WIDEST_KEYS else each.keys[0]
    return Choice(each.said(situation) or each.title, more, lead, f"{each.title} {each.help} {spelled}", reason)


def pick_earlier(screen: ExplorerScreen, earlier: Sequence[str], put: Callable[[str], None]) -> None:
    """Choose what was typed earlier, to be edited."""

    choices = [Choice(expression) for expression in earlier]
    title = "typed earlier, the latest first"
    screen.picker.ask(Asked(title, choices, lambda index: put(earlier[index]), doing="take it to edit"))
