"""Follow in the progress file of a run which calls are under way, and how fast calls end."""

from __future__ import annotations

from collections import deque
from dataclasses import replace
from pathlib import Path

import msgspec

from riff_ingest.runner.files.finished_calls import LONGEST_NAME, LONGEST_WHY, seconds
from riff_ingest.runner.files.progress_file import OVER, ProgressLine
from riff_ingest.runner.status.line_tail import LineTail
from riff_ingest.runner.status.run_status import WatchedCall
from riff_ingest.runner.status.transcript_tally import CallKey

RECENT_SECONDS = 300.0
RECENT_CALLS = 5
"""The rate is that of the last minutes, or of all that was seen where fewer calls than these ended in them."""
_MOST_TIMES = 4096
_MOST_CALLS = 100_000
_LONGEST_LINE = 64 * 1024

_decoder = msgspec.json.Decoder(ProgressLine)


class ProgressTally:
    """Follow the calls that are under way; of several lines of a call the last one counts."""

    def __init__(self, path: Path) -> None:
        self.under_way: dict[CallKey, WatchedCall] = {}
        self.ended_at: dict[CallKey, float] = {}
        self._tail = LineTail(path, _LONGEST_LINE)
        self._ends: deque[float] = deque(maxlen=_MOST_TIMES)
        self._seen_from: float | None = None

    def read(self) -> None:
        """Follow what was added since the last look; a file that was written anew holds all that is under way."""
        known, is_new = self.under_way, False
        for _, text in self._tail.lines():
            if self._tail.restarted and not is_new:
                is_new, self.under_way = True, {}
            try:
                line = _decoder.decode(text)
            except (msgspec.MsgspecError, ValueError, RecursionError):
                continue
            self._follow(_watched(line), known)
        if self._tail.restarted and not is_new:
            self.under_way = {}

    def rate_per_min(self, now: float) -> float | None:
        """Return how many calls end in a minute, `None` where none was seen to end."""
        if not self._ends or self._seen_from is None:
            return None
        begun = self._ends[0] if len(self._ends) == _MOST_TIMES else self._seen_from
        recent = sum(now - end <= RECENT_SECONDS for end in self._ends)
        seen = now - begun
        count, over = (recent, min(RECENT_SECONDS, seen)) if recent >= RECENT_CALLS else (len(self._ends), seen)
        return count / over * 60.0 if over > 0 else None

    def _follow(self, call: WatchedCall, known: dict[CallKey, WatchedCall]) -> None:
        key = (call.flow, call.conversation_id)
        if self._seen_from is None:
            self._seen_from = call.changed_at
        if call.status in OVER:
            self.under_way.pop(key, None)
            if call.changed_at is not None and len(self.ended_at) < _MOST_CALLS:
                self.ended_at[key] = call.changed_at
                self._ends.append(call.changed_at)
        elif key in self.under_way or len(self.under_way) < _MOST_CALLS:
            before = known.get(key)
            # A line that says the same again is of a file that was written anew, and no sign of life.
            is_same = before is not None and replace(before, changed_at=call.changed_at) == call
            self.under_way[key] = before if is_same and before is not None else call


def _watched(line: ProgressLine) -> WatchedCall:
    return WatchedCall(
        conversation_id=line.conversation_id[:LONGEST_NAME],
        flow=line.flow[:LONGEST_NAME],
        status=line.status,
        state=None if line.state is None else line.state[:LONGEST_NAME],
        turn=line.turn,
        changed_at=seconds(line.t),
        why=None if line.why is None else line.why[:LONGEST_WHY],
    )
