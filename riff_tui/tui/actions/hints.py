"""Choose the keys to tell of: a few in the hint line, by what was done last, and ten at the head of the help."""

from __future__ import annotations

from dataclasses import replace

from riff_tui.tui.actions.action import Action
from riff_tui.tui.actions.context import ActionContext
from riff_tui.tui.actions.registry import ACTIONS, action, reason_against
from riff_tui.views.spec import ScreenKind

HINTS = 6
SCREEN_KEYS = 10
_ALWAYS = ("help", "quit_or_back")
_FAILING = ("view:failure-matrix", "view:causes", "view:edits")
"""What asks why calls fail at a place on the way down from a flow."""
_USUAL: dict[ScreenKind, tuple[str, ...]] = {
    "list": ("open", "filter", "sort", "view:worklist", "view:timeline", "view:runs"),
    "state": ("view:neighbors", *_FAILING, "open", "filter", "dump"),
    "conversation": ("next", "previous", "filter", "copy", "dump", "case"),
}
_NOTING = ("pass", "fail", "code", "next_unread", "note", "take_back")
_FURTHER = (
    "open", "close", "filter", "sort", "pane", "mark", "compare", "view:worklist", "since_last_run", "view:timeline",
    "view:runs", *_NOTING, "view:conversations", "view:disputes", "columns", "pick_flow", "copy",
)  # fmt: skip
_CHANGES = ("filter", "sort", "reverse", "clear_marks")
_UP = ("open", "view:timeline", "view:runs", "since_last_run")
_SORTED = ("last_view", "keep_order", "reverse", "columns")
_AFTER: dict[str, tuple[str, ...]] = {
    "open": ("open", "view:conversations", "view:timeline", "since_last_run"),
    "close": _UP,
    "quit_or_back": _UP,
    "back": _UP,
    "view:flows": ("open", "view:worklist", "since_last_run", "view:judges"),
    "view:worklist": ("open", "since_last_run", "view:timeline", "view:disputes"),
    "view:timeline": ("mark", "since_last_run", "view:runs", "open"),
    "view:runs": ("mark", "since_last_run", "view:judges", "view:disputes"),
    "view:judges": ("open", "view:disputes", "view:agreement", "mark"),
    "view:disputes": ("open", "view:judges", "view:agreement", "filter"),
    "since_last_run": ("open", "compare", "view:timeline", "view:runs"),
    "filter": ("close", "open", "view:timeline", "write"),
    "sort": _SORTED,
    "reverse": _SORTED,
    "clear_marks": ("mark", "since_last_run", "view:runs", "open"),
}
"""What people want next after an action, so that the whole of the explorer is met by and by."""


def hints(context: ActionContext) -> list[tuple[str, str]]:
    """Return at most six (key, word) pairs that apply, `?` and `q` first."""
    # The line stays as it is while the cursor moves, on to a mark and off it.
    context = replace(context, at_mark=False)
    chosen = _applying((*_ALWAYS, *(_begun(context) or (*_next(context), *_USUAL[context.kind]))), context)
    return [(each.keys[0], each.label_in(context)) for each in chosen[:HINTS]]


def screen_keys(context: ActionContext) -> list[Action]:
    """Return the ten actions that matter most on a screen, those of the hint line first."""
    ids = (*_begun(context), *_next(context), *_USUAL[context.kind], *_FURTHER, *(each.id for each in ACTIONS))
    return [each for each in _applying(ids, context) if each.group not in ("Move", "Leave")][:SCREEN_KEYS]


def _applying(ids: tuple[str, ...], context: ActionContext) -> list[Action]:
    found = [action(id) for id in dict.fromkeys(ids)]
    return [each for each in found if each.keys and not reason_against(each, context)]


def _next(context: ActionContext) -> tuple[str, ...]:
    """Return the ids for what was done last; after the key of a view that is narrowed, the same key widens it."""
    is_narrowed = context.scoped and context.done == f"view:{context.view}"
    after = _AFTER.get(context.done, ()) if context.kind == "list" else ()
    if context.view in ("segments", "states") and context.done not in _CHANGES:
        after = ("open", *_FAILING)
    if context.view == "codes" and context.done not in _CHANGES:
        after = ("open", "rename_code", "take_back_rename", "view:failure-matrix", "view:conversations")
    return (*((context.done,) if is_narrowed else ()), *(("open", "fold") if context.folded else ()), *after)


def _begun(context: ActionContext) -> tuple[str, ...]:
    """Return the ids for what was begun, none where nothing was."""
    if context.graph:
        return ("open", "view:neighbors", *_FAILING)
    if context.noting and context.kind == "conversation":
        return _NOTING
    if context.lanes:
        return ("open", "zoom_in", "zoom_out", "next")
    if context.covered:
        return ("open", "down", "page_down", "pane")
    if context.pair:
        return ("open", "compare", "sort", "pane", "write")
    if context.sided and context.kind != "conversation":
        return ("open", "compare", "filter", "sort")
    if context.marks and context.kind != "conversation":
        return ("compare", "next_mark", "clear_marks", "open")
    if context.spec.aspects:
        return ("open", "aspect", "filter", "sort", "view:worklist")
    return ()
