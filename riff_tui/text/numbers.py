"""Write values as text in cells; nothing else rounds, neither in the sinks nor in the explorer."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from decimal import ROUND_HALF_UP, Context, Decimal
from functools import lru_cache
from typing import Any

from riff_tui.table import NOT_MEASURED, Column, Row
from riff_tui.text.glyphs import UNICODE, Glyphs, in_ascii
from riff_tui.text.safe_text import one_line

# A mean of short decimals carries float noise far behind the ninth digit; half of 0.1 must not hang on it.
_NOISE = Decimal("1e-9")
_ROOMY = Context(prec=40, rounding=ROUND_HALF_UP)
_LONG = 1e15
BAR = 8
"""The most cells of a bar that stands before a figure."""
WIDE_BAR = 14
"""The cells of a bar that has a column of its own."""
SHARE = "share"
"""The unit of columns that people read in percent."""
_P_VALUES = frozenset({"p", "p_adjusted"})
_RIGHT_KINDS = frozenset({"number", "count"})
_EPOCH = datetime(1970, 1, 1)


def fixed(value: float | None, decimals: int = 1, *, trim: bool = False) -> str:
    """Write a number with so many decimals, half up, `·` for `None`, NaN and infinity.

    `trim` drops trailing zeros down to one. What is rounded is the decimal that the float represents (its shortest form
    to nine decimals), so 0.35 is 0.4 and not what its last bit gives.
    """
    if value is None or not math.isfinite(value):
        return NOT_MEASURED
    return _fixed(value, decimals, trim) if abs(value) < _LONG else f"{value:.6g}"


@lru_cache(maxsize=4096)
def _fixed(value: float, decimals: int, trim: bool) -> str:
    meant = Decimal(repr(value + 0)).quantize(_NOISE, context=_ROOMY)
    rounded = meant.quantize(Decimal(1).scaleb(-decimals), context=_ROOMY)
    text = format(rounded if rounded else abs(rounded), "f")
    if trim and decimals > 1:
        whole, _, part = text.partition(".")
        text = f"{whole}.{part.rstrip('0') or '0'}"
    return text


def signed(value: float | None, decimals: int) -> str:
    """Write a difference as `fixed` does, with its sign unless it reads as 0."""
    text = fixed(value, decimals)
    return f"+{text}" if value is not None and value > 0 and text.strip("0.·") else text


def p_text(p: float) -> str:
    """Write a p-value with three decimals, `<0.001` if it is smaller than those can show."""
    return "<0.001" if p < 0.001 else fixed(p, 3)


def points_text(difference: float) -> str:
    """Write a difference of two shares in percentage points."""
    return f"{signed(difference * 100, 1)} pp"


def answered_text(seconds: float, decimals: int = 1, *, trim: bool = False) -> str:
    """Write how long an answer took, or how early it came: before the other had ended."""
    text = f"{fixed(abs(seconds), decimals, trim=trim)} s"
    return f"{text} early" if seconds < 0 and float(text.removesuffix(" s")) else text


def interval_text(ends: Sequence[float | None], decimals: int = 1, *, trim: bool = False) -> str:
    """Write both ends of an interval, as 0.12–0.45, or as -0.5 to 0.1, since a dash and a minus look alike."""
    between = " to " if any(end is not None and end < 0 for end in ends) else "–"
    return between.join(fixed(end, decimals, trim=trim) for end in ends)


def ends_text(column: Column, ends: Sequence[float | None]) -> str:
    """Write the ends of an interval of a column's values as people read them on a screen: shares in percent."""
    if column.unit != SHARE:
        return interval_text(ends, column.decimals)
    return interval_text([None if end is None else end * 100 for end in ends], 0) + "%"


def percent(share: float | None) -> str:
    """Write a share of 0 to 1 in whole percent; `<1%` and `>99%` where rounding would give none or all."""
    if share is None or not math.isfinite(share):
        return NOT_MEASURED
    text = fixed(share * 100, 0)
    if text == "0" and share > 0:
        return "<1%"
    return ">99%" if text == "100" and share < 1 else f"{text}%"


def utc(microseconds: float) -> str:
    """Write microseconds since the epoch as ISO 8601 in UTC, with a fraction only if there is one.

    A number beyond the years that can be written stays a number.
    """
    try:
        moment = _EPOCH + timedelta(microseconds=microseconds)
    except (OverflowError, ValueError):
        return str(microseconds)
    return f"{moment.isoformat()}Z"


def is_right(column: Column) -> bool:
    """Return whether the column's cells are aligned at their right."""
    return column.kind in _RIGHT_KINDS


def cell_text(column: Column, row: Row, glyphs: Glyphs = UNICODE, *, posted: bool = False, counted: bool = True) -> str:
    """Return the safe text of one cell on one line: `·` if nothing was measured, `~` behind a thin count.

    Measured of fewer calls than the row's, it shows of how many, such as `100% of 1~`, unless it is not `counted`.

    In a text that is `posted` shares are written as they are and a column trims its zeros; elsewhere shares are
    percent, and points are below each other.
    """
    if column.kind == "bar":
        bar = row.bars.get(column.key)
        return glyphs.parted_bar(bar.share, bar.hatched, WIDE_BAR) if bar else ""
    text = row.posted.get(column.key) if posted else None
    text = row.display.get(column.key) if text is None else text
    if text is None:
        value = column.value(row.record)
        if value is None:
            return glyphs.not_measured
        text = value_text(column, value) if posted else screen_text(column, value)
        if text == NOT_MEASURED:
            return glyphs.not_measured
        if column.thin and row.thin:
            text += glyphs.thin
    text = one_line(text) + (count_text(column, row, glyphs) if counted else "")
    return in_ascii(text) if glyphs.ascii_only else text


def count_text(column: Column, row: Row, glyphs: Glyphs = UNICODE) -> str:
    """Return what is behind a value that was measured of fewer calls than the row's; nothing behind any other."""
    count = row.counts.get(column.key)
    return "" if count is None else f" of {count.n:,}{glyphs.thin if row.is_thin(column.key) else ''}"


def screen_text(column: Column, value: Any) -> str:
    """Write a measured value as people read it on a screen, below others of its column."""
    if column.kind == "number" and isinstance(value, int | float) and not isinstance(value, bool):
        if column.unit == SHARE:
            return percent(value)
        if column.unit:
            return fixed(value, column.decimals)
    return value_text(column, value)


def value_text(column: Column, value: Any) -> str:
    """Write a measured value as the column's kind asks for; what is text stays raw."""
    if isinstance(value, str):
        return value
    if column.kind == "object" or not isinstance(value, int | float):
        return _object(column, value)
    if column.kind == "flag":
        return "yes" if value else "no"
    if column.kind == "time":
        return utc(value)
    if column.key in _P_VALUES:
        return p_text(value)
    if column.kind == "number":
        return fixed(value, column.decimals, trim=column.trim)
    if isinstance(value, float) and (column.kind == "count" or value.is_integer()):
        return fixed(value, 0)
    return str(value)


def ranked(items: Mapping[Any, Any]) -> list[tuple[Any, Any]]:
    """Sort items by their value, the largest first, what is not a number last; keys that are all numbers by key."""
    if items and all(str(key).isdecimal() for key in items):
        return sorted(items.items(), key=lambda item: int(item[0]))
    return sorted(items.items(), key=lambda item: (-item[1] if _is_number(item[1]) else math.inf, str(item[0])))


def _object(column: Column, value: Any) -> str:
    if isinstance(value, Mapping):
        pairs = list(value.items())
        if all(_is_number(item) for _, item in pairs):
            pairs = ranked(value)
        return ", ".join(f"{key} {_item(column, item)}" for key, item in pairs)
    if isinstance(value, Sequence):
        return ", ".join(_item(column, item) for item in value)
    return _item(column, value)


def _item(column: Column, value: Any) -> str:
    if value is None:
        return NOT_MEASURED
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return fixed(value, column.decimals, trim=column.trim)
    if isinstance(value, int | str):
        return str(value)
    return json.dumps(value, ensure_ascii=False, default=str)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and not math.isnan(value)


LISTED = 5
"""Names that a sentence takes in."""


def counted(count: int, noun: str) -> str:
    """Return a number with its noun, such as `1 call` or `7 calls`; the plural takes an s."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def listed(names: Sequence[str]) -> str:
    """Return the first names and how many more there are, as many as one takes in."""
    more = len(names) - LISTED
    return ", ".join([*names[:LISTED], *([f"{more} more"] if more > 0 else [])])


def excluded_text(count: int, caller_failed: int = 0) -> str:
    """Return how many errored calls are not counted in averages, and of how many of them the caller failed."""
    if caller_failed:
        calls = "call is" if count == 1 else "calls are"
        errored = f"{count - caller_failed} errored, " if count > caller_failed else ""
        return f"{count} {calls} not counted in averages: {errored}{caller_failed} whose caller failed"
    return f"{count} errored {'call is' if count == 1 else 'calls are'} not counted in averages"
