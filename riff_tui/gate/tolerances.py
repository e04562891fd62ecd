"""What a gate checks of each flow, and how much worse each of it may get: `completion=5%`, `humanness:codex=0.5`."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from riff_store.vocabulary import ALIASES
from riff_tui.errors import UsageError

SCALES: Mapping[str, float] = {
    "success_rate": 1.0, "correctness": 10.0, "completion": 10.0, "errors": 10.0, "latency_p95": math.inf,
    "latency_mean": math.inf, "humanness": 10.0,
}  # fmt: skip
"""What can be checked, with the length of its scale in its own unit."""
RATES = frozenset({"success_rate", "completion"})
ALWAYS = ("success_rate", "completion", "errors")
_OTHER_NAMES = {"success": "success_rate", "success rate": "success_rate", **ALIASES}
FORM = "it takes ASPECT=X, such as completion=5% or latency_p95=0.5"


@dataclass(frozen=True, slots=True)
class Tolerance:
    """How far an aspect may fall, in its own unit: points, seconds, or a share for `success_rate`.

    A `judge` restricts `humanness` to the judge of that name. One that was `asked` for by name has to
    be measured somewhere.
    """

    aspect: str
    drop: float = 0.0
    judge: str | None = None
    asked: bool = False

    @property
    def name(self) -> str:
        """As it is asked for."""
        return self.aspect if self.judge is None else f"{self.aspect}:{self.judge}"


DEFAULTS = tuple(Tolerance(aspect) for aspect in ALWAYS)


def read(text: str, source: str = "--max-drop") -> Tolerance:
    """A tolerance from `ASPECT=X`; raises `UsageError` that says what is wrong with it, and in which source."""
    name, equals, amount = text.rpartition("=")
    if not equals:
        raise UsageError(f"{source} {text}: {FORM}")
    return allow(name, amount, source)


def allow(name: str, amount: str | float, source: str = "--max-drop") -> Tolerance:
    """A tolerance from the two parts of `ASPECT=X`; raises `UsageError` that says what is wrong with them."""
    aspect, judge = _named(name.strip(), source)
    drop = _amount(aspect, amount)
    if drop is None or not 0 <= drop < math.inf or drop > SCALES[aspect]:
        raise UsageError(f"{source} {name}={amount}: {_takes(aspect)}")
    return Tolerance(aspect, drop, judge, asked=True)


def merged(*layers: Iterable[Tolerance]) -> tuple[Tolerance, ...]:
    """What is checked: later layers go before earlier ones, and none takes away what is always checked.

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


def _named(name: str, source: str) -> tuple[str, str | None]:
    lead, colon, judge = name.partition(":")
    aspect = _OTHER_NAMES.get(lead.strip().lower(), lead.strip().lower())
    if aspect not in SCALES:
        raise UsageError(f"{source} {name}: no aspect of that name is checked; there are {', '.join(SCALES)}")
    if colon and aspect != "humanness":
        raise UsageError(f"{source} {name}: only humanness has judges, such as humanness:codex=0.5")
    if colon and not judge.strip():
        raise UsageError(f"{source} {name}: a judge's name belongs behind the colon")
    return aspect, judge.strip() if colon else None


def _amount(aspect: str, amount: str | float) -> float | None:
    text = str(amount).strip()
    percent = text.endswith("%")
    if percent and aspect not in RATES:
        return None
    try:
        value = float(text.removesuffix("%"))
    except ValueError:
        return None
    return value * SCALES[aspect] / 100 if percent else value


def _takes(aspect: str) -> str:
    if aspect == "success_rate":
        return "it takes a share from 0 to 1, such as 0.05 or 5%"
    if aspect.startswith("latency"):
        return "it takes seconds, such as 0.5"
    return "it takes points from 0 to 10, such as 0.5" + (", or percent such as 5%" if aspect in RATES else "")
