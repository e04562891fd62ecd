"""How do the judges score, and do they agree?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby

import peewee as pw

from riff_store import models as m
from riff_store.answers.lists import JudgeSummary
from riff_store.database import Store
from riff_store.predicates import Predicate
from riff_store.queries.dimensions import Grouping, judges_shown
from riff_store.queries.scope import Scope
from riff_store.queries.sums import AspectSums, aspect_sums

FEWEST = 3
CORRECTNESS = "correctness"


def judges(store: Store, calls: Predicate | None = None) -> list[JudgeSummary]:
    """Each judge in one version of its prompt, with its rank correlation to the others and to correctness.

    A judge of another aspect than humanness stands apart from its humanness, with the aspect's name.
    """
    with store.snapshot():
        sums = aspect_sums(store, calls, Grouping(())).get((), {})
        described = {row[0]: row[1:] for row in store.execute(m.Judge.select(m.Judge.id, m.Judge.prompt_hash))}
        labels = _labels(store, sums)
        models = _models(store)
        scores = _scores(store, calls, labels)
    found = []
    for kind, label in sorted(labels.items(), key=lambda item: item[1]):
        others = {name: scores.get(name, {}) for name in (*labels.values(), CORRECTNESS) if name != label}
        found.append(
            JudgeSummary(
                judge=label,
                model=models.get(kind),
                prompt_hash=described[kind[1]][0] or None,
                n=sums[kind].n,
                unscored=sums[kind].unscored,
                mean=sums[kind].measure(),
                agreement={name: _agreement(scores.get(label, {}), other) for name, other in sorted(others.items())},
            )
        )
    return found


def _labels(store: Store, sums: Mapping[tuple[str, int], AspectSums]) -> dict[tuple[str, int], str]:
    """Each judged aspect as it is called."""
    shown = judges_shown(store)
    return {
        (aspect, judge): shown[judge] if aspect == "humanness" else f"{shown[judge]} ({aspect})"
        for aspect, judge in sums
        if judge != m.COMPUTED_JUDGE
    }


def _models(store: Store) -> dict[tuple[str, int], str]:
    """The model behind each judge: the one it used most, of several the first by name."""
    judged = m.JudgedScore
    query = (
        judged.select(m.Aspect.name, judged.judge, judged.model)
        .join(m.Aspect, on=(m.Aspect.id == judged.aspect))
        .where(judged.model.is_null(False))
        .group_by(m.Aspect.name, judged.judge, judged.model)
        .order_by(pw.fn.COUNT(pw.SQL("*")), judged.model.desc())
    )
    return {(aspect, judge): model for aspect, judge, model in store.execute(query)}


def _scores(
    store: Store, calls: Predicate | None, labels: Mapping[tuple[str, int], str]
) -> dict[str, dict[int, float]]:
    """Score by call, of each judge and of correctness."""
    score = m.AspectScore
    query = (
        score.select(m.Aspect.name, score.judge, score.conversation, score.value)
        .join(m.Aspect, on=(m.Aspect.id == score.aspect))
        .join(m.Conversation, on=(m.Conversation.id == score.conversation))
        .where(~m.Conversation.errored, score.value.is_null(False), Scope(store).condition(calls))
        .where((score.judge != m.COMPUTED_JUDGE) | (m.Aspect.name == CORRECTNESS))
    )
    found: dict[str, dict[int, float]] = {}
    for aspect, judge, call, value in store.execute(query) if labels else ():
        label = CORRECTNESS if judge == m.COMPUTED_JUDGE else labels[aspect, judge]
        found.setdefault(label, {})[call] = value
    return found


def _agreement(first: Mapping[int, float], second: Mapping[int, float]) -> float | None:
    shared = sorted(first.keys() & second.keys())
    return spearman([first[call] for call in shared], [second[call] for call in shared])


def spearman(first: Sequence[float], second: Sequence[float]) -> float | None:
    """Rank correlation of paired values, ties ranked alike; `None` below three pairs and without variance."""
    if len(first) < FEWEST:
        return None
    return _correlation(ranks(first), ranks(second))


def ranks(values: Sequence[float]) -> list[float]:
    """The rank of each value from 1 on; equal values share the mean of their ranks."""
    found = [0.0] * len(values)
    place = 0
    for _, tied in groupby(sorted(range(len(values)), key=values.__getitem__), key=values.__getitem__):
        group = list(tied)
        for index in group:
            found[index] = place + (len(group) + 1) / 2
        place += len(group)
    return found


def _correlation(first: Sequence[float], second: Sequence[float]) -> float | None:
    middle = (len(first) + 1) / 2
    shared = sum((a - middle) * (b - middle) for a, b in zip(first, second, strict=True))
    spread = sum((a - middle) ** 2 for a in first) * sum((b - middle) ** 2 for b in second)
    return max(-1.0, min(1.0, shared / spread**0.5)) if spread else None
