"""Lines between programs and the runner: however the bytes come, the same messages are read."""

from __future__ import annotations

import contextlib
import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.surface.runner import LARGEST_LINE, BadLine, LineBuffer, decoded, encoded

MESSAGES = st.dictionaries(st.text(max_size=5), st.none() | st.booleans() | st.integers(-99, 99) | st.text(max_size=20))


def cut(data: bytes, cuts: list[int]) -> list[bytes]:
    places = sorted({0, *(place for place in cuts if place < len(data)), len(data)})
    return [data[start:end] for start, end in itertools.pairwise(places)]


def feed(buffer: LineBuffer, pieces: list[bytes]) -> list[bytes]:
    return [line for piece in pieces for line in buffer.feed(piece)]


@given(st.lists(MESSAGES, max_size=6), st.lists(st.integers(0, 300), max_size=9), st.booleans())
def test_messages_come_out_as_they_went_in_wherever_the_bytes_are_cut(
    messages: list[dict[str, object]], cuts: list[int], ends_its_line: bool
) -> None:
    data = b"\n".join([*map(encoded, messages)])  # with blank lines between
    data = data if ends_its_line else data.rstrip(b"\n")
    buffer = LineBuffer()
    lines = feed(buffer, cut(data, cuts))
    lines += [rest] if (rest := buffer.rest()) else []
    assert [decoded(line, {}) for line in lines] == messages


@given(st.binary(max_size=60), st.lists(st.integers(0, 60), max_size=4))
def test_any_bytes_are_messages_or_refused(data: bytes, cuts: list[int]) -> None:
    buffer = LineBuffer()
    for line in feed(buffer, cut(data, cuts)):
        with contextlib.suppress(BadLine):
            assert isinstance(decoded(line, {}), dict)


@given(st.lists(st.binary(min_size=1, max_size=30), min_size=1, max_size=9))
def test_no_more_than_a_line_and_a_piece_is_kept(pieces: list[bytes]) -> None:
    buffer = LineBuffer(largest=40)
    longest = max(len(line) for line in b"".join(pieces).split(b"\n"))
    with pytest.raises(BadLine, match="longer than 40 bytes") if longest > 40 else contextlib.nullcontext():
        feed(buffer, pieces)


@pytest.mark.parametrize(
    "line", [b"[1]", b'"say"', b"null", b"hello", b'{"a":NaN}', b"\xff{}", b"[" * 100_000], ids=range(7)
)
def test_what_is_not_an_object_is_refused(line: bytes) -> None:
    with pytest.raises(BadLine, match="belongs on stderr"):
        decoded(line, {})


def test_a_refused_line_is_shown_without_keys() -> None:
    with pytest.raises(BadLine, match=r"'using \$MY_API_KEY'"):
        decoded(b"using sk-0123456789", {"MY_API_KEY": "sk-0123456789"})


def test_a_message_that_is_too_long_or_has_no_form_is_not_sent() -> None:
    with pytest.raises(BadLine, match="longer than 1,048,576 bytes"):
        encoded({"result": "x" * LARGEST_LINE})
    with pytest.raises(BadLine, match="no form in JSON"):
        encoded({"result": object()})
