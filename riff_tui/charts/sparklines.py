"""Draw series from run to run as lines of signs, each between its own lowest and highest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from riff_tui.text.glyphs import glyphs
from riff_tui.text.numbers import fixed
from riff_tui.text.safe_text import cell_width, fit, one_line

LEAST = 3
"""Two points are no line."""
_LONGEST_NAME = 24
_NARROWEST = 8
_TOP = 10.0


@dataclass(frozen=True, slots=True)
class Sparklines:
    """Draw the values of each series by its name, the oldest first; `None` where nothing was measured."""

    series: Mapping[str, Sequence[float | None]]

    def draw(self, *, ascii_only: bool = False, width: int = 78) -> list[str]:
        """Draw a line for each series that has enough values: its name, a sign a run, its range, and its last value.

        The latest runs are shown where there is no room for all.
        """
        signs = glyphs(ascii_only)
        series = {name: values for name, values in self.series.items() if _measured(values) >= LEAST}
        widest = max((min(_LONGEST_NAME, cell_width(one_line(name))) for name in series), default=0)
        lines = []
        for name, values in series.items():
            said = _said(values)
            room = max(_NARROWEST, width - widest - cell_width(said) - 4)
            named = fit(one_line(name), widest, signs.ellipsis)
            drawn = signs.sparkline(_stretched(values)[-room:])
            lines.append(f"{named}{' ' * (widest - cell_width(named))}  {drawn}  {said}")
        return lines


def _measured(values: Sequence[float | None]) -> int:
    return sum(value is not None for value in values)


def _stretched(values: Sequence[float | None]) -> list[float | None]:
    """Stretch values from the lowest to the highest to 0 to 10; all alike they lie in the middle."""
    measured = [value for value in values if value is not None]
    low, high = min(measured), max(measured)
    if high == low:
        return [None if value is None else _TOP / 2 for value in values]
    return [None if value is None else (value - low) / (high - low) * _TOP for value in values]


def _said(values: Sequence[float | None]) -> str:
    measured = [value for value in values if value is not None]
    return f"{fixed(min(measured), 1)} to {fixed(max(measured), 1)}, last {fixed(measured[-1], 1)}"
