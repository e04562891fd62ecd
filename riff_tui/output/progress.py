"""Show the progress of long work: one line on stderr that is written over, only where stderr is a terminal."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol, TextIO

REDRAW_SECONDS = 0.1
SETTLING_SECONDS = 1.0


class IngestProgress(Protocol):
    """Describe how far an ingest is."""

    files: int
    bytes: int
    path: str
    done_files: int
    done_bytes: int
    conversations: int
    packed: int
    to_pack: int


class ProgressLine:
    """Write the line over; `width` are the terminal's cells, `clock` counts seconds."""

    def __init__(self, stream: TextIO, width: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._stream = stream
        self._width = width
        self._clock = clock
        self._started = clock()
        self._drawn = self._started
        self._shows = False

    def reading(self, progress: IngestProgress) -> None:
        """Show how far an ingest is."""
        self._show(lambda seconds: reading_text(progress, seconds))

    def counting(self, done: int, total: int) -> None:
        """Show how many conversations are made."""
        self._show(lambda seconds: counting_text(done, total, seconds))

    def doing(self, what: str, done: int, total: int) -> None:
        """Show of how many calls something is done."""
        self._show(lambda seconds: " · ".join([f"{what} {done:,} of {total:,} calls", *_left(done, total, seconds)]))

    def copying(self, done: int, total: int) -> None:
        """Show how many rows are copied."""
        self._show(lambda seconds: " · ".join([f"{done:,}/{total:,} rows", *_left(done, total, seconds)]))

    def judging(self, done: int, total: int, spent: str) -> None:
        """Show how many conversations a judge has answered about, and what that cost."""
        self._show(lambda seconds: f"{counting_text(done, total, seconds)} · {spent}")

    def running(self, done: int, planned: int, made: int, rest: str) -> None:
        """Show how many calls of a run are there, `made` of them since it began to be shown, and what else is shown."""
        self._show(lambda seconds: running_text(done, planned, made, seconds, rest))

    def telling(self, doing: str) -> None:
        """Show what is being done, without a known end."""
        self._show(lambda seconds: f"{doing} · {clock_text(seconds)}")

    def clear(self) -> None:
        """Take the line away, so that what follows starts on an empty one."""
        if self._shows:
            self._shows = False
            self._stream.write("\r\x1b[K")
            self._stream.flush()

    def _show(self, text: Callable[[float], str]) -> None:
        from riff_tui.text.safe_text import fit, one_line

        now = self._clock()
        if now - self._drawn < REDRAW_SECONDS:
            return
        self._drawn = now
        self._shows = True
        self._stream.write(f"\r\x1b[K{fit(one_line(text(now - self._started)), self._width - 1)}")
        self._stream.flush()


def reading_text(progress: IngestProgress, seconds: float) -> str:
    """Return what is being read, how fast, and how long the rest will take; in the end, how much of it is packed."""
    if progress.to_pack:
        return f"{progress.conversations} conversations · packing columns {progress.packed}/{progress.to_pack}"
    parts = [
        f"{progress.done_files}/{progress.files} files",
        f"{progress.conversations} conversations",
        *_pace(progress.conversations, seconds),
        *_left(progress.done_bytes, progress.bytes, seconds),
    ]
    return f"{' · '.join(parts)}  {os.path.basename(progress.path)}"


def counting_text(done: int, total: int, seconds: float) -> str:
    """Return how many conversations are made, how fast, and how long the rest will take."""
    return " · ".join([f"{done}/{total} conversations", *_pace(done, seconds), *_left(done, total, seconds)])


def running_text(done: int, planned: int, made: int, seconds: float, rest: str) -> str:
    """Return how many calls of a run are there, how fast they are made, and how long the others will take."""
    left = _left(made, made + planned - done, seconds)
    return " · ".join([f"{done}/{planned} calls", rest, *_pace(made, seconds), *left])


def clock_text(seconds: float) -> str:
    """Write seconds as `12 s` or `3:05`."""
    whole = round(seconds)
    return f"{whole} s" if whole < 60 else f"{whole // 60}:{whole % 60:02d}"


@contextmanager
def terminal_progress() -> Iterator[ProgressLine | None]:
    """Show a progress line while the block runs; give `None` if stderr is not a terminal."""
    if not sys.stderr.isatty() or os.environ.get("TERM") == "dumb":
        yield None
        return
    line = ProgressLine(sys.stderr, os.get_terminal_size(sys.stderr.fileno()).columns)
    try:
        yield line
    finally:
        line.clear()


def _pace(done: int, seconds: float) -> list[str]:
    if seconds < SETTLING_SECONDS:
        return []
    pace = done / seconds
    return [f"{pace:.0f}/s" if pace >= 1 or not done else f"{pace * 60:.0f}/min"]


def _left(done: int, total: int, seconds: float) -> list[str]:
    if seconds < SETTLING_SECONDS or not done:
        return []
    return [f"{clock_text(max(0.0, seconds * (total - done) / done))} left"]
