"""Change input that is as it should be, a little or a lot."""

from __future__ import annotations

import json
from collections.abc import Sequence
from random import Random
from typing import Any

from tests.support.hostile import HOSTILE
from tests.support.spots import spots, with_value_at

_TOKENS: tuple[bytes, ...] = (
    b"", b"0", b"-1", b"1e999", b"-0.0", b"9" * 400, b"NaN", b"null", b"true", b'""', b"[]", b"{}",
    b"[" * 200, b'{"a":' * 80, b"\\ud800", b"\\u0000", b"\x00", b"\xff\xfe", b"\xef\xbb\xbf", b"\x1f\x8b",
    b"PK\x03\x04", b"\r\n", b"\r", b"\n\n", b"'", b'"', b"\\", b"../../x", b"/dev/zero", b"*a", b"&a", b"<<: *a",
    b"!!python/object:os.system", b"|", b"(", b"!", b"/",
    *(text.encode(errors="surrogatepass") for text in HOSTILE.values()),
)  # fmt: skip
_VALUES: tuple[Any, ...] = (
    None, True, 0, -1, 10**30, 1e308, "", "0", "x" * 5000, [], {}, [[]], [None], {"a": {"b": []}}, *HOSTILE.values(),
)  # fmt: skip


def mutated(corpus: Sequence[bytes], random: Random) -> bytes:
    """Bytes that began as one of the corpus."""
    data = random.choice(corpus)
    if random.random() < 0.5:
        data = _other_value(data, random)
    for _ in range(random.choice((0, 1, 1, 2, 4, 16))):
        data = _edited(data, corpus, random)
    return data


def _other_value(data: bytes, random: Random) -> bytes:
    """The same document of JSON, or lines of it, with another value somewhere; bytes that are none stay."""
    lines = data.split(b"\n")
    place = random.randrange(len(lines))
    for whole in (True, False):
        try:
            value = json.loads(data if whole else lines[place])
            places = spots(value)
            changed = json.dumps(with_value_at(value, random.choice(places), random.choice(_VALUES))).encode()
        except (ValueError, IndexError, TypeError, RecursionError):
            continue
        return changed if whole else b"\n".join([*lines[:place], changed, *lines[place + 1 :]])
    return data


def _edited(data: bytes, corpus: Sequence[bytes], random: Random) -> bytes:
    start = random.randrange(len(data) + 1)
    end = min(len(data), start + random.choice((0, 1, 2, 8, 64, 512)))
    part = data[start:end]
    kind = random.randrange(6)
    if kind == 0:
        return data[:start]
    if kind == 1:
        return data[:start] + part * random.choice((0, 2, 3, 50)) + data[end:]
    if kind == 2:
        return data[:start] + bytes(byte ^ (1 << random.randrange(8)) for byte in part) + data[end:]
    if kind == 3:
        other = random.choice(corpus)
        at = random.randrange(len(other) + 1)
        return data[:start] + other[at : at + random.choice((4, 64, 4096))] + data[end:]
    return data[:start] + random.choice(_TOKENS) + data[end if kind == 4 else start :]
