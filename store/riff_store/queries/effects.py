"""Fit a model that explains the quality of calls by judge, agent, flow and persona."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, pairwise, repeat
from math import isfinite
from operator import itemgetter
from typing import Any, TypeAlias

import peewee as pw

from riff_store import models as m
from riff_store.answers.effects import QUALITY, Effects, FactorEffect, JudgeOverlap, LinearModel
from riff_store.answers.quality import COMPUTED
from riff_store.database import Store
from riff_store.errors import UsageError
from riff_store.metrics import POOLED, unit_of
from riff_store.predicate_eval import matches
from riff_store.predicates import Predicate
from riff_store.queries.dimensions import DIMENSIONS, Grouping, names_of
from riff_store.queries.flows import selected_judges
from riff_store.queries.interaction import has_interaction
from riff_store.queries.scope import Scope
from riff_store.queries.sums import call_sums
from riff_store.scoring import blended, computed_blend
from riff_store.vocabulary import ALIASES, aspect_named

FACTORS = ("judge", "agent", "flow", "persona")
_BLENDED = ("correctness", "completion", "errors", "latency_p95")
_UNNAMED = 0
"""The key of calls that name no persona; names have keys from 1 on."""


class UnknownAspect(UsageError):
    """Refuse an aspect that no call was scored for; `known` are those that there are."""

    def __init__(self, aspect: str, known: Sequence[str]) -> None:
        super().__init__(f"no call was scored for {aspect!r}", f"there are {', '.join(known)}")
        self.known = known


_Names: TypeAlias = Mapping[str, Mapping[int, str | None]]
"""The name of each level of each factor, by its key."""
_Observation: TypeAlias = tuple[int, int, int, int, int, float]
"""The keys of a call, then of the level of each factor in order, then the value."""


def effects(
    store: Store, calls: Predicate | None = None, judges: Predicate | None = None, aspect: str = QUALITY
) -> Effects:
    """Fit a linear model of quality, or of one aspect, over the calls that count; raises `UnknownAspect`.

    An observation is a call in the eyes of a judge, or of none: `(computed)`. `judges` chooses among
    these, `(computed)` included. They are compared on the calls that all of them scored. Of a figure over events it is
    an event.
    """
    with store.snapshot():
        aspects = {name: key for key, name in store.execute(m.Aspect.select(m.Aspect.id, m.Aspect.name))}
        known = [QUALITY, *sorted(aspects), *(POOLED if has_interaction(store) else ())]
        if aspect not in known:
            aspect = aspect_named(ALIASES.get(aspect, aspect))
        if aspect not in known:
            raise UnknownAspect(aspect, known)
        # Judges score from 0 to 10, a scale that an aspect in seconds, or from 0 to 1, does not share.
        alone = judges is None and aspect != QUALITY and unit_of(aspect) != unit_of(aspect, "judge")
        chosen = {} if alone else selected_judges(store, judges)
        if judges is None or matches(judges, {"judge": [COMPUTED]}, ("judge",)):
            chosen[m.COMPUTED_JUDGE] = COMPUTED
        read = _events if aspect in POOLED else _qualities if aspect == QUALITY else _scores
        found = list(read(store, calls, chosen, aspects, aspect))
        names: _Names = {"judge": chosen} | {name: names_of(store, DIMENSIONS[name]) for name in FACTORS[1:]}
        whole = call_sums(store, calls, Grouping(())).get(())
        n, excluded, failed = (whole.n, whole.excluded, whole.caller_failed) if whole else (0, 0, 0)
    model, overlap = _fitted(found, names), None
    scored = _scored(found)
    if any(one != other for one, other in pairwise(scored.values())):
        model, overlap = _with_judges_compared(model, found, names, scored)
    return Effects(aspect, _corrected(model), n - model.n, excluded, known, overlap, failed)


def _fitted(found: Sequence[_Observation], names: _Names) -> LinearModel:
    from riff_store.statistics.linear_model import Factor, fit

    factors = [Factor(name, list(map(itemgetter(at), found)), names[name]) for at, name in enumerate(FACTORS, 1)]
    return fit(factors, [row[0] for row in found], [row[-1] for row in found])


def _corrected(model: LinearModel) -> LinearModel:
    """Correct p across the levels of all factors."""
    from riff_store.statistics.significance import benjamini_hochberg

    tested = [level.p for factor in model.factors for level in factor.levels if level.p is not None]
    adjusted = iter(benjamini_hochberg(tested))
    factors = [
        replace(
            factor,
            levels=[level if level.p is None else replace(level, p_adjusted=next(adjusted)) for level in factor.levels],
        )
        for factor in model.factors
    ]
    return replace(model, factors=factors)


def _scored(found: Iterable[_Observation]) -> dict[int, set[int]]:
    scored: dict[int, set[int]] = {}
    for call, judge, *_ in found:
        scored.setdefault(judge, set()).add(call)
    return scored


def _with_judges_compared(
    model: LinearModel, found: Sequence[_Observation], names: _Names, scored: Mapping[int, set[int]]
) -> tuple[LinearModel, JudgeOverlap]:
    """Return the model with judges compared on common calls, where they did not all score the same ones."""
    shown = names["judge"]
    order = sorted(scored, key=lambda judge: str(shown[judge]))
    apart = [pair for pair in combinations(order, 2) if scored[pair[0]].isdisjoint(scored[pair[1]])]
    rest = scored.keys() - {judge for pair in apart for judge in pair}
    common = set[int].intersection(*(scored[judge] for judge in rest)) if len(rest) > 1 else set[int]()
    on_common = _fitted([row for row in found if row[0] in common and row[1] in rest], names)
    compared = next((factor for factor in on_common.factors if factor.factor == "judge"), None)
    factors = [_compared(factor, compared) if factor.factor == "judge" else factor for factor in model.factors]
    return replace(model, factors=factors), JudgeOverlap(
        common=len(common),
        scored={str(shown[judge]): len(scored[judge]) for judge in order},
        compared=tuple(str(level.level) for level in compared.levels) if compared else (),
        apart=tuple((str(shown[a]), str(shown[b])) for a, b in apart),
    )


def _compared(every: FactorEffect, compared: FactorEffect | None) -> FactorEffect:
    """Return the judges that are compared as they are on their common calls, and the others without an effect."""
    known = {level.level: level for level in compared.levels} if compared else {}
    levels = [
        known.get(level.level) or replace(level, effect=None, low=None, high=None, p=None) for level in every.levels
    ]
    return FactorEffect(every.factor, levels, *((compared.share, compared.alone) if compared else (None, None)))


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


def _events(
    store: Store, calls: Predicate | None, judges: Mapping[int, str], aspects: Mapping[str, int], aspect: str
) -> Iterator[_Observation]:
    """Yield each event behind a figure with what the figure is of the events of its call (docs/metrics.md, section 16).

    What is summed up of a call does not tell its events apart; so their mean over calls is that of all events.
    """
    if m.COMPUTED_JUDGE not in judges:
        return
    call, row, figure = m.Conversation, m.CallInteraction, POOLED[aspect]
    sums = (getattr(row, name) for name in (figure.part, *figure.whole))
    query = call.select(call.id, call.agent, call.flow, call.persona, *sums).join(row, on=(row.conversation == call.id))
    for key, agent, flow, persona, part, *whole in store.execute(
        query.where(~call.errored, Scope(store).condition(calls))
    ):
        observed = (key, m.COMPUTED_JUDGE, agent, flow, persona or _UNNAMED, part / (sum(whole) or 1))
        yield from repeat(observed, sum(whole))


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
