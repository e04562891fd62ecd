"""Measure the timing of a turn's audio and what each measure is worth (10.3).

Measures are in milliseconds, values go from 0 to 1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from riff_ingest.eva.context import MetricContext
from riff_ingest.eva.metrics.files import RecordFiles
from riff_ingest.eva.metrics.score import MetricScore, number, part

_TOUCHING_SECONDS = 0.001
_LONGEST_OVERLAP_MS = 2000


@dataclass(frozen=True, slots=True)
class Limits:
    """Describe the limits in milliseconds: full value up to `sweet`, none from `late` on, and what the rates count."""

    sweet: float
    late: float
    counted_late: float
    counted_early: float = 200

    def value(self, ms: float) -> float:
        """Return what a latency is worth: L of the page."""
        if ms <= -500 or ms >= self.late:
            return 0.0
        if ms < 500:
            return (ms + 500) / 1000
        return 1.0 if ms <= self.sweet else (self.late - ms) / (self.late - self.sweet)


@dataclass(frozen=True, slots=True)
class TimingRules:
    """Describe the limits of turns without tools and of those with."""

    plain: Limits = Limits(2000, 3500, 2750)
    tool: Limits = Limits(3000, 5000, 4000)

    def limits(self, *, tool: bool) -> Limits:
        """Return the limits of a turn."""
        return self.tool if tool else self.plain


TODAY = TimingRules()
FIRST = TimingRules(tool=Limits(4000, 7000, 6000))
"""Those of 0.1.3, the first version that was no judge."""


def rules_of(version: str | None) -> TimingRules | None:
    """Return the rules by which a stored score was computed; `None` if a judge gave it."""
    if version is None:
        return TODAY
    try:
        parts = tuple(int(digits) for digits in version.removeprefix("v").split("."))
    except ValueError:
        return TODAY
    if parts < (0, 1, 3):
        return None
    return FIRST if parts < (0, 2) else TODAY


@dataclass(frozen=True, slots=True)
class TurnAudio:
    """Describe the segments of both sides in a turn, in seconds in the order of the log, neither empty."""

    user: Sequence[tuple[float, float]]
    assistant: Sequence[tuple[float, float]]

    @property
    def latency_ms(self) -> float:
        """Return the milliseconds from the caller's last sound to the agent's first (R7.9)."""
        return round(self.assistant[0][0] - self.user[-1][1], 6) * 1000

    @property
    def overlap_ms(self) -> float:
        """Return how long both sides were heard, over all pairs of segments."""
        return 1000 * sum(max(0.0, _overlap(asked, said)) for asked in self.user for said in self.assistant)

    @property
    def interruptions(self) -> int:
        """Count the segments of the agent that fell into the caller's."""
        return sum(any(_overlap(asked, said) > _TOUCHING_SECONDS for asked in self.user) for said in self.assistant)

    @property
    def post_interrupt_ms(self) -> float | None:
        """Return the milliseconds from the caller's last sound to the agent's next.

        `None` if it still spoke or never did again.
        """
        end = self.user[-1][1]
        if any(start <= end < stop for start, stop in self.assistant):
            return None
        following = [start for start, _ in self.assistant if start > end]
        return (min(following) - end) * 1000 if following else None


def audible_turns(context: MetricContext) -> dict[int, TurnAudio]:
    """Return the turns in which both sides were heard, without the greeting: K of the page."""
    user, assistant = context.audio_timestamps_user_turns, context.audio_timestamps_assistant_turns
    found = {}
    for turn in sorted(user.keys() & assistant.keys()):
        asked, said = user[turn], assistant[turn]
        if turn and asked and said:
            found[turn] = TurnAudio(asked, said)
    return found


def tool_turns(context: MetricContext) -> set[int]:
    """Return the turns in which a tool was called."""
    return {entry.turn_id for entry in context.conversation_trace if entry.type == "tool_call"}


def yield_ms(context: MetricContext, turn: int) -> float | None:
    """Return how long the agent went on after the caller had begun a turn; `None` if either was not heard."""
    before = context.audio_timestamps_assistant_turns.get(turn - 1)
    now = context.audio_timestamps_user_turns.get(turn)
    return max(0.0, before[-1][1] - now[0][0]) * 1000 if before and now else None


def overlap_value(ms: float) -> float:
    """Return what talking at the same time is worth: O of the page."""
    return max(0.0, 0.5 * (1 - ms / _LONGEST_OVERLAP_MS))


def count_value(interruptions: int) -> float:
    """Return what so many interruptions are worth: C of the page."""
    return max(0.0, 0.5 * (1 - (interruptions - 1) / 2))


def yield_value(ms: float) -> float:
    """Return what giving way after so long is worth: Y of the page."""
    return max(0.0, 1 - ms / _LONGEST_OVERLAP_MS)


def _overlap(one: tuple[float, float], other: tuple[float, float]) -> float:
    return min(one[1], other[1]) - max(one[0], other[0])


# Measure how many seconds the caller waited for the agent (10.4).
NAME = "response_speed"
LONGEST_SECONDS = 1000


def response_speed(context: MetricContext, files: RecordFiles) -> MetricScore:
    """Return the mean of the latencies above zero, in seconds; skipped if there is none (10.4).

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
