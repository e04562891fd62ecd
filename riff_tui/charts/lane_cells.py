"""Map time to cells: how much of each cell of a lane is filled, and where two lanes are at once."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

Interval: TypeAlias = tuple[float, float]

HEARD_S = 0.001
"""Two sides that speak at once for no longer do not overlap."""

_DUST = 1e-9
_STEPS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600)


@dataclass(frozen=True, slots=True)
class Scale:
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
        """Return the cells that an interval lies in; of one without length, the cell of its moment."""
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
        """Return round seconds with the cells that they stand at, as many as have room."""
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
    """Return the share of each cell that merged intervals fill, `None` where nothing of them lies in it."""
    found: list[float | None] = [None] * scale.cells
    for start, end in intervals:
        for at in scale.touched((start, end)):
            begins = scale.start + at * scale.seconds
            inside = min(end, begins + scale.seconds) - max(start, begins)
            found[at] = min(1.0, (found[at] or 0.0) + max(0.0, inside) / scale.seconds)
    return found


def _label(t: float, step: float) -> str:
    return f"{t:.2f}" if step < 0.1 else f"{t:.1f}" if step < 1 else f"{t:.0f}"
