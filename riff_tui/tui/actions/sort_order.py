"""By what rows are sorted after the next key."""

from __future__ import annotations

from riff_tui.table import Column


def following_order(order: str | None, column: Column, *, other_way: bool) -> str | None:
    """The order (a column, `-` before it for downwards) after sorting by a column in one; `None` is the view's own.

    First comes the worst, then the best, then the view's own order; the `other_way` begins with the
    best and goes back and forth.
    """
    up, down = column.key, f"-{column.key}"
    rising = column.better == "higher" or column.kind in ("name", "text", "time")
    worst, best = (up, down) if rising else (down, up)
    if other_way:
        return worst if order == best else best
    if order == best:
        return None
    return best if order == worst else worst
