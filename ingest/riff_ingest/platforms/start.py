"""Tell when a call began that no run made, and which run it counts as."""

from __future__ import annotations

from datetime import UTC, datetime

LATEST = 1e14
"""The last time that is believed, in milliseconds since the epoch: more than a thousand years from now."""


def moment(milliseconds: float | None) -> str | None:
    """Return a time that is told in milliseconds since the epoch in RFC 3339, `None` for what is none."""
    if milliseconds is None or not 0 < milliseconds <= LATEST:
        return None
    return datetime.fromtimestamp(milliseconds / 1000, UTC).isoformat(timespec="milliseconds")


def run_of_day(started_at: str | None, version: str | None) -> str | None:
    """Return the day of a call, in UTC, with the version of its agent, `None` where its time is not known."""
    if started_at is None:
        return None
    return f"{started_at[:10]}@v{version}" if version else started_at[:10]
