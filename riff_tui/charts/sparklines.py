"""Draw series from run to run as lines of signs, all on one scale of their unit, so that two of them compare."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from riff_tui.text.glyphs import glyphs
from riff_tui.text.numbers import fixed, percent
from riff_tui.text.safe_text import cell_width, fit, one_line

LEAST = 3
"""Two points are no line."""
TOP_SCORE, WHOLE = 10.0, 1.0
_LONGEST_NAME = 24
_NARROWEST = 8


@dataclass(frozen=True, slots=True)
class Sparklines:
    """Draw the values of each series by its name, the oldest first; `None` where nothing was measured.

    Full height is 10, of the series named in `rates` every call.
    """

    series: Mapping[str, Sequence[float | None]]
    rates: Collection[str] = ()

    def draw(self, *, ascii_only: bool = False, width: int = 78) -> list[str]:
        """Draw a line for each series that has enough values: its name, a sign a run, its range, and its last value.

        The latest runs are shown where there is no room for all.
        """
        signs = glyphs(ascii_only)
        series = {name: values for name, values in self.series.items() if _measured(values) >= LEAST}
        widest = max((min(_LONGEST_NAME, cell_width(one_line(name))) for name in series), default=0)
        lines = []
        for name, values in series.items():
            said = _said(values, rate=name in self.rates)
            room = max(_NARROWEST, width - widest - cell_width(said) - 4)
            named = fit(one_line(name), widest, signs.ellipsis)
            drawn = signs.sparkline(values[-room:], WHOLE if name in self.rates else TOP_SCORE)
            lines.append(f"{named}{' ' * (widest - cell_width(named))}  {drawn}  {said}")
        return lines


def _measured(values: Sequence[float | None]) -> int:
    return sum(value is not None for value in values)


def _said(values: Sequence[float | None], *, rate: bool) -> str:
    measured = [value for value in values if value is not None]
    least, most, last = (
        percent(value) if rate else fixed(value, 1) for value in (min(measured), max(measured), measured[-1])
    )
    return f"{least} to {most}, last {last}"
