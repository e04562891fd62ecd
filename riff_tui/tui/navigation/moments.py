"""Name the moment of a call that the cursor is on, and find the moment of a name: `turn:7`, `state:triage`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from riff_tui.table import Row
from riff_tui.text.safe_text import one_line


def is_place(text: str) -> bool:
    """Return whether a text names a moment; ids of rows do not."""
    kind, _, name = text.partition(":")
    return (kind == "turn" and name.isdecimal() and name.isascii()) or (kind == "state" and name != "")


def place_of(rows: Sequence[Row], index: int) -> str:
    """Return the name of a row's moment: its turn, its state where that is entered first, else the turn before."""
    before = ""
    for at, name in enumerate(_names(rows[: index + 1])):
        before = name if name.startswith("turn:") or (at == index and name) else before
    return before


def row_at(rows: Sequence[Row], place: str) -> Row | None:
    """Return the row of a moment, `None` where the call has none."""
    kind, _, name = place.partition(":")
    wanted = f"turn:{name.lstrip('0')}" if kind == "turn" else place
    return next((row for row, found in zip(rows, _names(rows), strict=True) if found == wanted), None)


def missing(place: str) -> str:
    """Return that a call does not have a moment, in words."""
    kind, _, name = place.partition(":")
    return f"this call has no {kind} {name}; this is its beginning"


def _names(rows: Iterable[Row]) -> Iterator[str]:
    """Yield the name of each row's moment, nothing where it has none of its own."""
    turns = 0
    states: set[object] = set()
    for row in rows:
        kind, state = row.record.get("kind"), row.record.get("state")
        turns += kind == "turn"
        if kind == "turn":
            yield f"turn:{turns}"
        elif kind == "state" and state not in states and one_line(str(state)) == state:
            yield f"state:{state}"
        else:
            yield ""
        if kind == "state":
            states.add(state)
