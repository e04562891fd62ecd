"""Read what others add to a file of lines, from where it was read last."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple

CHUNK = 1 << 20
MOST_BYTES = 256 * CHUNK
"""How much of a file is read at a time; the rest is read at the next look."""


class PlacedLine(NamedTuple):
    """Hold a line without its end, and where in the file it begins."""

    start: int
    text: bytes


class LineTail:
    """Read the lines that were added to a file; one without an end is left until it has one.

    A file that was replaced or cut is read from its start again, which `restarted` says of the last look. Lines of
    more than `longest` bytes are passed over. A link, a pipe or a missing file has no lines.
    """

    def __init__(self, path: Path, longest: int, most: int = MOST_BYTES) -> None:
        self.path = path
        self.restarted = False
        self._longest = longest
        self._most = most
        self._file: tuple[int, int] | None = None
        self._at = 0
        self._passing_over = False

    def lines(self) -> Iterator[PlacedLine]:
        """Yield the lines that are new; the look ends where the iterator does."""
        self.restarted = False
        opened = _opened(self.path)
        if opened is None:
            self._begin(None)
            return
        with opened as file:
            found = os.fstat(file.fileno())
            if (found.st_dev, found.st_ino) != self._file or found.st_size < self._at:
                self._begin((found.st_dev, found.st_ino))
            if found.st_size > self._at:
                file.seek(self._at)
                yield from self._new(file)

    def _begin(self, file: tuple[int, int] | None) -> None:
        self.restarted = self._file is not None
        self._file, self._at, self._passing_over = file, 0, False

    def _new(self, file: BinaryIO) -> Iterator[PlacedLine]:
        rest, read = b"", 0
        while piece := file.read(CHUNK):
            read += len(piece)
            *whole, rest = (rest + piece).split(b"\n") if b"\n" in piece else [rest + piece]
            for line in whole:
                start, self._at = self._at, self._at + len(line) + 1
                if not self._passing_over and len(line) <= self._longest:
                    yield PlacedLine(start, line)
                self._passing_over = False
            if len(rest) > self._longest:
                self._at += len(rest)
                self._passing_over, rest = True, b""
            if read >= self._most:
                return


def line_at(path: Path, start: int, longest: int) -> bytes:
    """Return the line of a file that begins at a place, nothing where there is none by now."""
    opened = _opened(path)
    if opened is None:
        return b""
    with opened as file:
        file.seek(start)
        line = file.readline(longest + 1)
    return line[:-1] if line.endswith(b"\n") else b""


def small_file(path: Path, longest: int) -> bytes | None:
    """Return a file whole, `None` where there is none, or not a plain one, or more than `longest` bytes of it."""
    opened = _opened(path)
    if opened is None:
        return None
    with opened as file:
        content = file.read(longest + 1)
    return content if len(content) <= longest else None


def _opened(path: Path) -> BinaryIO | None:
    # A pipe of that name must not keep the reader waiting.
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    try:
        number = os.open(path, flags)
    except OSError:
        return None
    if not stat.S_ISREG(os.fstat(number).st_mode):
        os.close(number)
        return None
    return os.fdopen(number, "rb", buffering=0)
