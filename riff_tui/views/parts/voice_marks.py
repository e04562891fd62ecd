"""Say what was heard beside the words of a voice call, and what the agent made of it."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from riff_store.voice import (
    BACKCHANNEL,
    BURST_NOISE,
    GAVE_WAY,
    INTERRUPTION,
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
)
from riff_tui.table import Severity
from riff_tui.text.numbers import fixed
from riff_tui.views.parts.voice_record import WordFilter, is_number

SOUND, LINE = "sound", "line"
"""Kinds of rows of their own, beside `silence`."""

_SOUNDS = {BACKCHANNEL: "backchannel", VOCAL_TIC: "vocal tic", NON_DIRECTED: "words to others"}
_NOISES = {BURST_NOISE: "noise", OUT_OF_TURN: "somebody else speaks"}
_SIDES = {"assistant": "agent", "user": "caller"}
_CLOSE = 1e-9
_REPEATED = re.compile(r"(\[[^\[\]]+\])(?:\s*\1)+")


class Happened(NamedTuple):
    """Say what happened, and whether the agent did wrong in it."""

    text: str
    severity: Severity | None = None


def happened(voice: Voice, trace: Sequence[TraceEntry]) -> dict[int, list[Happened]]:
    """Return what is to be said of each message of a trace, by its place: marks stand with the words they began in."""
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


def rows(voice: Voice, words: WordFilter) -> Iterator[tuple[Mapping[str, Any], Severity | None]]:
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
    """Return what is said of a mark with the words that it stands by, `None` for one that has a row of its own."""
    if mark.kind in SOUNDS:
        return None if mark.lone else _of_sound(mark)
    if mark.kind == INTERRUPTION:
        return _of_interruption(mark)
    if mark.kind == RESPONSE:
        return Happened("no answer", "bad") if mark.correct is False else None
    return {GAVE_WAY: Happened("caller gives way"), TRUNCATED: Happened("agent is cut off")}.get(mark.kind)


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
        return Happened(f"agent breaks in{both}", "bad")
    if mark.correct is False:
        return Happened("caller breaks in, agent talks on", "bad")
    yields = f", agent yields after {fixed(mark.seconds, 1)} s" if is_number(mark.seconds) else ""
    return Happened(f"caller breaks in{yields}")
