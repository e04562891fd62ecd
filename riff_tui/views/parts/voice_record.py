"""Describe a voice call at large, and what was heard beside its words: for people, and for the data formats."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from riff_store.voice import (
    BACKCHANNEL,
    BURST_NOISE,
    FRAME_DROP,
    GAVE_WAY,
    INTERRUPTION,
    MUFFLING,
    NON_DIRECTED,
    OUT_OF_TURN,
    RESPONSE,
    SILENCE,
    SOUNDS,
    TRUNCATED,
    VOCAL_TIC,
    Mark,
    TraceEntry,
    Voice,
    VoiceTurn,
)
from riff_tui.table import Row, Severity
from riff_tui.text.numbers import counted, fixed
from riff_tui.timeline_events import LARGEST
from riff_tui.views.parts import cells
from riff_tui.views.parts.moment_details import CallWords

LEGEND = "[-words-] were meant and not heard, {+words+} heard and not meant; commas and capitals count for nothing."
UNRESPONSIVE = 3
"""So many turns in a row without an answer are worth a word; the signal to hang up is one of them."""


def is_number(value: object) -> bool:
    """Return whether a value is a number that means something for a call."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < LARGEST


def notes(voice: Voice, words: CallWords, rows: Sequence[Row]) -> Iterator[str]:
    """Return how the call went at large, how its task ended, and what was wrong with its logs."""
    known = [*filter(None, (voice.pipeline, voice.language)), *([f"ended {voice.ended}"] if voice.ended else [])]
    if voice.turn_taking is not None:
        known.append(f"turn-taking {fixed(voice.turn_taking, 2, trim=True)} of 1")
    known += [f"{side} interrupted {count}×" for side, count in _broke_in(voice).items() if count]
    if voice.unanswered is not None and voice.unanswered >= UNRESPONSIVE:
        known.append(f"{voice.unanswered} turns in a row without an answer")
    yield f"Voice: {' · '.join(known)}"
    if line := [*voice.conditions, *_damages(voice)]:
        yield f"Line: {' · '.join(line)}"
    task = voice.task
    if task.passed is not None:
        by = f" ({task.source})" if task.source else ""
        message = f": {words(task.message)}" if words.wanted and task.message else ""
        yield f"Task: {'done' if task.passed else 'failed'}{by}{message}"
    if any(row.record.get("changed") for row in rows):
        yield LEGEND
    for reason in dict.fromkeys(voice.unmeasured.values()):
        keys = [key for key, why in voice.unmeasured.items() if why == reason]
        yield f"Not measured: {', '.join(keys)}: {reason}."
    if voice.warnings and words.wanted:
        yield from (f"Log: {words(warning)}" for warning in voice.warnings)
    elif voice.warnings:
        yield f"Log: {counted(len(voice.warnings), 'warning')}; --text lists them."


def _broke_in(voice: Voice) -> dict[str, int]:
    """Return how often each side broke in; where sounds are known, those over the agent are none."""
    told = [mark.by for mark in voice.marks if mark.kind == INTERRUPTION]
    return {
        side: told.count(side) if voice.marks else sum(getattr(turn, f"{side}_interrupted") for turn in voice.turns)
        for side in ("agent", "caller")
    }


def _damages(voice: Voice) -> Iterator[str]:
    """Return how often the caller's audio was damaged and for how long: too often to be listed one by one."""
    for kind, name in ((FRAME_DROP, "audio dropped"), (MUFFLING, "caller muffled")):
        lasted = [mark.end - mark.start for mark in voice.marks if mark.kind == kind]
        if lasted:
            yield f"{name} {len(lasted)}×, {fixed(sum(lasted), 1)} s"


def record(voice: Voice, words: CallWords) -> dict[str, Any]:
    """Return all of it as the data formats print it; `words` decides on texts and values, not on times and scores."""
    return {
        **cells.values_of(voice, "pipeline language ended turn_taking"),
        **{
            side: [cells.values_of(span, "turn start end") for span in getattr(voice, side)]
            for side in ("caller", "agent")
        },
        "turns": [_turn(turn, words) for turn in voice.turns],
        "trace": [
            cells.values_of(entry, "kind turn t role")
            | {"text": words(entry.text), "tool": entry.tool, "value": words(entry.value)}
            for entry in voice.trace
        ],
        "task": {
            **cells.values_of(voice.task, "passed source"),
            **{key: words(getattr(voice.task, key)) for key in ("message", "diff", "mismatches")},
        },
        "warnings": words(voice.warnings),
        "unmeasured": voice.unmeasured,
        "marks": [
            cells.values_of(mark, "kind start end by turn lone over correct seconds") | {"text": words(mark.text)}
            for mark in voice.marks
        ],
        **cells.values_of(voice, "conditions unanswered"),
    }


def _turn(turn: VoiceTurn, words: CallWords) -> dict[str, Any]:
    return {
        "turn": turn.turn,
        **{key: words(getattr(turn, key)) for key in ("caller_meant", "caller_heard", "agent_meant", "agent_heard")},
        **cells.values_of(turn, "latency agent_interrupted caller_interrupted nudged"),
        "turn_taking": turn.score,
        "reason": turn.reason,
        "evidence": {
            key: value if isinstance(value, bool) or is_number(value) else words(value)
            for key, value in turn.evidence.items()
        },
    }


SOUND, LINE = "sound", "line"
"""Kinds of rows of their own, beside `silence`."""

_SOUNDS = {BACKCHANNEL: "backchannel", VOCAL_TIC: "vocal tic", NON_DIRECTED: "words to others"}
_NOISES = {BURST_NOISE: "noise", OUT_OF_TURN: "somebody else speaks"}
_SIDES = {"assistant": "agent", "user": "caller"}
_CLOSE = 1e-9
_REPEATED = re.compile(r"(\[[^\[\]]+\])(?:\s*\1)+")


class Happened(NamedTuple):
    """Describe what happened, and whether the agent did wrong in it."""

    text: str
    severity: Severity | None = None


def happened(voice: Voice, trace: Sequence[TraceEntry]) -> dict[int, list[Happened]]:
    """Return what is to be said of each message of a trace, by its place: marks are with the words they began in."""
    starts: dict[str, list[tuple[float, int]]] = {"agent": [], "caller": []}
    for place, entry in enumerate(trace):
        side = _SIDES.get(entry.role or "")
        if side is not None and is_number(entry.t):
            starts[side].append((entry.t or 0.0, place))
    found: dict[int, list[Happened]] = {}
    for mark in voice.marks:
        said = _said(mark)
        side = "caller" if mark.kind == RESPONSE else mark.by or ""
        begun = starts.get(side, [])
        at = bisect_right([t for t, _ in begun], mark.start + _CLOSE) - 1
        if said is not None and at >= 0:
            found.setdefault(begun[at][1], []).append(said)
    return found


def sound_rows(voice: Voice, words: CallWords) -> Iterator[tuple[Mapping[str, Any], Severity | None]]:
    """Return records of sounds while the caller did not speak, of noises and of silences, by time."""
    for mark in sorted(voice.marks, key=lambda mark: mark.start):
        record = {"t": mark.start, "turn": mark.turn, "role": mark.by}
        text = words(mark.text) if mark.text else None
        heard = f": {_heard(text)}" if text else ""
        if mark.kind in SOUNDS and mark.lone:
            said = _of_sound(mark)
            yield {**record, "kind": SOUND, "detail": f"{said.text}{heard}"}, said.severity
        elif mark.kind in _NOISES:
            yield {**record, "kind": LINE, "detail": f"{_NOISES[mark.kind]}{heard}"}, None
        elif mark.kind == SILENCE:
            lasted = fixed(mark.end - mark.start, 1)
            yield {**record, "role": None, "kind": SILENCE, "detail": f"for {lasted} s"}, None


def _heard(text: str) -> str:
    """Return what was heard: a sound that its words repeat, as for speech synthesis (".[cough][cough]"), once."""
    return _REPEATED.sub(r"\1", text.lstrip("."))


def _said(mark: Mark) -> Happened | None:
    """Return the text of a mark with the words that it is by, `None` for one that has a row of its own."""
    if mark.kind in SOUNDS:
        return None if mark.lone else _of_sound(mark)
    if mark.kind == INTERRUPTION:
        return _of_interruption(mark)
    if mark.kind == RESPONSE:
        return Happened("no answer", "bad") if mark.correct is False else None
    return {GAVE_WAY: Happened("caller yields"), TRUNCATED: Happened("agent is cut off")}.get(mark.kind)


def _of_sound(mark: Mark) -> Happened:
    name = _SOUNDS[mark.kind]
    if mark.correct is None:
        return Happened(name)
    if mark.correct:
        return Happened(f"{name}, agent {'goes on' if mark.over else 'waits'}")
    return Happened(f"{name}, agent {'stops' if mark.over else 'answers'}", "bad")


def _of_interruption(mark: Mark) -> Happened:
    if mark.by == "agent":
        both = f", {fixed(mark.seconds, 1)} s both" if is_number(mark.seconds) else ""
        return Happened(f"agent interrupts{both}", "bad")
    if mark.correct is False:
        return Happened("caller interrupts, agent talks on", "bad")
    yields = f", agent yields after {fixed(mark.seconds, 1)} s" if is_number(mark.seconds) else ""
    return Happened(f"caller interrupts{yields}")


def whole_trace(voice: Voice) -> list[TraceEntry]:
    """Return messages and tools in the order of the call; by the turns alone where no message is kept.

    A text that the model never wrote, or wrote otherwise than it was spoken, is in no trace. What the agent meant to
    say in such a turn, else what was heard of it, is where the turn ends.
    """
    if not any(is_message(entry) for entry in voice.trace):
        return list(_from_turns(voice))
    untraced = _untraced(voice)
    found: list[TraceEntry] = []
    for entry in voice.trace:
        while untraced and untraced[0].turn < entry.turn:
            found.append(untraced.pop(0))
        found.append(entry)
    return found + untraced


def is_message(entry: TraceEntry) -> bool:
    """Return whether somebody speaks in an entry."""
    return entry.kind not in ("tool_call", "tool_response")


def said_in(turn: VoiceTurn, role: str) -> str | None:
    """Return what a side said in a turn: the agent as it meant to, the caller as it was heard, else the other."""
    if role == "agent":
        return turn.agent_meant or turn.agent_heard
    return turn.caller_heard or turn.caller_meant if role == "caller" else None


def _untraced(voice: Voice) -> list[TraceEntry]:
    """Return what the agent said in turns of which the trace has nothing, as ingest numbers them."""
    traced = {entry.turn for entry in voice.trace if entry.role == "assistant"}
    heard = {turn.turn for turn in voice.turns if turn.agent_heard}
    meant = {turn.turn for turn in voice.turns if turn.agent_meant}
    spoken = (heard if voice.pipeline == "s2s" else meant) or heard | {span.turn for span in voice.agent}
    turns = sorted((turn for turn in voice.turns if turn.turn in spoken - traced), key=lambda turn: turn.turn)
    return [TraceEntry("intended", turn.turn, role="assistant", text=said_in(turn, "agent")) for turn in turns]


def _from_turns(voice: Voice) -> Iterator[TraceEntry]:
    """Return what was said by the turns; tools where the trace has them."""
    tools: dict[int, list[TraceEntry]] = {}
    for entry in voice.trace:
        tools.setdefault(entry.turn, []).append(entry)
    by_number = {turn.turn: turn for turn in voice.turns}
    for number in sorted({*by_number, *tools}):
        turn = by_number.get(number, VoiceTurn(number))
        if text := said_in(turn, "caller"):
            yield TraceEntry("transcribed", number, role="user", text=text)
        yield from tools.get(number, ())
        if text := said_in(turn, "agent"):
            yield TraceEntry("intended", number, role="assistant", text=text)
