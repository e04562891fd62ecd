"""Show what people and judges said about one call: who, when, on which turns, and the words.

These are about words of a caller, and pass the same gate."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from riff_tui.shapes import COUNT, NUMBER, TEXT, list_of, or_null, record
from riff_tui.table import Column, Row, Table
from riff_tui.text.numbers import counted, fixed
from riff_tui.views.parts import cells

if TYPE_CHECKING:
    from riff_store.filters.notes import Note
    from riff_store.queries.conversation import Verdict


Words: TypeAlias = Callable[[Any], Any]

COLUMN = Column("notes", "Notes", kind="text", said=True, help="What people noted on this moment; there where any did.")
_LONGEST = 200
"""So much of a note stands at its moment; all of it stands with the facts of the call."""


_TEXTS = ("author", "at", "state", "verdict", "code", "note")
NOTE = record({"id": TEXT, **dict.fromkeys(_TEXTS, or_null(TEXT)), "turn": or_null(COUNT), "labels": list_of(TEXT)})
"""What JSON has of a note."""


def note_record(note: Note, words: Words) -> dict[str, Any]:
    """Return a note as the data formats print it."""
    return {
        "id": note.id,
        "author": words(note.author),
        "at": cells.moment(note.at),
        **cells.values_of(note, "turn state verdict code"),
        "labels": list(note.labels),
        "note": words(note.text),
    }


def turn_numbers(rows: Sequence[Row]) -> list[int | None]:
    """Return of each row of a call which turn of its transcript it is, counted from 1; nothing for other moments."""
    count = itertools.count(1)
    return [next(count) if row.record.get("kind") == "turn" else None for row in rows]


def states(rows: Iterable[Row]) -> Iterator[str | None]:
    """Yield of each row of a call the state that it was in."""
    state = None
    for row in rows:
        state = row.record.get("state") or state
        yield state


def at_moments(table: Table, notes: Sequence[Note], words: Words) -> Table:
    """Return a call's table with each note at its moment: its turn, else where its state was entered first."""
    numbers = turn_numbers(table.rows)
    turns = {number: index for index, number in enumerate(numbers) if number is not None}
    entered: dict[str, int] = {}
    for index, row in enumerate(table.rows):
        if row.record.get("kind") == "state" and row.record.get("state"):
            entered.setdefault(row.record["state"], index)
    for index, state in enumerate(states(table.rows)):
        if state is not None:
            entered.setdefault(state, index)
    found: dict[int, list[Note]] = {}
    for note in notes:
        at = turns.get(note.turn) if note.turn is not None else entered.get(note.state or "")
        if at is not None:
            found.setdefault(at, []).append(note)
    texts = {index: said for index, there in found.items() if (said := _short(there, words))}
    if not texts:
        return table
    rows = [
        row._replace(
            record={**row.record, COLUMN.key: texts.get(index)},
            display={**row.display, COLUMN.key: " · ".join(texts.get(index, ()))},
        )
        for index, row in enumerate(table.rows)
    ]
    return table._replace(rows=rows, columns=[*table.columns, COLUMN])


def _short(notes: Sequence[Note], words: Words) -> list[str]:
    """Return a text for each author at a moment: the words, as far as there is room, and what it was filed under."""
    texts = []
    for author in dict.fromkeys(note.author for note in notes):
        own = [note for note in notes if note.author == author]
        filed = dict.fromkeys(each for note in own for each in _filed(note.verdict, note.labels, note.code))
        said = " / ".join(filter(None, (words(note.text) for note in own)))
        said = f"{said[:_LONGEST].rstrip()}…" if len(said) > _LONGEST else said
        what = " ".join(filter(None, (said, f"[{' · '.join(filed)}]" if filed else "")))
        name = str(words(author) or "").partition("@")[0]
        texts += [f"{name}: {what}" if name else what] if what else []
    return texts


def told(table: Table) -> str:
    """Return what a call was filed under, with the beginning of the first words on it; nothing if it has no note."""
    found = table.extras.get("annotations") or []
    if not found:
        return ""
    filed = dict.fromkeys(each for note in found for each in _filed(note["verdict"], note["labels"], note["code"]))
    said = next((note["note"] for note in found if note["note"]), None)
    first = ": ".join(filter(None, (", ".join(filed), said)))
    return " · ".join(filter(None, (counted(len(found), "note"), first)))


def _filed(verdict: str | None, labels: Iterable[str], code: str | None) -> list[str]:
    return list(dict.fromkeys(filter(None, (verdict, *labels, code))))


def note_line(note: Note, words: Words) -> str:
    """Return who noted what when, on which turn or state, in a line."""
    moment = cells.moment(note.at)
    author = words(note.author)
    text = f"Note{f' by {author}' if author else ''}"
    text += "" if note.turn is None else f" on turn {note.turn}"
    text += f" in {note.state}" if note.state else ""
    known = [*([moment[:10]] if moment else []), *_filed(note.verdict, note.labels, note.code)]
    text += f" ({', '.join(known)})" if known else ""
    said = words(note.text)
    return f"{text}: {said}" if said else text


_MAY_BE_MISSING = ("judged_at", "model", "prompt_hash", "prompt_version", "rationale")
VERDICT = record(
    {
        **dict.fromkeys(("aspect", "judge"), TEXT),
        **dict.fromkeys(_MAY_BE_MISSING, or_null(TEXT)),
        "score": or_null(NUMBER),
        "evidence": or_null(list_of(COUNT)),
    }
)
"""What JSON has of a verdict."""


def verdict_record(verdict: Verdict, words: Words) -> dict[str, Any]:
    """Return a verdict as the data formats print it."""
    return {
        **cells.values_of(verdict, "aspect judge score"),
        "judged_at": cells.moment(verdict.judged_at),
        **cells.values_of(verdict, "model prompt_hash prompt_version"),
        "evidence": None if verdict.evidence is None else list(verdict.evidence),
        "rationale": words(verdict.rationale),
    }


def verdict_lines(verdicts: Iterable[Verdict], words: Words, times: Sequence[float | None] = ()) -> list[str]:
    """Return all scores in one line, then a line for each judge that shows more of itself or gives its reasons.

    `times` are those of the call's turns in seconds, by which the turns that a judge named are found.
    """
    known = list(verdicts)
    if not known:
        return []
    scores = " · ".join(f"{_named(verdict, ' ')} {_score(verdict)}" for verdict in known)
    return [
        f"Judged: {scores}",
        *(line for verdict in known if (line := _line_of_verdicts(verdict, words(verdict.rationale), times))),
    ]


def named_turns(verdicts: Iterable[Verdict]) -> Mapping[int, str]:
    """Return who named each turn as evidence, by the number of the turn, counted from 1."""
    found: dict[int, list[str]] = {}
    for verdict in verdicts:
        for turn in dict.fromkeys(verdict.evidence or ()):
            found.setdefault(turn, []).append(verdict.judge)
    return {turn: f"named by {', '.join(dict.fromkeys(judges))}" for turn, judges in found.items()}


def _line_of_verdicts(verdict: Verdict, rationale: object, times: Sequence[float | None]) -> str:
    turns = [_turn(turn, times) for turn in verdict.evidence or ()]
    prompt = [part for part in (verdict.prompt_hash, verdict.prompt_version) if part]
    known = [
        *([verdict.model] if verdict.model else []),
        *([f"prompt {' version '.join(prompt) if verdict.prompt_hash else f'version {prompt[0]}'}"] if prompt else []),
        *([f"{'turn' if len(turns) == 1 else 'turns'} {', '.join(turns)}"] if turns else []),
    ]
    if not known and not rationale:
        return ""
    text = f"{_named(verdict, ' on ')} {_score(verdict)}"
    text += f" ({'; '.join(known)})" if known else ""
    return text + (f": {rationale}" if rationale else "")


def _turn(number: int, times: Sequence[float | None]) -> str:
    """Return the number of a turn, counted from 1 over both sides, and when it was if that is known."""
    t = times[number - 1] if 0 < number <= len(times) else None
    return str(number) if t is None else f"{number} at {fixed(t, 1)} s"


def _named(verdict: Verdict, between: str) -> str:
    """Return the judge and what it judged, in one word where it is called after that."""
    return verdict.judge if verdict.judge == verdict.aspect else f"{verdict.judge}{between}{verdict.aspect}"


def _score(verdict: Verdict) -> str:
    return "unscored" if verdict.score is None else fixed(verdict.score, 1)
