"""Contexts with just what a metric looks at."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from tests.surface.ingest import LoggedEntry, MetricContext, MetricScore, RecordFiles, Segments, latencies

NO_FILES = RecordFiles()
Audio = Mapping[int, Segments | None]


def call(
    user: Audio | None = None,
    agent: Audio | None = None,
    *,
    barged_in: Iterable[int] = (),
    interrupted: Iterable[int] = (),
    nudged: Iterable[int] = (),
    tools_in: Iterable[int] = (),
    **others: Any,
) -> MetricContext:
    """A call with this audio by turn, in seconds; `barged_in` are the agent's turns, `interrupted` the caller's."""
    user, agent = user or {}, agent or {}
    return MetricContext(
        **{
            "num_assistant_turns": 1,
            "num_user_turns": 1,
            "audio_timestamps_user_turns": dict(user),
            "audio_timestamps_assistant_turns": dict(agent),
            "latency_assistant_turns": latencies(user, agent),
            "assistant_interrupted_turns": frozenset(barged_in),
            "user_interrupted_turns": frozenset(interrupted),
            "fallback_turn_ids": frozenset(nudged),
            "conversation_trace": [
                LoggedEntry("tool_call", turn, tool_name="bake", parameters={}) for turn in tools_in
            ],
            **others,
        }
    )


def waits(*seconds: float) -> tuple[dict[int, Segments | None], dict[int, Segments | None]]:
    """Audio in which the caller waits so long in turn 1, 2, …; each speaks for a second."""
    user: dict[int, Segments | None] = {}
    agent: dict[int, Segments | None] = {}
    for turn, wait in enumerate(seconds, start=1):
        user[turn] = [(100.0 * turn, 100.0 * turn + 1)]
        agent[turn] = [(100.0 * turn + 1 + wait, 100.0 * turn + 2 + wait)]
    return user, agent


def parts_of(score: MetricScore) -> dict[str, float | None]:
    """The scores of a metric's parts by key."""
    return {key: part.score for key, part in (score.sub_metrics or {}).items()}
