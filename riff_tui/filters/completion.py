"""Complete what is typed into a filter: names of fields, and names that the store knows.

The caller queries the store for names; here it is found out which are wanted, and what to write instead.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from riff_store.filters.matching import fold
from riff_store.vocabulary import ALIASES, FIELDS, STEP_FIELDS, TOOL_FIELDS, TOUCHED_FIELDS, added_fields
from riff_tui.filters.filter import quote

NAMED = (
    "flow", "agent", "run", "persona", "scenario", "archetype", "commit", "branch", "label", "state", "segment",
    "judge", "stop_reason", "final_state", "final_status", *STEP_FIELDS,
    *TOOL_FIELDS, *TOUCHED_FIELDS,
)  # fmt: skip
"""The fields whose names are kept by themselves and can be listed."""

_TERM = re.compile(r"([A-Za-z][A-Za-z0-9_]*)(!=|[:=])(.*)", re.DOTALL)
_WORD = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_SHORTEST_NAME = 2


@dataclass(frozen=True, slots=True)
class CompletionTarget:
    """Describe the part of a line, from `start` to the cursor, that can be completed.

    Without a `field` it is the beginning of one, else of a name of that field; `operator` is how the two
    are tied together.
    """

    start: int
    word: str
    field: str = ""
    operator: str = ""


def wanted(text: str, at: int) -> CompletionTarget | None:
    """Return what is before the cursor, `None` inside a regular expression."""
    start = _term_start(text[:at])
    if start is None:
        return None
    term = text[start:at]
    found = _TERM.fullmatch(term)
    if found is None:
        return CompletionTarget(start, term) if not term or _WORD.fullmatch(term) else None
    name, operator, value = found.groups()
    field = ALIASES.get(name.lower(), name.lower())
    if field not in NAMED or value.startswith("/"):
        return None
    return CompletionTarget(start, value.strip("\"'"), field, operator)


def fields(want: CompletionTarget, of_rows: Collection[str]) -> list[str]:
    """Return the fields that begin like the word, those of the rows on show first; `:` follows one with names."""
    word = want.word.lower()
    there = FIELDS | added_fields()
    known = [
        name for name, field in there.items() if name.startswith(word) and (field.level != "row" or name in of_rows)
    ]
    known.sort(key=lambda name: name not in of_rows)
    known += [full for short, full in ALIASES.items() if short.startswith(word) and full not in known and word]
    return [f"{name}{':' if there[name].kind == 'name' else ''}" for name in dict.fromkeys(known)]


def names(want: CompletionTarget, known: Iterable[str]) -> list[str]:
    """Return the terms of the names that begin like the word, and then of those that contain it."""
    operator = "!=" if want.operator == "!=" else "="
    return [f"{want.field}{operator}{quote(name)}" for name in _alike(want.word, known)]


def named(want: CompletionTarget, known: Sequence[tuple[str, Sequence[str]]]) -> list[str]:
    """Return the terms for names of several fields in which a bare word is found; none for a single letter."""
    if len(want.word) < _SHORTEST_NAME:
        return []
    return [f"{field}={quote(name)}" for field, there in known for name in _alike(want.word, there)]


def _alike(word: str, known: Iterable[str]) -> list[str]:
    folded = fold(word)
    found = [(name, fold(name)) for name in known]
    first = [name for name, flat in found if flat.startswith(folded)]
    return first + [name for name, flat in found if folded in flat and not flat.startswith(folded)]


def _term_start(before: str) -> int | None:
    """Return where the term that ends at the cursor begins, `None` inside a regular expression."""
    start = at = 0
    while at < len(before):
        character = before[at]
        opens = at == start or before[at - 1] in ":=<>"
        if opens and character in "\"'":
            at = _closed(before, at, character)
            continue
        if character == "/" and (at == start or before[at - 1] == ":"):
            at = _closed(before, at, character)
            if at > len(before):
                return None
            continue
        if character.isspace() or character in "|()" or (character == "!" and at == start):
            start = at + 1
        at += 1
    return start


def _closed(before: str, opened: int, mark: str) -> int:
    """Return the index behind the quote or regular expression that begins here, beyond the end if it is open."""
    at = opened + 1
    while at < len(before):
        if before[at] == "\\":
            at += 1
        elif before[at] == mark:
            return at + 1
        at += 1
    return len(before) + 1
