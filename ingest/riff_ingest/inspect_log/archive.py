"""Read members of a zip file as a log of Inspect AI has them: stored, deflate or zstd, each below a limit.

Nothing is written to disk, so names of members mean nothing to the file system.
"""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from pathlib import Path
from types import TracebackType

import zstandard

from riff_ingest.limits import limits
from riff_ingest.sources.compression import FREE_EXPANSION, BrokenInput, unreadable

START = b"PK\x03\x04"
_LISTED = b"PK\x01\x02"

STORED, DEFLATE, ZSTD = 0, 8, 93
_HEADER = 30
_LENGTHS = struct.Struct("<HH")
_LENGTHS_AT = 26
_NEEDS_MORE = "too much memory"
_ENCRYPTED = 0x1 | 0x40 | 0x2000
_NOT_A_ZIP = (
    zipfile.BadZipFile,
    NotImplementedError,
    ValueError,
    struct.error,
    EOFError,
    IndexError,
    OverflowError,
)


class Archive:
    """Read a zip file by the names of its members; of several of one name the last holds.

    Raises `BrokenInput` where the file cannot be opened, is no zip file, or was cut off before the list of its members.
    """

    def __init__(self, path: Path) -> None:
        try:
            self._file = _CappedFile(path)
        except (OSError, ValueError) as error:
            raise unreadable(error) from error
        try:
            self._members = _members(self._file)
            self._size = self._file.seek(0, io.SEEK_END)
        except BaseException:
            self._file.close()
            raise
        self._counted: set[str] = set()
        self._unpacked = 0

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of the members, each once, in the order of the list."""
        return tuple(self._members)

    def __enter__(self) -> Archive:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._file.close()

    def read(self, name: str) -> bytes:
        """Return what a member holds; raise `BrokenInput` with the reason where that cannot be had."""
        info = self._members[name]
        if info.flag_bits & _ENCRYPTED:
            raise BrokenInput("the member is encrypted")
        if info.compress_type not in (STORED, DEFLATE, ZSTD):
            raise BrokenInput(f"the member is packed with method {info.compress_type}, which is not read")
        if max(info.file_size, info.compress_size) > limits().bytes("line_mib"):
            raise BrokenInput(f"the member is larger than {limits().told('line_mib')}")
        self._count(info)
        try:
            data = _unpack(self._packed(info), info)
        except (OSError, ValueError) as error:
            raise unreadable(error) from error
        if len(data) != info.file_size:
            raise BrokenInput("the member does not have the size that the list of members says")
        if zlib.crc32(data) != info.CRC:
            raise BrokenInput("the member is damaged: its checksum is another")
        return data

    def _count(self, info: zipfile.ZipInfo) -> None:
        """Refuse to go on where the members unpack to far more than the file."""
        if info.filename not in self._counted:
            self._counted.add(info.filename)
            self._unpacked += info.file_size
        if self._unpacked > FREE_EXPANSION and self._unpacked > self._size * limits().expansion:
            raise BrokenInput(f"the members of the file unpack to more than {limits().told('expansion')}")

    def _packed(self, info: zipfile.ZipInfo) -> bytes:
        """Return the bytes of a member as they lie in the file, behind its own header."""
        self._file.seek(info.header_offset)
        header = self._file.read(_HEADER)
        if len(header) < _HEADER or not header.startswith(START):
            raise BrokenInput("the member is not where the list of members says")
        name, extra = _LENGTHS.unpack_from(header, _LENGTHS_AT)
        self._file.seek(info.header_offset + _HEADER + name + extra)
        packed = self._file.read(info.compress_size)
        if len(packed) < info.compress_size:
            raise BrokenInput("the member is cut off")
        return packed


class _CappedFile(io.FileIO):
    """Read a file in pieces that are bounded: the list of the members comes as one."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, "rb")
        self.cap = limits().bytes("zip_list_mib")

    def read(self, size: int | None = -1, /) -> bytes:
        if size is not None and size > self.cap:
            raise BrokenInput(f"its list of members is larger than {limits().told('zip_list_mib')}")
        data = super().read(-1 if size is None else size) or b""
        if data.count(_LISTED) > limits().zip_members:  # counted here, since each that is listed costs more memory
            raise BrokenInput(f"it has more than {limits().told('zip_members')}")
        return data


def _members(file: _CappedFile) -> dict[str, zipfile.ZipInfo]:
    try:
        with zipfile.ZipFile(file) as opened:
            infos = opened.infolist()
    except _NOT_A_ZIP as error:
        raise BrokenInput("it is no zip file, or was cut off before its list of members") from error
    except OSError as error:
        raise unreadable(error) from error
    file.cap = limits().bytes("line_mib")
    return {info.filename: info for info in infos}


def _unpack(packed: bytes, info: zipfile.ZipInfo) -> bytes:
    """Return what a member holds, one byte more than its size at most."""
    most = info.file_size + 1
    try:
        if info.compress_type == STORED:
            return packed
        if info.compress_type == DEFLATE:
            return zlib.decompressobj(-zlib.MAX_WBITS).decompress(packed, most)
        engine = zstandard.ZstdDecompressor(max_window_size=limits().bytes("zstd_window_mib"))
        with engine.stream_reader(io.BytesIO(packed), read_across_frames=True) as reader:
            return reader.read(most)
    except (zlib.error, zstandard.ZstdError) as error:
        if _NEEDS_MORE in str(error):
            reach = limits().told("zstd_window_mib")
            raise BrokenInput(f"the member cannot be unpacked without going back more than {reach}") from error
        raise BrokenInput("the member is damaged and cannot be unpacked") from error
