"""Find the calls of the same task that failed on one side, or on both."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from riff_store import models as m
from riff_store.answers.comparison import Failed, FailedCall, FailedPair, Failures, PairCounts
from riff_store.database import Store
from riff_store.predicates import Predicate
from riff_store.queries.call_names import told_by
from riff_store.queries.side_calls import SideCalls, keys_of_pairs, side_reader
from riff_store.queries.sides import sides
from riff_store.statistics import significance

SUCCESS = 10.0
_CHUNK = 500
_FAILED: dict[tuple[bool, bool], Failed] = {(True, False): "a", (False, True): "b", (True, True): "both"}


def failures(store: Store, a: str, b: str, calls: Predicate | None = None, within: Predicate | None = None) -> Failures:
    """Return the pairs of calls of which A's, B's or both failed.

    A call failed where its correctness or its completion is below 10, as far as they are measured. `a`, `b` and
    `within` are as `sides` takes them; what is counted is of the calls within, if it narrows `calls`. Raises
    `SideError`.
    """
    with store.snapshot():
        reader = side_reader(store)
        first, second = (SideCalls(store, reader, side, calls) for side in sides(store, a, b, within))
        scores_a, scores_b = _scores(store, first), _scores(store, second)
        pairs = [pair for found in keys_of_pairs(first, second).values() for pair in found]
        known = [(one, other) for one, other in pairs if one in scores_a and other in scores_b]
        failed = [(one, other) for one, other in known if min(scores_a[one], scores_b[other]) < SUCCESS]
        rows = _call_rows(store, [key for pair in failed for key in pair])
        seen = (first, second)
        if within is not None and within != calls:
            seen = SideCalls(store, reader, first.side, within), SideCalls(store, reader, second.side, within)
        in_a, in_b = (set(side.keys.tolist()) for side in seen)
    found = [_pair(rows[one], scores_a[one], rows[other], scores_b[other]) for one, other in failed]
    looked_at = [pair for pair in known if pair[0] in in_a and pair[1] in in_b]
    return Failures(
        a=seen[0].side,
        b=seen[1].side,
        pairs=sorted(found, key=_place),
        counts=_counts([(scores_a[one] < SUCCESS, scores_b[other] < SUCCESS) for one, other in looked_at]),
        unknown=sum(one in in_a for one, _ in pairs) - len(looked_at),
        alone_a=_failed_alone(scores_a, in_a.difference(one for one, _ in pairs)),
        alone_b=_failed_alone(scores_b, in_b.difference(other for _, other in pairs)),
    )


def _counts(failed: Sequence[tuple[bool, bool]]) -> PairCounts:
    """Count pairs by whether A's and B's call failed."""
    only_a, only_b = failed.count((True, False)), failed.count((False, True))
    p = significance.mcnemar(only_a, only_b)
    return PairCounts(only_a, only_b, failed.count((True, True)), failed.count((False, False)), p)


def _scores(store: Store, side: SideCalls) -> dict[int, float]:
    aspects = {name: key for key, name in store.execute(m.Aspect.select(m.Aspect.id, m.Aspect.name))}
    complete, correct = (
        side.by_call(side.values(aspects.get(name, 0), m.COMPUTED_JUDGE)) for name in ("completion", "correctness")
    )
    return complete | {call: score if score < SUCCESS else complete.get(call, score) for call, score in correct.items()}


def _failed_alone(scores: dict[int, float], alone: Iterable[int]) -> int:
    return sum(scores.get(key, SUCCESS) < SUCCESS for key in alone)


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
