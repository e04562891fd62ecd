"""Register every action of the explorer: the bindings, the words of hints and help, and the README come from here.

Keys are spelled as people read them. An action says itself why it does not apply, so no key is ever silently dead.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from riff_tui.tui.actions.action import Action, always
from riff_tui.tui.actions.availability import (
    needs_aspects,
    needs_back,
    needs_below,
    needs_calls,
    needs_cells,
    needs_choosable,
    needs_column,
    needs_depth,
    needs_dump,
    needs_error,
    needs_farther_lanes,
    needs_folding,
    needs_forward,
    needs_last,
    needs_list_columns,
    needs_live,
    needs_markable_row,
    needs_marks,
    needs_matches,
    needs_order,
    needs_pair,
    needs_pane,
    needs_part_of_lanes,
    needs_row_or_pane,
    needs_rows,
    needs_siblings,
    needs_state,
    needs_store,
    needs_unpaired,
    needs_words,
)
from riff_tui.tui.actions.context import ActionContext
from riff_tui.tui.actions.note_actions import NOTE_ACTIONS
from riff_tui.view_registry import origin_of, views
from riff_tui.views.spec import ScreenKind, ViewSpec


def action_of(spec: ViewSpec) -> str:
    """Return the id of the action that goes to a view."""
    return f"view:{spec.name}"


def _to_view(spec: ViewSpec) -> Action:
    """Describe the key of a view; the one about a state needs a row about one."""
    on_state = spec.screen.kind == "state"
    title = spec.words.label or spec.name

    def label(context: ActionContext) -> str:
        if on_state:
            return context.fold or title
        return "wider" if context.scoped and context.view == spec.name else title

    return Action(
        action_of(spec),
        (spec.screen.key,),
        title,
        spec.screen.help,
        "Go",
        needs_state if on_state else always,
        label,
    )


def _distinct(actions: Sequence[Action]) -> tuple[Action, ...]:
    """Take the key from the view of another distribution where it is not free; the palette finds the view still."""
    added = {action_of(spec) for spec in views() if origin_of(spec)}
    used = Counter(key for each in actions for key in each.keys)
    return tuple(
        replace(each, keys=tuple(key for key in each.keys if _is_plain(key) and used[key] == 1))
        if each.id in added
        else each
        for each in actions
    )


def _is_plain(key: str) -> bool:
    """Say whether a key is a character, a function key or one with ctrl that terminals do not own."""
    return key.isprintable() and re.fullmatch(r"\S|f[0-9]{1,2}|ctrl\+[defgklnoprtuvwxy]", key) is not None


_LISTS: tuple[ScreenKind, ...] = ("list", "state")
_ALL: tuple[Action, ...] = (
    Action("down", ("j", "↓"), "down", "Move one row down.", "Move"),
    Action("up", ("k", "↑"), "up", "Move one row up.", "Move"),
    Action("page_down", ("PgDn", "Space"), "page down", "Move one page down.", "Move"),
    Action("page_up", ("PgUp",), "page up", "Move one page up.", "Move"),
    Action("first", ("g", "Home"), "first row", "Move to the first row.", "Move"),
    Action("last", ("G", "End"), "last row", "Move to the last row.", "Move"),
    Action("left", ("h", "←"), "left", "Move the column cursor to the left.", "Move", needs_cells, kinds=_LISTS),
    Action("right", ("l", "→"), "right", "Move the column cursor to the right.", "Move", needs_cells, kinds=_LISTS),
    Action("next_bad", ("e",), "next bad", "Go to the next bad cell, however far down.", "Move", needs_rows),
    Action("previous_bad", ("E",), "previous bad", "Go to the previous bad cell.", "Move", needs_rows),
    Action(
        "open",
        ("Enter",),
        "open",
        "Go down to what lies below the row; in the neighbour graph, put that neighbour in the middle.",
        "Go",
        needs_below,
        lambda context: "centre" if context.graph else context.below,
    ),
    Action(
        "close",
        ("Esc", "Backspace"),
        "up",
        "Give up waiting, else close the pane, else leave the graph, else clear the filter or the search, else go up.",
        "Go",
        needs_depth,
        lambda context: "clear filter" if context.filtered else "up",
    ),
    Action("back", ("[",), "back", "Go to the place before this one.", "Go", needs_back),
    Action("forward", ("]",), "forward", "Go to the place after this one again.", "Go", needs_forward),
    Action(
        "last_view",
        ("-",),
        "last view",
        "Go to the view before this one, or to the order before it was sorted; press again to come back here.",
        "Go",
        needs_last,
        lambda context: "undo sort" if context.done in ("sort", "reverse") else "last view",
    ),
    *(_to_view(spec) for spec in views() if spec.screen.help),
    Action(
        "since_last_run",
        ("L",),
        "since last run",
        "What changed between the last two runs that the place one is in has calls of, beyond chance first.",
        "Go",
    ),
    Action(
        "fold",
        ("b",),
        "by flow",
        "Unfold the flow under the cursor into its agents; from there, or where none is folded, fold them into flows.",
        "Go",
        needs_folding,
        lambda context: "agents" if context.folded else "by flow",
    ),
    Action(
        "next",
        ("n",),
        "next",
        "The next match of the search; without one, or where no more follows, the next conversation of the same list.",
        "Go",
        needs_matches,
        lambda context: "next match" if context.searched else "next",
        kinds=("conversation",),
    ),
    Action(
        "previous",
        ("p",),
        "previous",
        "The previous conversation of the same list.",
        "Go",
        needs_siblings,
        kinds=("conversation",),
    ),
    Action(
        "filter",
        ("/",),
        "filter",
        "Show only what matches, with the grammar of --where; in a conversation, find what was said.",
        "Find",
        needs_unpaired,
        label=lambda context: "search" if context.kind == "conversation" else "filter",
    ),
    Action(
        "next_match",
        ("n",),
        "next match",
        "The next row that the last filter matches, once Esc shows all rows again.",
        "Find",
        needs_words,
        kinds=_LISTS,
    ),
    Action(
        "previous_match",
        ("N",),
        "previous match",
        "The previous match; in a conversation with a search the same, and then the previous conversation.",
        "Find",
        needs_words,
    ),
    Action(
        "pick_flow",
        ("f",),
        "pick a flow",
        "Narrow this place to a flow from a list.",
        "Find",
        needs_calls,
        kinds=_LISTS,
    ),
    Action(
        "pick_agent",
        ("a",),
        "pick an agent",
        "Narrow this place to an agent from a list.",
        "Find",
        needs_calls,
        kinds=_LISTS,
    ),
    Action("pick_run", ("R",), "pick a run", "Narrow this place to a run from a list.", "Find", needs_calls),
    Action("aspect", ("V",), "aspect", "Choose what effects explain: quality, or one aspect.", "Find", needs_aspects),
    Action(
        "sort",
        ("s",),
        "sort",
        "Sort by the column under the cursor, worst first; press again for best first, then for the view's own order.",
        "Find",
        needs_column,
        kinds=_LISTS,
    ),
    Action(
        "reverse",
        ("S",),
        "reverse",
        "Sort by the column under the cursor, best first; press again for the other way round.",
        "Find",
        needs_column,
    ),
    Action(
        "keep_order",
        ("O",),
        "keep order",
        "Keep the order that was sorted for this view, also for later sessions; press again for its own.",
        "Find",
        needs_order,
        lambda context: "own order" if context.order_kept else "keep order",
    ),
    Action("mark", ("m",), "mark", "Mark the row, or take its mark back.", "Mark", needs_markable_row),
    Action("next_mark", ("u",), "next mark", "Go to the next marked row.", "Mark", needs_marks, kinds=_LISTS),
    Action("clear_marks", ("x",), "clear marks", "Take back all marks of this list.", "Mark", needs_marks),
    Action(
        "compare",
        ("=",),
        "compare",
        "Compare two marked rows, or the marked one and this one: two runs or two agents by a test that says what is"
        " chance, others side by side; there: change sides.",
        "Mark",
        needs_pair,
        lambda context: "change sides" if context.pair or context.sided else "compare",
    ),
    *NOTE_ACTIONS,
    Action(
        "pane",
        ("p",),
        "details",
        "In a list, tell all of the row under the cursor in a pane that follows it, with 95 % intervals and why cells"
        " are marked.",
        "Look",
        needs_row_or_pane,
        lambda context: "close details" if context.pane else "details",
        kinds=_LISTS,
    ),
    Action("pane_down", ("J",), "pane down", "Scroll the pane down.", "Look", needs_pane),
    Action("pane_up", ("K",), "pane up", "Scroll the pane up.", "Look", needs_pane),
    Action("zoom_in", (">",), "nearer", "Go nearer to the lanes of a voice call.", "Look", needs_farther_lanes),
    Action("zoom_out", ("<",), "farther", "Show more of the lanes.", "Look", needs_part_of_lanes),
    Action("pan_left", (",",), "earlier", "Show an earlier part of the lanes.", "Look", needs_part_of_lanes),
    Action("pan_right", (".",), "later", "Show a later part of the lanes.", "Look", needs_part_of_lanes),
    Action("columns", ("c",), "columns", "Choose the columns to show.", "Look", needs_choosable),
    Action(
        "wide", ("w",), "wide", "Show columns at their full width, or fitted to the line.", "Look", needs_list_columns
    ),
    Action("copy", ("y",), "copy", "Copy the row, the cell, the table as Markdown, a command or a link.", "Look"),
    Action("write", ("o",), "write", "Write what this screen shows into a file.", "Look"),
    Action(
        "case",
        ("W",),
        "case",
        "Write the call as a scenario that is run again, with made-up values for what points at its caller.",
        "Look",
        needs_store,
        kinds=("conversation",),
    ),
    Action(
        "dump",
        ("d",),
        "dump command",
        "Show the command that prints this screen; press again for a link, the command that opens it.",
        "Look",
        needs_dump,
    ),
    Action("refresh", ("r",), "refresh", "Read the store again; the cursor stays on its row.", "Look"),
    Action(
        "pause",
        ("z",),
        "pause",
        "Pause or resume showing what others write to the store.",
        "Look",
        needs_live,
        lambda context: "resume" if context.paused else "pause",
    ),
    Action("error", ("!",), "what went wrong", "Show where the last error came from.", "Look", needs_error),
    Action("theme", ("t",), "theme", "Take the next set of colours.", "Look"),
    Action("palette", ("ctrl+p",), "everything", "Find an action by its name and do it.", "Leave"),
    Action("help", ("?",), "help", "What this screen is for, its keys and its columns.", "Leave"),
    Action(
        "quit_or_back",
        ("q",),
        "back",
        "Go up; from the first screen, quit.",
        "Leave",
        always,
        lambda context: "back" if context.depth > 1 or context.graph else "quit",
    ),
    Action("quit", ("Q",), "quit", "Quit from anywhere.", "Leave"),
)
ACTIONS = _distinct(_ALL)


def action(id: str) -> Action:
    """Return the action of that id; raise `KeyError` if there is none."""
    return _BY_ID[id]


def reason_against(each: Action, context: ActionContext) -> str:
    """Return why an action does not apply, also for one that belongs to other screens; an empty text where it does."""
    if context.kind not in each.kinds:
        return f"only in a {' or a '.join(each.kinds)}"
    return each.unavailable(context)


def action_for(id: str, context: ActionContext, key: str = "") -> Action:
    """Return the action that a key stands for in a context, among those that share it with the one of that id.

    Without a key it is any of the action's.
    """
    bound = _BY_ID[id]
    if context.kind in bound.kinds:
        return bound
    keys = {key} if key else set(bound.keys)
    sharing = (each for each in ACTIONS if context.kind in each.kinds and set(each.keys) & keys)
    return next(sharing, bound)


def key_table(actions: Sequence[Action] = ACTIONS) -> list[tuple[str, str]]:
    """Return (keys, help) of every action in order, for the help screen and the README."""
    return [(" ".join(each.keys), each.help) for each in actions]


_BY_ID: dict[str, Action] = {each.id: each for each in ACTIONS}
