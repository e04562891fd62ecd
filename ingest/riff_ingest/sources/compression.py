"""Read the bytes of an input file, unpacked where it is gzip."""

from __future__ import annotations

import hashlib
import io
import os
import stat
import zlib
from collections.abc import Iterator
from pathlib import Path

from riff_ingest.limits import limits
from riff_store.errors import RiffError

FREE_EXPANSION = 64 * 1024 * 1024

_CHUNK = 64 * 1024  # stays in the processor's cache: larger ones were slower
_GZIP = b"\x1f\x8b"
_ZLIB_WITH_GZIP_HEADER = 31


class BrokenInput(RiffError):
    """Report a file, or a line of it, that cannot be read.

    `line` counts from 1 and is `None` where it is the file; `conversation` is the call's name where
    a line has at least that.
    """

    def __init__(self, reason: str, line: int | None = None, conversation: str | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.line = line
        self.conversation = conversation

    def __str__(self) -> str:
        return self.reason if self.line is None else f"line {self.line}: {self.reason}"


def digest(path: Path) -> tuple[str, int]:
    """Return the SHA-256 (hexadecimal) and the size in bytes of a file as it lies there; raise `BrokenInput`."""
    try:
        with _open(path) as file:
            return hashlib.file_digest(file, "sha256").hexdigest(), file.tell()
    except (OSError, ValueError) as error:
        raise unreadable(error) from error


def unreadable(error: OSError | ValueError) -> BrokenInput:
    """Return the one error for what the operating system refused."""
    reason = (error.strerror or type(error).__name__) if isinstance(error, OSError) else "not a valid path"
    return BrokenInput(f"file cannot be read: {reason[:1].lower()}{reason[1:]}")


def expand(path: Path) -> Iterator[bytes]:
    """Yield the bytes of a file in pieces, unpacked where it is gzip.

    Raises `BrokenInput` after the last good piece.
    """
    try:
        with _open(path) as file:
            start = file.read(_CHUNK)
            if start.startswith(_GZIP):
                yield from _gunzip(file, start)
                return
            while start:
                yield start
                start = file.read(_CHUNK)
    except (OSError, ValueError) as error:
        raise unreadable(error) from error


def _open(path: Path) -> io.FileIO:
    # Opening a FIFO would wait for its writer, so do not wait, then look what it is.
    file = io.FileIO(path, "rb", opener=lambda name, flags: os.open(name, flags | os.O_NONBLOCK))
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise BrokenInput("not a regular file")
    return file


def _gunzip(file: io.FileIO, data: bytes) -> Iterator[bytes]:
    engine, expansion = zlib.decompressobj(_ZLIB_WITH_GZIP_HEADER), limits().expansion
    taken, given = 0, 0
    while data:
        before = engine.copy()
        try:
            piece = engine.decompress(data, _CHUNK)
        except zlib.error as error:
            yield from _readable(before, data)
            raise BrokenInput("gzip data is damaged; what comes after was not read") from error
        left = engine.unused_data if engine.eof else engine.unconsumed_tail
        taken += len(data) - len(left)
        given += len(piece)
        if given > FREE_EXPANSION and given > taken * expansion:
            raise BrokenInput(f"gzip data unpacks to more than {limits().told('expansion')}; the rest was not read")
        if piece:
            yield piece
        data = left or file.read(_CHUNK)
        if engine.eof:
            data = _next_member(file, data)
            engine = zlib.decompressobj(_ZLIB_WITH_GZIP_HEADER) if data else engine
    if not engine.eof:
        yield from _flushed(engine)
    if not engine.eof:
        raise BrokenInput("gzip data ends too early")


def _next_member(file: io.FileIO, data: bytes) -> bytes:
    """Return the data from the next gzip member on; tape-like padding with zeros may come before it."""
    while data and not (data := data.lstrip(b"\0")):
        data = file.read(_CHUNK)
    if len(data) == 1:
        data += file.read(_CHUNK)
    if data and not data.startswith(_GZIP):
        raise BrokenInput("something that is not gzip follows the gzip data; it was not read")
    return data


def _readable(engine: zlib._Decompress, data: bytes) -> Iterator[bytes]:
    """Yield what can be unpacked of a damaged piece: all before the first bad byte."""
    for index in range(len(data)):
        try:
            piece = engine.decompress(data[index : index + 1])
        except zlib.error:
            return
        if piece:
            yield piece


def _flushed(engine: zlib._Decompress) -> Iterator[bytes]:
    try:
        piece = engine.flush()
    except zlib.error:
        return
    if piece:
        yield piece
