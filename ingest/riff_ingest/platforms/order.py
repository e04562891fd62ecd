"""Put what happened in a call into the order of time, where only some of it has a time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

_T = TypeVar("_T")


def in_time_order(items: Sequence[tuple[float | None, _T]], end: float | None = None) -> list[tuple[float | None, _T]]:
    """Return items with their times, in seconds, the earliest first.

    One without a time has that of the next that has one, the last ones that of the call's `end`; those of one time
    keep their order, as do all where none has a time.
    """
    placed: list[tuple[float | None, _T]] = []
    following = end
    for t, item in reversed(items):
        following = following if t is None else t
        placed.append((following, item))
    placed.reverse()
    return sorted(placed, key=lambda each: float("inf") if each[0] is None else each[0])
