"""Mark what happened beside the words of a voice call: sounds, interruptions, silences, and what the line did."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from riff_ingest.events import LONGEST
from riff_ingest.sources.tau.interaction import RESPONSE, YIELD, InteractionEvent, over_kind
from riff_ingest.sources.tau.ticks import SpokenTicks, Stretch, Tick, runs
from riff_store.voice import (
    BURST_NOISE,
    FRAME_DROP,
    GAVE_WAY,
    INTERRUPTION,
    MUFFLING,
    NOISES,
    NON_DIRECTED,
    SILENCE,
    TRUNCATED,
    VOCAL_TIC,
    Mark,
)

SILENCE_S = 4.0
"""From here on the benchmark tells its own caller that nobody speaks."""
_STOP_TALKING = "stop_talking"
_SIDES = {"user": "caller", "agent": "agent"}
_FOLDERS = re.compile(r"[/\\]")


def marks_of(
    ticks: Sequence[Tick],
    spoken: SpokenTicks,
    turns: Sequence[SpokenTurn],
    events: Iterable[InteractionEvent],
    timeline: Any = None,
) -> list[Mark]:
    """Return the marks of a call in the order of time; `timeline` is what the simulation reports of its effects."""
    verdicts = {(event.sound, event.kind): event for event in events}
    marks = [
        *_of_stretches(spoken, turns, verdicts),
        *_of_inserts(spoken, verdicts),
        *_cuts(ticks, spoken),
        *_silences(ticks, spoken),
        *_noises(ticks, spoken, timeline),
    ]
    begins = [turn.start * spoken.seconds for turn in turns]
    placed = (
        mark if mark.turn is not None else replace(mark, turn=_turn_at(mark.start, begins, turns)) for mark in marks
    )
    return sorted(placed, key=lambda mark: (mark.start, mark.end))


def conditions_of(environment: Any) -> list[str]:
    """Return in words what a call was made under: the line, the place and the noise behind the caller."""
    known = environment if isinstance(environment, Mapping) else {}
    noise, place, complexity = (known.get(key) for key in ("background_noise_file", "environment", "complexity"))
    found = ["telephony"] if known.get("telephony_enabled") is True else []
    found += [place] if isinstance(place, str) and place else []
    found += [f"background {file_name(noise)}"] if isinstance(noise, str) and noise else []
    return found + ([f"complexity {complexity}"] if isinstance(complexity, str) and complexity else [])


def file_name(path: str) -> str:
    """Return the last part of a path: the parts before it name people."""
    return _FOLDERS.split(path)[-1]


def _sound_kind(stretch: Stretch) -> str | None:
    """Return what a caller's stretch is beside a turn, `None` if it is only that."""
    kind = over_kind(stretch)
    return None if kind == YIELD and not stretch.over else kind


def _of_stretches(
    spoken: SpokenTicks, turns: Sequence[SpokenTurn], verdicts: Mapping[tuple[int, str], InteractionEvent]
) -> Iterator[Mark]:
    for turn in turns:
        for stretch in (*turn.heard, *turn.backchannels):
            start, end = spoken.starts(stretch), spoken.ends(stretch)
            kind = _sound_kind(stretch)
            if kind is not None:
                event = _verdict(verdicts, stretch.start, (kind, VOCAL_TIC, NON_DIRECTED))
                yield Mark(
                    INTERRUPTION if kind == YIELD else kind,
                    start,
                    end,
                    "caller",
                    turn.number,
                    over=stretch.over,
                    correct=_is_right(event),
                    seconds=event.latency if event else None,
                )
            answer = verdicts.get((stretch.start, RESPONSE))
            if answer is not None:
                yield Mark(RESPONSE, end, end, "agent", turn.number, correct=not answer.error, seconds=answer.latency)
        for stretch in turn.agent:
            if stretch.over:
                both = _both(stretch, turns) * spoken.seconds
                start, end = spoken.starts(stretch), spoken.ends(stretch)
                yield Mark(INTERRUPTION, start, end, "agent", turn.number, over=True, seconds=both)


def _of_inserts(spoken: SpokenTicks, verdicts: Mapping[tuple[int, str], InteractionEvent]) -> Iterator[Mark]:
    for insert in spoken.inserts:
        kind = VOCAL_TIC if insert.tic else NON_DIRECTED
        over = bool(spoken.agent_speaks[insert.start])
        yield Mark(
            kind,
            insert.start * spoken.seconds,
            insert.end * spoken.seconds,
            "caller",
            lone=True,
            over=over,
            correct=_is_right(verdicts.get((insert.start, kind))),
            text=insert.text or None,
        )


def _cuts(ticks: Sequence[Tick], spoken: SpokenTicks) -> Iterator[Mark]:
    for at, tick in enumerate(ticks):
        if tick.user_chunk is not None and tick.user_chunk.action == _STOP_TALKING:
            yield Mark(GAVE_WAY, at * spoken.seconds, at * spoken.seconds, "caller")
    for run in runs([_is_truncated(tick) for tick in ticks]):
        yield Mark(TRUNCATED, run.start * spoken.seconds, run.stop * spoken.seconds, "agent")


def _silences(ticks: Sequence[Tick], spoken: SpokenTicks) -> Iterator[Mark]:
    for run in runs([not tick.caller_speaks and not tick.agent_speaks for tick in ticks]):
        if len(run) * spoken.seconds >= SILENCE_S - 1e-9:
            yield Mark(SILENCE, run.start * spoken.seconds, run.stop * spoken.seconds)


def _noises(ticks: Sequence[Tick], spoken: SpokenTicks, timeline: Any) -> Iterator[Mark]:
    """Return what the timeline shows of the line; of what it shows nothing, what the ticks do."""
    told = list(_timeline(timeline, len(ticks) * spoken.seconds))
    yield from told
    kinds = {mark.kind for mark in told}
    for kind, value in _EFFECTS.items():
        if kind not in kinds:
            yield from _effects(kind, [value(tick) for tick in ticks], spoken.seconds)


def _timeline(timeline: Any, ends: float) -> Iterator[Mark]:
    events = timeline.get("events") if isinstance(timeline, Mapping) else None
    for event in events if isinstance(events, list) else ():
        kind = event.get("effect_type") if isinstance(event, Mapping) else None
        if kind not in NOISES:
            continue
        start, end, lasts = (_seconds(event.get(key)) for key in ("start_ms", "end_ms", "duration_ms"))
        if start is not None and start <= ends:
            end = end if end is not None else ends if lasts is None else start + lasts
            by = _SIDES.get(event.get("participant")) if isinstance(event.get("participant"), str) else None
            yield Mark(kind, start, min(max(start, end), ends), by, text=_file_of(event.get("params")))


def _effects(kind: str, values: Sequence[str | None], seconds: float) -> Iterator[Mark]:
    """Return the runs of ticks with an effect, one for each file that was played."""
    for run in runs([value is not None for value in values]):
        start = run.start
        for at in (*run[1:], run.stop):
            if at == run.stop or values[at] != values[start]:
                yield Mark(kind, start * seconds, at * seconds, "caller", text=values[start] or None)
                start = at


def _burst(tick: Tick) -> str | None:
    effects = tick.user_chunk.source_effects if tick.user_chunk else None
    return file_name(effects.burst_noise_file) if effects and effects.burst_noise_file else None


def _muffled(tick: Tick) -> str | None:
    effects = tick.user_chunk.speech_effects if tick.user_chunk else None
    return "" if effects and effects.dynamic_muffling_enabled else None


def _dropped(tick: Tick) -> str | None:
    effects = tick.user_chunk.channel_effects if tick.user_chunk else None
    return "" if effects and effects.frame_drops_enabled and (effects.frame_drop_ms or 0) > 0 else None


_EFFECTS: Mapping[str, Callable[[Tick], str | None]] = {
    BURST_NOISE: _burst,
    MUFFLING: _muffled,
    FRAME_DROP: _dropped,
}


def _is_truncated(tick: Tick) -> bool:
    data = tick.agent_chunk.raw_data if tick.agent_chunk else None
    return bool(data and data.was_truncated)


def _verdict(
    verdicts: Mapping[tuple[int, str], InteractionEvent], sound: int, kinds: Iterable[str]
) -> InteractionEvent | None:
    return next((verdicts[sound, kind] for kind in kinds if (sound, kind) in verdicts), None)


def _is_right(event: InteractionEvent | None) -> bool | None:
    return None if event is None else not event.error


def _both(stretch: Stretch, turns: Sequence[SpokenTurn]) -> int:
    """Return in how many ticks of an agent's stretch the caller went on that it broke into."""
    said = [each for turn in turns for each in (*turn.heard, *turn.backchannels)]
    over = next(each for each in said if each.start <= stretch.start < each.end)
    return min(over.end, stretch.end) - stretch.start


def _turn_at(t: float, begins: Sequence[float], turns: Sequence[SpokenTurn]) -> int:
    """Return the turn that a call is in: the last that began by then."""
    begun = bisect_right(begins, t)
    return turns[begun - 1].number if begun else 0


def _seconds(milliseconds: Any) -> float | None:
    if isinstance(milliseconds, bool) or not isinstance(milliseconds, int | float):
        return None
    return milliseconds / 1000 if 0 <= milliseconds <= LONGEST * 1000 else None


def _file_of(params: Any) -> str | None:
    """Return the name of the file that an effect played, or the words that were heard."""
    given = params if isinstance(params, Mapping) else {}
    for key, value in given.items():
        if isinstance(value, str) and value and ("file" in str(key) or "path" in str(key)):
            return file_name(value) or None
    text = given.get("text")
    return text if isinstance(text, str) and text else None


# Put the stretches of a voice call into turns: the caller's, and what the agent answered.
class SpokenTurn(msgspec.Struct, gc=False):
    """Describe the stretches of a turn; turn 0 is what comes before the caller's first (T5.1).

    `heard` are the caller's stretches that ask for an answer, `backchannels` those that do not.
    """

    number: int
    heard: list[Stretch] = []
    backchannels: list[Stretch] = []
    agent: list[Stretch] = []

    @property
    def start(self) -> int:
        """Return the position at which the turn begins."""
        return min(stretch.start for stretch in (*self.heard, *self.backchannels, *self.agent))

    @property
    def agent_interrupted(self) -> bool:
        """Return whether the agent began to speak while the caller did (T5.3)."""
        return any(stretch.over for stretch in self.agent)

    @property
    def caller_interrupted(self) -> bool:
        """Return whether the caller began to speak while the agent did, with more than a backchannel (T5.3)."""
        return any(stretch.over for stretch in self.heard)

    def latency(self, ticks: SpokenTicks) -> float | None:
        """Return the seconds from the caller's last sound to the agent's first, below zero if it broke in (T5.2)."""
        if not self.heard or not self.agent:
            return None
        answer = self.agent[0]
        before = [stretch for stretch in self.heard if stretch.start <= answer.start]
        return ticks.starts(answer) - ticks.ends(before[-1]) if before else None


def turns_of(ticks: SpokenTicks) -> list[SpokenTurn]:
    """Return the turns in order, turn 0 first, without such as nobody spoke in (T5.1)."""
    turn = SpokenTurn(0)
    turns = [turn]
    for is_agent, stretch in _in_order(ticks):
        if is_agent:
            turn.agent.append(stretch)
        elif stretch.backchannel:
            turn.backchannels.append(stretch)
        else:
            if turn.agent or turn.number == 0:
                turn = SpokenTurn(turn.number + 1)
                turns.append(turn)
            turn.heard.append(stretch)
    return [each for each in turns if each.heard or each.backchannels or each.agent]


def utterances(stretches: Sequence[Stretch]) -> list[list[Stretch]]:
    """Return the stretches of a side, those together that are of one utterance: its short gaps part no words."""
    found: list[list[Stretch]] = []
    for stretch in stretches:
        if found and stretch.utterances & found[-1][-1].utterances:
            found[-1].append(stretch)
        else:
            found.append([stretch])
    return found


def _in_order(ticks: SpokenTicks) -> Iterator[tuple[bool, Stretch]]:
    sides = [(stretch.start, is_agent, stretch) for is_agent in (False, True) for stretch in _side(ticks, is_agent)]
    for _, is_agent, stretch in sorted(sides, key=lambda side: side[:2]):
        yield is_agent, stretch


def _side(ticks: SpokenTicks, is_agent: bool) -> tuple[Stretch, ...]:
    return ticks.agent if is_agent else ticks.caller
