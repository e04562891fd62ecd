"""Register every action of the explorer: the bindings, the words of hints and help, and the README come from here.

Keys are spelled as people read them. An action says itself why it does not apply, so no key is ever silently dead.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace

from riff_tui.tui.actions.action import Action
from riff_tui.tui.actions.anywhere import HELP, LOOKS
from riff_tui.tui.actions.copying import COPY
from riff_tui.tui.actions.finding import ANY_ACTION, FILTER, PICKS
from riff_tui.tui.actions.going import OTHER_ROWS, OUT, STEPS, UP_AND_DOWN, action_of, to_view
from riff_tui.tui.actions.listing import COLUMNS, MARKS, ORDERS
from riff_tui.tui.actions.moving import MOVES, PANES
from riff_tui.tui.actions.noting import NOTES
from riff_tui.tui.actions.renaming import RENAMES
from riff_tui.tui.actions.stepping import IN_CALL, MATCHES
from riff_tui.tui.actions.writing import WRITES
from riff_tui.view_registry import origin_of, views


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
    """Return whether a key is a character, a function key or one with ctrl that terminals do not own."""
    return key.isprintable() and re.fullmatch(r"\S|f[0-9]{1,2}|ctrl\+[defgklnoprtuvwxy]", key) is not None


ACTIONS = _distinct(
    (
        *MOVES,
        *UP_AND_DOWN,
        *STEPS,
        *(to_view(spec) for spec in views() if spec.screen.help),
        *OTHER_ROWS,
        *IN_CALL,
        FILTER,
        *MATCHES,
        *PICKS,
        *ORDERS,
        *MARKS,
        *NOTES,
        *RENAMES,
        *PANES,
        *COLUMNS,
        COPY,
        *WRITES,
        *LOOKS,
        ANY_ACTION,
        HELP,
        *OUT,
    )
)
"""All actions, in the order in which the help screen and docs/explorer.md list those of a group."""
BY_ID: Mapping[str, Action] = {each.id: each for each in ACTIONS}


def action(id: str) -> Action:
    """Return the action of that id; raise `KeyError` if there is none."""
    return BY_ID[id]


def key_table(actions: Sequence[Action] = ACTIONS) -> list[tuple[str, str]]:
    """Return (keys, help) of every action in order, for the help screen and the README."""
    return [(" ".join(each.keys), each.help) for each in actions]
