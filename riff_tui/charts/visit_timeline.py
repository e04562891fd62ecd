"""Draw the visits of one call: a bar per state over time, with slots and guard errors where they happened."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain, takewhile

from riff_tui.charts.transcript import Line, Piece, Tone
from riff_tui.text.column_fit import name_cut
from riff_tui.text.glyphs import Glyphs, glyphs, readable
from riff_tui.text.numbers import counted, fixed
from riff_tui.text.safe_text import cell_width, fit, padded
from riff_tui.timeline_events import Moment, VisitSpan

WIDEST_NAME = 24
NARROWEST_BAR = 10
_NARROWEST_VISIT = 2
_NARROWEST_NAME = 5
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
    """Draw bars of the visits and, below them, marks of what happened; times are seconds since the call started.

    The call first failed in the state `blamed`.
    """

    visits: tuple[VisitSpan, ...]
    marks: tuple[EventMark, ...]
    blamed: str | None = None

    @classmethod
    def of(
        cls, visits: Sequence[VisitSpan], moments: Iterable[Moment], blamed: str | None = None
    ) -> VisitTimeline | None:
        """Return the timeline of a call that first failed in the state `blamed`.

        It is `None` without a clock or where every visit ended as it began.
        """
        if not any(visit.end > 0 for visit in visits):
            return None
        marks = []
        for moment in moments:
            guard = moment.kind == "guard" and moment.entry.get("error") is not None
            if moment.t is not None and moment.state is not None and (guard or moment.kind == "slot"):
                named = moment.entry.get("guard" if guard else "slot")
                marks.append(EventMark(moment.state, moment.t, guard, named if isinstance(named, str) else ""))
        return cls(tuple(visits), tuple(marks), blamed)

    def draw(
        self, *, ascii_only: bool = False, width: int = 78, height: int | None = None, at: str | None = None
    ) -> list[str]:
        """Draw the lines as plain text."""
        drawn = self.lines(ascii_only=ascii_only, width=width, height=height, at=at)
        return ["".join(text for text, _ in line) for line in drawn]

    def lines(
        self, *, ascii_only: bool = False, width: int = 78, height: int | None = None, at: str | None = None
    ) -> list[Line]:
        """Return an axis in seconds, then per state in order of first entry its bar and its marks.

        If that takes more than `height` lines, it takes just as many: the legend and the last states, or those before
        the state `at`, give way to how many states are left out.
        """
        signs = glyphs(ascii_only)
        states = list(dict.fromkeys(visit.state for visit in self.visits))
        names = {state: readable(state, signs) for state in states}
        longest = max(cell_width(name) for name in names.values())
        column = max(1, min(longest, WIDEST_NAME, width - NARROWEST_BAR - 2))
        room = max(1, width - column - 2)
        end = max(visit.end for visit in self.visits)
        cut = name_cut(names.values(), column, signs.ellipsis, most=0)
        rows: list[list[Piece]] = []
        for state in states:
            bar = f"{padded(cut.text(names[state]), column)} {self._bar(state, end, room, signs)}"
            marks = self._marks(state, end, room, signs)
            row: list[Piece] = [(bar, "bad" if state == self.blamed else "accent")]
            rows.append([*row, (" " * (column + 1) + marks, "accent")] if marks else row)
        further = self._legend(signs)
        if height is not None and 1 + sum(map(len, rows)) + len(further) > height:
            left = _fitting(rows, height - 2, states.index(at) if at in states else 0)
            blank = [""] * (height - 2 - sum(map(len, left)))
            further = [*blank, f"{signs.ellipsis} {counted(len(rows) - len(left), 'more state')}"]
            rows = left
        axis: Piece = (" " * (column + 1) + _axis(end, room), "faint")
        told = [axis, *chain.from_iterable(rows), *((line, "faint") for line in further)]
        return [((fit(line.rstrip(), width, ""), tone),) for line, tone in told]

    def strip(self, *, ascii_only: bool = False, width: int = 78, at: float | None = None) -> Line:
        """Return the visits on one line, as wide as they were long; that at the moment `at` is filled and timed.

        Without a moment the last one is. Of more visits than there is room for those around it are shown.
        """
        signs = glyphs(ascii_only)
        place = next((n for n, visit in enumerate(self.visits) if at is not None and at < visit.end), None)
        place = len(self.visits) - 1 if place is None else place
        here, end = self.visits[place], max(visit.end for visit in self.visits)
        when = f"{fixed(here.start, 0)}-{fixed(here.end, 0)} s of {fixed(end, 0)} s"
        when = when if ascii_only else when.replace("-", "–")
        room = max(NARROWEST_BAR, width - cell_width(when) - 2)
        first, last = _around(place, len(self.visits), 1 + max(0, room - WIDEST_NAME) // (_NARROWEST_NAME + 1))
        shown = self.visits[first:last]
        pieces: list[Piece] = [(signs.ellipsis, "faint")] if first else []
        wanted = [
            min(WIDEST_NAME, cell_width(readable(visit.state, signs)) + 4) if visit is here else 0 for visit in shown
        ]
        left_out = cell_width(signs.ellipsis)
        cut = left_out * bool(first) + (left_out - 1) * (last < len(self.visits))
        cells = _shares([visit.end - visit.start for visit in shown], wanted, room - len(shown) + 1 - cut)
        names = {visit.state: readable(visit.state, signs) for visit in shown}
        for number, (visit, width_of_visit) in enumerate(zip(shown, cells, strict=True)):
            name = names[visit.state]
            if number:
                pieces.append((signs.box["ns"], "faint"))
            if visit is here:
                text = fit(f" {name} ", max(0, width_of_visit - 2), signs.ellipsis)
                text = signs.filled + text + signs.filled * (width_of_visit - 1 - cell_width(text))
            else:
                start = fit(name, width_of_visit, "")
                # A few letters of a name say less than that there was a visit, and so do letters of several names.
                is_told = cell_width(start) >= min(_NARROWEST_NAME, cell_width(name)) and (
                    start == name or not any(other != name and other.startswith(start) for other in names.values())
                )
                text = padded(start, width_of_visit) if is_told else signs.hatched * width_of_visit
            tone: Tone = "bad" if visit.state == self.blamed else "accent" if visit is here else "faint"
            pieces.append((text, tone))
        if last < len(self.visits):
            pieces.append((signs.ellipsis, "faint"))
        elif self.visits[-1].open:
            pieces.append((signs.arrow, "faint"))
        used = sum(cell_width(text) for text, _ in pieces)
        return (*pieces, (" " * max(1, width - used - cell_width(when)) + when, "faint"))

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


def _fitting(rows: list[list[Piece]], lines: int, at: int) -> list[list[Piece]]:
    """Return the rows from the first on that fit into so many lines, or later ones of which the last is `at`."""
    first = 0
    while first < at and sum(map(len, rows[first : at + 1])) > lines:
        first += 1
    fitting = takewhile(lambda taken: taken <= lines, accumulate(map(len, rows[first:])))
    return rows[first : first + len(list(fitting))]


def _around(place: int, n: int, most: int) -> tuple[int, int]:
    """Return the ends of at most so many of `n` places around one."""
    most = max(1, most)
    first = max(0, min(place - most // 2, n - most))
    return first, min(n, first + most)


def _shares(lengths: Sequence[float], wanted: Sequence[int], cells: int) -> list[int]:
    """Return how many cells each length takes of all, the narrowest and those that are wanted first."""
    least = [max(_NARROWEST_NAME, each) for each in wanted]
    while sum(least) > cells and max(least) > _NARROWEST_VISIT:
        least[least.index(max(least))] -= 1
    rest, whole = max(0, cells - sum(least)), sum(lengths) or 1.0
    ends = [round(rest * total / whole) for total in accumulate(lengths)]
    return [low + end - start for low, start, end in zip(least, [0, *ends], ends, strict=False)]


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
