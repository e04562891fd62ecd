"""Points in time as files write them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)


def parse_time(text: str) -> int | None:
    """RFC 3339 as microseconds since the epoch in UTC, `None` for what is no time; without a zone it is UTC.

    A date alone is its midnight; digits below a microsecond are dropped.
    """
    if text[4:5] != "-" or text[7:8] != "-":  # fromisoformat takes a row of digits for a time
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        try:
            moment = datetime.fromisoformat(text.upper())  # RFC 3339 allows t and z
        except ValueError:
            return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return (moment - _EPOCH) // _MICROSECOND
