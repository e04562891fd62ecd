"""List the blast radius of a state: the states that calls reach through it."""

from __future__ import annotations

from collections.abc import Mapping

from riff_tui.charts.neighbor_graph.plan import MOST, readable
from riff_tui.text.column_fit import fitted
from riff_tui.text.glyphs import glyphs
from riff_tui.text.numbers import percent
from riff_tui.text.safe_text import cell_width, fit

WIDTH = 78


def blast(reach: Mapping[str, float], *, ascii_only: bool = False, width: int = WIDTH) -> list[str]:
    """List each state that can be reached from a state, with the share of calls that do: what starves where it breaks.

    Sorted by share, then name; beyond twelve the rest is one line with the largest share among them.
    """
    width = min(width, WIDTH)
    signs = glyphs(ascii_only)
    ranked = sorted(reach.items(), key=lambda pair: (-pair[1], pair[0]))
    shown = [(readable(name, signs), share) for name, share in ranked[:MOST]]
    named = max((cell_width(name) for name, _ in shown), default=0)
    named = max(1, min(named, (width - 8) // 2))
    bar = max(0, min(40, width - named - 8))
    lines = [
        f"Blast radius: {len(ranked)} {'state starves' if len(ranked) == 1 else 'states starve'} if this one breaks"
    ]
    lines += [
        f"  {fitted(name, named, signs.ellipsis)} {percent(share):>4} {signs.bar(share, bar)}".rstrip()
        for name, share in shown
    ]
    if len(ranked) > MOST:
        lines.append(f"  + {len(ranked) - MOST} more, each {percent(ranked[MOST][1])} or less")
    return [fit(line, width, signs.ellipsis) for line in lines]
