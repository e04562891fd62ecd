"""Read a date in a filter as a span of time, as long as the date is vague."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone
from functools import lru_cache

from riff_store.errors import UsageError

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LAST = datetime.max.replace(tzinfo=UTC)
_SHAPE = re.compile(
    r"(?P<year>[0-9]{4})(?:-(?P<month>[0-9]{2})(?:-(?P<day>[0-9]{2})"
    r"(?:[T ](?P<hour>[0-9]{2}):(?P<minute>[0-9]{2})(?::(?P<second>[0-9]{2})(?P<fraction>\.[0-9]{1,9})?)?"
    r"(?P<zone>Z|[+-][0-9]{2}:?[0-9]{2})?)?)?)?",
    re.IGNORECASE,
)


@lru_cache(maxsize=512)
def time_range(text: str) -> tuple[int, int]:
    """Return the first microsecond of a date, and the first one after it: `2026-06` is a month long.

    Takes years, months, days, minutes, seconds and fractions as ISO 8601 writes them; without a
    zone they are UTC. Raises `UsageError` for anything else.
    """
    try:
        return _range(text)
    except ValueError as error:
        raise UsageError(f"not a date: {text}") from error


def _range(text: str) -> tuple[int, int]:
    found = _SHAPE.fullmatch(text)
    if found is None:
        raise ValueError(text)
    part = found.groupdict()
    fraction = (part["fraction"] or ".")[1:].ljust(6, "0")[:6]
    start = datetime(
        int(part["year"]), int(part["month"] or 1), int(part["day"] or 1),
        int(part["hour"] or 0), int(part["minute"] or 0), int(part["second"] or 0), int(fraction), _zone(part["zone"]),
    )  # fmt: skip
    return _microseconds(start), _microseconds(_end(start, part))


def _end(start: datetime, part: dict[str, str | None]) -> datetime:
    try:
        if part["month"] is None:
            return start.replace(year=start.year + 1)
        if part["day"] is None:
            return (start + timedelta(days=31)).replace(day=1)
        return start + _length(part)
    except (ValueError, OverflowError):
        return _LAST


def _length(part: dict[str, str | None]) -> timedelta:
    if part["hour"] is None:
        return timedelta(days=1)
    if part["second"] is None:
        return timedelta(minutes=1)
    return timedelta(seconds=1) if part["fraction"] is None else timedelta(microseconds=1)


def _zone(text: str | None) -> timezone:
    if text is None or text in "Zz":
        return UTC
    sign = -1 if text[0] == "-" else 1
    return timezone(sign * timedelta(hours=int(text[1:3]), minutes=int(text[-2:])))


def _microseconds(moment: datetime) -> int:
    return (moment - _EPOCH) // timedelta(microseconds=1)
