"""List every metric once: its names, unit, direction and bounds, and where its value comes from.

Filters, columns, comparisons, the gate and docs/metrics.md are made from this list. A distribution adds an aspect
of its own through the entry point group `riff_tui.metrics`, whose value is a `Metric` that says what to `compute`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from importlib import import_module
from typing import NamedTuple

from riff_store.interaction_metrics import INTERACTION_METRICS
from riff_store.metric import SHARE as _SHARE
from riff_store.metric import Direction, Metric, MetricKind
from riff_store.plugins import load_plugins
from riff_store.voice_metrics import VOICE_METRICS

__all__ = [
    "METRICS", "Direction", "Metric", "MetricKind", "is_optional", "metric_of", "plugins", "to_compute", "unit_of"
]  # fmt: skip

GROUP = "riff_tui.metrics"
_KEY = re.compile(r"[a-z][a-z0-9_]*")


_TEN = (0.0, 10.0)

METRICS: tuple[Metric, ...] = (
    Metric(
        "operability", "operability", kind="row", bounds=_TEN, short="oper", aliases=("oper",), compared=False,
        strong=True, strong_title=True,
        help="Could this be put in front of callers: the weighted blend of what is measured, capped by correctness.",
        definition="the blend of section 5",
    ),
    Metric(
        "success_rate", "success", kind="row", unit="share", bounds=_SHARE, rate_of="success", of_call="success",
        short="succ", gated=True,
        help="Share of calls that were correct and complete: the task was done and the flow ran to its own end.",
        definition="share of the calls that are correct and complete: correctness is 10, and so is completion, where "
        "that is measured",
    ),
    Metric(
        "quality", "quality", kind="row", bounds=_TEN, short="qual", of_call="quality",
        help="Operability of each call by itself, averaged: it does not depend on how many calls were made.",
        definition="operability, with its caps, of a call's own correctness, completion, errors and latency_p95 and of "
        "the median of its judges; of a group the mean over its calls",
    ),
    Metric(
        "blend", "blend", kind="row", bounds=_TEN, compared=False, shown=False,
        help="What operability would be without its caps.",
        definition="the weighted mean of section 5 before the caps",
    ),
    Metric(
        "correctness", "correctness", bounds=_TEN, short="corr", aliases=("corr",),
        help="Reached a success terminal, with its slots filled and a status on contract.",
        definition="10 × success terminal reached (0 or 1) × share of required and completion slots filled × final "
        "status allowed (0 or 1). A part that the contract leaves open counts as 1; without a contract correctness is "
        "not measured. Where the source knows whether the task was done (EVA), it is 10 or 0 by that",
    ),
    Metric(
        "completion", "completion", bounds=_TEN, short="comp", aliases=("comp",), rate_of="completion", gated=True,
        help="10 where the flow ran to its own end, 0 where the call was cut or given up.",
        definition="10 if the call is flagged completed and stopped at a terminal, else 0",
    ),
    Metric(
        "errors", "errors", bounds=_TEN, short="errs", aliases=("errs",), gated=True,
        help="10 without errors; 2.5 less for each error, unsafe stop, loop or turn limit.",
        definition="10 − 2.5 for each error and for a stop by `unsafe`, `max_turns` or `loop`; never below 0",
    ),
    Metric(
        "latency_p95", "lat_p95", unit="s", better="lower", short="p95", aliases=("lat_p95", "latency", "p95"),
        help="95th percentile of the agent's turn latencies in a call, averaged over calls.",
        definition="seconds per agent turn over the call, 95th percentile",
    ),
    Metric(
        "latency_mean", "lat_mean", short="mean", unit="s", better="lower", shown=False, compared=False,
        help="Mean of the agent's turn latencies in a call, averaged over calls.",
        definition="seconds per agent turn over the call, mean",
    ),
    Metric(
        "turn_count", "turn_count", unit="turns", better=None, short="turns", aliases=("turns",),
        help="Agent turns in a call.",
        definition="agent turns",
    ),
    Metric(
        "humanness", "humanness", kind="judged", bounds=_TEN, short="hum", aliases=("hum",),
        help="How natural and warm the agent was, as {judge} judged it.",
        definition="by a judge: natural, warm, not robotic or repetitive. Each judge, and each version of its prompt, "
        "apart",
    ),
    Metric(
        "progress", "progress", kind="state", unit="share", bounds=_SHARE, decimals=2, trim=True, short="prog",
        aliases=("prog",),
        help="Share of calls that left the state forwards at least once.",
        definition="1 if a visit led to another state that is no escalation",
    ),
    Metric(
        "stall", "stall", kind="state", unit="share", better="lower", bounds=_SHARE, decimals=2, trim=True,
        strong=True,
        help="Share of calls that ended here, neither completed nor handed over.",
        definition="1 for the working state entered last, if the call neither completed nor escalated. A call that "
        "reached a success terminal is complete whatever its flag says; without a flag, the terminals that the "
        "contract names decide; where neither says anything it is not measured",
    ),
    Metric(
        "lost", "lost", kind="state", unit="calls", better="lower", decimals=0, strong=True, pasted=False,
        help="Calls that ended here without being served: they stalled, or went to a human from here.",
        definition="1 if the call ended here without being served: it stalled here, or its last working state was this "
        "one and it went to a human. A cell shows the number of calls lost",
    ),
    Metric(
        "escalation", "escal", kind="state", unit="share", better="lower", bounds=_SHARE, decimals=2, trim=True,
        short="esc", aliases=("escal",),
        help="Share of calls that left the state for a human.",
        definition="1 if a visit led to an escalation terminal; a final state that is one counts as the exit of the "
        "last visit",
    ),
    Metric(
        "revisit", "revisit", short="rev", kind="state", unit="entries", better="lower", decimals=2, trim=True,
        help="How often a call came back to the state.",
        definition="entries − 1",
    ),
    Metric(
        "dwell_turns", "dwell", kind="state", unit="turns", better="lower", aliases=("dwell",),
        help="Agent turns per entry into the state.",
        definition="agent turns in the state ÷ entries",
    ),
    Metric(
        "latency_p95", "lat_p95(s)", short="p95", kind="state", unit="s", better="lower",
        help="95th percentile of the turn latencies in the state, averaged over calls.",
        definition="95th percentile of its turn latencies, interpolated linearly between the closest ranks",
    ),
    Metric(
        "guard_error", "guard_err", kind="state", unit="errors", better="lower", decimals=2, trim=True, short="guard",
        shown=False,
        help="Transition guards that raised, per call.",
        definition="guards that raised there",
    ),
    Metric(
        "slot_fill_rate", "slot_fill", short="slots", kind="state", unit="share", bounds=_SHARE, aliases=("slot_fill",),
        help="Required slots that this state filled; low with healthy progress means that the caller said it earlier.",
        definition="required slots of the state that were filled by it ÷ required; not measured where it requires none",
    ),
    Metric(
        "agent_cost", "agent_cost", unit="USD", better="lower", short="cost", aliases=("cost",), decimals=4,
        shown=False, optional=True,
        help="US dollars that the models of the agent cost in a call.",
        definition="US dollars that the models of the agent cost, as the source says; not measured without a price",
    ),
    *VOICE_METRICS,
    *INTERACTION_METRICS,
)  # fmt: skip

OF_CALLS = {metric.key: metric for metric in METRICS if metric.kind != "state"}
OF_STATES = {metric.key: metric for metric in METRICS if metric.kind == "state"}
COMPUTED = tuple(metric.key for metric in METRICS if metric.kind == "call")
"""The computed aspects of a call that this distribution knows."""
POOLED = {metric.key: metric.pooled for metric in METRICS if metric.pooled is not None}
"""The figures over events of all calls together, each with its sums."""
RATES = {metric.key: metric.bounds[1] for metric in METRICS if metric.rate_of == metric.key}
"""The aspects that are rates in themselves, each with the value of a call that counts."""


class Plugins(NamedTuple):
    """Hold the aspects that other distributions add, by key, and a sentence on each plug-in that is left out."""

    metrics: Mapping[str, Metric]
    problems: tuple[str, ...] = ()


@lru_cache(maxsize=1)
def plugins() -> Plugins:
    """Find the aspects of other distributions, once in a process; a plug-in that cannot be used is left out."""
    found, problems = load_plugins(GROUP, "metric", Metric, _refusal)
    return Plugins({metric.key: metric for metric in found.values()}, tuple(problems))


def metric_of(key: str) -> Metric | None:
    """Return the metric of calls of that key, `None` where there is none; other distributions are asked last."""
    return OF_CALLS.get(key) or plugins().metrics.get(key)


def is_optional(key: str) -> bool:
    """Say whether an aspect has a column only where some call has it."""
    metric = OF_CALLS.get(key)
    return metric is not None and metric.optional


def unit_of(aspect: str, judge: str | None = None) -> str:
    """Return the unit of an aspect; judges score from 0 to 10 whatever they score."""
    metric = metric_of(aspect) if judge is None else None
    return "0-10" if metric is None else metric.unit


def to_compute() -> Iterator[Metric]:
    """Yield the aspects that name the function which computes them."""
    yield from (metric for metric in METRICS if metric.compute)
    yield from plugins().metrics.values()


def _refusal(metric: Metric, others: Sequence[Metric]) -> str:
    if metric.kind != "call" or ":" not in metric.compute:
        return "it is no aspect of calls that names what to compute"
    if not _KEY.fullmatch(metric.key) or metric.key in {*OF_CALLS, *OF_STATES, *(other.key for other in others)}:
        return f"the key {metric.key} is taken or no plain name"
    module, _, name = metric.compute.partition(":")
    try:
        getattr(import_module(module), name)
    except Exception as error:  # foreign code may raise anything
        return f"{metric.compute} fails with {type(error).__name__}"
    return ""
