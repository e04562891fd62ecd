"""Find the calls of the same task that failed on one side, or on both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from riff_store import schema as m
from riff_store.database import Store
from riff_store.filters.predicates import Predicate
from riff_store.queries.call_names import told_by
from riff_store.queries.side_calls import SideCalls, paired, side_reader
from riff_store.queries.sides import PairCounts, Side, sides
from riff_store.statistics import significance
from riff_store.statistics.failed_pairs import failed_pairs, scores_of_calls

if TYPE_CHECKING:
    from riff_store.statistics.failed_pairs import Floats


SUCCESS = 10.0
_CHUNK = 500
_FAILED: dict[tuple[bool, bool], Failed] = {(True, False): "a", (False, True): "b", (True, True): "both"}

Failed: TypeAlias = Literal["a", "b", "both"]


@dataclass(frozen=True, slots=True)
class FailedCall:
    """Describe one side of a pair: the call, its end, and its correctness, or completion if that alone failed.

    `told_by` is as in `Call`.
    """

    run: str
    conversation: str
    agent: str
    stop_reason: str | None
    final_state: str | None
    score: float
    told_by: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class FailedPair:
    """Hold two calls of the same task, of which one or both failed; `persona` is `None` where theirs differ."""

    failed: Failed
    flow: str
    persona: str | None
    scenario: str | None
    trial: int
    a: FailedCall
    b: FailedCall


@dataclass(frozen=True, slots=True)
class Failures:
    """Hold the pairs that failed: by side, then flow, scenario, persona and trial.

    `counts` are of all pairs that are measured. `alone_a` and `alone_b` count failed calls without a partner,
    `unknown` the pairs of which a side has neither correctness nor completion.
    """

    a: Side
    b: Side
    pairs: Sequence[FailedPair]
    counts: PairCounts
    unknown: int
    alone_a: int
    alone_b: int


def failures(store: Store, a: str, b: str, calls: Predicate | None = None, within: Predicate | None = None) -> Failures:
    """Return the pairs of calls of which A's, B's or both failed.

    A call failed where its correctness or its completion is below 10, as far as they are measured. `a`, `b` and
    `within` are as `sides` takes them; what is counted is of the calls within, if it narrows `calls`. Raises
    `SideError`.
    """
    with store.snapshot():
        reader = side_reader(store)
        first, second = (SideCalls(store, reader, side, calls) for side in sides(store, a, b, within))
        seen = (first, second)
        if within is not None and within != calls:
            seen = SideCalls(store, reader, first.side, within), SideCalls(store, reader, second.side, within)
        scores = _scores(store, first), _scores(store, second)
        looked_at = first.also_in(seen[0]), second.also_in(seen[1])
        found = failed_pairs(scores, paired(first, second), looked_at, SUCCESS)
        of_a, of_b = (
            list(zip(side.keys[places].tolist(), values[places].tolist(), strict=True))
            for side, places, values in zip((first, second), found.places, scores, strict=True)
        )
        rows = _call_rows(store, [key for pair in zip(of_a, of_b, strict=True) for key, _ in pair])
    pairs = (
        _pair(rows[one], score_a, rows[other], score_b)
        for (one, score_a), (other, score_b) in zip(of_a, of_b, strict=True)
    )
    return Failures(
        a=seen[0].side,
        b=seen[1].side,
        pairs=sorted(pairs, key=_place),
        counts=PairCounts(
            found.only_first,
            found.only_second,
            found.both,
            found.neither,
            significance.mcnemar(found.only_first, found.only_second),
        ),
        unknown=found.unknown,
        alone_a=found.alone[0],
        alone_b=found.alone[1],
    )


def _scores(store: Store, side: SideCalls) -> Floats:
    aspects = {name: key for key, name in store.execute(m.Aspect.select(m.Aspect.id, m.Aspect.name))}
    complete, correct = (side.values(aspects.get(name, 0), m.COMPUTED_JUDGE) for name in ("completion", "correctness"))
    return scores_of_calls(complete, correct, SUCCESS)


def _call_rows(store: Store, keys: Sequence[int]) -> dict[int, tuple[Any, ...]]:
    """Return the names of calls, so many at a time."""
    apart = told_by(store, keys)
    names = {table: dict(store.execute(table.select(table.id, table.name)))
             for table in (m.Run, m.Flow, m.Agent, m.Persona, m.Scenario, m.Label)}  # fmt: skip
    call = m.Conversation
    query = call.select(
        call.id, call.run, call.name, call.flow, call.agent, call.persona, call.scenario, call.trial,
        call.stop_reason, call.final_state,
    )  # fmt: skip
    found: dict[int, tuple[Any, ...]] = {}
    for start in range(0, len(keys), _CHUNK):
        for row in store.execute(query.where(call.id.in_(keys[start : start + _CHUNK]))):
            found[row[0]] = (
                names[m.Run][row[1]], row[2], names[m.Flow][row[3]], names[m.Agent][row[4]],
                names[m.Persona].get(row[5]), names[m.Scenario].get(row[6]), row[7],
                names[m.Label].get(row[8]), names[m.Label].get(row[9]), apart.get(row[0], {}),
            )  # fmt: skip
    return found


def _pair(a: tuple[Any, ...], score_a: float, b: tuple[Any, ...], score_b: float) -> FailedPair:
    return FailedPair(
        failed=_FAILED[score_a < SUCCESS, score_b < SUCCESS],
        flow=a[2], persona=a[4] if a[4] == b[4] else None, scenario=a[5], trial=a[6],
        a=_call(a, score_a), b=_call(b, score_b),
    )  # fmt: skip


def _call(row: tuple[Any, ...], score: float) -> FailedCall:
    return FailedCall(
        run=row[0], conversation=row[1], agent=row[3], stop_reason=row[7], final_state=row[8], score=score,
        told_by=row[9],
    )  # fmt: skip


def _place(pair: FailedPair) -> tuple[Any, ...]:
    side = ("a", "b", "both").index(pair.failed)
    task = (pair.flow, pair.scenario or "", pair.persona or "", pair.trial)
    return (side, *task, pair.b.agent, pair.b.run, pair.b.conversation, pair.a.agent, pair.a.run, pair.a.conversation)
