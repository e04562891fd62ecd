"""Fit a model that explains the quality of calls by judge, agent, flow and persona."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import isfinite
from operator import itemgetter
from typing import Any, TypeAlias

import peewee as pw

from riff_store import models as m
from riff_store.answers.effects import QUALITY, Effects
from riff_store.answers.quality import COMPUTED
from riff_store.database import Store
from riff_store.errors import UsageError
from riff_store.predicate_eval import matches
from riff_store.predicates import Predicate
from riff_store.queries.dimensions import DIMENSIONS, Grouping, names_of
from riff_store.queries.flows import selected_judges
from riff_store.queries.scope import Scope
from riff_store.queries.sums import call_counts
from riff_store.scoring import blended, computed_blend
from riff_store.vocabulary import aspect_named

FACTORS = ("judge", "agent", "flow", "persona")
_BLENDED = ("correctness", "completion", "errors", "latency_p95")
_UNNAMED = 0
"""The key of calls that name no persona; names have keys from 1 on."""


class UnknownAspect(UsageError):
    """Refuse an aspect that no call was scored for; `known` are those that there are."""

    def __init__(self, aspect: str, known: Sequence[str]) -> None:
        super().__init__(f"no call was scored for {aspect!r}", f"there are {', '.join(known)}")
        self.known = known


_Observation: TypeAlias = tuple[int, int, int, int, int, float]
"""The keys of a call, then of the level of each factor in order, then the value."""


def effects(
    store: Store, calls: Predicate | None = None, judges: Predicate | None = None, aspect: str = QUALITY
) -> Effects:
    """Fit a linear model of quality, or of one aspect, over the calls that count; raises `UnknownAspect`.

    An observation is a call in the eyes of a judge, or of none: `(computed)`. `judges` chooses among
    these, `(computed)` included.
    """
    from riff_store.statistics.linear_model import Factor, fit

    with store.snapshot():
        aspects = {name: key for key, name in store.execute(m.Aspect.select(m.Aspect.id, m.Aspect.name))}
        known = [QUALITY, *sorted(aspects)]
        if aspect not in known:
            aspect = aspect_named(aspect)
        if aspect not in known:
            raise UnknownAspect(aspect, known)
        chosen = selected_judges(store, judges)
        if judges is None or matches(judges, {"judge": [COMPUTED]}, ("judge",)):
            chosen[m.COMPUTED_JUDGE] = COMPUTED
        read = _qualities if aspect == QUALITY else _scores
        found = list(read(store, calls, chosen, aspects, aspect))
        names = {"judge": chosen} | {name: names_of(store, DIMENSIONS[name]) for name in FACTORS[1:]}
        n, excluded = call_counts(store, calls, Grouping(())).get((), (0, 0))
    factors = [Factor(name, list(map(itemgetter(at), found)), names[name]) for at, name in enumerate(FACTORS, 1)]
    model = fit(factors, [row[0] for row in found], [row[-1] for row in found])
    return Effects(aspect, model, n - model.n, excluded, known)


def _qualities(
    store: Store, calls: Predicate | None, judges: Mapping[int, str], aspects: Mapping[str, int], _: str
) -> Iterator[_Observation]:
    """Yield the operability of each call, as each judge alone sees it (docs/metrics.md, section 8)."""
    scored: dict[int, list[tuple[int, float]]] = {}
    for call, judge, value in _judged(store, calls, aspects.get("humanness", 0)):
        if judge in judges:
            scored.setdefault(call, []).append((judge, value))
    computed = m.COMPUTED_JUDGE in judges
    for call, agent, flow, persona, *parts in _computed(store, calls, aspects):
        blend = computed_blend(*parts)
        if blend is None:
            continue
        if computed:
            yield call, m.COMPUTED_JUDGE, agent, flow, persona or _UNNAMED, blended(blend, None)
        for judge, value in scored.get(call, ()):
            yield call, judge, agent, flow, persona or _UNNAMED, blended(blend, value)


def _scores(
    store: Store, calls: Predicate | None, judges: Mapping[int, str], aspects: Mapping[str, int], aspect: str
) -> Iterator[_Observation]:
    """Yield one aspect of each call by each judge."""
    call = m.Conversation
    columns = (call.id, m.AspectScore.judge, call.agent, call.flow, call.persona, m.AspectScore.value)
    for key, judge, agent, flow, persona, value in _rows(store, calls, columns, aspects[aspect]):
        if judge in judges and isfinite(value):
            yield key, judge, agent, flow, persona or _UNNAMED, value


def _judged(store: Store, calls: Predicate | None, humanness: int) -> Iterator[tuple[int, int, float]]:
    columns = (m.Conversation.id, m.AspectScore.judge, m.AspectScore.value)
    return ((call, judge, value) for call, judge, value in _rows(store, calls, columns, humanness) if isfinite(value))


def _rows(store: Store, calls: Predicate | None, columns: Sequence[Any], aspect: int) -> Iterable[tuple[Any, ...]]:
    """Return the measured scores of an aspect, with the wanted columns of their calls."""
    call, score = m.Conversation, m.AspectScore
    query = call.select(*columns).join(score, on=(score.conversation == call.id))
    about = (score.aspect == aspect) & score.value.is_null(False) & ~call.errored
    return store.execute(query.where(about, Scope(store).condition(calls)))


def _computed(store: Store, calls: Predicate | None, aspects: Mapping[str, int]) -> Iterable[tuple[Any, ...]]:
    """Return calls with the part of their operability that no judge has a say in."""
    call = m.Conversation
    scores = [m.AspectScore.alias() for _ in _BLENDED]
    query = call.select(call.id, call.agent, call.flow, call.persona, *(score.value for score in scores))
    for name, score in zip(_BLENDED, scores, strict=True):
        mine = (score.conversation == call.id) & (score.judge == m.COMPUTED_JUDGE)
        query = query.join(score, pw.JOIN.LEFT_OUTER, on=(mine & (score.aspect == aspects.get(name, 0))))
    return store.execute(query.where(~call.errored, Scope(store).condition(calls)))
