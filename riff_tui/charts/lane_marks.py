"""Choose signs for what was heard beside the words of a call, and say what each means."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from riff_store.voice import (
    BACKCHANNEL,
    BURST_NOISE,
    FRAME_DROP,
    GAVE_WAY,
    MUFFLING,
    NOISES,
    NON_DIRECTED,
    OUT_OF_TURN,
    RESPONSE,
    SILENCE,
    SOUNDS,
    TRUNCATED,
    VOCAL_TIC,
    Mark,
)
from riff_tui.charts.lane_cells import Interval
from riff_tui.charts.lane_times import Break
from riff_tui.text.glyphs import Glyphs
from riff_tui.text.numbers import fixed

NOISE_LETTERS = {BURST_NOISE: "N", FRAME_DROP: "D", MUFFLING: "M", OUT_OF_TURN: "O"}
_NOISE_NAMES = {BURST_NOISE: "noise", FRAME_DROP: "dropped", MUFFLING: "muffled", OUT_OF_TURN: "other voice"}
_SOUND_NAMES = {BACKCHANNEL: "backchannel", VOCAL_TIC: "tic", NON_DIRECTED: "to others"}
_SOUNDS, _SOUNDS_IN_ASCII = ("○", "*", "»"), ("o", "*", ">")
_UNANSWERED, _SILENCE = "?", "_"


class MarkSign(NamedTuple):
    """Place a sign with what may stand behind it; `grave` says that the agent did wrong, `None` that nobody judges."""

    t: float
    sign: str
    label: str
    grave: bool | None


class MarkSigns:
    """Draw marks with the signs of a display."""

    def __init__(self, marks: Sequence[Mark], signs: Glyphs) -> None:
        self._marks = marks
        self._signs = signs
        self.sounds: Mapping[str, str] = dict(
            zip(SOUNDS, _SOUNDS_IN_ASCII if signs.ascii_only else _SOUNDS, strict=True)
        )
        self.cut = "|" if signs.ascii_only else signs.box["nsw"]

    def on_lane(self, side: str) -> Iterator[tuple[Interval, str]]:
        """Return what stands on a side's lane in place of its filling, the ends that were cut off last.

        Of words that were more than a backchannel it is their beginning.
        """
        for mark in self._marks:
            if mark.kind in SOUNDS and mark.by == side:
                whole = mark.lone or mark.kind == BACKCHANNEL
                yield (mark.start, mark.end if whole else mark.start), self.sounds[mark.kind]
        for mark in self._marks:
            if mark.kind in (GAVE_WAY, TRUNCATED) and mark.by == side:
                yield (mark.end, mark.end), self.cut

    def on_line(self) -> Iterator[tuple[Interval, str]]:
        """Return what the line did to the audio."""
        for mark in self._marks:
            if mark.kind in NOISES:
                yield (mark.start, mark.end), NOISE_LETTERS[mark.kind]

    def verdicts(self) -> Iterator[MarkSign]:
        """Return where the agent took a sound for a turn, and which turns it did not answer."""
        for mark in self._marks:
            if mark.correct is False and mark.kind in (*SOUNDS, RESPONSE):
                at = mark.end if mark.kind == RESPONSE else mark.start
                yield MarkSign(at, f"{self._signs.bad}{self.sounds.get(mark.kind, _UNANSWERED)}", "", True)

    def silences(self, waits: Sequence[Interval]) -> Iterator[MarkSign]:
        """Return how long nobody spoke, but where that was a wait for an answer that is shown itself."""
        for mark in self._marks:
            if mark.kind == SILENCE and not any(start < mark.end and end > mark.start for start, end in waits):
                yield MarkSign(mark.start, _SILENCE, fixed(mark.end - mark.start, 1), None)

    def caller_breaks_in(self, each: Break) -> MarkSign:
        """Return the sign for a caller who broke in: how long the agent took to yield, or that it did not."""
        refused = each.yielded is False
        label = self._signs.bad if refused else "" if each.seconds is None else fixed(each.seconds, 1)
        return MarkSign(each.t, self._signs.falling, label, not each.yielded)

    def legend(self, breaks: Sequence[Break]) -> list[str]:
        """Return what the signs mean that are drawn."""
        kinds = {mark.kind for mark in self._marks}
        wrong = {mark.kind for mark in self._marks if mark.correct is False}
        bad, falling = self._signs.bad, self._signs.falling
        return [
            *([f"{falling}{bad} not yielded"] if any(each.yielded is False for each in breaks) else []),
            *(f"{self.sounds[kind]} {_SOUND_NAMES[kind]}" for kind in SOUNDS if kind in kinds),
            *([f"{bad} agent reacts"] if wrong & {*SOUNDS} else []),
            *([f"{bad}{_UNANSWERED} no answer"] if RESPONSE in wrong else []),
            *([f"{self.cut} cut short"] if kinds & {GAVE_WAY, TRUNCATED} else []),
            *([f"{_SILENCE} silence"] if SILENCE in kinds else []),
            *(f"{NOISE_LETTERS[kind]} {_NOISE_NAMES[kind]}" for kind in NOISES if kind in kinds),
        ]


def both_sign(signs: Glyphs) -> str:
    """Return the sign for both sides at once."""
    return "X" if signs.ascii_only else signs.half_filled


def wait_sign(signs: Glyphs) -> str:
    """Return the sign for the time before a late answer."""
    return signs.not_measured.replace("-", ".")


def glossary(marks: Sequence[Mark], signs: Glyphs) -> list[tuple[str, str]]:
    """Return every sign that lanes may have with what it means, those of marks only where there are any."""
    drawn = MarkSigns(marks, signs)
    plain = [
        (both_sign(signs), "both speak"),
        (f"{signs.rising}1.0", "the agent breaks in, and the seconds that both speak"),
        (f"{signs.falling}0.6", "the caller breaks in, and the seconds until the agent gives way"),
        (wait_sign(signs), "the wait for a late answer"),
        (f"{signs.warn}3.0 {signs.bad}6.0", "an answer that is late or early, and one that is so by much, in seconds"),
    ]
    sounds = (
        (drawn.sounds[BACKCHANNEL], "a backchannel: the caller only shows that he listens"),
        (drawn.sounds[VOCAL_TIC], "a vocal tic, such as a cough"),
        (drawn.sounds[NON_DIRECTED], "words to others: the caller speaks to somebody else"),
        (f"{signs.bad}{drawn.sounds[BACKCHANNEL]}", "the agent stops for such a sound, or answers it"),
        (f"{signs.falling}{signs.bad}", "the caller breaks in, and the agent talks on"),
        (f"{signs.bad}{_UNANSWERED}", "a turn that gets no answer before the caller speaks again"),
        (drawn.cut, "the caller gives way, or the agent's audio is cut by its provider"),
        (f"{_SILENCE}6.6", "nobody speaks, and for how many seconds"),
        *((NOISE_LETTERS[kind], f"what is done to the audio: {_NOISE_NAMES[kind]}") for kind in NOISES),
    )
    return [*plain, *sounds] if marks else plain
