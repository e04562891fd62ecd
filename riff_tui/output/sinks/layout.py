"""Give columns and sentences the room that a terminal has for them."""

from __future__ import annotations

from collections.abc import Sequence

from riff_tui.table import Column
from riff_tui.text.column_fit import ELASTIC_KINDS, shrink, wrap
from riff_tui.text.safe_text import cell_width

GAP = 2
NARROWEST = 10


def layout(columns: Sequence[Column], natural: Sequence[int], room: int | None) -> list[int]:
    """Return the widths of the leading columns that fit; those beyond are left out.

    Names and texts give way first, down to ten cells; then columns go, the last first, but never the first one.
    """
    if room is None or not natural:
        return list(natural)
    elastic = [column.kind in ELASTIC_KINDS for column in columns]
    least = [min(width, NARROWEST) if gives else width for width, gives in zip(natural, elastic, strict=True)]
    kept = len(least)
    while kept > 1 and _total(least[:kept]) > room:
        kept -= 1
    widths = shrink(natural[:kept], least[:kept], _total(natural[:kept]) - room)
    widths[0] = max(1, min(widths[0], widths[0] + room - _total(widths)))
    return widths


def wrapped(text: str, room: int | None) -> list[str]:
    """Break safe text into lines of at most `room` cells; what fits, or has room without end, stays as it is."""
    return [text] if room is None or cell_width(text) <= room else wrap(text, room)


def _total(widths: Sequence[int]) -> int:
    return sum(widths) + GAP * (len(widths) - 1)
