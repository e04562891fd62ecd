"""The turns that a judge found wanting, as numbers of what was said in the call (10.10)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from riff_ingest.eva.metrics.score import Score, number

Places: TypeAlias = Mapping[tuple[str, int], int]
"""Where the first thing that a side (`agent`, `caller`) said in a turn stands among all that was said, from 1 on."""

_OF_THE_CALLER = frozenset({"transcription_accuracy_key_entities", "user_speech_fidelity"})
_BEST = {"conciseness": 3.0, "user_speech_fidelity": 3.0}
_BY_CALLS_OF_TOOLS = "transcription_accuracy_key_entities"


def named_turns(score: Score, places: Places, *, audio_native: bool = False) -> list[int] | None:
    """What was said in turns that have less than the best rating; `None` where the judge rates no single turns."""
    if score.error is not None or score.skipped or (audio_native and score.name == _BY_CALLS_OF_TOOLS):
        return None
    normalized, ratings = score.details.get("per_turn_normalized"), score.details.get("per_turn_ratings")
    rated = normalized if isinstance(normalized, Mapping) else ratings
    if not isinstance(rated, Mapping):
        return None
    best = 1.0 if rated is normalized else _BEST.get(score.name, 1.0)
    side = "caller" if score.name in _OF_THE_CALLER else "agent"
    found = (places.get((side, turn)) for turn in (_turn(key) for key in _worse(rated, best)) if turn is not None)
    return sorted(place for place in found if place is not None) or None


def _worse(rated: Mapping[Any, Any], best: float) -> list[Any]:
    return [turn for turn, given in rated.items() if (value := number(given)) is not None and 0 <= value < best]


def _turn(key: Any) -> int | None:
    return int(key) if isinstance(key, str) and len(key) < 10 and key.isascii() and key.isdecimal() else None
