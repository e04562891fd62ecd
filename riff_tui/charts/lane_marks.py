"""Choose signs for what was heard beside the words of a call, and report what each means."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, Self, TypeAlias

from riff_store.voice import (
    BACKCHANNEL,
    BURST_NOISE,
    FRAME_DROP,
    GAVE_WAY,
    INTERRUPTION,
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
    Span,
    Voice,
)
from riff_tui.table import Severity
from riff_tui.text.glyphs import Glyphs
from riff_tui.text.numbers import fixed
from riff_tui.timeline_events import LARGEST

NOISE_LETTERS = {BURST_NOISE: "N", FRAME_DROP: "D", MUFFLING: "M", OUT_OF_TURN: "O"}
_NOISE_NAMES = {BURST_NOISE: "noise", FRAME_DROP: "dropped", MUFFLING: "muffled", OUT_OF_TURN: "other voice"}
_SOUND_NAMES = {BACKCHANNEL: "backchannel", VOCAL_TIC: "tic", NON_DIRECTED: "to others"}
_SOUNDS, _SOUNDS_IN_ASCII = ("○", "*", "»"), ("o", "*", ">")
_UNANSWERED, _SILENCE = "?", "_"


class MarkSign(NamedTuple):
    """Place a sign with what may be behind it; `grave` shows that the agent did wrong, `None` that nobody judges."""

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
        """Return what is on a side's lane in place of its filling, the ends that were cut off last.

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
    """Return every sign that lanes may have with what it means, those of marks only if there are any."""
    drawn = MarkSigns(marks, signs)
    plain = [
        (both_sign(signs), "both speak"),
        (f"{signs.rising}1.0", "the agent interrupts, and the seconds that both speak"),
        (f"{signs.falling}0.6", "the caller interrupts, and the seconds until the agent yields"),
        (wait_sign(signs), "the wait for a late answer"),
        (f"{signs.warn}3.0 {signs.bad}6.0", "an answer that is late or early, and one that is so by much, in seconds"),
    ]
    sounds = (
        (drawn.sounds[BACKCHANNEL], "a backchannel: the caller only shows that he listens"),
        (drawn.sounds[VOCAL_TIC], "a vocal tic, such as a cough"),
        (drawn.sounds[NON_DIRECTED], "words to others: the caller speaks to somebody else"),
        (f"{signs.bad}{drawn.sounds[BACKCHANNEL]}", "the agent stops for such a sound, or answers it"),
        (f"{signs.falling}{signs.bad}", "the caller interrupts, and the agent talks on"),
        (f"{signs.bad}{_UNANSWERED}", "a turn that gets no answer before the caller speaks again"),
        (drawn.cut, "the caller yields, or the agent's audio is cut by its provider"),
        (f"{_SILENCE}6.6", "nobody speaks, and for how many seconds"),
        *((NOISE_LETTERS[kind], f"what is done to the audio: {_NOISE_NAMES[kind]}") for kind in NOISES),
    )
    return [*plain, *sounds] if marks else plain


# Map time to cells: how much of each cell of a lane is filled, and where two lanes are at once.
Interval: TypeAlias = tuple[float, float]

HEARD_S = 0.001
"""Two sides that speak at once for no longer do not overlap."""

_DUST = 1e-9
_STEPS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600)


class Scale(NamedTuple):
    """Map the seconds from `start` to `end` to so many cells, each of which lasts up to the next one's beginning."""

    start: float
    end: float
    cells: int

    @property
    def seconds(self) -> float:
        """Return the seconds of a cell."""
        return (self.end - self.start) / self.cells

    def cell(self, t: float) -> int | None:
        """Return the cell of a moment, `None` outside; the last moment belongs to the last cell."""
        if not self.start <= t <= self.end:
            return None
        return min(self.cells - 1, max(0, math.floor((t - self.start) / self.seconds + _DUST)))

    def touched(self, interval: Interval) -> range:
        """Return the cells that an interval is in; of one without length, the cell of its moment."""
        start, end = interval
        if end <= start:
            at = self.cell(start)
            return range(0) if at is None else range(at, at + 1)
        if end <= self.start or start >= self.end:
            return range(0)
        first = math.floor((max(start, self.start) - self.start) / self.seconds + _DUST)
        last = math.ceil((min(end, self.end) - self.start) / self.seconds - _DUST)
        return range(min(first, self.cells - 1), min(max(last, first + 1), self.cells))

    def ticks(self) -> list[tuple[int, str]]:
        """Return round seconds with the cells that they are at, as many as have room."""
        step = next((step for step in _STEPS if self._fits(step)), None)
        while step is None or not self._fits(step):
            step = (step or _STEPS[-1]) * 10
        found: list[tuple[int, str]] = []
        for count in range(math.ceil(self.start / step - _DUST), math.floor(self.end / step + _DUST) + 1):
            at, label = self.cell(count * step), _label(count * step, step) + ("" if found else " s")
            if at is not None and at + len(label) <= self.cells:
                found.append((at, label))
        return found

    def _fits(self, step: float) -> bool:
        longest = max(len(_label(self.start, step)), len(_label(self.end, step)))
        return step / self.seconds >= longest + 3 or step > self.end - self.start


def merged(intervals: Iterable[Interval]) -> list[Interval]:
    """Return the intervals in order, with those that touch as one."""
    found: list[Interval] = []
    for start, end in sorted(intervals):
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
    return found


def common(first: Sequence[Interval], second: Sequence[Interval]) -> list[Interval]:
    """Return where two merged lists of intervals overlap for long enough to be heard."""
    found: list[Interval] = []
    i = j = 0
    while i < len(first) and j < len(second):
        start, end = max(first[i][0], second[j][0]), min(first[i][1], second[j][1])
        if end - start > HEARD_S:
            found.append((start, end))
        if first[i][1] < second[j][1]:
            i += 1
        else:
            j += 1
    return found


def shares(intervals: Iterable[Interval], scale: Scale) -> list[float | None]:
    """Return the share of each cell that merged intervals fill, `None` if nothing of them is in it."""
    found: list[float | None] = [None] * scale.cells
    for start, end in intervals:
        for at in scale.touched((start, end)):
            begins = scale.start + at * scale.seconds
            inside = min(end, begins + scale.seconds) - max(start, begins)
            found[at] = min(1.0, (found[at] or 0.0) + max(0.0, inside) / scale.seconds)
    return found


def _label(t: float, step: float) -> str:
    return f"{t:.2f}" if step < 0.1 else f"{t:.1f}" if step < 1 else f"{t:.0f}"


# Measure a voice call over time: who spoke when, who broke in, which answers came late, and the tools.
Speaker: TypeAlias = Literal["caller", "agent"]


LATE_S, LATE_WITH_TOOL_S = 2.75, 4.0
TOO_LATE_S, TOO_LATE_WITH_TOOL_S = 3.5, 5.0
TOO_EARLY_S = -0.5
"""From here on an answer earns nothing for its timing; late is what EVA counts as late."""


class Break(NamedTuple):
    """Note that `by` began to speak at `t` while the other side did, and both for `seconds`, if that is known.

    `yielded` shows whether the agent gave way to the caller, `None` if nobody judged that.
    """

    t: float
    by: Speaker
    seconds: float | None
    yielded: bool | None = None


class Gap(NamedTuple):
    """Measure the time from the caller's last sound to the agent's first, before `start` where the agent was early."""

    start: float
    end: float
    severity: Severity

    @property
    def seconds(self) -> float:
        """Return the latency of the answer."""
        return self.end - self.start


class ToolUse(NamedTuple):
    """Note that a tool was called."""

    t: float
    name: str


@dataclass(frozen=True, slots=True)
class LaneTimes:
    """Describe when each side of a voice call spoke, and what was between them.

    `window` is the part that is drawn, `at` the turn that stands out. `turns` are when each turn was, by both sides;
    `answers` when the agent's first sound in it was; `both` is when both sides spoke; `marks` are what else was heard.
    Times are seconds since the call started. Spans that go backwards are points, those without a time are left out.
    """

    caller: tuple[Interval, ...]
    agent: tuple[Interval, ...]
    turns: Mapping[int, Interval]
    answers: Mapping[int, float]
    both: tuple[Interval, ...] = ()
    breaks: tuple[Break, ...] = ()
    gaps: tuple[Gap, ...] = ()
    tools: tuple[ToolUse, ...] = ()
    marks: tuple[Mark, ...] = ()
    window: Interval | None = None
    at: int | None = None

    @classmethod
    def of(cls, voice: Voice) -> Self | None:
        """Return the lanes of a call, `None` if there is no sound of either side."""
        sounds: dict[Speaker, list[Span]] = {"caller": _timed(voice.caller), "agent": _timed(voice.agent)}
        if not any(sounds.values()):
            return None
        by_turn = {side: _by_turn(spans) for side, spans in sounds.items()}
        turns: dict[int, Interval] = {}
        for found in by_turn.values():
            for turn, spans in found.items():
                first, last = turns.get(turn, spans[0])
                turns[turn] = (min(first, *(s for s, _ in spans)), max(last, *(e for _, e in spans)))
        caller, agent = (merged((span.start, span.end) for span in spans) for spans in sounds.values())
        marks = tuple(each for each in voice.marks if abs(each.start) < LARGEST and each.start <= each.end < LARGEST)
        # A backchannel is neither a turn to be answered nor a way to break in.
        listened = {mark.start for mark in marks if mark.kind == BACKCHANNEL}
        asked = _by_turn([span for span in sounds["caller"] if span.start not in listened])
        breaks: Iterable[Break] = _breaks(voice, asked, by_turn["agent"])
        if marks:
            breaks = (
                Break(mark.start, "agent", seconds)
                if mark.by == "agent"
                else Break(mark.start, "caller", seconds, yielded=mark.correct)
                for mark in marks
                if mark.kind == INTERRUPTION
                for seconds in [mark.seconds if abs(mark.seconds or 0.0) < LARGEST else None]
            )
        return cls(
            caller=tuple(caller),
            agent=tuple(agent),
            both=tuple(common(caller, agent)),
            turns=turns,
            answers={turn: min(start for start, _ in spans) for turn, spans in by_turn["agent"].items()},
            breaks=tuple(sorted(breaks, key=lambda found: found.t)),
            gaps=tuple(_gaps(voice, asked, by_turn["agent"])),
            tools=tuple(_tools(voice, turns)),
            marks=marks,
        )

    @property
    def extent(self) -> Interval:
        """Return the first moment and the last."""
        ends = [each for interval in (*self.caller, *self.agent) for each in interval]
        ends += [tool.t for tool in self.tools]
        ends += [t for mark in self.marks for t in (mark.start, mark.end)]
        first, last = min(0.0, *ends), max(0.0, *ends)
        return (first, last) if last - first > HEARD_S else (first, first + 1.0)

    @property
    def shown(self) -> Interval:
        """Return the part that is drawn: the window as far as it is in the call, else all of it."""
        first, last = self.extent
        if self.window is None or not self.window[0] < self.window[1]:
            return first, last
        start, end = max(first, self.window[0]), min(last, self.window[1])
        # What is too short to be heard is not a part to look at.
        return (start, end) if end - start > HEARD_S else (first, last)

    def focus(self, turn: int) -> float | None:
        """Return the moment that a turn is about: where the agent began to answer, else where the turn began."""
        extent = self.turns.get(turn)
        return self.answers.get(turn, extent[0]) if extent is not None else None


def latency_severity(seconds: float | None, *, with_tool: bool) -> Severity | None:
    """Return whether an answer came too late or too early for its caller."""
    if seconds is None:
        return None
    late, too_late = (LATE_WITH_TOOL_S, TOO_LATE_WITH_TOOL_S) if with_tool else (LATE_S, TOO_LATE_S)
    if seconds <= TOO_EARLY_S or seconds >= too_late:
        return "bad"
    return "warn" if seconds < 0 or seconds >= late else None


def turns_with_tools(voice: Voice) -> frozenset[int]:
    """Return the turns in which a tool was called: their answers may take longer."""
    return frozenset(entry.turn for entry in voice.trace if entry.kind == "tool_call")


def _timed(spans: Sequence[Span]) -> list[Span]:
    """Return spans that have a time, none of them backwards."""
    return [
        Span(span.turn, span.start, max(span.start, span.end))
        for span in spans
        if abs(span.start) < LARGEST and abs(span.end) < LARGEST
    ]


def _by_turn(spans: Sequence[Span]) -> dict[int, list[Interval]]:
    found: dict[int, list[Interval]] = {}
    for span in spans:
        found.setdefault(span.turn, []).append((span.start, span.end))
    return found


def _breaks(
    voice: Voice, caller: Mapping[int, Sequence[Interval]], agent: Mapping[int, Sequence[Interval]]
) -> Iterator[Break]:
    for turn in voice.turns:
        callers, agents = caller.get(turn.turn, ()), agent.get(turn.turn, ())
        if turn.agent_interrupted and agents:
            over = common(merged(callers), merged(agents))
            first = over[0][0] if over else float("-inf")
            yield Break(
                min(start for start, end in agents if end > first or not over),
                "agent",
                sum(end - start for start, end in over) or None,
            )
        if turn.caller_interrupted and callers:
            start = min(start for start, _ in callers)
            before = agent.get(turn.turn - 1)
            yielded = max(end for _, end in before) - start if before else 0.0
            yield Break(start, "caller", yielded if yielded > HEARD_S else None)


def _gaps(
    voice: Voice, caller: Mapping[int, Sequence[Interval]], agent: Mapping[int, Sequence[Interval]]
) -> Iterator[Gap]:
    """Return answers that were late or early, but for those that broke in."""
    with_tools = turns_with_tools(voice)
    broke_in = {turn.turn for turn in voice.turns if turn.agent_interrupted}
    for turn in sorted(caller.keys() & agent.keys()):
        gap = max(end for _, end in caller[turn]), min(start for start, _ in agent[turn])
        severity = latency_severity(gap[1] - gap[0], with_tool=turn in with_tools)
        if severity is not None and not (gap[1] < gap[0] and turn in broke_in):
            yield Gap(*gap, severity)


def _tools(voice: Voice, turns: Mapping[int, Interval]) -> Iterator[ToolUse]:
    """Return tools where they were called; without a time, where their turn begins."""
    for entry in voice.trace:
        if entry.kind == "tool_call":
            t = entry.t if entry.t is not None and abs(entry.t) < LARGEST else turns.get(entry.turn, (None,))[0]
            if t is not None:
                yield ToolUse(t, entry.tool or "")
