"""Lines of files in any encoding, with any line end, packed or not."""

from __future__ import annotations

import hashlib
import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.dirty_inputs import bad_checksum, bomb, packed
from tests.support.limits import limited
from tests.surface.ingest import BrokenInput, digest, read_start, read_whole
from tests.surface.ingest import lines as compression
from tests.surface.ingest import lines_read_lines as read_lines


@pytest.fixture
def file(tmp_path: Path) -> Callable[[bytes], Path]:
    def write(data: bytes) -> Path:
        path = tmp_path / "input"
        path.write_bytes(data)
        return path

    return write


def read(path: Path) -> tuple[list[tuple[int, bytes]], list[tuple[int | None, str]]]:
    """Lines and problems."""
    problems: list[BrokenInput] = []
    found = list(read_lines(path, problems.append))
    return found, [(problem.line, problem.reason) for problem in problems]


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", []),
        (b"\n\n", []),
        (b"a", [(1, b"a")]),
        (b"a\nb\n", [(1, b"a"), (2, b"b")]),
        (b"a\r\n\r\nb", [(1, b"a"), (3, b"b")]),
        (b"a\rb\r", [(1, b"a"), (2, b"b")]),
        (b"a\r\rb", [(1, b"a"), (3, b"b")]),
        (b" \t\nb\n  ", [(2, b"b")]),
        (b"a\x0bb\x0cc\x85d\xe2\x80\xa8e", [(1, b"a\x0bb\x0cc\x85d\xe2\x80\xa8e")]),
        (b"\xef\xbb\xbfa", [(1, b"a")]),
        (b"\xff\xfea\0\n\0b\0", [(1, b"a"), (2, b"b")]),
        (b"\xfe\xff\0a\0\r\0\n\0b", [(1, b"a"), (2, b"b")]),
        (b"\xff\xfea", [(1, "�".encode())]),
        ("\ufeffä\n".encode("utf-16-le"), [(1, "ä".encode())]),
        (b"\xe4\n", [(1, b"\xe4")]),
    ],
)
def test_lines_are_those_that_an_editor_counts(
    file: Callable[[bytes], Path], data: bytes, expected: list[tuple[int, bytes]]
) -> None:
    assert read(file(data)) == (expected, [])
    assert read(file(packed(data))) == (expected, [])


@given(st.lists(st.text("ab\r\n ä\x85\u2028", max_size=5)), st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-32"]))
def test_lines_do_not_depend_on_where_a_read_ends(
    tmp_path_factory: pytest.TempPathFactory, parts: list[str], encoding: str
) -> None:
    text = "".join(parts)
    path = tmp_path_factory.mktemp("lines") / "input"
    path.write_bytes(text.encode(encoding))
    plain = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    expected = [(number, line.encode()) for number, line in enumerate(plain, 1) if line.strip(" ")]
    whole = compression._CHUNK
    try:
        for chunk in (1, 3, whole):
            compression._CHUNK = chunk
            assert [(number, line) for number, line in read(path)[0] if line.strip(b" ")] == expected
    finally:
        compression._CHUNK = whole


def test_a_line_over_the_limit_is_reported_and_the_next_one_read(file: Callable[[bytes], Path]) -> None:
    long = b"x" * (1024**2 + 1)
    path = file(b"a\n" + long + b"\nb\n" + long[1:] + b"\n" + long)
    with limited(line_mib=1):
        found, problems = read(path)
    assert [(number, len(line)) for number, line in found] == [(1, 1), (3, 1), (4, 1024**2)]
    reason = "line is longer than 1 MiB (limits.line_mib)"
    assert problems == [(2, reason), (5, reason)]
    with limited(line_mib=1), pytest.raises(BrokenInput, match="line 2: line is longer"):
        list(read_lines(path))


def test_a_line_of_64_mib_does_not_end_the_file(tmp_path: Path) -> None:
    path = tmp_path / "long"
    with path.open("wb") as out:
        out.write(b"a\n")
        for _ in range(65):
            out.write(b" " * 1024**2)
        out.write(b"\nb\n")
    assert read(path) == ([(1, b"a"), (3, b"b")], [(2, "line is longer than 64 MiB (limits.line_mib)")])


def test_a_gzip_bomb_is_left_alone_soon(file: Callable[[bytes], Path]) -> None:
    found, problems = read(file(bomb(80)))
    assert found == []
    assert problems == [
        (None, "gzip data unpacks to more than 200 times its size (limits.expansion); the rest was not read")
    ]


@pytest.mark.parametrize("cut", [1, 4, 8, 9, 20])
def test_of_a_truncated_gzip_file_the_whole_lines_are_read(file: Callable[[bytes], Path], cut: int) -> None:
    data = b"".join(b'{"n": %d}\n' % number for number in range(1000))
    found, problems = read(file(packed(data)[:-cut]))
    assert problems == [(None, "gzip data ends too early")]
    assert len(found) >= 900
    assert [line for _, line in found] == data.split(b"\n")[: len(found)]


def test_of_a_damaged_gzip_file_all_that_comes_before_the_damage_is_read(file: Callable[[bytes], Path]) -> None:
    data = os.urandom(300_000).hex().encode() + b"\n"
    whole = bytearray(packed(b"1\n2\n" + data + b"3\n"))
    whole[-2000] ^= 0xFF
    found, problems = read(file(bytes(whole)))
    assert [line for _, line in found][:2] == [b"1", b"2"]
    assert problems == [(None, "gzip data is damaged; what comes after was not read")]
    assert read(file(bad_checksum(b'{"a":1}\n{"b":2}'))) == (
        [(1, b'{"a":1}'), (2, b'{"b":2}')],
        [(None, "gzip data is damaged; what comes after was not read")],
    )


@given(st.binary(max_size=200), st.booleans())
def test_no_bytes_make_reading_raise(tmp_path_factory: pytest.TempPathFactory, data: bytes, zipped: bool) -> None:
    path = tmp_path_factory.mktemp("bytes") / "input"
    path.write_bytes(b"\x1f\x8b\x08\0\0\0\0\0\0\x03" + data if zipped else data)
    found, problems = read(path)
    assert len(problems) <= 1
    assert all(line.strip() for _, line in found)
    numbers = [number for number, _ in found]
    assert numbers == sorted(set(numbers))


def test_what_is_no_regular_file_is_refused_without_waiting_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    assert read(fifo) == ([], [(None, "not a regular file")])
    assert read(Path("/dev/zero")) == ([], [(None, "not a regular file")])
    assert read(tmp_path) == ([], [(None, "file cannot be read: is a directory")])
    assert read(tmp_path / "missing") == ([], [(None, "file cannot be read: no such file or directory")])
    assert read(Path("nul\0byte")) == ([], [(None, "file cannot be read: not a valid path")])
    with socket.socket(socket.AF_UNIX) as server:
        monkeypatch.chdir(tmp_path)
        server.bind("socket")
        assert read(tmp_path / "socket")[1][0][1].startswith("file cannot be read")


def test_a_digest_is_that_of_the_file_as_it_lies_there(file: Callable[[bytes], Path]) -> None:
    data = packed(b"x" * 100_000)
    assert digest(file(data)) == (hashlib.sha256(data).hexdigest(), len(data))
    with pytest.raises(BrokenInput, match="no such file"):
        digest(Path("missing"))


def test_a_whole_document_is_read_up_to_a_bound(file: Callable[[bytes], Path]) -> None:
    path = file(packed("\ufeffä\r\nb".encode()))
    assert read_whole(path) == "ä\r\nb".encode()
    assert read_start(path) == "ä\r\nb".encode()
    large = file(packed(b" " * (1024**2 + 1)))
    assert len(read_whole(large)) == 1024**2 + 1
    with pytest.raises(BrokenInput, match=r"larger than 1 MiB \(limits.yaml_mib\)"):
        read_whole(large, "yaml_mib")
    with pytest.raises(BrokenInput, match="ends too early"):
        read_whole(file(packed(b"x")[:-1]))
