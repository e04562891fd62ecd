"""Hold the ticks of a voice call as tau2-bench writes them: what each side did in a slice of time."""

from __future__ import annotations

from collections import Counter
from typing import Any

import msgspec

from riff_ingest.sources.lenient_json import loads
from riff_ingest.tau.records import Call, Message, fitting_struct

CHUNKS = ("agent_chunk", "user_chunk")
NO_TICKS = "ticks are no list"


class Insert(msgspec.Struct, frozen=True, gc=False):
    """Hold a sound that is laid into the caller's audio: a cough, or a word to somebody else."""

    text: str | None = None
    type: str | None = None


class SpeechEffects(msgspec.Struct, frozen=True, gc=False):
    """Hold what was done to the caller's voice."""

    dynamic_muffling_enabled: bool | None = None
    speech_insert: Insert | None = None


class SourceEffects(msgspec.Struct, frozen=True, gc=False):
    """Hold what was heard beside the caller's voice; a noise is named by its file."""

    burst_noise_file: str | None = None
    speech_insert: Insert | None = None


class ChannelEffects(msgspec.Struct, frozen=True, gc=False):
    """Hold what the line did to the caller's audio; so many milliseconds of it were dropped."""

    frame_drops_enabled: bool | None = None
    frame_drop_ms: float | None = None


class TurnTakingAction(msgspec.Struct, frozen=True, gc=False):
    """Hold what the caller decided to do: begin a turn, go on, give way, wait or give a backchannel."""

    action: str | None = None


class ProviderData(msgspec.Struct, frozen=True, gc=False):
    """Hold what the agent's provider told of its audio."""

    was_truncated: bool | None = None


class Chunk(msgspec.Struct, frozen=True, gc=False):
    """Hold a side's part of a tick; one that does not say whether it has speech in it has (T4.2)."""

    contains_speech: bool | None = True
    content: str | None = None
    utterance_ids: list[str] | None = None
    turn_taking_action: TurnTakingAction | None = None
    speech_effects: SpeechEffects | None = None
    source_effects: SourceEffects | None = None
    channel_effects: ChannelEffects | None = None
    audio_script_gold: str | None = None
    raw_data: ProviderData | None = None

    @property
    def action(self) -> str:
        """Return what the caller decided, nothing where it is not told."""
        return (self.turn_taking_action.action if self.turn_taking_action else None) or ""

    @property
    def inserts(self) -> list[Insert]:
        """Return the sounds that are laid in, those beside the voice first."""
        found = [effects.speech_insert for effects in (self.source_effects, self.speech_effects) if effects]
        return [insert for insert in found if insert is not None]


class Tick(msgspec.Struct, frozen=True, gc=False):
    """Hold a slice of a call; its place in the list is its time. A chunk that is not there is silence.

    What a tool answered stands in the tick of its call; the side that called hears it one tick later.
    """

    agent_chunk: Chunk | None = None
    user_chunk: Chunk | None = None
    agent_tool_calls: list[Call] | None = None
    user_tool_calls: list[Call] | None = None
    agent_tool_results: list[Message] | None = None
    user_tool_results: list[Message] | None = None
    user_transcript: str | None = None

    @property
    def agent_speaks(self) -> bool:
        """Tell whether the agent's chunk has speech in it."""
        return self.agent_chunk is not None and self.agent_chunk.contains_speech is True

    @property
    def caller_speaks(self) -> bool:
        """Tell whether the caller's chunk has speech in it."""
        return self.user_chunk is not None and self.user_chunk.contains_speech is True


def read_ticks(data: bytes | msgspec.Raw, defects: Counter[str]) -> list[Tick]:
    """Return the ticks of a JSON list; parts that are wrong are left out and counted, places are kept.

    Raises `BrokenInput` where it is no JSON.
    """
    try:
        return msgspec.json.decode(data, type=list[Tick])
    except (msgspec.MsgspecError, ValueError, RecursionError):
        value = loads(bytes(data), defects, what="ticks")
    if not isinstance(value, list):
        defects[NO_TICKS] += 1
        return []
    return [_tick(each, defects) for each in value]


def _tick(value: Any, defects: Counter[str]) -> Tick:
    if not isinstance(value, dict):
        defects["tick is no object"] += 1
        return Tick()
    found = fitting_struct(value, Tick, lambda part: defects.update([f"{part} of a tick misfits"]), "")
    for name in CHUNKS:
        given, chunk = value.get(name), getattr(found, name)
        # Only a field that is not there has its default: one that is null, or no boolean, is no speech.
        if chunk is not None and isinstance(given, dict) and given.get("contains_speech", True) is not True:
            found = msgspec.structs.replace(found, **{name: msgspec.structs.replace(chunk, contains_speech=False)})
    return found
