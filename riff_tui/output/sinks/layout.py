"""Room on a line of so many cells: which columns fit and how wide, and where a sentence breaks."""

from __future__ import annotations

from collections.abc import Sequence

from riff_tui.table import Column
from riff_tui.text.safe_text import cell_width, fit

GAP = 2
NARROWEST = 10
_ELASTIC_KINDS = frozenset({"name", "text", "object"})


def layout(columns: Sequence[Column], natural: Sequence[int], room: int | None) -> list[int]:
    """The widths of the leading columns that fit; those beyond are left out.

    Names and texts give way first, down to ten cells; then columns go, the last first, but never the first one.
    """
    if room is None or not natural:
        return list(natural)
    elastic = [column.kind in _ELASTIC_KINDS for column in columns]
    least = [min(width, NARROWEST) if gives else width for width, gives in zip(natural, elastic, strict=True)]
    kept = len(least)
    while kept > 1 and _total(least[:kept]) > room:
        kept -= 1
    widths = list(natural[:kept])
    excess = _total(widths) - room
    while excess > 0:
        giving = [index for index in range(kept) if elastic[index] and widths[index] > least[index]]
        if not giving:
            break
        widths[max(giving, key=lambda index: widths[index])] -= 1
        excess -= 1
    if excess > 0:
        widths[0] = max(1, widths[0] - excess)
    return widths


def wrapped(text: str, room: int | None) -> list[str]:
    """Safe text in lines of at most so many cells, broken at blanks where there are some; nothing is lost."""
    if room is None or cell_width(text) <= room:
        return [text]
    lines = [""]
    for word in text.split(" "):
        longer = f"{lines[-1]} {word}" if lines[-1] else word
        if cell_width(longer) <= room:
            lines[-1] = longer
            continue
        if lines[-1]:
            lines.append("")
        rest = word
        while cell_width(rest) > room:
            head = fit(rest, room, "") or rest[:1]
            lines[-1] = head
            lines.append("")
            rest = rest[len(head) :]
        lines[-1] = rest
    return lines


def _total(widths: Sequence[int]) -> int:
    return sum(widths) + GAP * (len(widths) - 1)
