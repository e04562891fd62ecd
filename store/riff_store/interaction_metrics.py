"""List the metrics of how the sides of voice calls shared the line: tau3-bench's interaction metrics, panel 1.0.

Windows and events are those of docs/metrics.md, section 16.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from riff_store.metric import SHARE, Metric, Pooled

_POOLED: dict[str, Any] = {"kind": "row", "shown": False, "optional": True, "decimals": 2}
_SECONDS: dict[str, Any] = {"unit": "s", "better": "lower", **_POOLED}
_SHARES: dict[str, Any] = {"unit": "share", "bounds": SHARE, **_POOLED}


def _selectivity(kind: str, title: str, alias: str, sound: str) -> Metric:
    """Return the metric of one kind of sounds that ask for no answer."""
    correct = f"{kind}_correct"
    return Metric(
        f"selectivity_{kind}", title, aliases=(alias,), pooled=Pooled(correct, (correct, f"{kind}_error")), **_SHARES,
        help=f"Share of callers' {sound} at which the agent neither stopped nor answered.",
        definition=f"{sound} at which the agent neither stopped nor answered ÷ {sound}, over all calls together",
    )  # fmt: skip


INTERACTION_METRICS: tuple[Metric, ...] = (
    Metric(
        "response_latency_mean", "resp_lat", aliases=("l_r",),
        pooled=Pooled("response_latency", ("response",)), **_SECONDS,
        help="Seconds from the end of a caller's turn to the agent's answer, over all turns that got one.",
        definition="seconds from the end of a caller's turn to the agent's next word, mean over the turns that were "
        "answered before the caller's next one, of all calls together",
    ),
    Metric(
        "yield_latency_mean", "yield_lat", aliases=("l_y",),
        pooled=Pooled("yield_latency", ("yielded",)), **_SECONDS,
        help="Seconds that the agent talked on before it gave way to a caller who broke in, where it did.",
        definition="seconds from a caller's breaking in to the agent's falling silent, mean over the times when it "
        "gave way, of all calls together",
    ),
    Metric(
        "response_rate", "resp_rate", aliases=("r_r",),
        pooled=Pooled("response", ("response", "no_response")), **_SHARES,
        help="Share of callers' turns that the agent answered before the caller spoke again.",
        definition="callers' turns that the agent answered before the next one ÷ turns that were to be answered, over "
        "all calls together",
    ),
    Metric(
        "yield_rate", "yield_rate", short="yields", aliases=("r_y",),
        pooled=Pooled("yielded", ("yielded", "no_yield")), **_SHARES,
        help="Share of the times when a caller broke in at which the agent gave way within 2 seconds.",
        definition="times when the agent gave way within 2 s ÷ times when a caller broke in, over all calls together",
    ),
    Metric(
        "agent_interruption_rate", "interrupts", short="intr", aliases=("i_a",),
        unit="interruptions per turn", better="lower",
        pooled=Pooled("agent_interruptions", ("response", "no_response")), **_POOLED,
        help="How often the agent began while the caller spoke, for each turn of a caller; may exceed 1.",
        definition="times when the agent began while the caller spoke ÷ callers' turns that were to be answered, over "
        "all calls together; may exceed 1",
    ),
    _selectivity("backchannel", "sel_back", "s_bc", "backchannels"),
    _selectivity("vocal_tic", "sel_tic", "s_vt", "vocal tics"),
    _selectivity("non_directed", "sel_other", "s_nd", "words to others"),
)  # fmt: skip

FIGURES: Mapping[str, Pooled] = {metric.key: metric.pooled for metric in INTERACTION_METRICS if metric.pooled}
"""The sums behind each figure, by its key."""
