"""Find: filter or search, filter a place by a name from a list, choose what is explained, or find any action."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from riff_tui.tui.actions.action import IN_LISTS, KINDS, Action, Controls, needs_unpaired, perform, reason_against
from riff_tui.tui.navigation.stacks import calls_around, pick, picked_name
from riff_tui.tui.widgets.menu import MenuItem, MenuRequest, with_calls
from riff_tui.views.spec import ScreenKind

FILTER = Action(
    "filter",
    ("/",),
    "filter",
    "Show only what matches, with the grammar of --where; in a conversation, find what was said.",
    lambda controls: controls.prompt_controller.open(),
    needs_unpaired,
    lambda controls: "search" if controls.is_call else "filter",
    also="search find where grep query",
)


def _pick(key: str, field: str, name: str, kinds: tuple[ScreenKind, ...]) -> Action:
    """Return the key that chooses a name of a field, which the location is then of."""

    def run(controls: Controls) -> None:
        controls.opening.begin(partial(_pick_name, controls, field), f"{field}s")

    about = f"Filter this place by {name}, from a list."
    return Action(f"pick_{field}", (key,), f"pick {name}", about, run, _needs_calls, kinds=kinds)


async def _pick_name(controls: Controls, field: str) -> None:
    host, menu, names = controls.host, controls.menu, controls.backend.names
    location = host.location
    where = calls_around(location, field, controls.shown)
    found = await host.worker.ask(lambda: names.counted(field, where.text)) if names is not None else []
    is_covered = menu.app.screen is not menu.screen or menu.is_open
    if is_covered or host.location.cache_key != location.cache_key:
        return
    items = [MenuItem(f"all {field}s"), *with_calls([each[:2] for each in found], [each[2] for each in found])]
    held = picked_name(location, field)
    at = next((index for index, (name, *_) in enumerate(found, 1) if name == held), 0)

    def take(index: int) -> None:
        history = host.history
        host.visit(history.go(pick(history.stack, field, found[index - 1][0] if index else None)))

    menu.ask(MenuRequest(f"{field}s", items, take, verb="filter", at=at, uncounted=1))


def _needs_calls(controls: Controls) -> str:
    if controls.here.pair:
        return needs_unpaired(controls)
    if controls.is_call:
        return "a call has one flow, one agent and one run; Esc goes to its list"
    return controls.spec.filters.refusal


def _pick_aspect(controls: Controls) -> None:
    """Choose what the effects explain."""
    host, here, table = controls.host, controls.here, controls.shown
    known = list(table.extras.get("aspects") or ()) if table is not None else []
    at = known.index(here.aspect) if here.aspect in known else 0

    def take(index: int) -> None:
        history = host.history
        # Quality is what is explained if nothing else is named.
        host.visit(history.instead(replace(history.here, aspect=known[index] if index else "")))

    items = [MenuItem(name) for name in known]
    controls.menu.ask(MenuRequest("explained", items, take, verb="explain it", at=at))


PICKS: tuple[Action, ...] = (
    _pick("f", "flow", "a flow", IN_LISTS),
    _pick("a", "agent", "an agent", IN_LISTS),
    _pick("R", "run", "a run", KINDS),
    Action(
        "aspect",
        ("Z",),
        "aspect",
        "Choose what effects explain: quality, or one aspect.",
        _pick_aspect,
        lambda controls: (
            ""
            if controls.spec.aspects
            else f"only effects explain one aspect or another; {controls.key_of('view:effects')} goes there"
        ),
    ),
)

# If there are more keys for the same, the first one is enough here.
_MAX_KEYS_WIDTH = 7


def _pick_action(controls: Controls) -> None:
    """Choose an action to perform; those that do not apply show why, and movements come last."""
    reasons = {id: reason_against(each, controls) for id, each in controls.actions.items()}
    actions = sorted(controls.actions.values(), key=lambda each: (bool(reasons[each.id]), each.group == "Move"))
    items = [_item(each, reasons[each.id], each.label_in(controls)) for each in actions]
    controls.menu.ask(MenuRequest("all actions", items, lambda index: perform(controls, actions[index].id), verb="run"))


def _item(action: Action, reason: str, label: str) -> MenuItem:
    more = f"not now: {reason}" if reason else action.help
    keys = " ".join(action.keys)
    lead = keys if len(keys) <= _MAX_KEYS_WIDTH else action.keys[0]
    found_by = f"{action.title} {action.help} {action.also} {action.id} {keys}"
    return MenuItem(label or action.title, more, lead, found_by, reason)


ANY_ACTION = Action(
    "palette",
    ("ctrl+p",),
    "everything",
    "Find an action by its name and run it.",
    _pick_action,
    also="commands actions menu",
)
