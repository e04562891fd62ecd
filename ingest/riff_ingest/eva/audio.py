"""Compute who spoke when: segments of audio by turn, and how long the agent took to answer (R7.1, R7.9)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from riff_ingest.eva.turns import Turns

Segments: TypeAlias = list[tuple[float, float]]
AudioByTurn: TypeAlias = dict[int, Segments | None]


def segments(turns: Turns, role: str, last_moment: float) -> dict[int, Segments]:
    """Return the audio of one side by turn, in seconds since the epoch as logged.

    The i-th start of a turn goes with its i-th end; a start without an end lasts until the session's.
    """
    end = last_moment if turns.session_end is None else turns.session_end
    found: dict[int, Segments] = {}
    for (side, turn), starts in turns.starts.items():
        if side == role:
            ends = turns.ends.get((side, turn), [])
            found[turn] = [(start, ends[i] if i < len(ends) else end) for i, start in enumerate(starts)]
    return found


def latencies(user: Mapping[int, Segments | None], assistant: Mapping[int, Segments | None]) -> dict[int, float]:
    """Return seconds from the caller's last sound in a turn to the agent's first.

    Below zero where the agent barged in.
    """
    found = {}
    for turn in sorted(user.keys() & assistant.keys()):
        asked, answered = user[turn], assistant[turn]
        if asked and answered:
            found[turn] = round(answered[0][0] - asked[-1][1], 6)
    return found


def last_end(audio: Mapping[int, Sequence[tuple[float, float]] | None]) -> float | None:
    """Return when a side was last heard, `None` where it never was."""
    return max((end for spans in audio.values() for _, end in spans or ()), default=None)
