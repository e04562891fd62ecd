"""Draw buckets as columns of blocks with counts above and edges below."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from riff_tui.text.glyphs import Glyphs, glyphs
from riff_tui.text.numbers import fixed

if TYPE_CHECKING:
    from riff_store.queries.latencies import Bucket

WIDTH = 78
LEAST_HEIGHT = 3
_WIDEST = 7
_NARROWEST = 3


class HistogramBar(NamedTuple):
    """Place a bucket in every line of a histogram: the cells from `start` up to `end`."""

    start: int
    end: int
    bucket: Bucket


def bars(buckets: Sequence[Bucket], width: int = WIDTH) -> list[HistogramBar]:
    """Return the places of all buckets on lines of so many cells, none if that is too few."""
    room = (min(width, WIDTH) - 1) // max(1, len(buckets))
    if not buckets or room < _NARROWEST:
        return []
    room = min(room, max([_WIDEST, *(len(f"{each.count:,}") + 1 for each in buckets)]))
    return [HistogramBar(number * room + 1, (number + 1) * room, each) for number, each in enumerate(buckets)]


def draw(buckets: Sequence[Bucket], *, ascii_only: bool = False, width: int = WIDTH, height: int = 5) -> list[str]:
    """Draw counts, columns and edges in `height` lines (3 at least) of at most `width` cells, and at most 78.

    The highest column is that of the largest count; a count above 0 can be seen. If there is no room for columns, one
    line of signs represents them all.
    """
    placed = bars(buckets, width)
    signs = glyphs(ascii_only)
    if not placed:
        return [line[:width] for line in [sparkline(buckets, signs)] if line]
    top = max(bar.bucket.count for bar in placed)
    tall = max(LEAST_HEIGHT, height) - 2
    levels = len(signs.sparks)
    full = [_level(bar.bucket.count, top, tall * levels) for bar in placed]
    counts = [f"{bar.bucket.count:,}" if bar.bucket.count else "" for bar in placed]
    lines = [_labels([(bar, count.center(bar.end - bar.start)) for bar, count in zip(placed, counts, strict=True)])]
    for row in reversed(range(tall)):
        signed = [signs.filled if level >= (row + 1) * levels else _sign(level - row * levels, signs) for level in full]
        lines.append(_labels([(bar, sign * (bar.end - bar.start)) for bar, sign in zip(placed, signed, strict=True)]))
    return [*lines, _edges(placed, min(width, WIDTH))]


def sparkline(buckets: Sequence[Bucket], signs: Glyphs) -> str:
    """Draw one sign for each bucket between the lowest edge and the highest."""
    if not buckets:
        return ""
    top = max(each.count for each in buckets)
    drawn = "".join(_sign(_level(each.count, top, len(signs.sparks)), signs) for each in buckets)
    return f"{edge(buckets[0].low)} {drawn} {_end(buckets[-1])}"


def edge(seconds: float) -> str:
    """Write a round number as people do."""
    return fixed(seconds, 4, trim=True).removesuffix(".0")


def _end(bucket: Bucket) -> str:
    return f"{edge(bucket.low)}+ s" if bucket.high is None else f"{edge(bucket.high)} s"


def _level(count: int, top: int, levels: int) -> int:
    return max(1, round(count / top * levels)) if count else 0


def _sign(level: int, signs: Glyphs) -> str:
    return signs.sparks[min(level, len(signs.sparks)) - 1] if level > 0 else " "


def _labels(placed: Sequence[tuple[HistogramBar, str]]) -> str:
    """Put texts at their bars; leave out one that is wider than its bar."""
    line = ""
    for bar, text in placed:
        if len(text) <= bar.end - bar.start:
            line = line.ljust(bar.start) + text
    return line.rstrip()


def _edges(placed: Sequence[HistogramBar], width: int) -> str:
    """Put the lower edge of each bucket below its first cell, the end of the last one behind it."""
    line = ""
    for bar in placed[:-1]:
        label = edge(bar.bucket.low)
        if bar.start >= len(line) + (1 if line else 0):
            line = line.ljust(bar.start) + label
    last = placed[-1]
    ends = [edge(last.bucket.low), _end(last.bucket)] if last.bucket.high is not None else [_end(last.bucket)]
    for at, label in zip((last.start, last.end + 1), ends, strict=False):
        at = min(at, width - len(label))
        if at >= len(line) + (1 if line else 0):
            line = line.ljust(at) + label
    return line
