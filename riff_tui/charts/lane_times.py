"""Measure a voice call over time: who spoke when, who broke in, which answers came late, and the tools."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Self, TypeAlias

from riff_store.voice import BACKCHANNEL, INTERRUPTION, Mark, Span, Voice
from riff_tui.charts.lane_cells import HEARD_S, Interval, common, merged
from riff_tui.table import Severity
from riff_tui.timeline_events import LARGEST

Speaker: TypeAlias = Literal["caller", "agent"]


LATE_S, LATE_WITH_TOOL_S = 2.75, 4.0
TOO_LATE_S, TOO_LATE_WITH_TOOL_S = 3.5, 5.0
TOO_EARLY_S = -0.5
"""From here on an answer earns nothing for its timing; late is what EVA counts as late."""


@dataclass(frozen=True, slots=True)
class Break:
    """Note that `by` began to speak at `t` while the other side did, and both for `seconds`, where that is known.

    `yielded` says whether the agent gave way to the caller, `None` where nobody judged that.
    """

    t: float
    by: Speaker
    seconds: float | None
    yielded: bool | None = None


@dataclass(frozen=True, slots=True)
class Gap:
    """Measure the time from the caller's last sound to the agent's first, before `start` where the agent was early."""

    start: float
    end: float
    severity: Severity

    @property
    def seconds(self) -> float:
        """Return the latency of the answer."""
        return self.end - self.start


@dataclass(frozen=True, slots=True)
class ToolUse:
    """Note that a tool was called."""

    t: float
    name: str


@dataclass(frozen=True, slots=True)
class LaneTimes:
    """Hold when each side of a voice call spoke, and what was between them.

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
        """Return the lanes of a call, `None` where there is no sound of either side."""
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
        marks = tuple(_marks(voice))
        # A backchannel is neither a turn to be answered nor a way to break in.
        listened = {mark.start for mark in marks if mark.kind == BACKCHANNEL}
        asked = _by_turn([span for span in sounds["caller"] if span.start not in listened])
        breaks = _marked_breaks(marks) if marks else _breaks(voice, asked, by_turn["agent"])
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
        """Return the part that is drawn: the window as far as it lies in the call, else all of it."""
        first, last = self.extent
        if self.window is None or not self.window[0] < self.window[1]:
            return first, last
        start, end = max(first, self.window[0]), min(last, self.window[1])
        # What is too short to be heard is no part to look at.
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


def _marks(voice: Voice) -> Iterator[Mark]:
    """Return marks that have a time, but for those that go backwards."""
    for mark in voice.marks:
        if abs(mark.start) < LARGEST and mark.start <= mark.end < LARGEST:
            yield mark


def _marked_breaks(marks: Sequence[Mark]) -> Iterator[Break]:
    for mark in marks:
        if mark.kind == INTERRUPTION:
            if mark.by == "agent":
                yield Break(mark.start, "agent", mark.seconds)
            else:
                yield Break(mark.start, "caller", mark.seconds, yielded=mark.correct)


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
