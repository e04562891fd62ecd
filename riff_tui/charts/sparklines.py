"""Draw series from run to run as lines of signs, all on one scale of their unit, so that two of them compare."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from riff_tui.text.column_fit import name_cut
from riff_tui.text.glyphs import glyphs
from riff_tui.text.numbers import fixed, percent
from riff_tui.text.safe_text import cell_width, one_line

LEAST = 3
"""Two points are no line."""
TOP_SCORE, WHOLE = 10.0, 1.0
_LONGEST_NAME = 24
_NARROWEST = 8


class Sparklines(NamedTuple):
    """Draw the values of each series by its name, the oldest first; `None` if nothing was measured.

    Full height is 10, of the series named in `rates` every call.
    """

    series: Mapping[str, Sequence[float | None]]
    rates: Collection[str] = ()

    def draw(self, *, ascii_only: bool = False, width: int = 78) -> list[str]:
        """Draw a line for each series that has enough values: its name, a sign a run, its range, and its last value.

        The latest runs are shown if there is no room for all.
        """
        signs = glyphs(ascii_only)
        measured = {name: [value for value in values if value is not None] for name, values in self.series.items()}
        series = {name: values for name, values in self.series.items() if len(measured[name]) >= LEAST}
        widest = max((min(_LONGEST_NAME, cell_width(one_line(name))) for name in series), default=0)
        cut = name_cut([one_line(name) for name in series], widest, signs.ellipsis, most=0)
        lines = []
        for name, values in series.items():
            ends = min(measured[name]), max(measured[name]), measured[name][-1]
            least, most, last = (percent(end) if name in self.rates else fixed(end, 1) for end in ends)
            said = f"{least} to {most}, last {last}"
            room = max(_NARROWEST, width - widest - cell_width(said) - 4)
            named = cut.text(one_line(name))
            drawn = signs.sparkline(values[-room:], WHOLE if name in self.rates else TOP_SCORE)
            lines.append(f"{named}{' ' * (widest - cell_width(named))}  {drawn}  {said}")
        return lines
