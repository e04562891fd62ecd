"""Give a run the time, and measure how long agents take."""

from __future__ import annotations

import time
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Protocol

WORDS_PER_SECOND = 2.6
"""How fast people speak; the calls of a run are in text, and their clock is made of latencies and this."""


class RunClock(Protocol):
    """Give the time of a run."""

    def now(self) -> str:
        """Return the time of day, RFC 3339."""

    def seconds(self) -> float | None:
        """Return seconds of a clock that never goes back; `None` if nothing is to be measured."""


class SystemClock:
    """Give the time of the machine."""

    def now(self) -> str:
        """Return the time of day in UTC, to the second."""
        return datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")

    def seconds(self) -> float | None:
        """Return seconds of the monotonic clock."""
        return time.monotonic()


class FixedClock:
    """Give the same time always and measure nothing, so that the same answers make the same bytes."""

    def __init__(self, moment: str) -> None:
        self._moment = moment

    def now(self) -> str:
        """Return the one time."""
        return self._moment

    def seconds(self) -> float | None:
        """Return `None`: latencies are not measured."""
        return None


def speaking_s(text: str) -> float:
    """Return the seconds that it takes to say a text."""
    return len(text.split()) / WORDS_PER_SECOND


def as_measured(clock: RunClock, details: Mapping[str, Any]) -> dict[str, Any]:
    """Return the details of a request, without how long it took where the clock measures nothing."""
    if clock.seconds() is not None:
        return dict(details)
    return {name: None if name in ("ms", "ttft_ms") else value for name, value in details.items()}
