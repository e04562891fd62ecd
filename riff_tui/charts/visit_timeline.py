"""Draw the visits of one call: a bar per state over time, with slots and guard errors where they happened."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain, takewhile

from riff_tui.text.column_fit import fitted
from riff_tui.text.glyphs import Glyphs, glyphs, readable
from riff_tui.text.numbers import counted
from riff_tui.text.safe_text import cell_width, fit
from riff_tui.timeline_events import Moment, VisitSpan

WIDEST_NAME = 24
NARROWEST_BAR = 10
_STEPS = (1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600)


@dataclass(frozen=True, slots=True)
class EventMark:
    """Note a slot that was filled or a guard that raised, `t` seconds after the call started."""

    state: str
    t: float
    guard: bool
    name: str


@dataclass(frozen=True, slots=True)
class VisitTimeline:
    """Draw bars of the visits and, below them, marks of what happened; times are seconds since the call started."""

    visits: tuple[VisitSpan, ...]
    marks: tuple[EventMark, ...]

    @classmethod
    def of(cls, visits: Sequence[VisitSpan], moments: Iterable[Moment]) -> VisitTimeline | None:
        """Return the timeline of a call, `None` without a clock or where every visit ended as it began."""
        if not any(visit.end > 0 for visit in visits):
            return None
        marks = []
        for moment in moments:
            guard = moment.kind == "guard" and moment.entry.get("error") is not None
            if moment.t is not None and moment.state is not None and (guard or moment.kind == "slot"):
                named = moment.entry.get("guard" if guard else "slot")
                marks.append(EventMark(moment.state, moment.t, guard, named if isinstance(named, str) else ""))
        return cls(tuple(visits), tuple(marks))

    def draw(
        self, *, ascii_only: bool = False, width: int = 78, height: int | None = None, at: str | None = None
    ) -> list[str]:
        """Draw an axis in seconds, then per state in order of first entry its bar and its marks.

        Where that takes more than `height` lines, it takes just as many: the legend and the last states, or those
        before the state `at`, give way to how many states are left out.
        """
        signs = glyphs(ascii_only)
        states = list(dict.fromkeys(visit.state for visit in self.visits))
        names = {state: readable(state, signs) for state in states}
        longest = max(cell_width(name) for name in names.values())
        column = max(1, min(longest, WIDEST_NAME, width - NARROWEST_BAR - 2))
        room = max(1, width - column - 2)
        end = max(visit.end for visit in self.visits)
        rows = []
        for state in states:
            bar = f"{fitted(names[state], column, signs.ellipsis)} {self._bar(state, end, room, signs)}"
            marks = self._marks(state, end, room, signs)
            rows.append([bar, " " * (column + 1) + marks] if marks else [bar])
        further = self._legend(signs)
        if height is not None and 1 + sum(map(len, rows)) + len(further) > height:
            left = _fitting(rows, height - 2, states.index(at) if at in states else 0)
            blank = [""] * (height - 2 - sum(map(len, left)))
            further = [*blank, f"{signs.ellipsis} {counted(len(rows) - len(left), 'more state')}"]
            rows = left
        lines = [" " * (column + 1) + _axis(end, room), *chain.from_iterable(rows), *further]
        return [fit(line.rstrip(), width, "") for line in lines]

    def _bar(self, state: str, end: float, room: int, signs: Glyphs) -> str:
        cells = [" "] * (room + 1)
        for visit in self.visits:
            if visit.state == state:
                first = _cell(visit.start, end, room)
                last = max(first + 1, _cell(visit.end, end, room) + (visit.end == end))
                cells[first:last] = signs.filled * (last - first)
                if visit.open:
                    cells[last] = signs.arrow
        return "".join(cells)

    def _marks(self, state: str, end: float, room: int, signs: Glyphs) -> str:
        """Put each mark with its name at the moment it belongs to, or as soon after it as there is room."""
        line = ""
        for mark in sorted((mark for mark in self.marks if mark.state == state), key=lambda mark: mark.t):
            taken = cell_width(line)
            at = max(_cell(mark.t, end, room), taken + 1 if line else 0)
            sign = signs.bad if mark.guard else signs.event
            label = fit(f"{sign}{readable(mark.name, signs)}", max(0, room + 1 - at), signs.ellipsis)
            if label:
                line += " " * (at - taken) + label
        return line

    def _legend(self, signs: Glyphs) -> list[str]:
        meanings = [
            (any(not mark.guard for mark in self.marks), f"{signs.event} slot filled"),
            (any(mark.guard for mark in self.marks), f"{signs.bad} guard error"),
            (any(visit.open for visit in self.visits), f"{signs.arrow} the call ended here"),
        ]
        said = [meaning for applies, meaning in meanings if applies]
        return ["   ".join(said)] if said else []


def _fitting(rows: list[list[str]], lines: int, at: int) -> list[list[str]]:
    """Return the rows from the first on that fit into so many lines, or later ones of which the last is `at`."""
    first = 0
    while first < at and sum(map(len, rows[first : at + 1])) > lines:
        first += 1
    fitting = takewhile(lambda taken: taken <= lines, accumulate(map(len, rows[first:])))
    return rows[first : first + len(list(fitting))]


def _cell(t: float, end: float, room: int) -> int:
    return max(0, min(room - 1, int(t / end * room)))


def _axis(end: float, room: int) -> str:
    """Draw ticks at round seconds, as many as leave room for their labels."""
    step = next((step for step in _STEPS if end / step * 6 <= room), int(end) + 1)
    cells = [" "] * (room + 1)
    for tick in range(0, int(end) + 1, step):
        label = "0 s" if tick == 0 else str(tick)
        at = _cell(tick, end, room)
        if at + len(label) <= len(cells):
            cells[at : at + len(label)] = label
    return "".join(cells)
