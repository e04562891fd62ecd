"""Read what people wrote on calls, as far as it stands and is of one call."""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from riff_store import models as m
from riff_store.annotations import counted, standing
from riff_store.database import Store
from riff_store.facts import Annotation
from riff_store.notes import read_notes
from riff_store.queries.conditions import one_of

_AT_ONCE = 100
_Named: TypeAlias = tuple[str | None, str | None, str | None, str, int | None]


@dataclass(frozen=True, slots=True)
class Note:
    """Describe what a person wrote on a call, a turn (from 1) or a state of it; `at` is microseconds since the epoch.

    `verdict` is `pass` or `fail`, `code` the kind of failure, `labels` what else it was filed under, `editor` who wrote
    it as it stands where that is not its author.
    """

    id: str
    author: str
    at: int | None
    text: str | None
    turn: int | None = None
    state: str | None = None
    verdict: str | None = None
    code: str | None = None
    labels: Sequence[str] = ()
    editor: str | None = None


def notes_by_call(store: Store, calls: Collection[int] | None = None) -> dict[int, list[Note]]:
    """Return what counts of what people wrote, by the key of the call, in the order in which it was written.

    With `calls` it is that on these alone. A note is of the one call of its name that nothing it says of run, flow,
    agent and trial tells apart from it. Where there are several it is of none, for nothing says which was meant.
    """
    if calls is None:
        return _by_call(store, standing(read_notes(store)))
    call = m.Conversation
    names = {name for (name,) in store.execute(call.select(call.name).where(one_of(call.id, calls)))}
    found = _by_call(store, standing(read_notes(store, names)))
    return {key: found[key] for key in calls if key in found}


def notes_on(store: Store, key: int) -> list[Note]:
    """Return what counts of what people wrote on one call, in the order in which it was written."""
    return notes_by_call(store, (key,)).get(key, [])


def lines_by_call(
    store: Store, lines: Sequence[Annotation], among: Container[int] | None = None
) -> dict[int, list[Annotation]]:
    """Return lines in their order by the key of the one call that each is of, of calls `among` these where given."""
    calls = calls_named(store, (_names(line) for line in lines))
    found: dict[int, list[Annotation]] = {}
    for line in lines:
        keys = calls[_names(line)]
        if len(keys) == 1 and (among is None or keys[0] in among):
            found.setdefault(keys[0], []).append(line)
    return found


def calls_named(store: Store, wanted: Iterable[_Named]) -> dict[_Named, list[int]]:
    """Return the keys of the calls that each (run, flow, agent, conversation, trial) may mean; `None` means any."""
    found: dict[_Named, list[int]] = {names: [] for names in wanted}
    for joins in (_OF_ONE_RUN, _OF_ANY_RUN):
        some = [names for names in found if (names[0] is None) == (joins is _OF_ANY_RUN)]
        for start in range(0, len(some), _AT_ONCE):
            chunk = some[start : start + _AT_ONCE]
            values: list[Any] = [each for place, names in enumerate(chunk) for each in (place, *names)]
            marks = ", ".join(["(?, ?, ?, ?, ?, ?)"] * len(chunk))
            for place, key in store.execute_sql(_FIND.format(marks=marks, joins=joins), tuple(values)):
                found[chunk[place]].append(key)
    return found


_OF_ONE_RUN = "JOIN run r ON r.name = w.run"
_OF_ANY_RUN = "CROSS JOIN run r"
_FIND = """
WITH wanted (place, run, flow, agent, name, trial) AS (VALUES {marks})
SELECT w.place, c.id FROM wanted w {joins} CROSS JOIN conversation c ON c.run_id = r.id AND c.name = w.name
  JOIN flow f ON f.id = c.flow_id JOIN agent g ON g.id = c.agent_id
WHERE f.name = coalesce(w.flow, f.name) AND g.name = coalesce(w.agent, g.name)
  AND c.trial = coalesce(CAST(w.trial AS INT), c.trial)
ORDER BY w.place, c.id"""


def _by_call(store: Store, lines: Sequence[Annotation]) -> dict[int, list[Note]]:
    found = {key: counted(written) for key, written in lines_by_call(store, lines).items()}
    return {key: [_note(line) for line in written] for key, written in found.items() if written}


def _names(line: Annotation) -> _Named:
    return line.run, line.flow, line.agent, line.conversation, line.trial


def _note(line: Annotation) -> Note:
    return Note(
        line.id, line.author, line.at, line.note, line.turn, line.state, line.verdict, line.code, tuple(line.labels),
        line.editor,
    )  # fmt: skip


def verdicts_of_people(notes: Mapping[int, Sequence[Note]]) -> dict[str, dict[int, bool]]:
    """Return by author, and by the key of the call, whether a person let it pass."""
    found: dict[str, dict[int, bool]] = {}
    for key, written in notes.items():
        for note in written:
            if note.verdict is not None:
                found.setdefault(note.author, {})[key] = note.verdict == "pass"
    return found


def verdict_of(notes: Iterable[Note]) -> str | None:
    """Return what people say of a call: `pass`, `fail`, `split` where they differ, `None` where nobody judged it."""
    given = {note.verdict for note in notes if note.verdict is not None}
    return "split" if len(given) > 1 else next(iter(given), None)


def codes_of(notes: Iterable[Note]) -> list[str]:
    """Return the codes that people gave a call, each once, in the order in which they were given."""
    return list(dict.fromkeys(note.code for note in notes if note.code is not None))


def authors_of(notes: Iterable[Note]) -> list[str]:
    """Return who wrote on a call, in the order in which they did."""
    return list(dict.fromkeys(note.author for note in notes))
