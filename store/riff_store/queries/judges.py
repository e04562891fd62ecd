"""Read the scores of judges, and sum up each judge."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

import peewee as pw

from riff_store import models as m
from riff_store.agreement import HUMAN, PASSED, PERSON, spearman
from riff_store.alignment import Reference, rates, reference_of
from riff_store.answers.calls import Note
from riff_store.answers.lists import JudgeSummary
from riff_store.database import Store
from riff_store.measure import UNIT, Measure
from riff_store.predicate_eval import matches
from riff_store.predicates import Predicate
from riff_store.queries.annotations import notes_by_call, verdicts_of_people
from riff_store.queries.conditions import Condition, one_of
from riff_store.queries.dimensions import Grouping, judge_names, judges_shown, unique_names
from riff_store.queries.scope import Scope
from riff_store.queries.sums import aspect_sums

_Key = tuple[str, int]


def judges(store: Store, calls: Predicate | None = None) -> list[JudgeSummary]:
    """Return each judge in one version of its prompt, with its rank correlation to the others and to correctness.

    A judge of another aspect than humanness stands apart from its humanness, with the aspect's name. People who gave
    verdicts are judges too, and what every other one says is held against theirs.
    """
    with store.snapshot():
        sums = aspect_sums(store, calls, Grouping(())).get((), {})
        hashes = dict(store.execute(m.Judge.select(m.Judge.id, m.Judge.prompt_hash)))
        models = _most_used(store, m.JudgedScore.model)
        versions = _most_used(store, m.JudgedScore.prompt_version)
        scores = scores_of(store, calls)
        known = judges_of(store, [*sums, *scores.people], scores.people)
    measured = {key: (found.n, found.unscored, found.measure()) for key, found in sums.items()}
    measured |= {key: (len(scores.judged[key]), 0, _share_passed(scores.judged[key])) for key in scores.people}
    reference = scores.reference()
    by_label = {judge.label: scores.judged.get(judge.key, {}) for judge in known} | {CORRECTNESS: scores.correctness}
    return [
        JudgeSummary(
            judge=judge.label,
            model=models.get(judge.key),
            prompt_hash=hashes.get(judge.key[1]) or None,
            n=measured[judge.key][0],
            unscored=measured[judge.key][1],
            mean=measured[judge.key][2],
            agreement={
                label: _agreement(by_label[judge.label], other)
                for label, other in sorted(by_label.items())
                if label != judge.label
            },
            prompt_version=versions.get(judge.key),
            shown=judge.shown,
            aspect=judge.aspect,
            shared={
                label: len(by_label[judge.label].keys() & other.keys())
                for label, other in sorted(by_label.items())
                if label != judge.label
            },
            rates=None if judge.is_person else rates(passes(by_label[judge.label], HUMAN), reference.passed),
            disputed=len(reference.disputed),
        )
        for judge in known
    ]


def _share_passed(scores: Mapping[int, float]) -> Measure:
    """Return the mean of a person's verdicts, which are 10 or 0."""
    total = sum(scores.values())
    return Measure(len(scores), round(total * UNIT), PASSED * total, rate=True, scale=PASSED)


def passes(scores: Mapping[int, float], bound: float) -> dict[int, bool]:
    """Return by call whether its score is one of a call that passes."""
    return {call: score >= bound for call, score in scores.items()}


def _most_used(store: Store, column: pw.TextField) -> dict[_Key, str]:
    """Return the value behind each judge (such as its model) that it used most, of several the first by name."""
    judged = m.JudgedScore
    query = (
        judged.select(m.Aspect.name, judged.judge, column)
        .join(m.Aspect, on=(m.Aspect.id == judged.aspect))
        .where(column.is_null(False))
        .group_by(m.Aspect.name, judged.judge, column)
        .order_by(pw.fn.COUNT(pw.SQL("*")), column.desc())
    )
    return {(aspect, judge): value for aspect, judge, value in store.execute(query)}


def _agreement(first: Mapping[int, float], second: Mapping[int, float]) -> float | None:
    shared = sorted(first.keys() & second.keys())
    return spearman([first[call] for call in shared], [second[call] for call in shared])


CORRECTNESS = "correctness"
HUMANNESS = "humanness"
VERDICT = "verdict"
"""The aspect that people judge: whether a call passes as a whole."""
NO_PEOPLE: Mapping[tuple[str, int], str] = MappingProxyType({})


class JudgeVersion(NamedTuple):
    """Describe a judge of one aspect in one version of its prompt; `key` is its own in the store.

    `shown` is what it is called wherever it is a column, `label` adds the aspect if that is neither
    humanness nor called like the judge. One that is a person judges calls as a whole, with a key that no other has.
    """

    key: tuple[str, int]
    name: str
    shown: str
    label: str
    is_person: bool = False

    @property
    def aspect(self) -> str:
        """Return the aspect that it judges."""
        return self.key[0]

    def is_selected(self, judges: Predicate | None) -> bool:
        """Say whether a filter on judges means this one, by its name or its displayed name."""
        return judges is None or matches(judges, {"judge": [self.name, self.shown]}, ("judge",))


def judges_of(
    store: Store, keys: Iterable[tuple[str, int]], people: Mapping[tuple[str, int], str] = NO_PEOPLE
) -> list[JudgeVersion]:
    """Return the judges of some (aspect, key of the judge) in the order of their labels, which are unique.

    `people` has the authors behind those keys that are of people.
    """
    authors = {key: f"{PERSON}{author}" for (_, key), author in people.items()}
    shown, names = judges_shown(store) | authors, judge_names(store) | authors
    found = sorted({key for key in keys if key[1] in names}, key=lambda key: (key[0] != HUMANNESS, shown[key[1]], key))
    bare = {key for key in found if key in people or key[0] in (HUMANNESS, names[key[1]])}
    labels = unique_names(
        {key: shown[key[1]] if key in bare else f"{shown[key[1]]} ({key[0]})" for key in found}, {CORRECTNESS}
    )
    judges = [JudgeVersion(key, names[key[1]], shown[key[1]], labels[key], key in people) for key in found]
    return sorted(judges, key=lambda judge: judge.label)


class JudgeScores(NamedTuple):
    """Hold scores by call, of each (aspect, key of the judge), and computed correctness; unscored is left out.

    `people` has the author behind each of these keys that is a person's; a person's score is 10 for pass, 0 for fail.
    """

    judged: Mapping[tuple[str, int], Mapping[int, float]]
    correctness: Mapping[int, float]
    people: Mapping[tuple[str, int], str] = NO_PEOPLE

    def reference(self) -> Reference:
        """Return what people say of calls as far as all who gave a verdict say the same."""
        return reference_of(passes(self.judged[key], HUMAN) for key in self.people)


def scores_of(
    store: Store, calls: Predicate | None = None, notes: Mapping[int, Sequence[Note]] | None = None
) -> JudgeScores:
    """Read the scores of the calls that count, of those that any judge may have scored, people among them.

    `notes` are what people wrote, by the key of the call, where that is read already.
    """
    score = m.AspectScore
    aspects = dict(store.execute(m.Aspect.select(m.Aspect.id, m.Aspect.name)))
    correctness = next((key for key, name in aspects.items() if name == CORRECTNESS), 0)
    counts = ~m.Conversation.errored & Scope(store).condition(calls)
    query = (
        score.select(score.aspect, score.judge, score.conversation, score.value)
        .join(m.Conversation, on=(m.Conversation.id == score.conversation))
        .where(counts, score.value.is_null(False))
        .where((score.judge != m.COMPUTED_JUDGE) | (score.aspect == correctness))
    )
    given = _verdicts_of_people(store, notes_by_call(store) if notes is None else notes, counts)
    people = {(VERDICT, -place): author for place, author in enumerate(sorted(given), 1)}
    judged: dict[tuple[str, int], dict[int, float]] = {key: given[author] for key, author in people.items()}
    computed: dict[int, float] = {}
    for aspect, judge, call, value in store.execute(query) if people or judge_names(store) else ():
        if judge == m.COMPUTED_JUDGE:
            computed[call] = value
        else:
            judged.setdefault((aspects[aspect], judge), {})[call] = value
    return JudgeScores(judged, computed, people)


def _verdicts_of_people(
    store: Store, notes: Mapping[int, Sequence[Note]], counts: Condition
) -> dict[str, dict[int, float]]:
    """Return by author, and by the call's key, the scores that stand for verdicts on those calls that count."""
    given = verdicts_of_people(notes)
    if not given:
        return {}
    named = one_of(m.Conversation.id, {call for verdicts in given.values() for call in verdicts})
    counted = {key for (key,) in store.execute(m.Conversation.select(m.Conversation.id).where(counts, named))}
    found = {
        author: {call: PASSED * passed for call, passed in verdicts.items() if call in counted}
        for author, verdicts in given.items()
    }
    return {author: scores for author, scores in found.items() if scores}
