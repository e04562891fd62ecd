"""Which calls of two sides are of the same task?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, TypeAlias

from riff_store import models as m
from riff_store.answers.comparison import Side
from riff_store.database import Store
from riff_store.predicates import Predicate
from riff_store.queries.scope import Scope
from riff_store.queries.sides import calls_of_side

Pair: TypeAlias = tuple[int, int]
Values: TypeAlias = dict[int, float]
"""What was measured, by the key of the call."""


class SideCall(NamedTuple):
    """A call that counts, by keys alone."""

    key: int
    flow: int
    agent: int
    run: int
    persona: int | None
    scenario: int | None
    trial: int


class SideCalls:
    """The calls of one side, read at once: those that count, and by flow how many were errored."""

    def __init__(self, store: Store, side: Side, calls: Predicate | None) -> None:
        call = m.Conversation
        self._store = store
        self._condition = Scope(store).condition(calls_of_side(side, calls))
        query = call.select(
            call.id, call.flow, call.agent, call.run, call.persona, call.scenario, call.trial, call.errored
        )
        self.counted: list[SideCall] = []
        self.errored: dict[int, int] = {}
        for row in store.execute(query.where(self._condition)):
            if row[7]:
                self.errored[row[1]] = self.errored.get(row[1], 0) + 1
            else:
                self.counted.append(SideCall._make(row[:7]))
        other, position = (m.Agent, 2) if side.kind == "run" else (m.Run, 3)
        names = dict(store.execute(other.select(other.id, other.name)))
        self.side = replace(
            side,
            n=len(self.counted),
            excluded=sum(self.errored.values()),
            led=tuple(sorted({names[found[position]] for found in self.counted})),
        )

    def by_flow(self) -> dict[int, list[int]]:
        """The calls of each flow."""
        found: dict[int, list[int]] = {}
        for call in self.counted:
            found.setdefault(call.flow, []).append(call.key)
        return found

    def values(self, aspect: int) -> dict[int, Values]:
        """What each judge measured of an aspect."""
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


def paired(a: SideCalls, b: SideCalls) -> dict[int, list[Pair]]:
    """The pairs of each flow: calls of the same scenario, persona and trial, of the same agent (or in the same run).

    A call takes part where its scenario or persona is known, and where no other call of its side
    is of the same task. Two agents are paired within the runs in which both led calls.
    """
    shared = None
    if a.side.kind == "agent":
        shared = {call.run for call in a.counted} & {call.run for call in b.counted}
    first, second = _by_task(a.counted, shared), _by_task(b.counted, shared)
    found: dict[int, list[Pair]] = {}
    for task, key in first.items():
        other = second.get(task)
        if other is not None:
            found.setdefault(task[0], []).append((key, other))
    return found


def _by_task(calls: Iterable[SideCall], shared: set[int] | None) -> Mapping[Sequence[Any], int]:
    found: dict[Any, int] = {}
    several: set[Any] = set()
    for call in calls:
        if call.persona is None and call.scenario is None:
            continue
        within = call.agent if shared is None else call.run if call.run in shared else None
        task = (call.flow, call.scenario, call.persona, call.trial, within)
        if task in found:
            several.add(task)
        found[task] = call.key
    return {task: key for task, key in found.items() if task not in several}
