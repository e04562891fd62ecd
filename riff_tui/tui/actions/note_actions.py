"""Register the keys with which one notes on a call what one finds there, on the home row."""

from __future__ import annotations

from riff_tui.tui.actions.action import Action
from riff_tui.tui.actions.availability import needs_code, needs_notebook, needs_renamed, needs_siblings, needs_written

NOTE_ACTIONS: tuple[Action, ...] = (
    Action(
        "pass",
        ("a",),
        "all right",
        "In a call, give it the verdict pass.",
        "Note",
        needs_notebook,
        kinds=("conversation",),
    ),
    Action(
        "fail",
        ("f",),
        "fail",
        "In a call, give it the verdict fail, at the turn or the state under the cursor: there it first went wrong.",
        "Note",
        needs_notebook,
        kinds=("conversation",),
    ),
    Action(
        "code",
        ("s",),
        "code",
        "In a call, file it under a code, at the turn or the state under the cursor: one from a list, or a new word."
        " A call that you gave no verdict fails by it.",
        "Note",
        needs_notebook,
        kinds=("conversation",),
    ),
    Action(
        "note",
        ("i",),
        "note",
        "In a call, write a note on the turn or the state under the cursor, or edit your own there.",
        "Note",
        needs_notebook,
        kinds=("conversation",),
    ),
    Action(
        "next_unread",
        ("l",),
        "next unread",
        "From a call, go to the next one of its list that you have noted nothing on.",
        "Note",
        lambda context: needs_notebook(context) or needs_siblings(context),
        kinds=("conversation",),
    ),
    Action(
        "take_back",
        ("u",),
        "undo",
        "In a call, take back what you noted last, again and again as far back as this session goes.",
        "Note",
        needs_written,
        kinds=("conversation",),
    ),
    Action(
        "rename_code",
        ("i",),
        "rename",
        "Give the code another name, or that of another code, with which it merges.",
        "Note",
        needs_code,
        kinds=("list",),
    ),
    Action(
        "take_back_rename",
        ("I",),
        "undo",
        "Take back what you wrote last, also the renaming of a code.",
        "Note",
        needs_renamed,
        kinds=("list",),
    ),
)
