"""What a page sends is taken as far as it makes sense, and nothing of it can ask for too much."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.surface.tui import FONT_SIZE, HEIGHT, WIDTH, Focused, Ping, Resized, Typed, parse_frame


@pytest.mark.parametrize(
    ("frame", "expected"),
    [
        (["stdin", "jé\x1b"], Typed("jé\x1b".encode())),
        (["stdin", "\ud800"], Typed(b"?")),
        (["resize", {"width": 100, "height": 30}], Resized(100, 30)),
        (["resize", {"width": 100_000, "height": 10**400}], Resized(500, 200)),
        (["resize", {"width": -5, "height": 0}], Resized(20, 8)),
        (["focus"], Focused(True)),
        (["blur"], Focused(False)),
        (["ping", "1750000000000"], Ping("1750000000000")),
        (["ping", "x" * 9_000], Ping("x" * 32)),
    ],
)
def test_what_makes_sense_is_taken(frame: list[Any], expected: object) -> None:
    assert parse_frame(json.dumps(frame)) == expected


@pytest.mark.parametrize(
    "text",
    [
        *("", "{", "null", "7", '"stdin"', "[]", "{}", '{"stdin": "j"}', '["moon"]', "[[]]", "[" * 100_000),
        *('["stdin"]', '["stdin", 7]', '["stdin", ["j"]]', '["ping", {}]', "\ud800"),
        *(
            '["resize"]',
            '["resize", [100, 30]]',
            '["resize", {"width": 100}]',
            '["resize", {"width": "a", "height": 3}]',
        ),
        *('["resize", {"width": true, "height": 30}]', '["resize", {"width": 1e999, "height": 30}]'),
        '["resize", {"width": NaN, "height": 30}]',
    ],
)
def test_what_makes_none_is_left(text: str) -> None:
    assert parse_frame(text) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [("100", 100), ("100000", 500), ("-1", 20), ("0", 20), ("9" * 5_000, 500), (None, 80), ("", 80), ("wide", 80)],
)
def test_sizes_in_an_address_stay_within_bounds(text: str | None, expected: int) -> None:
    assert WIDTH.read(text) == expected


def test_bounds_of_height_and_letters() -> None:
    assert [HEIGHT.read(text) for text in ("1", "24", "1000", "²")] == [8, 24, 200, 24]
    assert [FONT_SIZE.read(text) for text in ("1", "20", "1000", "url(x)")] == [6, 20, 72, 16]
