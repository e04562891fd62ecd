"""Tell from the ticks of a voice call who spoke when: stretches of speech, and what was laid over silence.

The rules are numbered in docs/formats.md, section 6.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from riff_ingest.events import LONGEST
from riff_ingest.tau.tick_records import Chunk, Tick
from riff_store.voice import BACKCHANNEL, VOCAL_TIC

TICK_SECONDS = 0.2
"""The length of a tick where a run does not say it."""
SHORTEST_TICK = 0.001

_MARKUP = re.compile(r"</?(?:message|chunk)\b[^<>]*>")


class Stretch(msgspec.Struct, frozen=True, gc=False):
    """Describe an unbroken run of ticks in which a side speaks, from `start` up to and without `end` (T4.6, T4.8).

    `over` says that the other side speaks in its first tick, `followed` that it does in the tick after the last.
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
        """Tell whether the caller only showed that he listens."""
        return self.action == BACKCHANNEL


class LoneInsert(msgspec.Struct, frozen=True, gc=False):
    """Describe a sound of the caller's side while the caller does not speak (T4.9)."""

    start: int
    end: int
    type: str
    text: str

    @property
    def tic(self) -> bool:
        """Tell whether it is a cough or its like, and not a word to somebody else."""
        return self.type == VOCAL_TIC


class SpokenTicks(msgspec.Struct, frozen=True, gc=False):
    """Hold who spoke when in a call, in positions of ticks of `seconds` each.

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
    """Return the length of a tick as the run says it, `None` for what can be none (T4.1)."""
    return given if given is not None and SHORTEST_TICK <= given <= LONGEST else None


def without_stop_signal(ticks: Sequence[Tick]) -> Sequence[Tick]:
    """Return the ticks without the last where that is the caller's signal to hang up (T4.4)."""
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
    # Every tick of an utterance may hold the whole of it.
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
