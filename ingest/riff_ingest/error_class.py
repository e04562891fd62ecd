"""Reduce the message of an error to what all errors of its kind say."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

LONGEST = 80
REMOVED = "*"
_READ = 2000
_MESSAGES = ("message", "error", "detail", "reason", "kind", "type", "code")
_TRACEBACK = "Traceback (most recent call last)"
_VARIABLE = re.compile(
    r"""
      \b[a-z][a-z0-9+.-]{0,20}://\S+  # addresses
    | "[^"]*" | `[^`]*` | “[^”]*”  # quoted parts
    | (?<!\w)'[^']*'(?!\w) | (?<!\w)‘[^’]*’(?!\w)
    | \b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b
    | \b[0-9a-f]{8,}\b
    | \w*\d\w*  # numbers, ids, times
    """,
    re.VERBOSE | re.IGNORECASE,
)
_RUN = re.compile(r"\*(?:[^\w*]+\*)+")
_BLANKS = re.compile(r"\s+")


def error_class(error: object) -> str | None:
    """Return an error's message without numbers, ids, quoted parts and addresses, cut to 80 characters.

    `None` where nothing is left that says anything.
    """
    plain = _VARIABLE.sub(REMOVED, _line(_message(error)))
    found = _BLANKS.sub(" ", _RUN.sub(REMOVED, plain)).strip()[:LONGEST].strip()
    return found if any(character.isalpha() for character in found) else None


def _message(error: object) -> str:
    """Return what an error says in words: of an object its message, of a list its first element."""
    for _ in range(len(_MESSAGES)):
        if isinstance(error, list) and error:
            error = error[0]
        elif isinstance(error, Mapping) and (key := next((key for key in _MESSAGES if error.get(key)), None)):
            error = error[key]
    if isinstance(error, str):
        return error[:_READ]
    if error is None or isinstance(error, bool | int | float):
        return ""
    return json.dumps(error, default=str, sort_keys=True)[:_READ]


def _line(message: str) -> str:
    """Return the line that names the error: the last one of a traceback, else the first."""
    lines = [line for line in message.splitlines() if line.strip()]
    return "" if not lines else lines[-1 if lines[0].startswith(_TRACEBACK) else 0]
