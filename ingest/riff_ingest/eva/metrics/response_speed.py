"""Measure how many seconds the caller waited for the agent (10.4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from riff_ingest.eva.context import MetricContext
from riff_ingest.eva.metrics.files import RecordFiles
from riff_ingest.eva.metrics.score import MetricScore, number, part
from riff_ingest.eva.metrics.turn_timing import tool_turns

NAME = "response_speed"
LONGEST_SECONDS = 1000


def response_speed(context: MetricContext, files: RecordFiles) -> MetricScore:
    """Return the mean of the latencies above zero, in seconds; skipped where there is none (10.4).

    Parts are the same of turns with and without tools, and the mean latencies of the models from result.json.
    """
    speeds = {
        turn: seconds for turn, seconds in context.latency_assistant_turns.items() if 0 < seconds < LONGEST_SECONDS
    }
    if not speeds:
        return MetricScore(NAME, skipped=True, details={"reason": "no turn has a latency above zero"})
    tools = tool_turns(context)
    score, details = _statistics(list(speeds.values()))
    parts = {
        **_statistics_of("with_tool_calls", [value for turn, value in speeds.items() if turn in tools]),
        **_statistics_of("no_tool_calls", [value for turn, value in speeds.items() if turn not in tools]),
        **_of_model("llm_latency", context.llm_latency),
        **_of_model("stt_latency", context.stt_latency),
        **_of_model("tts_latency", context.tts_latency),
    }
    return MetricScore(NAME, score, details=details, sub_metrics=parts)


def _statistics_of(key: str, speeds: Sequence[float]) -> dict[str, MetricScore]:
    if not speeds:
        return {}
    score, details = _statistics(speeds)
    return {key: part(NAME, key, score, **details)}


def _statistics(speeds: Sequence[float]) -> tuple[float, dict[str, Any]]:
    mean = round(sum(speeds) / len(speeds), 3)
    return mean, {
        "mean_speed_seconds": mean,
        "max_speed_seconds": round(max(speeds), 3),
        "num_turns": len(speeds),
        "per_turn_speeds": [round(speed, 3) for speed in speeds],
    }


def _of_model(key: str, latency: Mapping[str, Any] | None) -> dict[str, MetricScore]:
    mean = number((latency or {}).get("mean_ms"))
    if latency is None or mean is None:
        return {}
    details = dict(_in_seconds(name, value) for name, value in latency.items())
    return {key: part(NAME, key, round(mean / 1000, 3), **details)}


def _in_seconds(name: str, value: Any) -> tuple[str, Any]:
    if not name.endswith("_ms"):
        return name, value
    milliseconds = number(value)
    return f"{name[:-3]}_seconds", None if milliseconds is None else round(milliseconds / 1000, 3)
