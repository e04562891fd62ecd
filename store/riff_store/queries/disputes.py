"""Find the calls that judges scored apart."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

from riff_store import models as m
from riff_store.agreement import HUMAN
from riff_store.answers.agreement import Dispute, Disputes
from riff_store.database import Store
from riff_store.predicate_eval import matches
from riff_store.predicates import Predicate
from riff_store.queries.call_names import told_by
from riff_store.queries.conditions import one_of
from riff_store.queries.dimensions import DIMENSIONS, names_of
from riff_store.queries.judge_scores import VERDICT, JudgeScores, JudgeVersion, judge_scores, judges_of
from riff_store.queries.spread_filter import AspectSpreads, holds_of

_AT_ONCE = 5_000


class _Names(NamedTuple):
    run: str
    conversation: str
    flow: str
    agent: str
    trial: int


class _Given(NamedTuple):
    """Hold the scores of a call by those who gave them, people apart."""

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

    def holds(self, rows: Predicate, aspect: str) -> bool:
        """Say whether a filter of rows holds."""
        record = {"aspect": aspect, "spread": self.spread(), "highest": self.highest, "lowest": self.lowest}
        return matches(rows, record | {"scores": self.scores}, ())


class _Found(NamedTuple):
    """Name a dispute: its spread, the key of its call, and its aspect."""

    spread: float
    call: int
    aspect: str


def disputes(
    store: Store,
    calls: Predicate | None = None,
    judges: Predicate | None = None,
    rows: Predicate | None = None,
    limit: int | None = None,
) -> Disputes:
    """Return calls that at least two judges scored apart on one aspect: the widest spread first, then by run and id.

    A person's verdict stands beside the scores of every aspect, and is apart from those that pass where it fails a call
    and the other way about. `judges` chooses the judges, `rows` says what has to hold of aspect, spread, highest,
    lowest and scores.
    """
    from riff_store.statistics.spreads import count, disputed, widest

    with store.snapshot():
        scores = judge_scores(store, calls)
        selected = [judge for judge in judges_of(store, scores.judged, scores.people) if judge.is_selected(judges)]
        given = {key: each for key, each in _with_people(scores, selected).items() if len(each.scores) > 1}
        by_aspect = list(_by_aspect(scores, selected))
        spreads = [disputed(each.spreads.spreads, None if rows is None else holds_of(rows, each)) for each in by_aspect]
        apart = {key: each for key, each in given.items() if each.spread() > 0}
        found = [
            _Found(each.spread(), call, aspect)
            for (aspect, call), each in apart.items()
            if rows is None or each.holds(rows, aspect)
        ]
        total = len(found) + sum(map(count, spreads))
        agreed = len(given) - len(apart)
        agreed += sum(each.spreads.spreads.n - count(disputed(each.spreads.spreads, None)) for each in by_aspect)
        if limit == 0:
            return Disputes([], total, agreed)
        for of_aspect, column, places in zip(by_aspect, spreads, widest(spreads, limit), strict=True):
            keys = scores.calls[places].tolist()
            found += map(_Found, column[places].tolist(), keys, [of_aspect.aspect] * len(keys))
        return Disputes(_listed(store, found, limit, scores, selected, given), total, agreed)


def _judges_by_aspect(judges: Sequence[JudgeVersion]) -> Iterator[tuple[str, list[JudgeVersion]]]:
    """Yield each aspect with those who judged it but people, by name."""
    no_people = (judge for judge in judges if not judge.is_person)
    for aspect, of_aspect in groupby(sorted(no_people, key=lambda j: (j.aspect, j.shown)), lambda j: j.aspect):
        yield aspect, list(of_aspect)


def _by_aspect(scores: JudgeScores, judges: Sequence[JudgeVersion]) -> Iterator[AspectSpreads]:
    """Yield how far judges are apart on calls of which people said nothing."""
    from riff_store.statistics.spreads import spreads_of

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


def _listed(
    store: Store,
    found: Sequence[_Found],
    limit: int | None,
    scores: JudgeScores,
    judges: Sequence[JudgeVersion],
    given: Mapping[tuple[str, int], _Given],
) -> list[Dispute]:
    """Return the first disputes in order, with what each judge said."""
    who = _conversation_names(store, [each.call for each in found])
    chosen = sorted(found, key=lambda each: (-each.spread, *who[each.call], each.aspect))[:limit]
    calls = {each.call for each in chosen}
    judged = {aspect: scores.given(of_aspect, calls) for aspect, of_aspect in _judges_by_aspect(judges)}
    correct = scores.given_correctness(calls)
    told = told_by(store, sorted(calls))
    listed = []
    for spread, call, aspect in chosen:
        each = given.get((aspect, call)) or _Given(judged[aspect][call], {})
        ranked = dict(sorted(each.scores.items(), key=lambda one: (-one[1], one[0])))
        listed.append(
            Dispute(
                *who[call][:4], aspect, ranked, correct.get(call), spread, each.highest, each.lowest, told.get(call, {})
            )
        )
    return listed


def _conversation_names(store: Store, keys: Sequence[int]) -> dict[int, _Names]:
    """Return the names of calls by their keys."""
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
