"""Read the calls that were not served, and where each first went wrong."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from typing import NamedTuple, Protocol, TypeVar

import peewee as pw

from riff_store import models as m
from riff_store.answers.failing import MARKED, Example
from riff_store.database import Store
from riff_store.predicates import Predicate
from riff_store.queries.call_names import told_by
from riff_store.queries.dimensions import run_order
from riff_store.queries.marks import marks
from riff_store.queries.scope import Scope

Key = TypeVar("Key", bound=Hashable)


class FailingCall(NamedTuple):
    """Hold a call that failed, its names by their keys; what it lasted is in agent turns and seconds.

    `code` is what a person called the failure, with the kind `marked`.
    """

    id: int
    flow: int
    last_ok: int | None
    first_failed: int | None
    kind: str
    detail: int | None
    error: int | None
    stop_reason: int | None
    agent: int
    persona: int | None
    scenario: int | None
    run: int
    name: str
    turns: float | None
    duration_s: float | None
    code: str | None = None


def failing_calls(store: Store, calls: Predicate | None) -> Iterator[FailingCall]:
    """Yield the calls that were not served; errored ones are none of them.

    Where a person marked the state that failed first, that is where.
    """
    marked = marks(store)
    call, failure, score = m.Conversation, m.CallFailure, m.AspectScore
    turns = store.execute(m.Aspect.select(m.Aspect.id).where(m.Aspect.name == "turn_count"))
    scored = (score.conversation == call.id) & (score.judge == m.COMPUTED_JUDGE)
    query = (
        failure.select(
            call.id, call.flow, failure.last_ok, failure.first_failed, failure.kind, failure.detail, failure.error,
            call.stop_reason, call.agent, call.persona, call.scenario, call.run, call.name, score.value,
            call.duration_s,
        )
        .join(call, on=(call.id == failure.conversation))
        .join(score, pw.JOIN.LEFT_OUTER, on=(scored & (score.aspect == (turns[0][0] if turns else 0))))
        .where(~call.errored, Scope(store).condition(calls))
    )  # fmt: skip
    for row in store.execute(query):
        found = FailingCall(*row)
        mark = marked.get(found.id)
        yield found if mark is None else found._replace(kind=MARKED, detail=None, error=None, **mark._asdict())


def flow_calls(store: Store, calls: Predicate | None) -> dict[int, int]:
    """Count the calls of each flow that were not errored."""
    call = m.Conversation
    query = call.select(call.flow, pw.fn.COUNT(pw.SQL("*"))).where(~call.errored, Scope(store).condition(calls))
    return dict(store.execute(query.group_by(call.flow).order_by(call.flow)))


class NamedCall(Protocol):
    """Describe what of a call decides whether it is the shortest of several; as in `FailingCall`."""

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

    def run_span(self, calls: Iterable[NamedCall]) -> tuple[str, str]:
        """Return the first and the last run of some calls, in time."""
        runs = sorted({self._runs[call.run] for call in calls}, key=self._place)
        return runs[0], runs[-1]

    def _place(self, run: str) -> tuple[int, str]:
        return self._order.get(run, len(self._order)), run

    def _length(self, call: NamedCall) -> tuple[float, float, int, str, str]:
        turns, lasted = (float("inf") if value is None else value for value in (call.turns, call.duration_s))
        return turns, lasted, *self._place(self._runs[call.run]), call.name
