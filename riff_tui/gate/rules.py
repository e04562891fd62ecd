"""Apply the rules of the gate: which rows of a comparison are checked, and which of them fail."""

from __future__ import annotations

import math
import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from riff_store.metrics import OF_CALLS, Metric, metric_of
from riff_store.vocabulary import ALIASES, aspect_named
from riff_tui import settings
from riff_tui.errors import UsageError, meant
from riff_tui.gate import floors
from riff_tui.gate.decision import GRAVEST_FIRST, Check, CheckKind, CheckStatus, Decision, MissingFlow
from riff_tui.gate.floors import Floors, share
from riff_tui.gate.quarantine import Quarantine

if TYPE_CHECKING:
    from riff_store.queries.comparison import Comparison, Difference

Counts: TypeAlias = tuple[int, int]
"""So many calls, of all."""

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
    """Read a tolerance from `ASPECT=X`; raise `UsageError` that shows what is wrong with it, and in which source."""
    name, equals, amount = text.rpartition("=")
    if not equals:
        raise UsageError(f"{source} {text}: {FORM}")
    return allow(name, amount, source)


def allow(name: str, amount: str | float, source: str = "--max-drop") -> Tolerance:
    """Make a tolerance of the two parts of `ASPECT=X`; raise `UsageError` that shows what is wrong with them."""
    metric, judge = _named(name.strip(), source)
    drop = _amount(metric, amount)
    if drop is None or not 0 <= drop < math.inf or drop > metric.bounds[1]:
        raise UsageError(f"{source} {name}={amount}: {_takes(metric)}")
    return Tolerance(metric.key, drop, judge, explicit=True)


def merged(*layers: Iterable[Tolerance]) -> tuple[Tolerance, ...]:
    """Merge layers of tolerances: later ones go before earlier ones, and none takes away what is always checked.

    Raises `UsageError` if one layer allows two different drops of the same.
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
        raise UsageError(f"{source} {name}: no aspect of that name is checked", meant(word, CHECKED))
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
MAX_ERRORED = 0.05
_EXACT = 1e-9
_UNTOLD = ("held", "too few")
"""Of how many calls an aspect was measured is a line only where these are fewer."""
_PLACE = {aspect: place for place, aspect in enumerate(CHECKED)}


def decide(
    comparison: Comparison,
    tolerances: Sequence[Tolerance] = DEFAULTS,
    *,
    min_n: int = MIN_N,
    strict: bool = False,
    max_errored: float = MAX_ERRORED,
) -> Decision:
    """Decide on the candidate, which is B, against the baseline, which is A.

    The p-values are corrected again, over the rows that are checked here and have `min_n` calls on both sides, and
    again over the flows; checks of errored calls, and of how much was measured, among themselves. Raises `UsageError`
    if there is nothing to check, or not what was asked for.
    """
    rows = list(_rows(comparison, tolerances))
    errored = _settled(_errored_checks(comparison, max_errored, min_n))
    if not any(check.status == "failed" for check in errored):
        _refuse_nothing(comparison, rows)
        _refuse_unmeasured(tolerances, rows, comparison)
    checks = [
        *_with_smallest_falls(_settled(_check(difference, tolerance, min_n) for difference, tolerance in rows), rows),
        *errored,
        *(check for check in _settled(_measured_checks(comparison, rows, min_n)) if check.status not in _UNTOLD),
    ]
    measured = {tolerance.aspect for _, tolerance in rows}
    return Decision(
        baseline=comparison.a.name,
        candidate=comparison.b.name,
        min_n=min_n,
        checks=by_gravity(checks),
        missing=tuple(MissingFlow(flow, comparison.errored_b.get(flow, 0)) for flow in sorted(comparison.only_in_a)),
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


def _rows(comparison: Comparison, tolerances: Sequence[Tolerance]) -> Iterable[tuple[Difference, Tolerance]]:
    """Yield the differences that are checked, each with what is allowed of it."""
    for difference in comparison.differences:
        metric = metric_of(difference.aspect)
        if (difference.judge is not None) != (metric is not None and metric.kind == "judged"):
            continue
        found = tolerance_of(tolerances, difference.aspect, difference.judge)
        if found is not None:
            yield difference, found


def tolerance_of(tolerances: Iterable[Tolerance], aspect: str, judge: str | None) -> Tolerance | None:
    """Return what is allowed of an aspect: what names its judge goes first."""
    known = {(tolerance.aspect, tolerance.judge): tolerance for tolerance in tolerances}
    # Without the version of its prompt.
    bare = None if judge is None else judge.rpartition("#")[0] or judge
    return known.get((aspect, judge)) or known.get((aspect, bare)) or known.get((aspect, None))


class _Tested(NamedTuple):
    """Describe a check that is not settled, and the p of no difference at all."""

    check: Check
    p: float | None


def _check(difference: Difference, tolerance: Tolerance, min_n: int) -> _Tested:
    enough = difference.p is not None and min(difference.a.n, difference.b.n) >= min_n
    check = Check(
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
        p=difference.p if difference.p_beyond is None else difference.p_beyond,
    )
    return _Tested(check, difference.p)


def _errored_checks(comparison: Comparison, allowed: float, min_n: int) -> Iterator[_Tested]:
    """Yield a check of the errored calls of each flow that both called, where any call errored."""
    of_sides = []
    for counted, only, errored in (
        ({each.flow: each.n_a for each in comparison.flows}, comparison.only_in_a, comparison.errored_a),
        ({each.flow: each.n_b for each in comparison.flows}, comparison.only_in_b, comparison.errored_b),
    ):
        n = {**counted, **only}
        flows = n.keys() | errored.keys()
        of_sides.append({flow: (errored.get(flow, 0), n.get(flow, 0) + errored.get(flow, 0)) for flow in flows})
    first, second = of_sides
    for flow in sorted(first.keys() & second.keys()):
        if first[flow][0] or second[flow][0]:
            yield _of_calls("errored", "errored", flow, first[flow], second[flow], allowed, min_n)


def _measured_checks(
    comparison: Comparison, rows: Iterable[tuple[Difference, Tolerance]], min_n: int
) -> Iterator[_Tested]:
    """Yield a check of how many calls each aspect was not measured of, but for events, which need not happen."""
    calls = {each.flow: each for each in comparison.flows}
    for row, _ in rows:
        if row.events_a is None:
            n, m = calls[row.flow].n_a, calls[row.flow].n_b
            a, b = (n - row.a.n - row.alone_a, n), (m - row.b.n - row.alone_b, m)
            yield _of_calls("measured", row.aspect, row.flow, a, b, 0.0, min_n, row.judge)


def _of_calls(
    kind: CheckKind,
    aspect: str,
    flow: str,
    first: Counts,
    second: Counts,
    allowed: float,
    min_n: int,
    judge: str | None = None,
) -> _Tested:
    """Return a check of shares of calls, each given as so many of all, of which fewer are better."""
    from riff_store.statistics.intervals import unpaired_rates
    from riff_store.statistics.significance import fisher

    (a, n), (b, m) = first, second
    p = fisher(a, n, b, m)
    check = Check(
        flow=flow, aspect=aspect, judge=judge, better="lower", baseline=a / n, candidate=b / m,
        n_baseline=n, n_candidate=m, allowed=allowed, status="held" if min(n, m) >= min_n else "too few",
        kind=kind, change=b / m - a / n, interval=unpaired_rates(a, n, b, m), test="Fisher", p=p,
    )  # fmt: skip
    return _Tested(check, p)


def _settled(family: Iterable[_Tested]) -> list[Check]:
    """Return checks of one kind as they are, corrected among themselves."""
    tested = list(family)
    decided = [(check, check.p or 0.0, p or 0.0) for check, p in tested if check.status != "too few"]
    beyond = _corrected([(check, p) for check, p, _ in decided], 1)
    at_all = _corrected([(check, p) for check, _, p in decided], 1)
    rises = _corrected([(check, p) for check, _, p in decided], -1)
    settled = map(_as_it_stands, (check for check, _, _ in decided), beyond, at_all, rises)
    return [check if check.status == "too few" else next(settled) for check, _ in tested]


def _as_it_stands(check: Check, beyond: _Corrected, at_all: _Corrected, rise: _Corrected) -> Check:
    fall = check.fall or 0.0
    status: CheckStatus = "held" if fall <= _EXACT else "noise"
    if fall > check.allowed + _EXACT and beyond.is_sure:
        status = "failed"
    elif fall > _EXACT and at_all.is_sure:
        status = "allowed"
    recovered = fall < -_EXACT and rise.is_sure
    return check._replace(p_adjusted=beyond.p, p_flow=beyond.p_flow, status=status, recovered=recovered)


class _Corrected(NamedTuple):
    """Describe a p that is corrected over checks, and that of its flow, corrected over flows."""

    p: float
    p_flow: float

    @property
    def is_sure(self) -> bool:
        return max(self) <= SIGNIFICANT


def _corrected(tested: Sequence[tuple[Check, float]], sign: int) -> list[_Corrected]:
    """Correct the p of each check; `p_flow` is that of all falls of its flow, or for -1 of its rises.

    A flow that fell much lets the correction over checks take more of the others for real; this one does not.
    """
    from riff_store.statistics.significance import benjamini_hochberg, holm, simes

    of_flows: dict[str, list[float]] = {}
    for check, p in tested:
        of_flows.setdefault(check.flow, []).append(p if sign * (check.fall or 0.0) > _EXACT else 1.0)
    flows = dict(zip(of_flows, holm([simes(ps) for ps in of_flows.values()]), strict=True))
    adjusted = benjamini_hochberg([p for _, p in tested])
    return [_Corrected(p, flows[check.flow]) for (check, _), p in zip(tested, adjusted, strict=True)]


def _with_smallest_falls(checks: Sequence[Check], rows: Iterable[tuple[Difference, Tolerance]]) -> Iterator[Check]:
    """Yield checks with the smallest fall that would have been seen, were it the only one."""
    decided = sum(check.status != "too few" for check in checks)
    for check, (difference, _) in zip(checks, rows, strict=True):
        seen = check.status != "too few"
        yield check._replace(smallest_fall=_smallest_fall(difference, check.allowed, decided)) if seen else check


def _smallest_fall(row: Difference, allowed: float, checks: int) -> float | None:
    from riff_store.statistics import power

    chance, n, m = SIGNIFICANT / checks, row.a.n, row.b.n
    if not row.rate:
        least = 2.0 ** (1 - n) if row.pairs is not None else 2 / math.comb(min(n + m, 1_000), min(n, m, 500))
        # Of calls that are all alike nothing shows how much they may differ.
        return power.of_means(row.error, min(n, m), least, chance, allowed) if row.error else None
    metric = metric_of(row.aspect)
    scale = 1.0 if metric is None else metric.bounds[1]
    before = (row.a.mean or 0.0) / scale
    if row.pairs is None:
        found = power.of_unpaired_rates(n, m, before, chance, allowed / scale)
    else:
        differ = ((row.only_a or 0) + (row.only_b or 0)) / n
        found = power.of_paired_rates(n, differ, before, chance, allowed / scale)
    return None if found is None else found * scale


def by_gravity(checks: Iterable[Check]) -> tuple[Check, ...]:
    """Return checks with the gravest first."""
    return tuple(sorted(checks, key=_gravity))


def _gravity(check: Check) -> tuple[int, float, float, str, int, str, str]:
    metric = metric_of(check.aspect) if check.kind == "aspect" else None
    scale = 1.0 if check.kind != "aspect" else math.inf if metric is None else metric.bounds[1]
    return (
        GRAVEST_FIRST.index(check.status),
        1.0 if check.p_adjusted is None else check.p_adjusted,
        -round((check.fall or 0.0) / scale, 9),
        check.flow,
        _PLACE.get(check.aspect, len(_PLACE)),
        check.judge or "",
        check.kind,
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
    measured = {tolerance.name for difference, tolerance in rows if difference.a.n}
    if any(tolerance.judge is not None for _, tolerance in rows):
        measured.add("humanness")  # what goes for every judge counts for none if each has its own
    for tolerance in tolerances:
        if tolerance.explicit and tolerance.name not in measured:
            judges = sorted({row.judge for row in comparison.differences if row.judge is not None})
            known = f"; there are {', '.join(judges)}" if tolerance.judge and judges else ""
            raise UsageError(f"--max-drop {tolerance.name}: not measured in any flow that both called{known}")


VARIABLE = "RIFF_TUI_GATE_MAX_DROP"
_KEYS = ("max_drop", "max_errored", "min_coverage", "min_n")


@dataclass(frozen=True, slots=True)
class Rules:
    """Describe what is checked with its tolerance, the calls that a check takes, and whether the gate is strict.

    `max_errored` is by how much the share of errored calls may rise, `min_coverage` how much of the items of a flow has
    to be touched, by kind. Calls in `quarantine` are in no check.
    """

    tolerances: tuple[Tolerance, ...]
    min_n: int = MIN_N
    strict: bool = False
    max_errored: float = MAX_ERRORED
    min_coverage: Floors = field(default_factory=dict)
    quarantine: Quarantine = field(default_factory=Quarantine)

    def allowed(self, aspect: str, judge: str | None) -> float:
        """Return how far an aspect, by a judge, may fall."""
        found = tolerance_of(self.tolerances, aspect, judge)
        return 0.0 if found is None else found.drop


def configured(
    max_drop: Sequence[str],
    min_n: int | None = None,
    *,
    strict: bool = False,
    max_errored: str | None = None,
    min_coverage: Sequence[str] = (),
    environ: Mapping[str, str] | None = None,
) -> Rules:
    """Return the rules of this run; `max_drop`, `min_n` and so on are the flags. Raise `UsageError` for nonsense."""
    environ = os.environ if environ is None else environ
    table = settings.gate(environ)
    unknown = [key for key in table if key not in _KEYS]
    if unknown:
        raise UsageError(f"{_file(environ)}: [gate] has no key {unknown[0]!r}", meant(unknown[0], _KEYS))
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
    errored = (max_errored, "--max-errored")
    if max_errored is None:
        errored = (table.get("max_errored", MAX_ERRORED), f"{_file(environ)}: gate.max_errored")
    least = floors.read(min_coverage, table.get("min_coverage", {}), _file(environ))
    return Rules(tolerances, min_n, strict, share(*errored), least)


def _from_file(table: Any, environ: Mapping[str, str]) -> Iterator[Tolerance]:
    if not isinstance(table, dict):
        raise UsageError(f"{_file(environ)}: gate.max_drop must be a table, such as [gate.max_drop]")
    for name, amount in table.items():
        if isinstance(amount, bool) or not isinstance(amount, str | int | float):
            raise UsageError(f"{_file(environ)}: gate.max_drop.{name} must be a number, or text such as '5%'")
        yield allow(name, amount, f"{_file(environ)}: gate.max_drop")


def _file(environ: Mapping[str, str]) -> str:
    return f"settings file {settings.config_file(environ)}"
