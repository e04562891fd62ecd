"""Show what explains quality: each factor with its share, and below it the effect of each of its levels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from riff_store.metrics import POOLED, metric_of, unit_of
from riff_store.vocabulary import COMPUTED, QUALITY
from riff_tui.errors import UsageError
from riff_tui.shapes import COUNT, COUNTS, TEXT, list_of, numbers, or_null, record
from riff_tui.table import NOT_MEASURED, Better, Column, Row, Severity, Table
from riff_tui.text.numbers import counted, excluded_text, fixed, listed, percent, signed
from riff_tui.view_query import FilterParts, ViewQuery
from riff_tui.views.parts import cells, columns
from riff_tui.views.spec import EMPTY_STORE, Screen, ViewSpec, Words

if TYPE_CHECKING:
    from riff_store.queries.effects import Effects, JudgeOverlap
    from riff_store.statistics.designs import Confounding
    from riff_store.statistics.linear_model import FactorEffect, LevelEffect, LinearModel

NO_CALL = "No call matches the filter, so there is nothing to explain."
INDENT = "  "
CAPPED = "Operability is capped, so causes do not simply add up: the model describes means, it does not predict a call."
SHARES = "share: squares that only this factor explains (type II); alone: what it would explain without the others."
EVENTS = (
    "An observation is an event of a call, and its value that of all such events of the call: shares are of what calls"
    " differ in."
)
FEW = 100
SIGNIFICANT = 0.05


def show(query: ViewQuery) -> Table:
    """Return the model of the aspect that is asked for; raises `UsageError` if no call was scored for it."""
    from riff_store.queries.effects import UnknownAspect
    from riff_store.queries.effects import effects as asked

    calls, rows, judges = query.parts()
    try:
        answer = asked(query.store, calls, judges, query.request.aspect or QUALITY)
    except UnknownAspect as error:
        raise UsageError(f"--aspect: {error.message}", error.hint) from None
    table = query.result(FilterParts(rows=rows), lambda _: effects(answer), recounts=False)
    if answer.model.n or answer.unmeasured or answer.excluded:
        return table
    return table._replace(notes=[*table.notes, EMPTY_STORE if query.predicate is None else NO_CALL])


def effects(answer: Effects) -> Table:
    """Return a row for each factor by share, the largest first, and below it one for each level, the worst first."""
    model, metric = answer.model, metric_of(answer.aspect)
    better = "higher" if metric is None else metric.better
    factors = sorted(model.factors, key=lambda each: (*cells.falling(each.share), *cells.falling(each.alone)))
    return Table(
        view="effects",
        title=f"What explains {answer.aspect} (a linear model; worst level first)",
        columns=_columns(unit_of(answer.aspect), better),
        rows=[row for factor in factors for row in _rows(factor, answer, better)],
        notes=list(_notes(answer, better)) if model.observations else list(_left_out(answer)),
        identity=("factor", "level"),
        extras={"aspect": answer.aspect, "aspects": list(answer.aspects), "model": _model(answer)},
    )


def _columns(unit: str, better: Better | None) -> Sequence[Column]:
    share: dict[str, Any] = {"unit": "share", "decimals": 2}
    points: dict[str, Any] = {"unit": unit, "better": better, "decimals": 2}
    return (
        Column("level", "Factor, level", kind="name", help="A factor of the model, and below it each of its levels."),
        Column("factor", "Factor", kind="name", shown=False, help="Judge, agent, flow or persona."),
        Column("share", "share", **share, help="Share of all squares that only this factor explains (type II)."),
        Column("alone", "alone", **share, help="Share of all squares that this factor explains without the others."),
        Column("effect", "effect", **points, strong=True,
               help="How far the level is from the mean of its factor's levels, the other factors alike."),
        Column("low", "low", **points, help="Where the 95 % interval of the effect begins."),
        Column("high", "high", **points, help="Where the 95 % interval of the effect ends."),
        Column("p", "p", decimals=3, shown=False, help="How likely such an effect is by chance, for this level alone."),
        Column("p_adjusted", "p adj.", decimals=3, shown=False, help="p corrected across all levels of all factors."),
        columns.N,
        Column("observations", "obs", kind="count", help="(call, judge) pairs behind the row."),
        Column("mean", "mean", unit=unit, better=better, help="The observed mean, with all that comes along with it."),
    )  # fmt: skip


def _rows(factor: FactorEffect, answer: Effects, better: Better | None) -> Iterator[Row]:
    n = answer.overlap.common if factor.factor == "judge" and answer.overlap else answer.model.n
    observations = sum(level.observations for level in factor.levels) if n else 0
    yield Row(
        factor.factor,
        _record(factor.factor, n=n, observations=observations, share=factor.share, alone=factor.alone),
        display={
            "level": f"{factor.factor} ({len(factor.levels)} levels)",
            "share": percent(factor.share),
            "alone": percent(factor.alone),
            **dict.fromkeys(("effect", "low", "high", "mean"), ""),
        },
    )
    way = -1 if better == "lower" else 1
    levels = list(enumerate(factor.levels))
    levels.sort(key=lambda each: (each[1].effect is None, way * (each[1].effect or 0.0), way * each[1].mean))
    for number, level in levels:
        yield _level(factor.factor, number, level, better)


def _level(factor: str, number: int, level: LevelEffect, better: Better | None) -> Row:
    mark = _mark(level, better)
    return Row(
        f"{factor} {number} {level.level}",
        _record(factor, **cells.values_of(level, "level n observations mean effect low high p p_adjusted")),
        display={
            "level": f"{INDENT}{NOT_MEASURED if level.level is None else level.level}",
            **{key: signed(getattr(level, key), 2) for key in ("effect", "low", "high")},
            "share": "",
            "alone": "",
        },
        # A good cell would carry a second plus.
        severity={"": mark, "effect": mark} if mark == "bad" else {"": mark} if mark else {},
        thin=cells.is_thin(level.n),
        where="" if level.level == COMPUTED else cells.where({factor: level.level}),
    )


def _record(factor: str, **given: Any) -> dict[str, Any]:
    keys = ("level", "n", "observations", "effect", "low", "high", "p", "p_adjusted", "mean", "share", "alone")
    return {"factor": factor, **dict.fromkeys(keys), **given}


def _mark(level: LevelEffect, better: Better | None) -> Severity | None:
    """Mark an effect that is more than chance, by its side."""
    if better is None or level.effect is None or level.p_adjusted is None or level.p_adjusted > SIGNIFICANT:
        return None
    return "good" if (level.effect > 0) == (better == "higher") else "bad"


def _model(answer: Effects) -> dict[str, Any]:
    model, overlap = answer.model, answer.overlap
    return {
        **cells.values_of(model, "n observations mean intercept together residual"),
        "left_out": [{"factor": name, "levels": 1, "level": level} for name, level in model.single]
        + [{"factor": name, "levels": count} for name, count in model.crowded],
        "confounded": [list(group.factors) for group in model.confounded],
        "judges": overlap
        and {
            "common": overlap.common,
            "scored": dict(overlap.scored),
            "compared": list(overlap.compared),
            "apart": [list(two) for two in overlap.apart],
        },
    }


def _notes(answer: Effects, better: Better | None) -> Iterator[str]:
    model = answer.model
    way = f", {better} is better" if better else ""
    scale = unit_of(answer.aspect)
    yield (
        f"Units: {answer.aspect} {scale}{way}; effect: how far a level is from the mean of its factor's levels,"
        " the other factors alike."
    )
    yield _grand_mean(model)
    yield from map(_confounded, model.confounded)
    if answer.overlap is not None and any(factor.factor == "judge" for factor in model.factors):
        yield from _judges(answer.overlap)
    if model.factors:
        yield SHARES
        yield _certainty(model, better)
        if answer.aspect == QUALITY:
            yield CAPPED
        if answer.aspect in POOLED:
            yield EVENTS
    yield from _left_out(answer)


def _grand_mean(model: LinearModel) -> str:
    seen = f"{counted(model.n, 'call')}, {counted(model.observations, 'observation')}"
    grand = (
        f"Grand mean, every level alike: {fixed(model.intercept, 2)}; observed mean {fixed(model.mean, 2)} ({seen})."
    )
    if model.together is None:
        return f"{grand} Nothing varies, so there is nothing to explain."
    if not model.factors:
        return f"{grand} No factor has two levels to compare."
    shares = f"{percent(model.together)} of the squares (R²), {percent(model.residual)} is left to the calls"
    return f"{grand} Together the factors explain {shares}."


def _certainty(model: LinearModel, better: Better | None) -> str:
    text = "low, high: 95 % interval, robust to several observations of a call"
    if better:
        text += "; ! is worse than the mean of its factor by more than chance (p corrected across all levels), + better"
    lonely = sum(each.n == 1 for factor in model.factors for each in factor.levels)
    if lonely:
        levels = "level has" if lonely == 1 else "levels have"
        text += f". {lonely} {levels} one call and so no interval; the other intervals are somewhat too narrow"
    if model.n < FEW:
        text += f". With fewer than {FEW} calls they are too narrow"
    return f"{text}."


def _confounded(group: Confounding) -> str:
    why = [f"each {inner} comes with one {outer} only" for inner, outer in group.nested]
    reason = f" ({_joined(why)})" if why else ""
    names = _joined(group.factors)
    return f"Confounded: {names} cannot be distinguished in these calls{reason}, so effects are {NOT_MEASURED}."


def _judges(overlap: JudgeOverlap) -> Iterator[str]:
    """Yield which judges are compared on which calls, and who cannot be."""
    if overlap.common:
        who = "all of them" if len(overlap.compared) == len(overlap.scored) else f"{_joined(overlap.compared)} all"
        each = listed([f"{name} {n}" for name, n in overlap.scored.items()])
        yield f"Judges are compared on the {counted(overlap.common, 'call')} that {who} scored (scored: {each})."
    choose = "--where 'judge=A | judge=B' chooses judges that share calls"
    if overlap.apart:
        pairs = listed([f"{a} and {b}" for a, b in overlap.apart])
        yield f"Judges that cannot be compared: no call was scored by both {pairs}; {choose}."
    elif not overlap.common:
        yield f"Judges cannot be compared: no call was scored by all {len(overlap.scored)} of them; {choose}."


def _joined(words: Sequence[str]) -> str:
    return " and ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else "".join(words)


def _left_out(answer: Effects) -> Iterator[str]:
    model = answer.model
    if model.single:
        levels = ((name, NOT_MEASURED if level is None else level) for name, level in model.single)
        names = ", ".join(f"{name} {level if level == COMPUTED else f'({level})'}" for name, level in levels)
        yield f"Left out for having one level: {names}."
    for name, count in model.crowded:
        yield f"Left out for having too many levels: {name} ({count}); leave calls out with --where."
    if answer.unmeasured:
        calls = "call has" if answer.unmeasured == 1 else "calls have"
        no_quality = answer.aspect == QUALITY and not model.observations
        why = ", which takes correctness; --aspect completion or another explains these" if no_quality else ""
        yield f"Not measured: {answer.unmeasured} {calls} no {answer.aspect}{why}."
    if answer.excluded:
        yield f"Excluded: {excluded_text(answer.excluded, answer.caller_failed)}."


_BELOW = {"judge": "judges", "agent": "flows", "flow": "flows", "persona": "flows"}


_OF_MODEL = record(
    {
        **dict.fromkeys(("n", "observations"), COUNT),
        **numbers(("mean", "intercept", "together", "residual")),
        "left_out": list_of(record({"factor": TEXT, "levels": COUNT, "level": TEXT}, sometimes=("level",))),
        "confounded": list_of(list_of(TEXT)),
        "judges": or_null(
            record({"common": COUNT, "scored": COUNTS, "compared": list_of(TEXT), "apart": list_of(list_of(TEXT))})
        ),
    }
)


SPEC = ViewSpec(
    name="effects",
    title="Effects",
    help=(
        "What explains quality: judge, agent, flow and persona in one linear model, with the share of each.",
        "A level's effect is how far it is from its factor's mean, all else alike, with its 95 % interval.",
        "Drill into a level with flows --where 'agent=A'; --aspect A explains one aspect instead of quality.",
    ),
    order=80,
    show=show,
    judges="rows",
    rows={"level": or_null(TEXT)},
    top={"aspect": TEXT, "aspects": list_of(TEXT), "model": _OF_MODEL},
    columns=_columns("0-10", "higher"),
    comparable=True,
    aspects=True,
    words=Words(
        empty="There is nothing to explain here: that takes measured calls, and two judges, agents, flows or personas.",
        empty_store="",
    ),
    screen=Screen(
        key="F",
        help="What explains quality: judge, agent, flow, persona; compares agents, all else alike; again for more.",
        below=lambda row: _BELOW.get(str(row.record.get("factor")), ""),
    ),
)
