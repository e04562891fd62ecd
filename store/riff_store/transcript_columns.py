"""Spell what was said and what happened in a call column by column, and back.

What is alike is together then, which leaves fewer bytes to compress than one object after the other, and fewer after
that. The text is a JSON list: the kinds of the events as a letter each, their times, what else they say by kind, the
other parts of the transcript, and the columns of the turns.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

if TYPE_CHECKING:
    import zstandard

EVENTS = {
    "n": ("state_entered", ("state", "t", "segment")),
    "x": ("state_exited", ("state", "to_state", "reason", "t")),
    "t": ("turn_complete", ("latency_ms", "t")),
    "g": ("guard_evaluated", ("guard", "result", "error", "t")),
    "s": ("slot_filled", ("slot", "value", "state", "t")),
}
"""The letter of each kind of event, its name, and its fields in the order in which readers get them."""
TURN = ("role", "text", "t", "state", "latency_ms")
_COLUMNS = ("role", "state", "latency_ms", "t", "text")

LEVEL = 3
"""How hard transcripts are compressed."""

_encoder = msgspec.json.Encoder()


class EventColumns(NamedTuple):
    """Describe the letters of events, their times, and what else those of each kind have, in the order of `EVENTS`."""

    letters: Sequence[str] = ()
    times: Sequence[float | None] = ()
    said: Sequence[Sequence[Any]] = ((),) * len(EVENTS)


def spell(turns: Sequence[Any], events: EventColumns, others: Mapping[str, Any]) -> bytes:
    """Return a transcript as columns: the attributes of its turns, its events, and its other parts as they are."""
    # Spelled out in the order of `_COLUMNS`: it is twice as quick as to look them up by name.
    columns = (
        [turn.role for turn in turns], [turn.state for turn in turns], [turn.latency_ms for turn in turns],
        [turn.t for turn in turns], [turn.text for turn in turns],
    )  # fmt: skip
    return _encoder.encode(["".join(events.letters), events.times, events.said, others, columns])


@lru_cache(maxsize=1)
def compressor(dictionary: bytes) -> zstandard.ZstdCompressor:
    """Return what compresses transcripts by a dictionary; raises `zstandard.ZstdError` if that is none."""
    import zstandard

    known = zstandard.ZstdCompressionDict(dictionary)
    known.precompute_compress(level=LEVEL)
    return zstandard.ZstdCompressor(level=LEVEL, dict_data=known, write_checksum=False, write_dict_id=False)


def is_spelled(text: bytes) -> bool:
    """Return whether a kept transcript is spelled this way, and not as the object that older stores have."""
    return text.startswith(b"[")


def read_text(text: bytes) -> dict[str, Any]:
    """Return a transcript as an object of turns and events, however it is spelled; raises `ValueError` for damage."""
    found = json.loads(text)
    if isinstance(found, dict):
        return found
    try:
        kinds, times, said, others, columns = found
        return {"turns": _turns(columns), "events": _events(kinds, times, said), **others}
    except (TypeError, KeyError, StopIteration, RuntimeError) as error:
        raise ValueError("no transcript") from error


def _turns(columns: list[list[Any]]) -> list[dict[str, Any]]:
    named = dict(zip(_COLUMNS, columns, strict=True))
    return [dict(zip(TURN, values, strict=True)) for values in zip(*(named[name] for name in TURN), strict=True)]


def _events(kinds: str, times: list[Any], said: list[list[Any]]) -> list[dict[str, Any]]:
    values = {letter: iter(given) for letter, given in zip(EVENTS, said, strict=True)}
    found = []
    for letter, time in zip(kinds, times, strict=True):
        name, fields = EVENTS[letter]
        of_kind = values[letter]
        found.append({"type": name} | {field: time if field == "t" else next(of_kind) for field in fields})
    return found
