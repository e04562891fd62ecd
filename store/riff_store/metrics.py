"""List every metric once: its names, unit, direction and bounds, and where its value comes from.

Filters, columns, comparisons, the gate and docs/metrics.md are made from this list. A distribution adds an aspect of
its own through the entry point group `riff_tui.metrics`, whose value is a `Metric` that shows what to `compute`.
"""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from importlib import import_module
from typing import Any, Literal, NamedTuple, TypeAlias

from riff_store.plugins import load_plugins

MetricKind: TypeAlias = Literal["call", "judged", "state", "row"]
Direction: TypeAlias = Literal["higher", "lower"]
SHARE = (0.0, 1.0)
"""The ends of the scale of a share."""
TEN = (0.0, 10.0)
"""The ends of the scale of scores."""
LARGEST = 1e5
"""The largest value of a call, either way: the store sums whole billionths."""


class Pooled(NamedTuple):
    """Name the sums (`riff_store.interaction`) that a figure over the events of all calls together is the ratio of.

    The `part` is divided by the `whole`, which counts events.
    """

    part: str
    whole: tuple[str, ...]


class Metric(NamedTuple):
    """Describe a metric: an aspect of calls, computed or `judged`, a metric of a `state`, or a figure of a `row`.

    `key` is its name in filters and data, `aliases` represent it in filters, `title` heads its column and `short` does
    if there is little room. `help` is its line of the glossary, `definition` that of docs/metrics.md, in Markdown.
    `bounds` are the ends of its scale in its `unit`; `better` is `None` if neither way is the good one.

    A rate counts the calls whose aspect `rate_of` is at the top of its scale. `of_call` names what the store keeps of
    each call for a figure that is not an aspect, so that it can be compared; a figure that is `pooled` is not a mean
    over calls but over events, which come several in a call, and so is one `of_turns`, which names the figure of a call
    that is next to it: a gate that names it asks for it alone, since it is made of transcripts. What is `optional` has
    a column only where some call has it. What is not `compared` is left out of comparisons unless asked for; what is
    not `pasted` has no place in the tables that people paste; what is `gated` is checked by every gate. `compute` names
    the function, `module:function`, from a `Conversation` to a value or `None`, or from the `MetricContext` of a voice
    call where it is `of_voice`; with another `version` of it, files are read again.
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
    of_turns: str = ""
    compute: str = ""
    of_voice: bool = False
    version: int = 1

    @property
    def is_aspect(self) -> bool:
        """Return whether each call has a value of it, from ingest or from a judge."""
        return self.kind in ("call", "judged")

    def holds(self, value: float) -> bool:
        """Return whether a value is on the scale, and within what can be summed."""
        low, high = self.bounds
        return max(low, -LARGEST) <= value <= min(high, LARGEST)

    @property
    def is_rate(self) -> bool:
        """Return whether it is a share of calls, or of events, that came out well."""
        return bool(self.rate_of) or (self.pooled is not None and self.unit == "share")

    @property
    def can_be_gated(self) -> bool:
        """Return whether a fall of it differs from a rise, call by call."""
        of_several = self.pooled is not None or bool(self.of_turns)
        return self.better is not None and (self.is_aspect or bool(self.of_call) or of_several)


# List the metrics of voice calls that EVA defines and that need no judge (docs/eva.md, section 10).
_OF_VOICE: dict[str, Any] = {"shown": False, "optional": True, "decimals": 2}
_VOICE_SCORE: dict[str, Any] = {"unit": "0-1", "bounds": SHARE, **_OF_VOICE}
_VOICE_SHARES: dict[str, Any] = {"unit": "share", "bounds": SHARE, **_OF_VOICE}


def _yes_or_no(key: str, title: str, help: str, definition: str, *aliases: str) -> Metric:
    """Return a metric that is 1 or 0 for a call."""
    return Metric(key, title, help, definition=definition, aliases=aliases, rate_of=key, **_VOICE_SHARES)


VOICE_METRICS: tuple[Metric, ...] = (
    _yes_or_no(
        "task_completion", "task_done",
        "Share of voice calls that left the scenario's database as it should be.",
        "1 if the final database and its session are as expected, else 0",
    ),
    Metric(
        "turn_taking", "turn_taking", **_VOICE_SCORE,
        help="How well the agent timed its turns: neither late, nor barging in, nor slow to yield.",
        definition="mean over turns of how well the agent was timed; 0 if it left the caller waiting for ever",
    ),
    Metric(
        "response_speed", "resp_speed", short="resp", unit="s", better="lower", **_OF_VOICE,
        help="Seconds from the caller's last sound to the agent's first, barge-ins left out.",
        definition="mean of the seconds from the caller's last sound to the agent's first, of those above 0",
    ),
    Metric(
        "tool_call_validity", "tool_valid", short="tools", aliases=("tool_validity",), **_VOICE_SHARES,
        help="Share of the agent's tool calls that were well formed; 1 where it made none.",
        definition="responses of tools that report neither a bad call nor bad parameters ÷ responses",
    ),
    Metric(
        "stt_wer", "stt_wer", short="wer", unit="share", better="lower", aliases=("wer",), **_OF_VOICE,
        help="Word error rate of the agent's speech recognition: wrong words for each word that the caller was to say.",
        definition="words transcribed wrong ÷ words that the caller was to say; above 1 if many were added",
    ),
    _yes_or_no(
        "authentication_success", "auth",
        "Share of voice calls in which the caller was authenticated as the task asks.",
        "1 if the final session has all that is expected, else 0",
        "authentication",
    ),
    _yes_or_no(
        "conversation_correctly_finished", "answered",
        "Share of voice calls in which the agent did not leave the caller waiting for ever.",
        "0 if the call ended of inactivity after the caller had spoken, else 1",
        "correctly_finished",
    ),
    _yes_or_no(
        "conversation_completed_on_time", "on_time",
        "Share of voice calls that ended before their time limit.",
        "0 if the call ended because it took too long, else 1",
        "on_time",
    ),
    _yes_or_no(
        "conversation_valid_end", "valid_end",
        "Share of voice calls that ended by the simulated caller's goodbye, or because the agent fell silent.",
        "1 if the simulator's log ends with a goodbye, or if the agent left the caller waiting, else 0",
        "conversation_finished", "valid_end",
    ),
)  # fmt: skip

# List the metrics of how the sides of voice calls shared the line: tau3-bench's interaction metrics, panel 1.0.
#
# Windows and events are those of docs/metrics.md, section 16.
_POOLED: dict[str, Any] = {"kind": "row", "shown": False, "optional": True, "decimals": 2}
_POOLED_SECONDS: dict[str, Any] = {"unit": "s", "better": "lower", **_POOLED}
_POOLED_SHARES: dict[str, Any] = {"unit": "share", "bounds": SHARE, **_POOLED}


def _selectivity(kind: str, title: str, alias: str, sound: str) -> Metric:
    """Return the metric of one kind of sounds that ask for no answer."""
    correct = f"{kind}_correct"
    return Metric(
        f"selectivity_{kind}", title, aliases=(alias,), pooled=Pooled(correct, (correct, f"{kind}_error")),
        **_POOLED_SHARES,
        help=f"Share of callers' {sound} at which the agent neither stopped nor answered.",
        definition=f"{sound} at which the agent neither stopped nor answered ÷ {sound}; pooled",
    )  # fmt: skip


INTERACTION_METRICS: tuple[Metric, ...] = (
    Metric(
        "response_latency_mean", "resp_lat", aliases=("l_r",),
        pooled=Pooled("response_latency", ("response",)), **_POOLED_SECONDS,
        help="Seconds from the end of a caller's turn to the agent's answer, over all turns that got one.",
        definition="seconds from the end of a caller's turn to the agent's next word, over turns answered before the "
        "caller's next; pooled",
    ),
    Metric(
        "yield_latency_mean", "yield_lat", aliases=("l_y",),
        pooled=Pooled("yield_latency", ("yielded",)), **_POOLED_SECONDS,
        help="Seconds that the agent talked on before it yielded to a caller who interrupted, if it did.",
        definition="seconds from a caller's interruption to the agent's silence, over interruptions to which it "
        "yielded; pooled",
    ),
    Metric(
        "response_rate", "resp_rate", aliases=("r_r",),
        pooled=Pooled("response", ("response", "no_response")), **_POOLED_SHARES,
        help="Share of callers' turns that the agent answered before the caller spoke again.",
        definition="callers' turns answered before the caller's next ÷ callers' turns to be answered; pooled",
    ),
    Metric(
        "yield_rate", "yield_rate", short="yields", aliases=("r_y",),
        pooled=Pooled("yielded", ("yielded", "no_yield")), **_POOLED_SHARES,
        help="Share of the times when a caller interrupted at which the agent yielded within 2 seconds.",
        definition="interruptions to which the agent yielded within 2 s ÷ interruptions by callers; pooled",
    ),
    Metric(
        "agent_interruption_rate", "interrupts", short="intr", aliases=("i_a",),
        unit="interruptions per turn", better="lower",
        pooled=Pooled("agent_interruptions", ("response", "no_response")), **_POOLED,
        help="How often the agent began while the caller spoke, for each turn of a caller; may exceed 1.",
        definition="times the agent began while the caller spoke ÷ callers' turns to be answered; may exceed 1; "
        "pooled",
    ),
    _selectivity("backchannel", "sel_back", "s_bc", "backchannels"),
    _selectivity("vocal_tic", "sel_tic", "s_vt", "vocal tics"),
    _selectivity("non_directed", "sel_other", "s_nd", "words to others"),
)  # fmt: skip

__all__ = [
    "METRICS", "Direction", "Metric", "MetricKind", "is_optional", "metric_of", "plugins", "to_compute", "unit_of"
]  # fmt: skip

GROUP = "riff_tui.metrics"
_KEY = re.compile(r"[a-z][a-z0-9_]*")


METRICS: tuple[Metric, ...] = (
    Metric(
        "operability", "operability", kind="row", bounds=TEN, short="oper", aliases=("oper",), compared=False,
        strong=True, strong_title=True,
        help="Could this be put in front of callers: the weighted blend of what is measured, capped by correctness.",
        definition="the weighted mean of section 5, with its caps",
    ),
    Metric(
        "success_rate", "success", kind="row", unit="share", bounds=SHARE, rate_of="success", of_call="success",
        short="succ", gated=True,
        help="Share of calls that were correct and complete: the task was done and the flow ran to its own end.",
        definition="correct and complete calls ÷ calls of which that is known (section 5)",
    ),
    Metric(
        "quality", "quality", kind="row", bounds=TEN, short="qual", of_call="quality",
        help="Operability of each call by itself, averaged: it does not depend on how many calls were made.",
        definition="operability of one call by itself; of a group, the mean over its calls (section 5)",
    ),
    Metric(
        "blend", "blend", kind="row", bounds=TEN, compared=False, shown=False,
        help="What operability would be without its caps.",
        definition="the weighted mean of section 5, before its caps",
    ),
    Metric(
        "correctness", "correctness", bounds=TEN, short="corr", aliases=("corr",),
        help="Reached a success terminal, with its slots filled and a status on contract.",
        definition="10 × success terminal reached (0 or 1) × share of required and completion slots filled × final "
        "status allowed (0 or 1) × share of deeds done. A part that the contract leaves open counts as 1. Not "
        "measured without a contract. If the source knows whether the task was done (EVA), 10 or 0",
    ),
    Metric(
        "completion", "completion", bounds=TEN, short="comp", aliases=("comp",), rate_of="completion", gated=True,
        help="10 where the flow ran to its own end, 0 where the call was cut or given up.",
        definition="10 if flagged completed and stopped at a terminal, else 0. Not measured if the word for its end "
        "is unknown, unless flagged not completed",
    ),
    Metric(
        "errors", "errors", bounds=TEN, short="errs", aliases=("errs",), gated=True,
        help="10 without errors; 2.5 less for each error, unsafe stop, loop or turn limit.",
        definition="10 − 2.5 for each error and for a stop by `unsafe`, `max_turns` or `loop`; at least 0",
    ),
    Metric(
        "latency_p95", "lat_p95", unit="s", better="lower", short="p95", aliases=("lat_p95", "latency", "p95"),
        help="95th percentile of the agent's turn latencies in a call, averaged over calls.",
        definition="95th percentile of the seconds per agent turn of a call",
    ),
    Metric(
        "latency_mean", "lat_mean", short="mean", unit="s", better="lower", shown=False, compared=False,
        help="Mean of the agent's turn latencies in a call, averaged over calls.",
        definition="mean of the seconds per agent turn of a call",
    ),
    Metric(
        "slow", "slow", unit="share", better="lower", bounds=SHARE, shown=False, pasted=False, compared=False,
        help="Share of the agent's turns in a call that took more than 4 s, averaged over calls.",
        definition="agent turns slower than 4 s ÷ agent turns with a latency",
    ),
    Metric(
        "latency_tail", "lat_tail", kind="row", unit="s", better="lower", short="tail", shown=False, pasted=False,
        optional=True, compared=False, of_turns="latency_p95",
        help="95th percentile of the latencies of all turns of all calls together, which a few slow turns move.",
        definition="95th percentile of the seconds per agent turn, over all turns of all calls; a gate that names it "
        "reads transcripts",
    ),
    Metric(
        "turn_count", "turn_count", unit="turns", better=None, short="turns", aliases=("turns",),
        help="Agent turns in a call.",
        definition="agent turns",
    ),
    Metric(
        "humanness", "humanness", kind="judged", bounds=TEN, short="hum", aliases=("hum",),
        help="How natural and warm the agent was, as {judge} judged it.",
        definition="by a judge: natural, warm, not robotic or repetitive; one column for each judge and each version "
        "of its prompt",
    ),
    Metric(
        "progress", "progress", kind="state", unit="share", bounds=SHARE, decimals=2, trim=True, short="prog",
        aliases=("prog",),
        help="Share of calls that left the state forwards at least once.",
        definition="1 if a visit led to another state that is not an escalation",
    ),
    Metric(
        "stall", "stall", kind="state", unit="share", better="lower", bounds=SHARE, decimals=2, trim=True,
        strong=True,
        help="Share of calls that ended here, neither completed nor handed over.",
        definition="1 for the working state entered last, if the call neither completed nor escalated (rules below)",
    ),
    Metric(
        "lost", "lost", kind="state", unit="calls", better="lower", decimals=0, strong=True, pasted=False,
        shown=False,
        help="Failed calls that ended here: they stalled, or went to a human from here.",
        definition="1 if the call failed and ended here: it stalled here, or went to a human from here. A cell shows "
        "the number of calls",
    ),
    Metric(
        "escalation", "escal", kind="state", unit="share", better="lower", bounds=SHARE, decimals=2, trim=True,
        short="esc", aliases=("escal",),
        help="Share of calls that left the state for a human.",
        definition="1 if a visit led to an escalation terminal, also as the final state of the call",
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
        "slot_fill_rate", "slot_fill", short="slots", kind="state", unit="share", bounds=SHARE, aliases=("slot_fill",),
        help="Required slots that this state filled; low with healthy progress means that the caller said it earlier.",
        definition="required slots that this state filled ÷ slots that it requires; not measured if it requires none",
    ),
    Metric(
        "slow", "slow", kind="state", unit="share", better="lower", bounds=SHARE, decimals=2, trim=True, pasted=False,
        help="Share of the agent's turns in the state that took more than 4 s, averaged over calls.",
        definition="agent turns slower than 4 s ÷ agent turns with a latency; not measured in a typed flow (below)",
    ),
    Metric(
        "agent_cost", "agent_cost", unit="USD", better="lower", short="cost", aliases=("cost",), decimals=4,
        shown=False, optional=True,
        help="US dollars that the models of the agent cost in a call.",
        definition="US dollars that the models of the agent cost, as the source reports; not measured without a "
        "price",
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
OF_TURNS = {metric.key: metric for metric in METRICS if metric.of_turns}
"""The figures over all turns of all calls together."""
RATES = {metric.key: metric.bounds[1] for metric in METRICS if metric.rate_of == metric.key}
"""The aspects that are rates in themselves, each with the value of a call that counts."""


class Plugins(NamedTuple):
    """Describe the aspects that other distributions add, by key, and a sentence on each plug-in that is left out."""

    metrics: Mapping[str, Metric]
    problems: tuple[str, ...] = ()


@lru_cache(maxsize=1)
def plugins() -> Plugins:
    """Find the aspects of other distributions, once in a process; a plug-in that cannot be used is left out."""
    found, problems = load_plugins(GROUP, "metric", Metric, _refusal)
    return Plugins({metric.key: metric for metric in found.values()}, tuple(problems))


def metric_of(key: str) -> Metric | None:
    """Return the metric of calls of that key, `None` if there is none; other distributions are asked last."""
    return OF_CALLS.get(key) or plugins().metrics.get(key)


def is_optional(key: str) -> bool:
    """Return whether an aspect has a column only where some call has it."""
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
        return "it is not an aspect of calls that names what to compute"
    if not _KEY.fullmatch(metric.key) or metric.key in {*OF_CALLS, *OF_STATES, *(other.key for other in others)}:
        return f"the key {metric.key} is taken or no plain name"
    module, _, name = metric.compute.partition(":")
    try:
        getattr(import_module(module), name)
    except Exception as error:  # foreign code may raise anything
        return f"{metric.compute} fails with {type(error).__name__}"
    return ""
