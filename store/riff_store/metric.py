"""Describe what a metric is."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

MetricKind: TypeAlias = Literal["call", "judged", "state", "row"]
Direction: TypeAlias = Literal["higher", "lower"]
SHARE = (0.0, 1.0)
"""The ends of the scale of a share."""
LARGEST = 1e5
"""The largest value of a call, either way: the store sums whole billionths."""


class Pooled(NamedTuple):
    """Name the sums (`riff_store.interaction`) that a figure over the events of all calls together is the ratio of.

    The `part` is divided by the `whole`, which counts events.
    """

    part: str
    whole: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Metric:
    """Describe a metric: an aspect of calls, computed or `judged`, a metric of a `state`, or a figure of a `row`.

    `key` is its name in filters and data, `aliases` stand for it in filters, `title` heads its column and `short`
    does where there is little room. `help` is its line of the glossary, `definition` that of docs/metrics.md, in
    Markdown. `bounds` are the ends of its scale in its `unit`; `better` is `None` where neither way is the good one.

    A rate counts the calls whose aspect `rate_of` is at the top of its scale. `of_call` names what the store keeps of
    each call for a figure that is no aspect, so that it can be compared; a figure that is `pooled` is no mean over
    calls but over events, which come several in a call. What is `optional` has a column only where some call has it.
    What is not `compared` is left out of comparisons unless asked for; what is not `pasted` has no place in the tables
    that people paste; what is `gated` is checked by every gate. `compute` names the function, `module:function`, from a
    `Conversation` to a value or `None`, or from the `MetricContext` of a voice call where it is `of_voice`; with
    another `version` of it, files are read again.
    """

    key: str
    title: str
    help: str
    kind: MetricKind = "call"
    unit: str = "0-10"
    better: Direction | None = "higher"
    bounds: tuple[float, float] = (0.0, math.inf)
    short: str = ""
    aliases: tuple[str, ...] = ()
    definition: str = ""
    decimals: int = 1
    trim: bool = False
    strong: bool = False
    strong_title: bool = False
    shown: bool = True
    optional: bool = False
    pasted: bool = True
    compared: bool = True
    gated: bool = False
    rate_of: str = ""
    of_call: str = ""
    pooled: Pooled | None = None
    compute: str = ""
    of_voice: bool = False
    version: int = 1

    @property
    def is_aspect(self) -> bool:
        """Say whether each call has a value of it, from ingest or from a judge."""
        return self.kind in ("call", "judged")

    def holds(self, value: float) -> bool:
        """Say whether a value lies on the scale, and within what can be summed."""
        low, high = self.bounds
        return max(low, -LARGEST) <= value <= min(high, LARGEST)

    @property
    def is_rate(self) -> bool:
        """Say whether it is a share of calls, or of events, that came out well."""
        return bool(self.rate_of) or (self.pooled is not None and self.unit == "share")

    @property
    def can_be_gated(self) -> bool:
        """Say whether a fall of it can be told from a rise, call by call."""
        return self.better is not None and (self.is_aspect or bool(self.of_call) or self.pooled is not None)
