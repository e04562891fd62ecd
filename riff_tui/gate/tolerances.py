"""Read how much worse an aspect of a flow may get: `completion=5%`, `humanness:codex=0.5`."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from riff_store.metrics import OF_CALLS, Metric, metric_of
from riff_store.vocabulary import ALIASES, aspect_named
from riff_tui.errors import UsageError

CHECKED = tuple(metric.key for metric in OF_CALLS.values() if metric.can_be_gated)
"""The aspects that can be checked; other distributions may add some."""
ALWAYS = tuple(metric.key for metric in OF_CALLS.values() if metric.gated)
_OTHER_NAMES = {"success": "success_rate", "success rate": "success_rate", **ALIASES}
FORM = "it takes ASPECT=X, such as completion=5% or latency_p95=0.5"


@dataclass(frozen=True, slots=True)
class Tolerance:
    """Hold how far an aspect may fall, in its own unit: points, seconds, or a share for `success_rate`.

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
    if percent and not metric.is_rate:
        return None
    try:
        value = float(text.removesuffix("%"))
    except ValueError:
        return None
    return value * metric.bounds[1] / 100 if percent else value


def _takes(metric: Metric) -> str:
    if metric.unit == "share":
        return "it takes a share from 0 to 1, such as 0.05" + (" or 5%" if metric.is_rate else "")
    if metric.unit == "0-1":
        return "it takes points from 0 to 1, such as 0.05"
    if metric.unit != "0-10":
        return f"it takes {'seconds' if metric.unit == 's' else metric.unit}, such as 0.5"
    return "it takes points from 0 to 10, such as 0.5" + (", or percent such as 5%" if metric.rate_of else "")
