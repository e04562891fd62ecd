"""Describe one event of the merged history of a call, whichever of its logs it comes from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

AUDIT = "audit_log"
FRAMEWORK = "pipecat"
SIMULATOR = "user_simulator"
_SOURCES = {AUDIT: AUDIT, FRAMEWORK: FRAMEWORK, SIMULATOR: SIMULATOR, "elevenlabs": SIMULATOR}

USER = "simulated_user"
ASSISTANT = "assistant"
ROLES = {
    USER: USER,
    ASSISTANT: ASSISTANT,
    "elevenlabs_user": USER,
    "framework_agent": ASSISTANT,
    "pipecat_agent": ASSISTANT,
}
"""The two sides of the audio, by today's names and by those of older logs."""


class HistoryEvent(NamedTuple):
    """Describe what one log reports of one moment: milliseconds since the epoch, the log, the type, what is said."""

    timestamp_ms: int
    source: str
    event_type: str
    data: Any


def inner(data: Any, key: str) -> Any:
    """Return what the simulator's log has one level down, at `data.data`."""
    value = data.get("data") if isinstance(data, Mapping) else None
    return value.get(key) if isinstance(value, Mapping) else None


def as_events(history: Iterable[Any], warnings: Warnings) -> list[HistoryEvent]:
    """Return the events of a merged history as JSON has it, in the given order.

    What is none is left out and counted.
    """
    events = []
    for entry in history:
        if isinstance(entry, HistoryEvent):
            events.append(entry)
            continue
        event = _event(entry)
        if event is None:
            warnings.add("history_event_unreadable", "an entry without time or source was left out")
        else:
            events.append(event)
    return events


def _event(entry: Any) -> HistoryEvent | None:
    if not isinstance(entry, Mapping):
        return None
    time, source = whole(entry.get("timestamp_ms")), _SOURCES.get(str(entry.get("source")))
    if time is None or source is None:
        return None
    return HistoryEvent(time, source, str(entry.get("event_type") or "unknown"), entry.get("data"))


LATEST = 2**53
"""Later times, in milliseconds as in seconds, are none."""


def whole(value: Any) -> int | None:
    """Return a time in whole milliseconds, from a number or from text.

    `None` if it is neither or out of all range.
    """
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        found = int(value)
    except (ValueError, OverflowError):
        return None
    return found if abs(found) < LATEST else None


def seconds(value: Any) -> float | None:
    """Return a time in seconds; `None` if the value is not a number."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < LATEST:
        return None
    return float(value)


# Count what was wrong with a call's logs by kind, so that nothing is lost in silence and nothing stops.
@dataclass(slots=True)
class Warnings:
    """Count each kind of trouble and keep the first occurrence; a kind takes one line."""

    counts: dict[str, int] = field(default_factory=dict)
    firsts: dict[str, str] = field(default_factory=dict)

    def add(self, kind: str, detail: str, count: int = 1) -> None:
        """Note trouble of a kind; `detail` of its first occurrence is kept."""
        if count:
            self.counts[kind] = self.counts.get(kind, 0) + count
            self.firsts.setdefault(kind, detail)

    def lines(self) -> list[str]:
        """Return a line for each kind in the order in which they were met: `kind: the first` and how often."""
        return [
            f"{kind}: {self.firsts[kind]}" + (f" ({count} times)" if count > 1 else "")
            for kind, count in self.counts.items()
        ]
