"""Read the lines of an input file, whatever its encoding, line ends and compression.

Everything that can go wrong below a line ends as a `BrokenInput`, whose reason is one short
sentence without content of the file.
"""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeAlias

import msgspec

from riff_ingest.limits import limits
from riff_ingest.sources.compression import BrokenInput, digest, expand

__all__ = [
    "BrokenInput",
    "Report",
    "digest",
    "read_lines",
    "read_pieces",
    "read_start",
    "read_whole",
]

_BYTE_ORDER_MARKS = (  # UTF-32 first: its little-endian mark begins with that of UTF-16
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
    (codecs.BOM_UTF8, None),
)


Report: TypeAlias = Callable[[BrokenInput], None]


def read_lines(path: Path, report: Report | None = None, limit: str | None = None) -> Iterator[tuple[int, bytes]]:
    """Yield the lines of a plain or gzip file that are not blank, as UTF-8, each with its number.

    Problems go to `report`: a line over `limits.line_mib` is left out and reading goes on; a file that
    cannot be read any further, or is larger than the limit of that name, ends there, after all that could be read.
    Without `report` the first problem is raised. Bytes that are no UTF-8 pass through in a file without a
    byte order mark.
    """
    report = report or _raise
    problems: list[BrokenInput] = []
    for number, line in enumerate(_split(_newlines(_utf8(_until_broken(path, problems, limit)))), start=1):
        if line is None:
            report(BrokenInput(f"line is longer than {limits().told('line_mib')}", number))
        elif isinstance(line, _Rest):
            if line and not line.isspace() and (not problems or _is_whole(line)):
                yield number, bytes(line)
        elif line and not line.isspace():
            yield number, line
    for problem in problems:
        report(problem)


def read_whole(path: Path, limit: str = "document_mib") -> bytes:
    """Return the content of a plain or gzip file as UTF-8, for formats that are one document.

    Raises `BrokenInput`, also where it is larger than the limit of that name.
    """
    pieces, size, most = [], 0, limits().bytes(limit)
    for piece in _utf8(expand(path)):
        size += len(piece)
        if size > most:
            raise _too_large(limit)
        pieces.append(piece)
    return b"".join(pieces)


def read_pieces(path: Path) -> Iterator[bytes]:
    """Yield the content of a plain or gzip file as UTF-8, in pieces; raise `BrokenInput` after the last good one."""
    return _utf8(expand(path))


def read_start(path: Path) -> bytes:
    """Return the first bytes of a file as UTF-8, some 64 KiB of them; raise `BrokenInput`."""
    return next(_utf8(expand(path)), b"")


class _Rest(bytes):
    """Hold the bytes after the last line end."""


def _raise(problem: BrokenInput) -> None:
    raise problem


def _too_large(limit: str, what_of_it: str = "") -> BrokenInput:
    return BrokenInput(f"file is larger than {limits().told(limit)}{what_of_it}")


def _until_broken(path: Path, problems: list[BrokenInput], limit: str | None) -> Iterator[bytes]:
    size, most = 0, None if limit is None else limits().bytes(limit)
    try:
        for piece in expand(path):
            size += len(piece)
            if limit is not None and most is not None and size > most:
                raise _too_large(limit, "; the rest was not read")
            yield piece
    except BrokenInput as problem:
        problems.append(problem)


def _utf8(chunks: Iterator[bytes]) -> Iterator[bytes]:
    start = b""
    for chunk in chunks:
        start += chunk
        if len(start) >= 4:
            break
    mark, encoding = next((known for known in _BYTE_ORDER_MARKS if start.startswith(known[0])), (b"", None))
    start = start[len(mark) :]
    if encoding is None:
        if start:
            yield start
        yield from chunks
        return
    decoder = codecs.getincrementaldecoder(encoding)(errors="replace")
    yield decoder.decode(start).encode()
    for chunk in chunks:
        yield decoder.decode(chunk).encode()
    yield decoder.decode(b"", final=True).encode()


def _newlines(chunks: Iterator[bytes]) -> Iterator[bytes]:
    held = b""
    for chunk in chunks:
        if held:
            chunk = held + chunk
        held = b"\r" if chunk.endswith(b"\r") else b""  # half of a CRLF, perhaps
        if b"\r" not in chunk:
            yield chunk
        else:
            yield chunk[: len(chunk) - len(held)].replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    if held:
        yield b"\n"


def _split(chunks: Iterator[bytes]) -> Iterator[bytes | None]:
    """Yield lines without their ends, `None` for one that is too long, at last a `_Rest`.

    They are cut off one by one, so that each can take the place in memory of the one before.
    """
    held: list[bytes] = []
    size, longest = 0, limits().bytes("line_mib")
    for chunk in chunks:
        start = 0
        while (end := chunk.find(b"\n", start)) >= 0:
            held.append(chunk[start:end])
            size += end - start
            line = None if size > longest else b"".join(held)
            held, size, start = [], 0, end + 1
            yield line
        rest = chunk[start:]
        size += len(rest)
        if size > longest:
            held = []
        elif rest:
            held.append(rest)
    yield None if size > longest else _Rest(b"".join(held))


def _is_whole(line: bytes) -> bool:
    """Tell whether a line that lost its end is still a document: then it was the last one."""
    try:
        msgspec.json.decode(line, type=msgspec.Raw)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return False
    return True
