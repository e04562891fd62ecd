"""Read what people wrote on calls, as far as it is, and where they marked those that failed."""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from math import inf
from typing import Any, NamedTuple, TypeAlias

from riff_store import schema as m
from riff_store.annotations import FAIL, PASS, counted, standing
from riff_store.database import Store
from riff_store.facts import Annotation
from riff_store.filters.conditions import one_of
from riff_store.vocabulary import MARKED, START
from riff_store.write.notes import has_notes, read_notes

_AT_ONCE = 100
_Named: TypeAlias = tuple[str | None, str | None, str | None, str, int | None]


class Note(NamedTuple):
    """Describe what a person wrote on a call, a turn (from 1) or a state of it; `at` is microseconds since the epoch.

    `verdict` is `pass` or `fail`, `code` the kind of failure, `labels` what else it was filed under, `editor` who wrote
    it as it is if that is not its author.
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

    With `calls` it is that on these alone. A note is of the one call of its name that nothing it reports of run, flow,
    agent and trial distinguishes from it. If there are several it is of none, for nothing shows which was meant.
    """
    if calls is None:
        return _by_call(store, standing(read_notes(store)))
    if not has_notes(store):
        return {}
    call = m.Conversation
    names = {name for (name,) in store.execute(call.select(call.name).where(one_of(call.id, calls)))}
    found = _by_call(store, standing(read_notes(store, names)))
    return {key: found[key] for key in calls if key in found}


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
    """Return what people say about a call: `pass`, `fail`, `split` where they differ, `None` if nobody judged it."""
    given = {note.verdict for note in notes if note.verdict is not None}
    return "split" if len(given) > 1 else next(iter(given), None)


def codes_of(notes: Iterable[Note]) -> list[str]:
    """Return the codes that people gave a call, each once, in the order in which they were given."""
    return list(dict.fromkeys(note.code for note in notes if note.code is not None))


def authors_of(notes: Iterable[Note]) -> list[str]:
    """Return who wrote on a call, in the order in which they did."""
    return list(dict.fromkeys(note.author for note in notes))


_Places: TypeAlias = Mapping[int, tuple[float, bool]]
"""The place of the first visit to each state (infinity: not known), and whether it is a working state, by its key."""


class Mark(NamedTuple):
    """Match where a person marked a call: the keys of the state and of the one before it (`None` at the start)."""

    last_ok: int | None
    first_failed: int
    code: str | None
    turn: int | None

    def told(self, states: Mapping[int, str | None]) -> dict[str, Any]:
        """Return what a filter and the columns of a call know of it, by their names; `states` names all states."""
        return {
            "last_ok": START if self.last_ok is None else states[self.last_ok],
            "first_failed": states[self.first_failed],
            "failure": MARKED,
            "failure_detail": self.code,
            "failure_error": None,
            "failed_tool": None,
            "who": "agent",
            "turn": self.turn,
            "t": None,
            "listed": None,
            "place": None,
        }


def marks(store: Store, notes: Mapping[int, Sequence[Note]] | None = None) -> dict[int, Mark]:
    """Return by the call's key where people marked each failed call, of several states the earliest.

    A call is marked by what counts of its notes: those on a state that it visited, with a code or the verdict fail,
    of authors who do not pass the call (docs/metrics.md, section 15). With `notes` those are meant, by call.
    """
    noted = notes_by_call(store) if notes is None else notes
    placed = {key: some for key, written in noted.items() if (some := _placed(written))}
    if not placed:
        return {}
    names, places = _visited(store, placed)
    found: dict[int, tuple[int, Note]] = {}
    for key, visited in places.items():
        on = [(state, note) for note in placed[key] for state in visited if names[state] == note.state]
        if on:
            found[key] = min(on, key=lambda each: (visited[each[0]][0], *_first_of_notes(each[1])))
    ways = _ways_to(store, {key: state for key, (state, _) in found.items()})
    return {
        key: Mark(_before(state, places[key], ways.get(key, ()), names), state, note.code, note.turn)
        for key, (state, note) in found.items()
    }


def _placed(notes: Sequence[Note]) -> list[Note]:
    """Return the notes that mark a state: with a code or the verdict fail, of authors who do not pass the call."""
    passing = {note.author for note in notes if note.verdict == PASS}
    told = (note for note in notes if note.state is not None and note.author not in passing)
    return [note for note in told if note.code is not None or note.verdict == FAIL]


def _first_of_notes(note: Note) -> tuple[bool, float, int, str]:
    """Return what decides between the notes on a state: one with a code, then the turn, the time and the id."""
    return note.code is None, inf if note.turn is None else note.turn, -1 if note.at is None else note.at, note.id


def _visited(store: Store, calls: Collection[int]) -> tuple[dict[int, str], dict[int, _Places]]:
    """Return the names of states, and which ones each of the calls that failed came to, where in its course."""
    failure, found = m.CallFailure, dict[int, dict[int, tuple[float, bool]]]()
    for row in (m.OutcomeVisit, m.StateScore):
        query = row.select(row.conversation, row.state, row.position).join(
            failure, on=(failure.conversation == row.conversation)
        )
        for key, state, position in store.execute(query.where(one_of(row.conversation, calls))):
            found.setdefault(key, {})[state] = inf if position is None else position, row is m.StateScore
    wanted = {state for places in found.values() for state in places}
    names = dict(store.execute(m.State.select(m.State.id, m.State.name).where(one_of(m.State.id, wanted))))
    return names, {**found}


def _ways_to(store: Store, states: Mapping[int, int]) -> dict[int, set[int]]:
    """Return the states from which each call ever went to one state, which is named by the call's key."""
    step = m.Transition
    query = step.select(step.conversation, step.from_state, step.to_state).where(one_of(step.conversation, states))
    found: dict[int, set[int]] = {}
    for key, origin, target in store.execute(query):
        if target == states[key]:
            found.setdefault(key, set()).add(origin)
    return found


def _before(state: int, places: _Places, ways: Collection[int], names: Mapping[int, str]) -> int | None:
    """Return the state of the visit before the first to a state.

    That is the state which was new then. If the call had come back to an older one, it is of those from which it ever
    went to the state the one that it came to last.
    """
    at = places[state][0]
    earlier = {other: (*place, names[other]) for other, place in places.items() if place[0] < at}
    if not earlier:
        return None
    latest = max(earlier, key=earlier.__getitem__)
    came_from = earlier.keys() & ways
    return max(came_from, key=earlier.__getitem__) if came_from and earlier[latest][0] != at - 1 else latest
