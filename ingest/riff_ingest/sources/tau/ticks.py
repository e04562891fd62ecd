"""Find from the ticks of a voice call who spoke when: stretches of speech, and what was laid over silence.

The rules are numbered in docs/formats/tau.md.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import msgspec

from riff_ingest.events import LONGEST
from riff_ingest.lenient_json import loads
from riff_ingest.sources.tau.records import Call, Message, fitting_struct
from riff_store.voice import BACKCHANNEL, VOCAL_TIC

TICK_SECONDS = 0.2
"""The length of a tick where a run does not say it."""
SHORTEST_TICK = 0.001

_MARKUP = re.compile(r"</?(?:message|chunk)\b[^<>]*>")


class Stretch(msgspec.Struct, frozen=True, gc=False):
    """Describe an unbroken run of ticks in which a side speaks, from `start` up to and without `end` (T4.6, T4.8).

    `over` shows that the other side speaks in its first tick, `followed` that it does in the tick after the last.
    `action`, `tic` and `non_directed` are the caller's alone; `utterances` are the ids of what was said in it.
    """

    start: int
    end: int
    text: str
    over: bool = False
    followed: bool = False
    action: str = ""
    tic: bool = False
    non_directed: bool = False
    utterances: frozenset[str] = frozenset()

    @property
    def backchannel(self) -> bool:
        """Return whether the caller only showed that he listens."""
        return self.action == BACKCHANNEL


class LoneInsert(msgspec.Struct, frozen=True, gc=False):
    """Describe a sound of the caller's side while the caller does not speak (T4.9)."""

    start: int
    end: int
    type: str
    text: str

    @property
    def tic(self) -> bool:
        """Return whether it is a cough or its like, and not a word to somebody else."""
        return self.type == VOCAL_TIC


class SpokenTicks(msgspec.Struct, frozen=True, gc=False):
    """Describe who spoke when in a call, in positions of ticks of `seconds` each.

    `agent_speaks` has a byte for each tick.
    """

    seconds: float
    agent_speaks: bytes
    caller: tuple[Stretch, ...]
    agent: tuple[Stretch, ...]
    inserts: tuple[LoneInsert, ...]

    def __len__(self) -> int:
        return len(self.agent_speaks)

    def starts(self, stretch: Stretch) -> float:
        """Return when a stretch begins, in seconds since the call did (T4.6)."""
        return stretch.start * self.seconds

    def ends(self, stretch: Stretch) -> float:
        """Return when a stretch ends, in seconds since the call began (T4.6)."""
        return stretch.start * self.seconds + (stretch.end - stretch.start) * self.seconds


def tick_seconds(given: float | None) -> float | None:
    """Return the length of a tick as the run gives it, `None` for what can be none (T4.1)."""
    return given if given is not None and SHORTEST_TICK <= given <= LONGEST else None


def without_stop_signal(ticks: Sequence[Tick]) -> Sequence[Tick]:
    """Return the ticks without the last if that is the caller's signal to hang up (T4.4)."""
    if len(ticks) >= 2 and ticks[-1].caller_speaks and not ticks[-2].caller_speaks:
        return ticks[:-1]
    return ticks


def spoken_ticks(ticks: Sequence[Tick], seconds: float = TICK_SECONDS) -> SpokenTicks:
    """Return who spoke when; the signal to hang up is to be taken off before."""
    caller, agent = bytes(tick.caller_speaks for tick in ticks), bytes(tick.agent_speaks for tick in ticks)
    return SpokenTicks(
        seconds,
        agent,
        tuple(_caller(run, ticks, agent) for run in runs(caller)),
        tuple(_agent(run, ticks, caller) for run in runs(agent)),
        tuple(_lone_inserts(ticks)),
    )


def runs(speaks: Sequence[int]) -> Iterator[range]:
    """Return the longest runs of positions in which a side speaks."""
    start = None
    for at, speaking in enumerate(speaks):
        if speaking and start is None:
            start = at
        elif not speaking and start is not None:
            yield range(start, at)
            start = None
    if start is not None:
        yield range(start, len(speaks))


def text_of(chunks: Iterable[Chunk | None]) -> str:
    """Return the slices of a text in order, with a blank between those of two utterances (T4.7)."""
    parts: list[str] = []
    last: set[str] = set()
    for chunk in chunks:
        ids = set(chunk.utterance_ids or ()) if chunk else set()
        if ids and last and not ids & last:
            parts.append(" ")
        parts.append((chunk.content if chunk else None) or "")
        last = ids
    return "".join(parts)


def script_of(chunks: Iterable[Chunk | None]) -> str:
    """Return what the caller was to say in full, also where he gave way; the slices where no script is kept (T4.7)."""
    utterances: list[list[Chunk]] = []
    last: set[str] = set()
    for chunk in chunks:
        if chunk is None:
            continue
        ids = set(chunk.utterance_ids or ())
        if not utterances or (ids and last and not ids & last):
            utterances.append([])
        utterances[-1].append(chunk)
        last = ids
    said = [_script(utterance) or text_of(utterance) for utterance in utterances]
    return " ".join(text.strip() for text in said if text.strip())


def _script(utterance: Iterable[Chunk]) -> str:
    # Every tick of an utterance may contain the whole of it.
    parts = dict.fromkeys(chunk.audio_script_gold for chunk in utterance if chunk.audio_script_gold)
    return _MARKUP.sub("", "".join(parts)).strip()


def _caller(run: range, ticks: Sequence[Tick], agent: bytes) -> Stretch:
    chunks = [chunk for at in run if (chunk := ticks[at].user_chunk) is not None]
    types = {insert.type for chunk in chunks for insert in chunk.inserts}
    return Stretch(
        run.start,
        run.stop,
        text_of(chunks),
        over=bool(agent[run.start]),
        followed=any(agent[run.stop : run.stop + 1]),
        action=chunks[0].action,
        tic=VOCAL_TIC in types,
        non_directed=bool(types - {VOCAL_TIC}),
        utterances=_utterances(chunks),
    )


def _agent(run: range, ticks: Sequence[Tick], caller: bytes) -> Stretch:
    chunks = [chunk for at in run if (chunk := ticks[at].agent_chunk) is not None]
    return Stretch(
        run.start,
        run.stop,
        text_of(chunks),
        over=bool(caller[run.start]),
        followed=any(caller[run.stop : run.stop + 1]),
        utterances=_utterances(chunks),
    )


def _utterances(chunks: Iterable[Chunk]) -> frozenset[str]:
    return frozenset(each for chunk in chunks for each in chunk.utterance_ids or ())


def _lone_inserts(ticks: Sequence[Tick]) -> Iterator[LoneInsert]:
    found: list[tuple[int, int, str, str]] = []
    lasting: dict[tuple[str, str], int] = {}
    for at, tick in enumerate(ticks):
        inserts = tick.user_chunk.inserts if tick.user_chunk and not tick.caller_speaks else []
        begun: dict[tuple[str, str], int] = {}
        for insert in inserts:
            key = insert.type or "", insert.text or ""
            place = lasting.get(key)
            if place is None:
                place = len(found)
                found.append((at, at, *key))
            found[place] = (found[place][0], at + 1, *key)
            begun[key] = place
        lasting = begun
    return (LoneInsert(*each) for each in found)


# Define the ticks of a voice call as tau2-bench writes them: what each side did in a slice of time.
CHUNKS = ("agent_chunk", "user_chunk")
NO_TICKS = "ticks are not a list"


class Insert(msgspec.Struct, frozen=True, gc=False):
    """Describe a sound that is laid into the caller's audio: a cough, or a word to somebody else."""

    text: str | None = None
    type: str | None = None


class SpeechEffects(msgspec.Struct, frozen=True, gc=False):
    """Describe what was done to the caller's voice."""

    dynamic_muffling_enabled: bool | None = None
    speech_insert: Insert | None = None


class SourceEffects(msgspec.Struct, frozen=True, gc=False):
    """Describe what was heard beside the caller's voice; a noise is named by its file."""

    burst_noise_file: str | None = None
    speech_insert: Insert | None = None


class ChannelEffects(msgspec.Struct, frozen=True, gc=False):
    """Describe what the line did to the caller's audio; so many milliseconds of it were dropped."""

    frame_drops_enabled: bool | None = None
    frame_drop_ms: float | None = None


class TurnTakingAction(msgspec.Struct, frozen=True, gc=False):
    """Describe what the caller decided to do: begin a turn, go on, give way, wait or give a backchannel."""

    action: str | None = None


class ProviderData(msgspec.Struct, frozen=True, gc=False):
    """Describe what the agent's provider reported of its audio."""

    was_truncated: bool | None = None


class Chunk(msgspec.Struct, frozen=True, gc=False):
    """Describe a side's part of a tick; one that does not show whether it has speech in it has (T4.2)."""

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
        """Return what the caller decided, nothing if it is not known."""
        return (self.turn_taking_action.action if self.turn_taking_action else None) or ""

    @property
    def inserts(self) -> list[Insert]:
        """Return the sounds that are laid in, those beside the voice first."""
        found = [effects.speech_insert for effects in (self.source_effects, self.speech_effects) if effects]
        return [insert for insert in found if insert is not None]


class Tick(msgspec.Struct, frozen=True, gc=False):
    """Describe a slice of a call; its place in the list is its time. A chunk that is not there is silence.

    What a tool answered is in the tick of its call; the side that called hears it one tick later.
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
        """Return whether the agent's chunk has speech in it."""
        return self.agent_chunk is not None and self.agent_chunk.contains_speech is True

    @property
    def caller_speaks(self) -> bool:
        """Return whether the caller's chunk has speech in it."""
        return self.user_chunk is not None and self.user_chunk.contains_speech is True


def read_ticks(data: bytes | msgspec.Raw, defects: Counter[str]) -> list[Tick]:
    """Return the ticks of a JSON list; parts that are wrong are left out and counted, places are kept.

    Raises `BrokenInput` if it is not JSON.
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
        defects["tick is not an object"] += 1
        return Tick()
    found = fitting_struct(value, Tick, lambda part: defects.update([f"{part} of a tick misfits"]), "")
    for name in CHUNKS:
        given, chunk = value.get(name), getattr(found, name)
        # Only a field that is not there has its default: one that is null, or not a boolean, is not speech.
        if chunk is not None and isinstance(given, dict) and given.get("contains_speech", True) is not True:
            found = msgspec.structs.replace(found, **{name: msgspec.structs.replace(chunk, contains_speech=False)})
    return found
