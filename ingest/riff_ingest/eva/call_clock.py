"""Give the times of a voice call as seconds since it started."""

from __future__ import annotations

from datetime import UTC, datetime

from riff_ingest.eva.audio import AudioByTurn
from riff_ingest.eva.context import MetricContext
from riff_ingest.eva.trace import LoggedEntry
from riff_ingest.events import LONGEST


class CallClock:
    """Measure time in one call, from the earliest event in its logs, else from the first sound."""

    def __init__(self, context: MetricContext) -> None:
        self._context = context
        self.start = context.started_s

    def since(self, moment: float | None) -> float | None:
        """Return seconds from the start to a moment in seconds since the epoch.

        `None` where one of them is not known.
        """
        if moment is None or self.start is None or not abs(moment - self.start) <= LONGEST:
            return None
        return round(moment - self.start, 6)

    def of(self, entry: LoggedEntry) -> float | None:
        """Return when an entry of the trace was logged.

        One that was made up is as old as its side's audio in that turn.
        """
        if entry.timestamp is not None:
            return self.since(entry.timestamp / 1000)
        return self.audio_start(entry.role, entry.turn_id)

    def audio_start(self, role: str | None, turn: int) -> float | None:
        """Return when a side began to be heard in a turn."""
        spans = self._audio(role).get(turn)
        return self.since(spans[0][0]) if spans else None

    def latency_ms(self, turn: int) -> float | None:
        """Return how long the caller waited for the agent, in milliseconds; a barge-in has no latency."""
        latency = self._context.latency_assistant_turns.get(turn)
        if latency is None or not 0 < latency * 1000 <= LONGEST:
            return None
        return round(latency * 1000, 3)

    def started_at(self) -> str | None:
        """Return the start in UTC as RFC 3339; `None` where it is no date."""
        if self.start is None:
            return None
        try:
            return datetime.fromtimestamp(self.start, UTC).isoformat()
        except (ValueError, OverflowError, OSError):
            return None

    def _audio(self, role: str | None) -> AudioByTurn:
        context = self._context
        return context.audio_timestamps_user_turns if role == "user" else context.audio_timestamps_assistant_turns
