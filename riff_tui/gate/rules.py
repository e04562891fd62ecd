"""Apply the rules of the gate: which rows of a comparison are checked, and which of them fail."""

from __future__ import annotations

import math
import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from riff_store.metrics import OF_CALLS, Metric, metric_of
from riff_store.vocabulary import ALIASES, aspect_named
from riff_tui import settings
from riff_tui.errors import UsageError
from riff_tui.gate.decision import GRAVEST_FIRST, Check, CheckStatus, Decision, MissingFlow

if TYPE_CHECKING:
    from riff_store.queries.comparison import Comparison, Difference

CHECKED = tuple(metric.key for metric in OF_CALLS.values() if metric.can_be_gated)
"""The aspects that can be checked; other distributions may add some."""
ALWAYS = tuple(metric.key for metric in OF_CALLS.values() if metric.gated)
_OTHER_NAMES = {"success": "success_rate", "success rate": "success_rate", **ALIASES}
FORM = "it takes ASPECT=X, such as completion=5% or latency_p95=0.5"


@dataclass(frozen=True, slots=True)
class Tolerance:
    """Describe how far an aspect may fall, in its own unit: points, seconds, or a share for `success_rate`.

    A `judge` restricts `humanness` to the judge of that name. One that was `explicit`ly named has to
    be measured somewhere.
    """

    aspect: str
    drop: float = 0.0
    judge: str | None = None
    explicit: bool = False

    @property
    def name(self) -> str:
        """Return the name that asks for it."""
        return self.aspect if self.judge is None else f"{self.aspect}:{self.judge}"


DEFAULTS = tuple(Tolerance(aspect) for aspect in ALWAYS)


def read(text: str, source: str = "--max-drop") -> Tolerance:
    """Read a tolerance from `ASPECT=X`; raise `UsageError` that says what is wrong with it, and in which source."""
    name, equals, amount = text.rpartition("=")
    if not equals:
        raise UsageError(f"{source} {text}: {FORM}")
    return allow(name, amount, source)


def allow(name: str, amount: str | float, source: str = "--max-drop") -> Tolerance:
    """Make a tolerance of the two parts of `ASPECT=X`; raise `UsageError` that says what is wrong with them."""
    metric, judge = _named(name.strip(), source)
    drop = _amount(metric, amount)
    if drop is None or not 0 <= drop < math.inf or drop > metric.bounds[1]:
        raise UsageError(f"{source} {name}={amount}: {_takes(metric)}")
    return Tolerance(metric.key, drop, judge, explicit=True)


def merged(*layers: Iterable[Tolerance]) -> tuple[Tolerance, ...]:
    """Merge layers of tolerances: later ones go before earlier ones, and none takes away what is always checked.

    Raises `UsageError` where one layer allows two different drops of the same.
    """
    found: dict[str, Tolerance] = {}
    for layer in (DEFAULTS, *layers):
        given: dict[str, Tolerance] = {}
        for tolerance in layer:
            if given.setdefault(tolerance.name, tolerance) != tolerance:
                raise UsageError(f"--max-drop {tolerance.name}: is given twice, with different drops")
        found |= given
    return tuple(found.values())


def _named(name: str, source: str) -> tuple[Metric, str | None]:
    lead, colon, judge = name.partition(":")
    word = lead.strip().lower()
    metric = metric_of(aspect_named(_OTHER_NAMES.get(word, word)))
    if metric is None or not metric.can_be_gated:
        raise UsageError(f"{source} {name}: no aspect of that name is checked", f"there are {', '.join(CHECKED)}")
    if colon and metric.kind != "judged":
        raise UsageError(f"{source} {name}: only humanness has judges, such as humanness:codex=0.5")
    if colon and not judge.strip():
        raise UsageError(f"{source} {name}: a judge's name belongs after the colon")
    return metric, judge.strip() if colon else None


def _amount(metric: Metric, amount: str | float) -> float | None:
    text = str(amount).strip()
    percent = text.endswith("%")
    is_share = metric.unit == "share"
    if percent and not (metric.is_rate or is_share):
        return None
    try:
        value = float(text.removesuffix("%"))
    except ValueError:
        return None
    return value * (1.0 if is_share else metric.bounds[1]) / 100 if percent else value


def _takes(metric: Metric) -> str:
    if metric.unit == "share":
        return "it takes a share from 0 to 1, such as 0.05 or 5%"
    if metric.unit == "0-1":
        return "it takes points from 0 to 1, such as 0.05"
    if metric.unit != "0-10":
        return f"it takes {'seconds' if metric.unit == 's' else metric.unit}, such as 0.5"
    return "it takes points from 0 to 10, such as 0.5" + (", or percent such as 5%" if metric.rate_of else "")


SIGNIFICANT = 0.05
MIN_N = 5
_EXACT = 1e-9
_PLACE = {aspect: place for place, aspect in enumerate(CHECKED)}


def decide(
    comparison: Comparison,
    tolerances: Sequence[Tolerance] = DEFAULTS,
    *,
    min_n: int = MIN_N,
    strict: bool = False,
    errored: Mapping[str, int] | None = None,
) -> Decision:
    """Decide on the candidate, which is B, against the baseline, which is A.

    The p-values are corrected anew, over the rows that are checked here and have `min_n` calls on both
    sides, and again over the flows. `errored` counts the candidate's errored calls by flow. Raises `UsageError`
    where there is nothing to check, or not what was asked for.
    """
    rows = list(_rows(comparison, tolerances))
    _refuse_nothing(comparison, rows)
    _refuse_unmeasured(tolerances, rows, comparison)
    checks = [_check(difference, tolerance, min_n) for difference, tolerance in rows]
    measured = {tolerance.aspect for _, tolerance in rows}
    return Decision(
        baseline=comparison.a.name,
        candidate=comparison.b.name,
        min_n=min_n,
        checks=tuple(sorted(_corrected(checks, rows), key=_gravity)),
        missing=tuple(MissingFlow(flow, (errored or {}).get(flow, 0)) for flow in sorted(comparison.only_in_a)),
        added=tuple(sorted(comparison.only_in_b)),
        unmeasured=tuple(each.aspect for each in tolerances if each.aspect not in measured),
        excluded=(comparison.a.excluded, comparison.b.excluded),
        alone=_alone(comparison, {check.flow for check in checks if check.pairs is not None}),
        called=(comparison.a.called, comparison.b.called),
        strict=strict,
    )


def _alone(comparison: Comparison, paired: Collection[str]) -> tuple[int, int]:
    flows = [flow for flow in comparison.flows if flow.flow in paired]
    return sum(flow.n_a - flow.pairs for flow in flows), sum(flow.n_b - flow.pairs for flow in flows)


def _rows(comparison: Comparison, tolerances: Iterable[Tolerance]) -> Iterable[tuple[Difference, Tolerance]]:
    """Yield the differences that are checked, each with what is allowed of it: what names its judge goes first."""
    known = {(tolerance.aspect, tolerance.judge): tolerance for tolerance in tolerances}
    for difference in comparison.differences:
        metric = metric_of(difference.aspect)
        if (difference.judge is not None) != (metric is not None and metric.kind == "judged"):
            continue
        aspect, judge = difference.aspect, difference.judge
        # Without the version of its prompt.
        bare = None if judge is None else judge.rpartition("#")[0] or judge
        found = known.get((aspect, judge)) or known.get((aspect, bare)) or known.get((aspect, None))
        if found is not None:
            yield difference, found


def _check(difference: Difference, tolerance: Tolerance, min_n: int) -> Check:
    enough = difference.p is not None and min(difference.a.n, difference.b.n) >= min_n
    return Check(
        flow=difference.flow,
        aspect=difference.aspect,
        judge=difference.judge,
        better="lower" if difference.better == "lower" else "higher",
        baseline=difference.a.mean,
        candidate=difference.b.mean,
        n_baseline=difference.a.n,
        n_candidate=difference.b.n,
        allowed=tolerance.drop,
        status="held" if enough else "too few",
        change=difference.effect,
        interval=difference.interval,
        pairs=difference.pairs,
        test=difference.test,
        p=difference.p,
    )


def _corrected(checks: Iterable[Check], rows: Iterable[tuple[Difference, Tolerance]]) -> list[Check]:
    from riff_store.statistics.significance import benjamini_hochberg

    known = list(zip(checks, (difference for difference, _ in rows), strict=True))
    decided = [(check, check.p) for check, _ in known if check.status != "too few" and check.p is not None]
    adjusted = iter(benjamini_hochberg([p for _, p in decided]))
    falls, rises = _by_flow(decided, 1), _by_flow(decided, -1)
    return [
        check
        if check.status == "too few"
        else _settled(check, difference, next(adjusted), falls[check.flow], rises[check.flow])
        for check, difference in known
    ]


def _by_flow(decided: Iterable[tuple[Check, float]], sign: int) -> dict[str, float]:
    """Return how likely the falls of each flow, or for -1 its rises, would be by chance, corrected over the flows.

    A flow that fell much lets the correction over checks take more of the others for real; this one does not.
    """
    from riff_store.statistics.significance import holm, simes

    found: dict[str, list[float]] = {}
    for check, p in decided:
        found.setdefault(check.flow, []).append(p if sign * (check.fall or 0.0) > _EXACT else 1.0)
    return dict(zip(found, holm([simes(ps) for ps in found.values()]), strict=True))


def _settled(check: Check, difference: Difference, p: float, p_flow: float, p_rise: float) -> Check:
    status = _status_of(check, difference, max(p, p_flow))
    rose = -(check.fall or 0.0) > _EXACT and difference.tendency == "better" and max(p, p_rise) <= SIGNIFICANT
    return replace(check, p_adjusted=p, p_flow=p_flow, status=status, recovered=rose)


def _status_of(check: Check, difference: Difference, p: float) -> CheckStatus:
    fall = check.fall or 0.0
    if fall <= _EXACT:
        return "held"
    if p > SIGNIFICANT:
        return "noise"
    if difference.tendency == "mixed":
        return "mixed"
    return "failed" if fall > check.allowed + _EXACT else "allowed"


def _gravity(check: Check) -> tuple[int, float, float, str, int, str]:
    metric = metric_of(check.aspect)
    scale = math.inf if metric is None else metric.bounds[1]
    return (
        GRAVEST_FIRST.index(check.status),
        1.0 if check.p_adjusted is None else check.p_adjusted,
        -round((check.fall or 0.0) / scale, 9),
        check.flow,
        _PLACE.get(check.aspect, len(_PLACE)),
        check.judge or "",
    )


def _refuse_nothing(comparison: Comparison, rows: Sequence[object]) -> None:
    a, b = comparison.a, comparison.b
    if not comparison.flows:
        empty = next((side for side in (a, b) if not side.n), None)
        why = f"{empty.kind} {empty.name} has no call that counts" if empty else "they have no flow in common"
        raise UsageError(f"nothing to compare in {a.name} and {b.name}: {why}")
    if not rows:
        raise UsageError(f"nothing to compare in {a.name} and {b.name}: nothing of what is checked was measured")


def _refuse_unmeasured(
    tolerances: Iterable[Tolerance], rows: Sequence[tuple[Difference, Tolerance]], comparison: Comparison
) -> None:
    measured = {tolerance.name for difference, tolerance in rows if difference.a.n and difference.b.n}
    if any(tolerance.judge is not None for _, tolerance in rows):
        measured.add("humanness")  # what goes for every judge counts for none where each has its own
    for tolerance in tolerances:
        if tolerance.explicit and tolerance.name not in measured:
            judges = sorted({row.judge for row in comparison.differences if row.judge is not None})
            known = f"; there are {', '.join(judges)}" if tolerance.judge and judges else ""
            raise UsageError(f"--max-drop {tolerance.name}: not measured on both sides in any flow{known}")


VARIABLE = "RIFF_TUI_GATE_MAX_DROP"
_KEYS = ("max_drop", "min_n")


@dataclass(frozen=True, slots=True)
class Rules:
    """Describe what is checked with its tolerance, the calls that a check takes, and whether the gate is strict."""

    tolerances: tuple[Tolerance, ...]
    min_n: int = MIN_N
    strict: bool = False


def configured(
    max_drop: Sequence[str],
    min_n: int | None = None,
    *,
    strict: bool = False,
    environ: Mapping[str, str] | None = None,
) -> Rules:
    """Return the rules of this run; `max_drop` and `min_n` are the flags. Raise `UsageError` for nonsense."""
    environ = os.environ if environ is None else environ
    table = settings.gate(environ)
    unknown = [key for key in table if key not in _KEYS]
    if unknown:
        raise UsageError(f"{_file(environ)}: [gate] has no key {unknown[0]!r}; known are {', '.join(_KEYS)}")
    listed = [part.strip() for part in environ.get(VARIABLE, "").split(",") if part.strip()]
    tolerances = merged(
        _from_file(table.get("max_drop", {}), environ),
        [read(text, f"${VARIABLE}") for text in listed],
        [read(text) for text in max_drop],
    )
    if min_n is None:
        min_n = table.get("min_n", MIN_N)
        if type(min_n) is not int or min_n < 1:
            raise UsageError(f"{_file(environ)}: gate.min_n must be a whole number from 1")
    return Rules(tolerances, min_n, strict)


def _from_file(table: Any, environ: Mapping[str, str]) -> Iterator[Tolerance]:
    if not isinstance(table, dict):
        raise UsageError(f"{_file(environ)}: gate.max_drop must be a table, such as [gate.max_drop]")
    for name, amount in table.items():
        if isinstance(amount, bool) or not isinstance(amount, str | int | float):
            raise UsageError(f"{_file(environ)}: gate.max_drop.{name} must be a number, or text such as '5%'")
        yield allow(name, amount, f"{_file(environ)}: gate.max_drop")


def _file(environ: Mapping[str, str]) -> str:
    return f"settings file {settings.config_file(environ)}"
