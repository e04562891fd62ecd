"""Compare judges with each other and with correctness."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

from riff_store.agreement import FEWEST, HUMAN, PASSED
from riff_store.database import Store
from riff_store.filters.predicates import Predicate
from riff_store.measure import UNIT, Measure
from riff_store.queries.judge_scores import JudgeScores, JudgeVersion, judge_scores, judges_of

if TYPE_CHECKING:
    from riff_store.statistics.agreement import Categories, Pairs


_NOTHING = Measure(0, 0)


@dataclass(frozen=True, slots=True)
class PairAgreement:
    """Hold how two judges of one aspect agree on their `n` shared calls; without a `second`, a judge and correctness.

    Judges are compared in whole points, but as pass or fail with correctness and with a person, who is the second then.
    `exact` is a rate, `difference` the first's score less the second's, and not measured between pass and fail. `kappa`
    has quadratic weights; with two categories they change nothing. `shown` are the names that a filter finds the
    judges by.
    """

    first: str
    second: str | None
    aspect: str
    shown: tuple[str, ...]
    n: int
    exact: Measure
    kappa: float | None
    kappa_unweighted: float | None
    spearman: float | None
    difference: Measure
    with_person: bool = False

    @property
    def as_verdicts(self) -> bool:
        """Say whether both were compared as pass or fail."""
        return self.second is None or self.with_person


def agreement(store: Store, calls: Predicate | None = None, judges: Predicate | None = None) -> list[PairAgreement]:
    """Compare each pair of judges of one aspect, then each judge with correctness; the least agreement first in both.

    A person is compared with every judge of a shared call, whatever it judges. `judges` chooses the pairs that one of
    the two is meant by.
    """
    with store.snapshot():
        scores = judge_scores(store, calls)
        known = judges_of(store, scores.judged, scores.people)
    found = [*_pairs(known, scores, judges), *_with_correctness(known, scores, judges)]
    return sorted(found, key=_least_agreed_first)


def _pairs(known: Iterable[JudgeVersion], scores: JudgeScores, judges: Predicate | None) -> Iterator[PairAgreement]:
    from riff_store.statistics.agreement import pairs_of

    for first, second in combinations(sorted(known, key=lambda judge: judge.is_person), 2):
        if not second.is_person and first.aspect != second.aspect:
            continue
        if first.is_selected(judges) or second.is_selected(judges):
            shared = pairs_of(scores.judged[first.key], scores.judged[second.key])
            if shared.n or not second.is_person:
                yield _agreed(first, second, shared)


def _with_correctness(
    known: Iterable[JudgeVersion], scores: JudgeScores, judges: Predicate | None
) -> Iterator[PairAgreement]:
    from riff_store.statistics.agreement import pairs_of

    for judge in known:
        if judge.is_selected(judges):
            yield _agreed(judge, None, pairs_of(scores.judged[judge.key], scores.correctness))


def _agreed(first: JudgeVersion, second: JudgeVersion | None, shared: Pairs) -> PairAgreement:
    from riff_store.statistics.agreement import difference, equal_share, kappa, rounded, spearman

    with_person = second is not None and second.is_person
    one: Categories = rounded(shared.first)
    other: Categories = rounded(shared.second)
    if second is None or with_person:
        one, other = shared.first >= HUMAN, shared.second >= (PASSED if second is None else HUMAN)
    n, share = shared.n, equal_share(one, other, shared.counts)
    return PairAgreement(
        first=first.label,
        second=second.label if second else None,
        aspect=first.aspect,
        shown=(first.shown, *([second.shown] if second else [])),
        n=n,
        exact=_NOTHING if share is None else Measure(n, round(share * n) * UNIT, share * n, rate=True),
        kappa=kappa(one, other, shared.counts),
        kappa_unweighted=kappa(one, other, shared.counts, "none"),
        spearman=spearman(shared),
        difference=_NOTHING if second is None or with_person or n < FEWEST else difference(shared),
        with_person=with_person,
    )


def _least_agreed_first(pair: PairAgreement) -> tuple[bool, bool, float, str, str]:
    return pair.second is None, pair.kappa is None, pair.kappa or 0.0, pair.first, pair.second or ""
