"""Say where people marked that calls first went wrong, which counts instead of what events tell."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from math import inf
from typing import Any, NamedTuple, TypeAlias

from riff_store import models as m
from riff_store.annotations import FAIL, PASS
from riff_store.database import Store
from riff_store.queries.annotations import Note, notes_by_call
from riff_store.queries.conditions import one_of
from riff_store.vocabulary import MARKED, START

_Places: TypeAlias = Mapping[int, tuple[float, bool]]
"""The place of the first visit to each state (infinity: not known), and whether it is a working state, by its key."""


class Mark(NamedTuple):
    """Hold the keys of the state that a person marked, and of the one before it (`None` at the start), and the code."""

    last_ok: int | None
    first_failed: int
    code: str | None

    def told(self, states: Mapping[int, str | None]) -> dict[str, Any]:
        """Return what a filter and the columns of a call say of it, by their names; `states` names all states."""
        return {
            "last_ok": START if self.last_ok is None else states[self.last_ok],
            "first_failed": states[self.first_failed],
            "failure": MARKED,
            "failure_detail": self.code,
            "failure_error": None,
        }


def marks(store: Store, calls: Collection[int] | None = None) -> dict[int, Mark]:
    """Return by the call's key where people marked each failed call, of several states the earliest.

    A call is marked by what counts of its notes: those on a state that it visited, with a code or the verdict fail,
    of authors who do not pass the call (docs/metrics.md, section 15).
    """
    placed = {key: some for key, notes in notes_by_call(store, calls).items() if (some := _placed(notes))}
    if not placed:
        return {}
    names, places = _visited(store, placed)
    found: dict[int, tuple[int, Note]] = {}
    for key, visited in places.items():
        on = [(state, note) for note in placed[key] for state in visited if names[state] == note.state]
        if on:
            found[key] = min(on, key=lambda each: (visited[each[0]][0], *_rank(each[1])))
    ways = _ways_to(store, {key: state for key, (state, _) in found.items()})
    return {
        key: Mark(_before(state, places[key], ways.get(key, ()), names), state, note.code)
        for key, (state, note) in found.items()
    }


def _placed(notes: Sequence[Note]) -> list[Note]:
    """Return the notes that mark a state: with a code or the verdict fail, of authors who do not pass the call."""
    passing = {note.author for note in notes if note.verdict == PASS}
    told = (note for note in notes if note.state is not None and note.author not in passing)
    return [note for note in told if note.code is not None or note.verdict == FAIL]


def _rank(note: Note) -> tuple[bool, float, int, str]:
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

    That is the state which was new then. Where the call had come back to an older one, it is of those from which it
    ever went to the state the one that it came to last.
    """
    at = places[state][0]
    earlier = {other: (*place, names[other]) for other, place in places.items() if place[0] < at}
    if not earlier:
        return None
    latest = max(earlier, key=earlier.__getitem__)
    came_from = earlier.keys() & ways
    return max(came_from, key=earlier.__getitem__) if came_from and earlier[latest][0] != at - 1 else latest
