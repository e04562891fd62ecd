"""Translate keys as people read them into Textual's names."""

from __future__ import annotations

from collections.abc import Sequence

_NAMES = {
    "↓": "down",
    "↑": "up",
    "←": "left",
    "→": "right",
    "PgDn": "pagedown",
    "PgUp": "pageup",
    "Home": "home",
    "End": "end",
    "Space": "space",
    "Enter": "enter",
    "Esc": "escape",
    "Backspace": "backspace",
    "[": "left_square_bracket",
    "]": "right_square_bracket",
    "/": "slash",
    "!": "exclamation_mark",
    "?": "question_mark",
    "#": "number_sign",
    "-": "minus",
    "=": "equals_sign",
    "<": "less_than_sign",
    ">": "greater_than_sign",
    ",": "comma",
    ".": "full_stop",
}


def textual_keys(keys: Sequence[str]) -> str:
    """Return the keys of an action as a binding names them."""
    return ",".join(_NAMES.get(key, key) for key in keys)
