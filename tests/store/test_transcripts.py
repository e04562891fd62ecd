"""A kept transcript is unpacked within bounds, whatever it claims to be."""

from __future__ import annotations

import pytest
import zstandard

from tests.surface.store import LARGEST, unpack_transcript


def packed(text: bytes, *, sized: bool = True) -> bytes:
    return zstandard.ZstdCompressor(write_content_size=sized).compress(text)


@pytest.mark.parametrize("text", [b"", b"{}", b"x" * 3_000_000])
def test_gives_back_what_was_packed(text: bytes) -> None:
    assert unpack_transcript(packed(text)) == text
    assert unpack_transcript(packed(text, sized=False)) == text


def test_a_few_bytes_cannot_fill_the_memory() -> None:
    bomb = packed(b"0" * (LARGEST + 1))
    assert len(bomb) < 10_000
    with pytest.raises(ValueError, match="larger"):
        unpack_transcript(bomb)


def test_the_bound_is_exact() -> None:
    assert len(unpack_transcript(packed(b"0" * 100), largest=100)) == 100
    with pytest.raises(ValueError, match="larger"):
        unpack_transcript(packed(b"0" * 101), largest=100)


@pytest.mark.parametrize("body", [b"not zstd", b"\x28\xb5\x2f\xfd", b"\x28\xb5\x2f\xfd\xff\xff\xff\xff\xff\xff\xff"])
def test_damage_is_named_and_no_crash(body: bytes) -> None:
    try:
        text = unpack_transcript(body)
    except ValueError:
        text = b""
    assert text == b""
