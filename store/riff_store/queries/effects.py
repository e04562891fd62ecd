"""Fit a model that explains the quality of calls by judge, agent, flow and persona."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from riff_store import schema as m
from riff_store.database import Store
from riff_store.errors import UsageError
from riff_store.filters.dimensions import DIMENSIONS, Grouping, names_of
from riff_store.filters.matching import matches
from riff_store.filters.predicates import Predicate
from riff_store.metrics import POOLED, unit_of
from riff_store.queries.flows import selected_judges
from riff_store.queries.sums import call_sums, has_interaction
from riff_store.statistics.linear_model import FactorEffect, LinearModel
from riff_store.vocabulary import ALIASES, COMPUTED, QUALITY, aspect_named

if TYPE_CHECKING:
    from riff_store.arrays.reading import CallColumns
    from riff_store.statistics import Floats
    from riff_store.statistics.linear_model import Overlap
    from riff_store.statistics.observations import Observations


FACTORS = ("judge", "agent", "flow", "persona")


@dataclass(frozen=True, slots=True)
class JudgeOverlap:
    """Describe what judges are compared on: `common` counts the calls that all `compared` ones scored.

    `scored` counts the calls of each judge, `apart` has each two who scored no call in common: they are not compared.
    Nor is anybody where the rest has no call in common.
    """

    common: int
    scored: Mapping[str, int]
    compared: Sequence[str] = ()
    apart: Sequence[tuple[str, str]] = ()


@dataclass(frozen=True, slots=True)
class Effects:
    """Keep the model of a response over the calls that count; `unmeasured` ones have no value, `excluded` are errored.

    Of the excluded ones `caller_failed` are those whose caller failed.
    `aspects` are all responses that the store knows, quality first. `overlap` is there if judges did not all
    score the same calls: the judges that are compared are then of the common calls alone.
    """

    aspect: str
    model: LinearModel
    unmeasured: int
    excluded: int
    aspects: Sequence[str] = ()
    overlap: JudgeOverlap | None = None
    caller_failed: int = 0


class UnknownAspect(UsageError):
    """Refuse an aspect that no call was scored for; `known` are those that there are."""

    def __init__(self, aspect: str, known: Sequence[str]) -> None:
        super().__init__(f"no call was scored for {aspect!r}", f"there are {', '.join(known)}")
        self.known = known


def effects(
    store: Store, calls: Predicate | None = None, judges: Predicate | None = None, aspect: str = QUALITY
) -> Effects:
    """Fit a linear model of quality, or of one aspect, over the calls that count; raises `UnknownAspect`.

    An observation is a call in the eyes of a judge, or of none: `(computed)`. `judges` chooses among
    these, `(computed)` included. They are compared on the calls that all of them scored. Of a figure over events it is
    an event.
    """
    from riff_store.arrays.reading import aspect_scores, qualities, read_calls
    from riff_store.statistics.linear_model import fit, overlap
    from riff_store.statistics.observations import Factor, Observations

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
        columns = read_calls(store, calls)
        weights = None
        if aspect in POOLED:
            values, weights = _events(store, columns, chosen, aspect)
        elif aspect == QUALITY:
            values = qualities(columns, chosen, aspects)
        else:
            values = aspect_scores(columns, chosen, aspects[aspect])
        factors = [Factor(name, columns.keys(name), names_of(store, DIMENSIONS[name])) for name in FACTORS[1:]]
        whole = call_sums(store, calls, Grouping(())).get(())
        n, excluded, failed = (whole.n, whole.excluded, whole.caller_failed) if whole else (0, 0, 0)
    observed = Observations(values, chosen, factors, weights)
    model, judges_compared = fit(observed), None
    if found := overlap(observed):
        model, judges_compared = _with_judges_compared(model, observed, found)
    return Effects(aspect, _corrected(model), n - model.n, excluded, known, judges_compared, failed)


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


def _with_judges_compared(
    model: LinearModel, observed: Observations, found: Overlap
) -> tuple[LinearModel, JudgeOverlap]:
    """Return the model with judges compared on common calls, if they did not all score the same ones."""
    from riff_store.statistics.linear_model import compare_judges

    shown, compared = observed.names_of_judges(), compare_judges(observed, found)
    of_model = [_compared(factor, compared) if factor.factor == "judge" else factor for factor in model.factors]
    return replace(model, factors=of_model), JudgeOverlap(
        common=found.n,
        scored={str(name): found.scored[judge] for judge, name in shown.items()},
        compared=tuple(str(level.level) for level in compared.levels) if compared else (),
        apart=tuple((str(shown[a]), str(shown[b])) for a, b in found.apart),
    )


def _compared(every: FactorEffect, compared: FactorEffect | None) -> FactorEffect:
    """Return the judges that are compared as they are on their common calls, and the others without an effect."""
    known = {level.level: level for level in compared.levels} if compared else {}
    levels = [
        known.get(level.level) or replace(level, effect=None, low=None, high=None, p=None) for level in every.levels
    ]
    return FactorEffect(every.factor, levels, *((compared.share, compared.alone) if compared else (None, None)))


def _events(
    store: Store, columns: CallColumns, judges: Mapping[int, str], aspect: str
) -> tuple[dict[int, Floats], Floats | None]:
    """Return what a figure is of the events of each call (docs/metrics.md, section 16), and how many there are.

    What is summed up of a call does not distinguish its events; so their mean over calls is that of all events.
    """
    if m.COMPUTED_JUDGE not in judges:
        return {}, None
    from riff_store.arrays.reading import read_interactions
    from riff_store.statistics.ratios import added, shares

    figure = POOLED[aspect]
    sums = read_interactions(store, columns.keys("id"), (figure.part, *figure.whole))
    found, weights = shares(sums[figure.part], added([sums[name] for name in figure.whole]))
    return {m.COMPUTED_JUDGE: found}, weights
