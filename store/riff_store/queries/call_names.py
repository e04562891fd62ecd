"""Name calls as people do, and give examples of those behind a count."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import peewee as pw

from riff_store import schema as m
from riff_store.database import Store
from riff_store.filters.dimensions import run_order
from riff_store.write.names import CallNames

if TYPE_CHECKING:
    from riff_store.arrays.failures import FailureGroups


_CHUNK = 500


def told_by(store: Store, keys: Sequence[int]) -> dict[int, Mapping[str, str]]:
    """Return of the calls whose id others of their run have: flow, agent and trial, as many of them as it takes."""
    call, other = m.Conversation, m.Conversation.alias()
    alike = [(other.run == call.run), (other.name == call.name)]
    differs: dict[str, Any] = {}
    for name in ("flow", "agent", "trial"):
        there = other.select(pw.SQL("1")).where(*alike, getattr(other, name) != getattr(call, name))
        differs[name] = pw.fn.EXISTS(there)
        alike.append(getattr(other, name) == getattr(call, name))
    query = (
        call.select(call.id, m.Flow.name, m.Agent.name, call.trial, *differs.values())
        .join(m.Flow, on=(m.Flow.id == call.flow))
        .join(m.Agent, on=(m.Agent.id == call.agent))
    )
    found: dict[int, Mapping[str, str]] = {}
    for start in range(0, len(keys), _CHUNK):
        for key, flow, agent, trial, *needed in store.execute(query.where(call.id.in_(keys[start : start + _CHUNK]))):
            if any(needed):
                names = zip(differs, (flow, agent, str(trial)), needed, strict=True)
                found[key] = {each: name for each, name, is_needed in names if is_needed}
    return found


def names_of_calls(store: Store, keys: Sequence[int]) -> list[CallNames]:
    """Return run, flow, agent, id and trial of calls by their keys; of those that are gone nothing."""
    call = m.Conversation
    query = (
        call.select(m.Run.name, m.Flow.name, m.Agent.name, call.name, call.trial)
        .join(m.Run, on=(m.Run.id == call.run))
        .join(m.Flow, on=(m.Flow.id == call.flow))
        .join(m.Agent, on=(m.Agent.id == call.agent))
    )
    found: list[CallNames] = []
    for start in range(0, len(keys), _CHUNK):
        rows = store.execute(query.where(call.id.in_(keys[start : start + _CHUNK])))
        found += map(CallNames._make, rows)
    return found


# Choose the call that shows best how some failed.
Key = TypeVar("Key", bound=Hashable)
_AT_ONCE = 500


@dataclass(frozen=True, slots=True)
class Example:
    """Name the shortest call of several; `told_by` is as in `Call`."""

    run: str
    conversation: str
    told_by: Mapping[str, str] = field(default_factory=dict)


def turns_aspect(store: Store) -> int:
    """Return the key of the aspect that says how many turns a call has, 0 where no call was scored for it."""
    rows = store.execute(m.Aspect.select(m.Aspect.id).where(m.Aspect.name == "turn_count"))
    return int(rows[0][0]) if rows else 0


class NamedCall(Protocol):
    """Describe what of a call decides whether it is the shortest of several; turns are those of the agent."""

    @property
    def id(self) -> int: ...
    @property
    def run(self) -> int: ...
    @property
    def name(self) -> str: ...
    @property
    def turns(self) -> float | None: ...
    @property
    def duration_s(self) -> float | None: ...


class Examples:
    """Find the shortest of several calls: the fewest agent turns, then seconds, then the earliest run and the id."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._runs: dict[int, str] = dict(store.execute(m.Run.select(m.Run.id, m.Run.name)))
        self._order = run_order(store)

    def shortest(self, groups: Mapping[Key, Iterable[NamedCall]]) -> dict[Key, Example]:
        """Return the shortest call of each group."""
        found = {key: min(calls, key=self._length) for key, calls in groups.items()}
        named = told_by(self._store, [call.id for call in found.values()])
        return {key: Example(self._runs[call.run], call.name, named.get(call.id, {})) for key, call in found.items()}

    def shortest_of(self, groups: FailureGroups) -> list[Example]:
        """Return the shortest call of each group."""
        candidates = groups.shortest({key: self._place(run)[0] for key, run in self._runs.items()})
        call, names = m.Conversation, dict[int, tuple[str, int]]()
        keys = [key for some in candidates for key in some]
        for start in range(0, len(keys), _AT_ONCE):
            query = call.select(call.id, call.name, call.run).where(call.id.in_(keys[start : start + _AT_ONCE]))
            names |= {key: (name, run) for key, name, run in self._store.execute(query)}
        found = [min(some, key=lambda key: (names[key][0], key)) for some in candidates]
        named = told_by(self._store, found)
        return [Example(self._runs[names[key][1]], names[key][0], named.get(key, {})) for key in found]

    def run_spans(self, groups: FailureGroups) -> list[tuple[str, str]]:
        """Return the names of the first and the last run of each group, in time."""
        ordered = sorted(self._runs, key=lambda run: self._place(self._runs[run]))
        ends = groups.ends("run", {run: place for place, run in enumerate(ordered)})
        return [(self._runs[ordered[first]], self._runs[ordered[last]]) for first, last in ends]

    def _place(self, run: str) -> tuple[int, str]:
        return self._order.get(run, len(self._order)), run

    def _length(self, call: NamedCall) -> tuple[float, float, int, str, str]:
        turns, lasted = (float("inf") if value is None else value for value in (call.turns, call.duration_s))
        return turns, lasted, *self._place(self._runs[call.run]), call.name
