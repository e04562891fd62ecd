"""How do the judges score, and do they agree?"""

from __future__ import annotations

from collections.abc import Mapping

import peewee as pw

from riff_store import models as m
from riff_store.agreement import spearman
from riff_store.answers.lists import JudgeSummary
from riff_store.database import Store
from riff_store.predicates import Predicate
from riff_store.queries.dimensions import Grouping
from riff_store.queries.judge_scores import CORRECTNESS, judges_of, scores_of
from riff_store.queries.sums import aspect_sums

_Key = tuple[str, int]


def judges(store: Store, calls: Predicate | None = None) -> list[JudgeSummary]:
    """Each judge in one version of its prompt, with its rank correlation to the others and to correctness.

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
        )
        for judge in known
    ]


def _most_used(store: Store, column: pw.TextField) -> dict[_Key, str]:
    """The model or the like behind each judge: the one it used most, of several the first by name."""
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
