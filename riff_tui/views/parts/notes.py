"""Show what people wrote on one call: who, when, on which turn or state, what it is filed under, and the words.

The words are about those of a caller, and pass the same gate.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, TypeAlias

from riff_tui.views.parts import cells

if TYPE_CHECKING:
    from riff_store.answers.calls import Note

Words: TypeAlias = Callable[[Any], Any]


def record_of(note: Note, words: Words) -> dict[str, Any]:
    """Return a note as the data formats print it."""
    return {
        "id": note.id,
        "author": words(note.author),
        "at": cells.moment(note.at),
        "turn": note.turn,
        "state": note.state,
        "verdict": note.verdict,
        "code": note.code,
        "labels": list(note.labels),
        "note": words(note.text),
    }


def lines_of(notes: Iterable[Note], words: Words) -> list[str]:
    """Return a line for each note."""
    return [_line(note, words) for note in notes]


def _line(note: Note, words: Words) -> str:
    moment = cells.moment(note.at)
    author = words(note.author)
    filed = dict.fromkeys(filter(None, (note.verdict, *note.labels, note.code)))
    head = [
        "Note",
        *([f"by {author}"] if author else []),
        *([f"on turn {note.turn}"] if note.turn is not None else []),
        *([f"in {note.state}"] if note.state else []),
    ]
    known = [*([moment[:10]] if moment else []), *filed]
    text = " ".join(head) + (f" ({', '.join(known)})" if known else "")
    said = words(note.text)
    return f"{text}: {said}" if said else text
