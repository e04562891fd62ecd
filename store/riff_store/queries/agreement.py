"""Compare judges with each other and with correctness."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import combinations

from riff_store.agreement import FEWEST, HUMAN, PASSED, equal_share, kappa, rounded, spearman
from riff_store.answers.agreement import PairAgreement
from riff_store.database import Store
from riff_store.measure import UNIT, Measure
from riff_store.predicates import Predicate
from riff_store.queries.judges import JudgeScores, JudgeVersion, judges_of, scores_of

_NOTHING = Measure(0, 0)


def agreement(store: Store, calls: Predicate | None = None, judges: Predicate | None = None) -> list[PairAgreement]:
    """Compare each pair of judges of one aspect, then each judge with correctness; the least agreement first in both.

    A person is compared with every judge of a shared call, whatever it judges. `judges` chooses the pairs that one of
    the two is meant by.
    """
    with store.snapshot():
        scores = scores_of(store, calls)
        known = judges_of(store, scores.judged, scores.people)
    found = [*_pairs(known, scores, judges), *_with_correctness(known, scores, judges)]
    return sorted(found, key=_least_agreed_first)


def _pairs(known: Iterable[JudgeVersion], scores: JudgeScores, judges: Predicate | None) -> Iterator[PairAgreement]:
    for first, second in combinations(sorted(known, key=lambda judge: judge.is_person), 2):
        on_first, on_second = scores.judged[first.key], scores.judged[second.key]
        if on_first.keys().isdisjoint(on_second) if second.is_person else first.aspect != second.aspect:
            continue
        if first.is_selected(judges) or second.is_selected(judges):
            one, other = _shared(on_first, on_second)
            category = _as_verdict if second.is_person else rounded
            yield _agreed(first, second, (one, other), ([*map(category, one)], [*map(category, other)]))


def _as_verdict(score: float) -> int:
    return int(score >= HUMAN)


def _with_correctness(
    known: Iterable[JudgeVersion], scores: JudgeScores, judges: Predicate | None
) -> Iterator[PairAgreement]:
    for judge in known:
        if judge.is_selected(judges):
            one, other = _shared(scores.judged[judge.key], scores.correctness)
            passed = [*map(_as_verdict, one)], [int(score >= PASSED) for score in other]
            yield _agreed(judge, None, (one, other), passed)


def _shared(first: Mapping[int, float], second: Mapping[int, float]) -> tuple[list[float], list[float]]:
    calls = sorted(first.keys() & second.keys())
    return [first[call] for call in calls], [second[call] for call in calls]


def _agreed(
    first: JudgeVersion,
    second: JudgeVersion | None,
    scores: tuple[list[float], list[float]],
    rated: tuple[list[int], list[int]],
) -> PairAgreement:
    n, share = len(scores[0]), equal_share(*rated)
    apart = [one - other for one, other in zip(*scores, strict=True)]
    with_person = second is not None and second.is_person
    return PairAgreement(
        first=first.label,
        second=second.label if second else None,
        aspect=first.aspect,
        shown=(first.shown, *([second.shown] if second else [])),
        n=n,
        exact=_NOTHING if share is None else Measure(n, round(share * n) * UNIT, share * n, rate=True),
        kappa=kappa(*rated),
        kappa_unweighted=kappa(*rated, "none"),
        spearman=spearman(*scores),
        difference=_NOTHING if second is None or with_person or n < FEWEST else measured(apart),
        with_person=with_person,
    )


def measured(values: Iterable[float]) -> Measure:
    """Return the mean of values with its interval."""
    found = sorted(values)
    return Measure(len(found), sum(round(value * UNIT) for value in found), sum(value * value for value in found))


def _least_agreed_first(pair: PairAgreement) -> tuple[bool, bool, float, str, str]:
    return pair.second is None, pair.kappa is None, pair.kappa or 0.0, pair.first, pair.second or ""
