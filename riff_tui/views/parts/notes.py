"""Show what people wrote on one call: who, when, on which turn or state, what it is filed under, and the words.

The words are about those of a caller, and pass the same gate.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, TypeAlias

from riff_tui.table import Table
from riff_tui.text.words import counted
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


def told(table: Table) -> str:
    """Return how many notes a call has, with the beginning of the first, from its table; nothing where it has none."""
    found = table.extras.get("annotations") or []
    if not found:
        return ""
    filed = ", ".join(_filed(found[0]["verdict"], found[0]["labels"], found[0]["code"]))
    first = ": ".join(filter(None, (filed, found[0]["note"])))
    return " · ".join(filter(None, (counted(len(found), "note"), first)))


def _filed(verdict: str | None, labels: Iterable[str], code: str | None) -> list[str]:
    return list(dict.fromkeys(filter(None, (verdict, *labels, code))))


def _line(note: Note, words: Words) -> str:
    moment = cells.moment(note.at)
    author = words(note.author)
    head = [
        "Note",
        *([f"by {author}"] if author else []),
        *([f"on turn {note.turn}"] if note.turn is not None else []),
        *([f"in {note.state}"] if note.state else []),
    ]
    known = [*([moment[:10]] if moment else []), *_filed(note.verdict, note.labels, note.code)]
    text = " ".join(head) + (f" ({', '.join(known)})" if known else "")
    said = words(note.text)
    return f"{text}: {said}" if said else text
