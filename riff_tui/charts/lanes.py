"""Draw two lanes of sound over time, the caller's and the agent's."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Literal, TypeAlias

from riff_tui.charts.lane_marks import (
    Interval,
    LaneTimes,
    MarkSign,
    MarkSigns,
    Scale,
    Speaker,
    both_sign,
    shares,
    wait_sign,
)
from riff_tui.text.glyphs import Glyphs, glyphs, readable
from riff_tui.text.numbers import fixed
from riff_tui.text.safe_text import cell_width, fit


class Lanes(LaneTimes):
    """Draw the times of a voice call as a figure."""

    __slots__ = ()

    def draw(self, *, ascii_only: bool = False, width: int = 78) -> list[str]:
        """Draw an axis in seconds, the turns, both lanes with what is between them, the tools, and a legend."""
        painted = self.painted(ascii_only=ascii_only, width=width)
        return [fit("".join(text for text, _ in line).rstrip(), width, "") for line in painted]

    def painted(self, *, ascii_only: bool = False, width: int = 78, legend_lines: int = 2) -> list[list[Piece]]:
        """Return the same lines in pieces that show what they are of, for displays with colours."""
        return Painter(self, glyphs(ascii_only), width, legend_lines).lines()


Tone: TypeAlias = Literal["faint", "caller", "agent", "both", "bad", "warn", "tool", "here"]
Piece: TypeAlias = tuple[str, Tone | None]

_NAMES = 7
_NARROW = 34
_SHORTEST_NAME = 4
_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
_UNNAMED = "*"
_GAP = "  "
_FARTHEST, _FARTHEST_S = 8, 12.0
_OUTWEIGHED = 3


class Painter:
    """Draw the part of lanes that their window shows, in lines of one width."""

    def __init__(self, lanes: LaneTimes, signs: Glyphs, width: int, legend_lines: int) -> None:
        self._lanes = lanes
        self._legend_lines = legend_lines if lanes.marks else 1
        self._signs = signs
        self._width = width
        self._column = _NAMES if width >= _NARROW else 2
        self._scale = Scale(*lanes.shown, max(1, width - self._column))
        self._both, self._waits = both_sign(signs), wait_sign(signs)
        self._marks = MarkSigns(lanes.marks, signs)
        self._on_line = list(self._marks.on_line())
        self._letters = _letters((tool.name for tool in lanes.tools), {letter for _, letter in self._on_line})

    def lines(self) -> list[list[Piece]]:
        """Return as many lines for every window of a call, so that nothing below them moves."""
        lanes, both = self._lanes, self._lanes.both
        between = self._between() if lanes.breaks or lanes.gaps or lanes.marks else None
        axis = self._blank()
        for at, label in self._scale.ticks():
            _put(axis, at, label, "faint")
        legend: list[list[Piece]] = [[(line, "faint")] for line in self._legend(bool(both))]
        return [
            self._line(self._zoom(), axis),
            self._line("turn", self._turns()),
            self._line("caller", self._lane(lanes.caller, both, "caller")),
            *([self._line("s", between)] if between is not None else []),
            self._line("agent", self._lane(lanes.agent, both, "agent")),
            *([self._line("tools" if lanes.tools else "line", self._tools())] if lanes.tools or self._on_line else []),
            *legend,
        ]

    def _line(self, name: str, cells: Sequence[Piece]) -> list[Piece]:
        """Return a row of cells behind its name, neighbours of one tone as one piece."""
        pieces: list[Piece] = [(f"{fit(name, self._column - 1, ''):<{self._column}}"[: self._width], "faint")]
        for tone, run in groupby(cells, key=lambda cell: cell[1]):
            pieces.append(("".join(sign for sign, _ in run), tone))
        return pieces

    def _zoom(self) -> str:
        """Return how much nearer than the whole call this is, with arrows to where more of it is."""
        (first, last), (start, end) = self._lanes.extent, self._lanes.shown
        if (first, last) == (start, end):
            return ""
        times = fixed((last - first) / (end - start), 0)
        return f"{'<' if start > first else ' '}x{times}{'>' if end < last else ' '}"

    def _blank(self) -> list[Piece]:
        return [(" ", None)] * self._scale.cells

    def _turns(self) -> list[Piece]:
        """Put numbers where turns begin, the one that stands out first, with a line as long as it lasts."""
        cells, lanes = self._blank(), self._lanes
        here = lanes.turns.get(lanes.at) if lanes.at is not None else None
        if here is not None:
            extent = self._scale.touched(here)
            for at in extent:
                cells[at] = (self._signs.box["ew"], "here")
            label = str(lanes.at)
            if extent and extent[0] + len(label) <= len(cells):
                _put(cells, extent[0], label, "here")
        for turn, (start, end) in sorted(lanes.turns.items(), key=lambda each: (each[1], each[0])):
            label = str(turn)
            for at in self._scale.touched((start, end)):
                if at + len(label) <= len(cells) and _is_free(cells, at - 1, len(label) + 2):
                    _put(cells, at, label, None)
                    break
        return cells

    def _lane(self, intervals: Sequence[Interval], both: Sequence[Interval], side: Speaker) -> list[Piece]:
        cells = self._blank()
        if side == "agent":
            for gap in self._lanes.gaps:
                for at in self._scale.touched((gap.start, gap.end)) if gap.seconds > 0 else ():
                    cells[at] = (self._waits, "bad" if gap.severity == "bad" else "warn")
        for at, share in enumerate(shares(intervals, self._scale)):
            if share is not None:
                cells[at] = (self._height(share), side)
        for interval in both:
            for at in self._scale.touched(interval):
                cells[at] = (self._both, "both")
        spoken = shares(intervals, self._scale)
        for interval, sign in self._marks.on_lane(side):
            part = shares([interval], self._scale)
            for at in self._scale.touched(interval):
                # In a cell of many seconds words that outweigh a sound stay to be seen.
                if (spoken[at] or 0.0) <= _OUTWEIGHED * (part[at] or 1.0):
                    cells[at] = (sign, side)
        return cells

    def _height(self, share: float) -> str:
        """Return a sign that is the higher the more of its cell is filled."""
        if self._signs.ascii_only:
            return self._signs.filled if share >= 0.5 else self._signs.half_filled
        return self._signs.sparks[max(0, round(share * len(self._signs.sparks)) - 1)]

    def _between(self) -> list[Piece]:
        """Mark who broke in, with the seconds that both spoke, and which answers were late; the gravest first."""
        cells = self._blank()
        signs, waits = self._signs, self._lanes.gaps
        marks: list[MarkSign] = [
            MarkSign(each.t, signs.rising, "" if each.seconds is None else fixed(each.seconds, 1), True)
            if each.by == "agent"
            else self._marks.caller_breaks_in(each)
            for each in self._lanes.breaks
        ]
        marks += self._marks.verdicts()
        marks += [
            MarkSign(min(gap.start, gap.end), signs.mark(gap.severity), fixed(gap.seconds, 1), gap.severity == "bad")
            for gap in waits
        ]
        marks.sort(key=lambda mark: not mark.grave)
        marks += self._marks.silences([(gap.start, gap.end) for gap in waits])
        for mark in marks:
            at = self._scale.cell(mark.t)
            if at is not None:
                tone: Tone = "bad" if mark.grave else "faint" if mark.grave is None else "warn"
                self._mark(cells, at, mark.sign, mark.label, tone)
        return cells

    def _mark(self, cells: list[Piece], at: int, sign: str, label: str, tone: Tone) -> None:
        """Put a sign where it belongs with a label behind it, else before it, else alone, else nowhere.

        Calls with marks have many at once: there a mark without room comes as soon after as it can.
        """
        farthest = min(_FARTHEST, 1 + int(_FARTHEST_S / self._scale.seconds)) if self._lanes.marks else 0
        behind = range(at + 1, at + farthest)
        places = [(at, sign + label), (at - len(label), label + sign), (at, sign)]
        places += [(each, text) for text in (sign + label, sign) for each in behind]
        for start, text in places:
            if start >= 0 and start + len(text) <= len(cells) and _is_free(cells, start - 1, len(text) + 2):
                _put(cells, start, text, tone)
                return

    def _tools(self) -> list[Piece]:
        """Put a letter for each call of a tool where it was called, or as soon behind as there is room.

        Beneath them is what was done to the audio.
        """
        cells = self._blank()
        noises = self._blank()
        for interval, letter in self._on_line:
            for touched in self._scale.touched(interval):
                noises[touched] = (letter, "warn")
        for tool in self._lanes.tools:
            at = self._scale.cell(tool.t)
            further = () if at is None else range(at, len(cells))
            free = next((each for each in further if cells[each][0] == " "), None)
            if free is not None:
                cells[free] = (self._letters[tool.name], "tool")
        return [noise if cell[0] == " " else cell for cell, noise in zip(cells, noises, strict=True)]

    def _legend(self, both: bool) -> list[str]:
        """Return what the signs mean, in a second line too where marks need it."""
        signs, lanes = self._signs, self._lanes
        meanings = [
            (both, f"{self._both} both"),
            *((True, meaning) for meaning in (*self._break_meanings(), *self._marks.legend(lanes.breaks))),
            (any(gap.seconds > 0 for gap in lanes.gaps), f"{self._waits} late"),
            (any(gap.seconds <= 0 for gap in lanes.gaps), f"{signs.bad} early"),
        ]
        said = [meaning for applies, meaning in meanings if applies]
        # Names give way one cell after the other, so that as many letters as can be are explained.
        names = {letter: readable(name, signs) for name, letter in self._letters.items()}
        room, most = max(map(cell_width, names.values()), default=0), self._legend_lines
        while True:
            tools = [f"{letter} {fit(name, room, signs.ellipsis)}" for letter, name in names.items()]
            lines = _flowed([*said, *tools], self._width)
            if len(lines) <= most or room <= _SHORTEST_NAME:
                break
            room -= 1
        kept = [*lines[: most - 1], _GAP.join(lines[most - 1 :])]
        return [fit(line, self._width, signs.ellipsis) for line in kept if line]

    def _break_meanings(self) -> list[str]:
        signs, sides = self._signs, {each.by for each in self._lanes.breaks}
        if self._lanes.marks and len(sides) > 1:  # there is more to be explained than room
            return [f"{signs.rising} agent {signs.falling} caller interrupts"]
        arrows = {"agent": signs.rising, "caller": signs.falling}
        return [f"{arrow} {side} interrupts" for side, arrow in arrows.items() if side in sides]


def _letters(names: Iterable[str], taken: set[str]) -> dict[str, str]:
    """Choose a letter for each name: one of its own where one is left."""
    found: dict[str, str] = {}
    for name in names:
        if name not in found:
            initials = [part[:1] for part in name.replace("-", "_").split("_")]
            own = [letter for letter in [*"".join(initials), *name] if letter in _LETTERS]
            letter = next((letter for letter in [*own, *_LETTERS] if letter not in taken), _UNNAMED)
            found[name] = letter
            taken.add(letter)
    return found


def _flowed(parts: Iterable[str], width: int) -> list[str]:
    """Put parts into lines of a width, one behind the other."""
    lines: list[str] = []
    for part in parts:
        if lines and cell_width(lines[-1]) + len(_GAP) + cell_width(part) <= width:
            lines[-1] += f"{_GAP}{part}"
        else:
            lines.append(part)
    return lines


def _put(cells: list[Piece], at: int, text: str, tone: Tone | None) -> None:
    cells[at : at + len(text)] = [(sign, tone) for sign in text]


def _is_free(cells: Sequence[Piece], at: int, length: int) -> bool:
    """Return whether nothing is in some cells, as far as they are there; all but their margins have to be."""
    if at + length - 1 > len(cells):
        return False
    return all(sign == " " for sign, _ in cells[max(0, at) : at + length])
