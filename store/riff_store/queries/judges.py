"""Read the scores of judges, and sum up each judge."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import peewee as pw

from riff_store import models as m
from riff_store.agreement import spearman
from riff_store.answers.lists import JudgeSummary
from riff_store.database import Store
from riff_store.predicate_eval import matches
from riff_store.predicates import Predicate
from riff_store.queries.dimensions import Grouping, judge_names, judges_shown, unique_names
from riff_store.queries.scope import Scope
from riff_store.queries.sums import aspect_sums

_Key = tuple[str, int]


def judges(store: Store, calls: Predicate | None = None) -> list[JudgeSummary]:
    """Return each judge in one version of its prompt, with its rank correlation to the others and to correctness.

    A judge of another aspect than humanness stands apart from its humanness, with the aspect's name.
    """
    with store.snapshot():
        sums = aspect_sums(store, calls, Grouping(())).get((), {})
        hashes = dict(store.execute(m.Judge.select(m.Judge.id, m.Judge.prompt_hash)))
        known = judges_of(store, sums)
        models = _most_used(store, m.JudgedScore.model)
        versions = _most_used(store, m.JudgedScore.prompt_version)
        scores = scores_of(store, calls)
    by_label = {judge.label: scores.judged.get(judge.key, {}) for judge in known} | {CORRECTNESS: scores.correctness}
    return [
        JudgeSummary(
            judge=judge.label,
            model=models.get(judge.key),
            prompt_hash=hashes[judge.key[1]] or None,
            n=sums[judge.key].n,
            unscored=sums[judge.key].unscored,
            mean=sums[judge.key].measure(),
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
        )
        for judge in known
    ]


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


class JudgeVersion(NamedTuple):
    """Describe a judge of one aspect in one version of its prompt; `key` is its own in the store.

    `shown` is what it is called wherever it is a column, `label` adds the aspect if that is neither
    humanness nor called like the judge.
    """

    key: tuple[str, int]
    name: str
    shown: str
    label: str

    @property
    def aspect(self) -> str:
        """Return the aspect that it judges."""
        return self.key[0]

    def is_selected(self, judges: Predicate | None) -> bool:
        """Say whether a filter on judges means this one, by its name or its displayed name."""
        return judges is None or matches(judges, {"judge": [self.name, self.shown]}, ("judge",))


def judges_of(store: Store, keys: Iterable[tuple[str, int]]) -> list[JudgeVersion]:
    """Return the judges of some (aspect, key of the judge) in the order of their labels, which are unique."""
    shown, names = judges_shown(store), judge_names(store)
    found = sorted({key for key in keys if key[1] in names}, key=lambda key: (key[0] != HUMANNESS, shown[key[1]], key))
    labels = unique_names(
        {
            key: shown[key[1]] if key[0] in (HUMANNESS, names[key[1]]) else f"{shown[key[1]]} ({key[0]})"
            for key in found
        },
        {CORRECTNESS},
    )
    judges = [JudgeVersion(key, names[key[1]], shown[key[1]], labels[key]) for key in found]
    return sorted(judges, key=lambda judge: judge.label)


class JudgeScores(NamedTuple):
    """Hold scores by call, of each (aspect, key of the judge), and computed correctness; unscored is left out."""

    judged: Mapping[tuple[str, int], Mapping[int, float]]
    correctness: Mapping[int, float]


def scores_of(store: Store, calls: Predicate | None = None) -> JudgeScores:
    """Read the scores of the calls that count, of those that any judge may have scored."""
    score = m.AspectScore
    aspects = dict(store.execute(m.Aspect.select(m.Aspect.id, m.Aspect.name)))
    correctness = next((key for key, name in aspects.items() if name == CORRECTNESS), 0)
    query = (
        score.select(score.aspect, score.judge, score.conversation, score.value)
        .join(m.Conversation, on=(m.Conversation.id == score.conversation))
        .where(~m.Conversation.errored, score.value.is_null(False), Scope(store).condition(calls))
        .where((score.judge != m.COMPUTED_JUDGE) | (score.aspect == correctness))
    )
    judged: dict[tuple[str, int], dict[int, float]] = {}
    computed: dict[int, float] = {}
    for aspect, judge, call, value in store.execute(query) if judge_names(store) else ():
        if judge == m.COMPUTED_JUDGE:
            computed[call] = value
        else:
            judged.setdefault((aspects[aspect], judge), {})[call] = value
    return JudgeScores(judged, computed)
