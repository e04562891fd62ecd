"""Read the lines of an input file, whatever its encoding, line ends and compression, within limits.

Everything that can go wrong below a line ends as a `BrokenInput`, whose reason is one short sentence without content of
the file. Each limit bounds what one input may cost in memory and time; it is a setting, `limits.NAME`, and the reason
for what it leaves out names it."""

from __future__ import annotations

import codecs
import dataclasses
import hashlib
import io
import os
import stat
import zlib
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

import msgspec

from riff_store.errors import RiffError
from riff_store.statement_limit import STEPS_PER_BYTE

FREE_EXPANSION = 64 * 1024 * 1024

_CHUNK = 64 * 1024  # stays in the processor's cache: larger ones were slower
_GZIP = b"\x1f\x8b"
_ZLIB_WITH_GZIP_HEADER = 31


class BrokenInput(RiffError):
    """Report a file, or a line of it, that cannot be read.

    `line` counts from 1 and is `None` if it is the file; `conversation` is the call's name where a line has at least
    that.
    """

    def __init__(self, reason: str, line: int | None = None, conversation: str | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.line = line
        self.conversation = conversation

    def __str__(self) -> str:
        return self.reason if self.line is None else f"line {self.line}: {self.reason}"


def digest(path: Path) -> tuple[str, int]:
    """Return the SHA-256 (hexadecimal) and the size in bytes of a file as it is there; raise `BrokenInput`."""
    try:
        with _open(path) as file:
            return hashlib.file_digest(file, "sha256").hexdigest(), file.tell()
    except (OSError, ValueError) as error:
        raise unreadable(error) from error


def digest_of_all(files: Iterable[Path], start: bytes = b"", size: int = 0) -> tuple[str, int]:
    """Return what represents a start and files by their names, and the bytes of all; one may be unreadable."""
    found = hashlib.sha256(start)
    for file in files:
        try:
            content, length = digest(file)
        except BrokenInput as problem:
            content, length = problem.reason, 0
        found.update(b"%b\0%b\n" % (os.fsencode(file.name), content.encode()))
        size += length
    return found.hexdigest(), size


def unreadable(error: OSError | ValueError) -> BrokenInput:
    """Return the one error for what the operating system refused."""
    reason = (error.strerror or type(error).__name__) if isinstance(error, OSError) else "not a valid path"
    return BrokenInput(f"file cannot be read: {reason[:1].lower()}{reason[1:]}")


def expand(path: Path) -> Iterator[bytes]:
    """Yield the bytes of a file in pieces, unpacked if it is gzip.

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

    Raises `BrokenInput`, also if it is larger than the limit of that name.
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
    """Keep the bytes after the last line end."""


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
    """Return whether a line that lost its end is still a document: then it was the last one."""
    try:
        msgspec.json.decode(line, type=msgspec.Raw)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return False
    return True


MIB = 1024 * 1024


def _limit(value: int, unit: str, meaning: str, *, highest: int) -> Any:
    return dataclasses.field(default=value, metadata={"unit": unit, "meaning": meaning, "highest": highest})


@dataclasses.dataclass(frozen=True)
class Limits:
    """Describe the limits; the `unit` of each, its `meaning` and the `highest` that it may be are with its field."""

    line_mib: int = _limit(64, "MiB", "a line, a call in a JSON document of many, a member of a zip file", highest=1024)
    document_mib: int = _limit(16, "MiB", "a file that is one JSON or TOML document", highest=1024)
    calls_mib: int = _limit(512, "MiB", "a document that lists the calls of a platform", highest=4096)
    log_mib: int = _limit(256, "MiB", "a file of an EVA run", highest=4096)
    log_lines: int = _limit(500_000, "lines", "a log of an EVA call", highest=100_000_000)
    yaml_mib: int = _limit(1, "MiB", "a YAML file", highest=64)
    yaml_values: int = _limit(50_000, "values", "a YAML file with its aliases written out", highest=10_000_000)
    depth: int = _limit(64, "levels", "lists and objects in each other; deeper ones are left out", highest=200)
    expansion: int = _limit(200, "times its size", "what a file unpacks to, if over 64 MiB", highest=100_000)
    zip_members: int = _limit(200_000, "members", "a zip file", highest=10_000_000)
    zip_list_mib: int = _limit(32, "MiB", "the list of the members of a zip file", highest=1024)
    zstd_window_mib: int = _limit(128, "MiB", "how far back zstd data may refer", highest=2048)
    statement_steps: int = _limit(
        STEPS_PER_BYTE, "steps for each byte of it", "a statement on a store in a file", highest=1_000_000
    )

    def bytes(self, name: str) -> int:
        """Return a limit that is in MiB as bytes."""
        return int(getattr(self, name)) * MIB

    def told(self, name: str) -> str:
        """Return a limit as reasons show it: its value, and the name of its setting."""
        return f"{getattr(self, name):,} {_units[name]} (limits.{name})"

    def digest(self) -> str:
        """Return what distinguishes these limits of inputs from others, nothing for those without settings."""
        of_inputs = dataclasses.replace(self, statement_steps=STEPS_PER_BYTE)
        return "" if of_inputs == Limits() else hashlib.sha256(repr(of_inputs).encode()).hexdigest()


_units = {field.name: field.metadata["unit"] for field in dataclasses.fields(Limits)}
_in_force = Limits()


def limits() -> Limits:
    """Return the limits that have in this process."""
    return _in_force


def set_limits(wanted: Limits) -> None:
    """Apply these limits from here on, in the whole process, whose memory they bound."""
    global _in_force
    _in_force = wanted
