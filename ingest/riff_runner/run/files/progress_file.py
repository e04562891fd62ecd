"""Write into `progress.jsonl` where each call of a run is, for those who watch it."""

from __future__ import annotations

import contextlib
import os
import secrets
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from riff_ingest.sources.transcripts import PROGRESS_FILE
from riff_runner.run.agent_call import CallProgress, CallStatus

SECONDS_BETWEEN = 0.5
"""The least time between two lines of a call whose status stays the same."""
LARGEST_FILE = 8 * 1024 * 1024
"""The bytes from which on the file is written anew, without the calls that are over."""
OVER: tuple[CallStatus, ...] = ("done", "errored")
_RETRY_SECONDS = 5.0


class ProgressLine(msgspec.Struct, frozen=True, kw_only=True):
    """Describe where a call is at `t`; of several lines of a conversation the last one counts.

    Times are RFC 3339 with milliseconds; `since` is when the call got into this status and state.
    """

    t: str
    conversation_id: str
    flow: str
    status: CallStatus
    since: str
    state: str | None = None
    turn: int = 0
    why: str | None = None


class ProgressFile:
    """Write the progress of calls, and go without if that is not possible: no run fails for it."""

    def __init__(
        self,
        directory: Path,
        *,
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._path = directory / PROGRESS_FILE
        self._clock = clock
        self._now = now
        self._calls: dict[str, _Standing] = {}
        self._descriptor: int | None = None
        self._size = 0
        self._bound = LARGEST_FILE
        self._silent_until = 0.0
        self._begin()

    def report(self, progress: CallProgress) -> None:
        """Take what a call reports; a change of its status is written at once, all else a little later."""
        known = self._calls.get(progress.conversation_id)
        if known is None:
            known = self._calls[progress.conversation_id] = _Standing(progress, self._now())
            changed = True
        else:
            changed = known.take(progress, self._now)
        if changed or self._clock() - known.written >= SECONDS_BETWEEN:
            self._write(known)
        if progress.status in OVER:
            self._calls.pop(progress.conversation_id, None)

    def flush(self) -> None:
        """Write what was withheld long enough."""
        due = self._clock() - SECONDS_BETWEEN
        for standing in self._calls.values():
            if standing.pending and standing.written <= due:
                self._write(standing)

    def close(self) -> None:
        """Give the file back."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def _write(self, standing: _Standing) -> None:
        standing.pending = False
        standing.written = self._clock()
        if self._descriptor is None:
            if self._clock() >= self._silent_until:
                self._begin()
            return
        line = msgspec.json.encode(standing.line(_rfc3339(self._now()))) + b"\n"
        try:
            if os.write(self._descriptor, line) != len(line):
                raise OSError("a line was written in part")
            self._size += len(line)
        except OSError:
            self.close()
            self._silent_until = self._clock() + _RETRY_SECONDS
            return
        if self._size > self._bound:
            self._begin()

    def _begin(self) -> None:
        """Write the file again with the calls that are under way, in one step."""
        draft = self._path.with_name(f".{PROGRESS_FILE}.{secrets.token_hex(6)}.part")
        now = _rfc3339(self._now())
        lines = [msgspec.json.encode(standing.line(now)) + b"\n" for standing in self._calls.values()]
        content = b"".join(lines)
        self.close()
        try:
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_NOFOLLOW
            descriptor = os.open(draft, flags, 0o600)
            try:
                if os.write(descriptor, content) != len(content):
                    raise OSError("the lines were written in part")
                os.replace(draft, self._path)
            except BaseException:
                os.close(descriptor)
                raise
        except OSError:
            with contextlib.suppress(OSError):
                draft.unlink()
            self._silent_until = self._clock() + _RETRY_SECONDS
            return
        self._descriptor, self._size = descriptor, len(content)
        self._bound = max(LARGEST_FILE, 4 * self._size)


class _Standing:
    """Remember what a call reported last, and when it was written."""

    __slots__ = ("pending", "progress", "since", "written")

    def __init__(self, progress: CallProgress, since: datetime) -> None:
        self.progress = progress
        self.since = since
        self.pending = True
        self.written = 0.0

    def take(self, progress: CallProgress, now: Callable[[], datetime]) -> bool:
        """Remember the progress, and return whether its status changed."""
        before, self.progress, self.pending = self.progress, progress, True
        if (before.status, before.state) != (progress.status, progress.state):
            self.since = now()
        return before.status != progress.status

    def line(self, now: str) -> ProgressLine:
        """Return the line that shows where the call is."""
        conversation_id, flow, status, state, turn, why = self.progress
        return ProgressLine(
            t=now,
            conversation_id=conversation_id,
            flow=flow,
            status=status,
            since=_rfc3339(self.since),
            state=state,
            turn=turn,
            why=why,
        )


def _rfc3339(time: datetime) -> str:
    return time.isoformat(timespec="milliseconds").replace("+00:00", "Z")
