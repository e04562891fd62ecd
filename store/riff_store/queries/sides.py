"""Find the run or agent that a side of a comparison means, and pair the calls of both sides."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from typing import Generic, NamedTuple, TypeAlias, TypeVar

from riff_store import models as m
from riff_store.answers.comparison import Side
from riff_store.database import Store
from riff_store.errors import UsageError
from riff_store.interaction import SUMS, Interaction
from riff_store.predicates import Predicate, Term, both
from riff_store.queries.dimensions import Grouping, run_order, run_starts
from riff_store.queries.scope import Scope
from riff_store.queries.sums import call_counts

LISTED = 3
_EMPTY = "the store holds no calls; riff-tui ingest PATH... fills it"
_TAKE_OUT = "take something out of it"
_LATELY = {"latest": 1, "previous": 2}


class SideError(UsageError):
    """Refuse a side that is not there, stands for several, or cannot be compared with the other."""


class NoCallLeft(SideError):
    """Refuse a side of which a filter leaves no call."""


def sides(store: Store, a: str, b: str, within: Predicate | None = None) -> tuple[Side, Side]:
    """Find both sides by name: run ids or the beginning of one, `latest`, `previous`, or `agent:NAME`.

    `run:ID` says that a run is meant. `latest` and `previous` are the last runs with a call `within` a filter.
    Raises `SideError`, with the names that are near.
    """
    first, second = side(store, a, within), side(store, b, within)
    if first.kind != second.kind:
        raise SideError(f"{a} is one {first.kind} and {b} one {second.kind}: compare two runs or two agents")
    if first.name == second.name:
        raise SideError(f"both sides are the {first.kind} {first.name}; a comparison takes two")
    return first, second


def side(store: Store, text: str, within: Predicate | None = None) -> Side:
    """Find one side by name; raises `SideError`."""
    kind, colon, name = text.partition(":")
    if colon and kind == "agent":
        return Side("agent", _named("agent", name, _agents(store)))
    order = run_order(store)
    latest_first = sorted(order, key=order.__getitem__, reverse=True)
    if colon and kind == "run" and text not in order:
        return Side("run", _named("run", name, latest_first))
    if text in _LATELY and text not in order:
        return Side("run", _lately(store, text, within))
    return Side("run", _named("run", text, latest_first, _LATELY))


def calls_of_side(chosen: Side, calls: Predicate | None) -> Predicate | None:
    """Narrow a filter to the calls of a side."""
    return both(Term(chosen.kind, "=", chosen.name), calls)


def _agents(store: Store) -> list[str]:
    cell = m.CallRollup
    query = m.Agent.select(m.Agent.name).distinct().join(cell, on=(cell.agent == m.Agent.id))
    return sorted(name for (name,) in store.execute(query))


def _lately(store: Store, word: str, within: Predicate | None) -> str:
    order, started = run_order(store), run_starts(store)
    here = list(order)
    if within is not None:
        left = _runs_within(store, within)
        here = [name for name in order if name in left]
    timed = [name for name in here if started[name] is not None] or here
    if not timed:
        if order:
            raise NoCallLeft(f"there is no {word} run: the filter leaves no call of any run", _TAKE_OUT)
        raise SideError(f"there is no {word} run: {_EMPTY}")
    if len(timed) < _LATELY[word]:
        where = "the store holds" if within is None or len(order) == 1 else "the filter leaves calls of"
        more = "ingest another one with riff-tui ingest PATH..." if len(order) == 1 else "widen the filter"
        raise SideError(f"there is no {word} run: {where} one run alone, {timed[0]}; {more}")
    return timed[-_LATELY[word]]


def _runs_within(store: Store, within: Predicate) -> set[str | None]:
    """Return the runs that have a call, errored or not, in a filter."""
    return {run for (run,), counts in call_counts(store, within, Grouping(("run",))).items() if any(counts)}


def _named(kind: str, text: str, known: Sequence[str], words: Iterable[str] = ()) -> str:
    """Return the name that a text is, or is the beginning of; `words` are what could have been meant beside names."""
    if text in known:
        return text
    begun = [name for name in known if text and name.startswith(text)]
    if len(begun) == 1:
        return begun[0]
    if begun:
        raise SideError(f"several {kind}s begin with {text}: {_listed(begun)}")
    if not known:
        raise SideError(f"there is no {kind} {text}: {_EMPTY}")
    near = get_close_matches(text, [*words, *known], n=LISTED)
    there = f"the only one is {known[0]}" if len(known) == 1 else f"there are {_listed(known)}"
    meant = f"did you mean {_listed(near)}?" if near else there
    raise SideError(f"there is no {kind} {text or '(without a name)'}; {meant}")


def _listed(names: Sequence[str]) -> str:
    more = len(names) - LISTED
    return ", ".join([*names[:LISTED], *([f"{more} more"] if more > 0 else [])])


Pair: TypeAlias = tuple[int, int]
Value = TypeVar("Value")
Values: TypeAlias = dict[int, float]
"""What was measured, by the key of the call."""


class SideCall(NamedTuple):
    """Describe a call that counts, by keys alone."""

    key: int
    flow: int
    agent: int
    run: int
    persona: int | None
    scenario: int | None
    trial: int


class SideCalls:
    """Hold the calls of one side, read at once: those that count, and by flow the number of errored ones."""

    def __init__(self, store: Store, side: Side, calls: Predicate | None) -> None:
        call = m.Conversation
        self._store = store
        self._condition = Scope(store).condition(calls_of_side(side, calls))
        query = call.select(
            call.id, call.flow, call.agent, call.run, call.persona, call.scenario, call.trial, call.errored, call.caller
        )
        self.counted: list[SideCall] = []
        self.errored: dict[int, int] = {}
        callers: set[int | None] = set()
        for row in store.execute(query.where(self._condition)):
            if row[7]:
                self.errored[row[1]] = self.errored.get(row[1], 0) + 1
            else:
                self.counted.append(SideCall._make(row[:7]))
                callers.add(row[8])
        other, position = (m.Agent, 2) if side.kind == "run" else (m.Run, 3)
        names = dict(store.execute(other.select(other.id, other.name)))
        self.side = replace(
            side,
            n=len(self.counted),
            excluded=sum(self.errored.values()),
            led=tuple(sorted({names[found[position]] for found in self.counted})),
            called=tuple(sorted(name for key, name in _callers(store) if key in callers)),
        )

    @property
    def flows(self) -> set[int]:
        """Return the flows of the calls that count."""
        return {call.flow for call in self.counted}

    def by_flow(self) -> dict[int, list[int]]:
        """Return the calls of each flow."""
        found: dict[int, list[int]] = {}
        for call in self.counted:
            found.setdefault(call.flow, []).append(call.key)
        return found

    def kept(self, column: str) -> Values:
        """Return what the store keeps with each call under this name, where it is known."""
        call = m.Conversation
        value = getattr(call, column)
        query = call.select(call.id, value).where(value.is_null(False), ~call.errored, self._condition)
        return dict(self._store.execute(query))

    def interactions(self) -> dict[int, Interaction]:
        """Return how the sides of each call shared the line, where that is known."""
        call, row = m.Conversation, m.CallInteraction
        query = call.select(call.id, *(getattr(row, name) for name in SUMS[1:])).join(
            row, on=(row.conversation == call.id)
        )
        return {
            key: Interaction(1, *sums)
            for key, *sums in self._store.execute(query.where(~call.errored, self._condition))
        }

    def values(self, aspect: int) -> dict[int, Values]:
        """Return the values that each judge gave an aspect."""
        call, score = m.Conversation, m.AspectScore
        query = (
            call.select(score.judge, call.id, score.value)
            .join(score, on=(score.conversation == call.id))
            .where(score.aspect == aspect, score.value.is_null(False), ~call.errored, self._condition)
        )
        found: dict[int, Values] = {}
        for judge, key, value in self._store.execute(query):
            found.setdefault(judge, {})[key] = value
        return found


class Compared(NamedTuple, Generic[Value]):
    """Hold the values of both sides that are compared: those of `pairs`, one beside the other, or `None` and all.

    `alone` counts what a paired comparison leaves out of either side.
    """

    first: list[Value]
    second: list[Value]
    pairs: int | None
    alone: tuple[int, int]


def compared(
    a: tuple[Sequence[int], Mapping[int, Value]], b: tuple[Sequence[int], Mapping[int, Value]], pairs: Iterable[Pair]
) -> Compared[Value]:
    """Choose what is compared of the calls of a flow and their values: pairs, if these are half of the smaller side."""
    (calls_a, on_a), (calls_b, on_b) = a, b
    first = [on_a[call] for call in calls_a if call in on_a]
    second = [on_b[call] for call in calls_b if call in on_b]
    both = [(on_a[one], on_b[other]) for one, other in pairs if one in on_a and other in on_b]
    if not both or 2 * len(both) < min(len(first), len(second)):
        return Compared(first, second, None, (0, 0))
    alone = (len(first) - len(both), len(second) - len(both))
    return Compared([one for one, _ in both], [other for _, other in both], len(both), alone)


def _callers(store: Store) -> list[tuple[int, str]]:
    return list(store.execute(m.Caller.select(m.Caller.id, m.Caller.name)))


def paired(a: SideCalls, b: SideCalls) -> dict[int, list[Pair]]:
    """Pair calls of each flow with the same scenario or persona and trial, of the same agent (or in the same run).

    A call takes part where its scenario or persona is known, and where no other call of its side is of the same task.
    The persona tells tasks apart only where a side has several calls of one scenario and trial, or none is known: a
    benchmark may draw the voice of a scenario anew in each run. Two agents are paired within the runs in which both
    led calls.
    """
    shared = None
    if a.side.kind == "agent":
        shared = {call.run for call in a.counted} & {call.run for call in b.counted}
    first, second = _by_task(a.counted, shared), _by_task(b.counted, shared)
    found: dict[int, list[Pair]] = {}
    for task, calls in first.items():
        others = second.get(task, [])
        apart = len(calls) > 1 or len(others) > 1 or task.scenario is None
        mine, theirs = _by_persona(calls, apart), _by_persona(others, apart)
        pairs = [(key, theirs[persona]) for persona, key in mine.items() if persona in theirs]
        if pairs:
            found.setdefault(task.flow, []).extend(pairs)
    return found


class _Task(NamedTuple):
    flow: int
    scenario: int | None
    trial: int
    within: int | None


def _by_task(calls: Iterable[SideCall], shared: set[int] | None) -> dict[_Task, list[SideCall]]:
    found: dict[_Task, list[SideCall]] = {}
    for call in calls:
        if call.persona is None and call.scenario is None:
            continue
        within = call.agent if shared is None else call.run if call.run in shared else None
        found.setdefault(_Task(call.flow, call.scenario, call.trial, within), []).append(call)
    return found


def _by_persona(calls: Sequence[SideCall], apart: bool) -> dict[int | None, int]:
    """Return the calls that are alone with their persona, which counts only where it tells them `apart`."""
    found: dict[int | None, list[int]] = {}
    for call in calls:
        found.setdefault(call.persona if apart else None, []).append(call.key)
    return {persona: keys[0] for persona, keys in found.items() if len(keys) == 1}
