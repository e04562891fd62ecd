"""Ask how far judges agree, and on which calls they are furthest apart."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations, groupby
from typing import TYPE_CHECKING, Any, NamedTuple

from riff_store import schema as m
from riff_store.alignment import FEWEST, HUMAN, PASSED
from riff_store.database import Store
from riff_store.filters.conditions import one_of
from riff_store.filters.dimensions import DIMENSIONS, names_of
from riff_store.filters.disputes import NAMES_OF_CALL, NAMES_OF_DISPUTE, AspectSpreads, Order, holds_of
from riff_store.filters.matching import matches
from riff_store.filters.predicates import Or, Predicate, Term, both
from riff_store.measure import UNIT, Measure
from riff_store.queries.calls import told_by
from riff_store.queries.judges import VERDICT, JudgeScores, JudgeVersion, judge_scores, judges_of
from riff_store.vocabulary import split_name

if TYPE_CHECKING:
    from riff_store.statistics import Flags
    from riff_store.statistics.agreement import Categories, Pairs


_NOTHING = Measure(0, 0)


@dataclass(frozen=True, slots=True)
class PairAgreement:
    """Keep how two judges of one aspect agree on their `n` shared calls; without a `second`, a judge and correctness.

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
        """Return whether both were compared as pass or fail."""
        return self.second is None or self.with_person


def agreement(store: Store, calls: Predicate | None = None, judges: Predicate | None = None) -> list[PairAgreement]:
    """Compare each pair of judges of one aspect, then each judge with correctness; the least agreement first in both.

    A person is compared with every judge of a shared call, whatever it judges. `judges` chooses the pairs that one of
    the two is meant by.
    """
    from riff_store.statistics.agreement import pairs_of

    with store.snapshot():
        scores = judge_scores(store, calls)
        known = judges_of(store, scores.judged, scores.people)
    selected = [judge for judge in known if judge.is_selected(judges)]
    found = [_agreed(judge, None, pairs_of(scores.judged[judge.key], scores.correctness)) for judge in selected]
    for first, second in combinations(sorted(known, key=lambda judge: judge.is_person), 2):
        if (first in selected or second in selected) and (second.is_person or first.aspect == second.aspect):
            shared = pairs_of(scores.judged[first.key], scores.judged[second.key])
            if shared.n or not second.is_person:
                found.append(_agreed(first, second, shared))
    found.sort(key=lambda it: (it.second is None, it.kappa is None, it.kappa or 0.0, it.first, it.second or ""))
    return found


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


_AT_ONCE = 5_000


@dataclass(frozen=True, slots=True)
class Dispute:
    """Describe a call that several judges scored apart, on one aspect; `scores` by judge, from the highest down.

    `highest` and `lowest` are judges, of several the first by name. `told_by` is as in `Call`.
    """

    run: str
    conversation: str
    flow: str
    agent: str
    aspect: str
    scores: Mapping[str, float]
    correctness: float | None
    spread: float
    highest: str
    lowest: str
    told_by: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Disputes:
    """Describe the calls on which judges differ most, the first of `total`; on `agreed` ones they do not differ at all.

    `judges` are those to be shown besides those who scored the calls.
    """

    entries: Sequence[Dispute]
    total: int
    agreed: int
    judges: Collection[str] = ()


class _Names(NamedTuple):
    run: str
    conversation: str
    flow: str
    agent: str
    trial: int


class _Given(NamedTuple):
    """Describe the scores of a call by those who gave them, people apart."""

    judged: dict[str, float]
    people: dict[str, float]

    @property
    def scores(self) -> dict[str, float]:
        return self.judged | self.people

    @property
    def apart(self) -> dict[str, float]:
        """Return the scores that can be apart: a person's is more than pass or fail only to one who says the other."""
        passed = {score >= HUMAN for score in self.scores.values()}
        return self.scores if len(passed) > 1 else self.judged

    def spread(self) -> float:
        scores = self.apart.values()
        # Scores have few digits, and so has their difference: what is left of binary fractions is cut off.
        return round(max(scores) - min(scores), 9) if scores else 0.0

    @property
    def highest(self) -> str:
        """Return who gave the highest of the scores that can be apart, of several the first by name."""
        return min(self.apart, key=lambda judge: (-self.apart[judge], judge))

    @property
    def lowest(self) -> str:
        """Return who gave the lowest of the scores that can be apart."""
        return min(self.apart, key=lambda judge: (self.apart[judge], judge))

    def holds(self, rows: Predicate, aspect: str, who: _Names) -> bool:
        """Return whether a filter of rows applies; a bare word looks through their names."""
        record = {"aspect": aspect, "spread": self.spread(), "highest": self.highest, "lowest": self.lowest}
        names = {name: getattr(who, name) for name in NAMES_OF_CALL}
        return matches(rows, names | record | {"scores": self.scores}, (*NAMES_OF_CALL, *NAMES_OF_DISPUTE))


class FoundDisputes:
    """Keep calls that at least two judges scored apart on one aspect; ask within the same snapshot of the store.

    A person's verdict is beside the scores of every aspect, and is apart from those that pass where it fails a call and
    the other way about. `judges` chooses the judges, `rows` is the filter of aspect, spread, highest, lowest and
    scores; a bare word looks through the names of a dispute.
    """

    def __init__(
        self,
        store: Store,
        calls: Predicate | None = None,
        judges: Predicate | None = None,
        rows: Predicate | None = None,
    ) -> None:
        from riff_store.statistics.agreement import count, disputed

        self._store, self._calls = store, calls
        self._scores = scores = judge_scores(store, calls)
        self._selected = [each for each in judges_of(store, scores.judged, scores.people) if each.is_selected(judges)]
        with_people = _with_people(scores, self._selected)
        self._given = {key: each for key, each in with_people.items() if len(each.scores) > 1}
        apart = {key: each for key, each in self._given.items() if each.spread() > 0}
        self._by_aspect = list(_by_aspect(scores, self._selected))
        self._every = [disputed(each.spreads.spreads, None) for each in self._by_aspect]
        self._found, self._of_people = self._every, apart
        if rows is not None:
            asked = [holds_of(rows, each, self._are_named) for each in self._by_aspect]
            self._found = [disputed(each.spreads.spreads, of) for each, of in zip(self._by_aspect, asked, strict=True)]
            who = _conversation_names(store, [call for _, call in apart])
            self._of_people = {key: each for key, each in apart.items() if each.holds(rows, key[0], who[key[1]])}
        self.total = len(self._of_people) + sum(map(count, self._found))
        judged_apart = sum(map(count, self._every))
        judged = sum(each.spreads.spreads.n for each in self._by_aspect)
        self.agreed = len(self._given) - len(apart) + judged - judged_apart
        self._apart = apart

    def judges(self, *, every: bool = False) -> set[str]:
        """Return those who gave scores of what was found; of `every` dispute, of those too that `rows` leaves out."""
        from riff_store.statistics.agreement import gave_any

        people, found = (self._apart, self._every) if every else (self._of_people, self._found)
        names = {judge for each in people.values() for judge in each.scores}
        for each, spreads in zip(self._by_aspect, found, strict=True):
            names.update(judge for judge, of in zip(each.judges, each.scores, strict=True) if gave_any(of, spreads))
        return names

    def listed(self, limit: int | None, order: Order | None = None) -> list[Dispute]:
        """Return the first disputes in an order, then the widest first, then by run and id."""
        if limit == 0 or not self.total:
            return []
        from riff_store.arrays.ordering import first_disputes
        from riff_store.arrays.reading import read_calls

        columns, scores = read_calls(self._store, self._calls), self._scores
        found = list(zip(self._by_aspect, self._found, strict=True))
        places = first_disputes(self._store, columns, found, scores.correctness, limit, order)
        chosen = [(each.spread(), call, aspect) for (aspect, call), each in self._of_people.items()]
        for (of_aspect, spreads), at in zip(found, places, strict=True):
            pairs = zip(spreads[at].tolist(), scores.calls[at].tolist(), strict=True)
            chosen += [(spread, call, of_aspect.aspect) for spread, call in pairs]
        who = _conversation_names(self._store, [call for _, call, _ in chosen])
        chosen.sort(key=lambda each: (-each[0], *who[each[1]], each[2]))
        if order is None:
            chosen = chosen[:limit]
        calls = {call for _, call, _ in chosen}
        correct = scores.given_correctness(calls)
        given = {aspect: scores.given(of_aspect, calls) for aspect, of_aspect in _judges_by_aspect(self._selected)}
        listed = []
        for spread, call, aspect in chosen:
            each = self._given.get((aspect, call)) or _Given(given[aspect][call], {})
            ranked = dict(sorted(each.scores.items(), key=lambda one: (-one[1], one[0])))
            names = who[call][:4]
            dispute = Dispute(*names, aspect, ranked, correct.get(call), spread, each.highest, each.lowest)
            listed.append((call, dispute))
        listed = _in_order(listed, order)[:limit]
        told = told_by(self._store, sorted({call for call, _ in listed}))
        return [replace(dispute, told_by=told.get(call, {})) for call, dispute in listed]

    def _are_named(self, word: Term) -> Flags:
        """Return of each call whether a bare word is in its names."""
        from riff_store.arrays.reading import read_calls
        from riff_store.statistics.agreement import among

        named = Or(tuple(Term(name, word.operator, word.value) for name in NAMES_OF_CALL))
        return among(self._scores.calls, read_calls(self._store, both(self._calls, named)).keys("id"))


def _in_order(listed: list[tuple[int, Dispute]], order: Order | None) -> list[tuple[int, Dispute]]:
    """Sort disputes by a column, those without a value last; those alike keep their order."""
    if order is None:
        return listed
    field, judge = split_name(order.key)

    def value(each: tuple[int, Dispute]) -> Any:
        found = getattr(each[1], field)
        return found if judge is None else found.get(judge)

    measured = [each for each in listed if value(each) is not None]
    measured.sort(key=lambda each: _place(value(each)), reverse=order.down)
    return measured + [each for each in listed if value(each) is None]


def _place(value: float | str) -> tuple[str, Any]:
    """Order names without regard to case, unless nothing else distinguish them."""
    return (value.casefold(), value) if isinstance(value, str) else ("", value)


def _judges_by_aspect(judges: Sequence[JudgeVersion]) -> Iterator[tuple[str, list[JudgeVersion]]]:
    """Yield each aspect with those who judged it but people, by name."""
    no_people = (judge for judge in judges if not judge.is_person)
    for aspect, of_aspect in groupby(sorted(no_people, key=lambda j: (j.aspect, j.shown)), lambda j: j.aspect):
        yield aspect, list(of_aspect)


def _by_aspect(scores: JudgeScores, judges: Sequence[JudgeVersion]) -> Iterator[AspectSpreads]:
    """Yield how far judges are apart on calls of which people said nothing."""
    from riff_store.statistics.agreement import spreads_of

    said = {call for judge in judges if judge.is_person for call in scores.verdicts[judge.key]}
    for aspect, of_aspect in _judges_by_aspect(judges):
        given = [scores.judged[judge.key] for judge in of_aspect]
        yield AspectSpreads(aspect, [j.shown for j in of_aspect], given, spreads_of(given, scores.calls, said))


def _with_people(scores: JudgeScores, judges: Sequence[JudgeVersion]) -> dict[tuple[str, int], _Given]:
    """Return the scores of each (aspect, call) beside what people said; what they alone said is of their own aspect."""
    of_people: dict[int, dict[str, float]] = {}
    for judge in judges:
        if judge.is_person:
            for call, score in scores.verdicts[judge.key].items():
                of_people.setdefault(call, {})[judge.shown] = score
    found = {
        (aspect, call): _Given(judged, of_people[call])
        for aspect, of_aspect in _judges_by_aspect(judges)
        for call, judged in scores.given(of_aspect, of_people).items()
    }
    alone = of_people.keys() - {call for _, call in found}
    return found | {(VERDICT, call): _Given({}, of_people[call]) for call in sorted(alone)}


def _conversation_names(store: Store, keys: Sequence[int]) -> dict[int, _Names]:
    runs, flows, agents = (names_of(store, DIMENSIONS[name]) for name in ("run", "flow", "agent"))
    call = m.Conversation
    query = call.select(call.id, call.run, call.name, call.flow, call.agent, call.trial)
    return {
        key: _Names(runs[run] or "", name, flows[flow] or "", agents[agent] or "", trial)
        for start in range(0, len(keys), _AT_ONCE)
        for key, run, name, flow, agent, trial in store.execute(
            query.where(one_of(call.id, keys[start : start + _AT_ONCE]))
        )
    }
