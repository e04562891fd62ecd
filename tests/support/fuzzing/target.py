"""Describe what is fuzzed, and what applies for whatever comes of it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from tests.support.hostile import LIVE
from tests.surface.tui import one_line

_INT64 = 1 << 63


class Target(NamedTuple):
    """What takes bytes; it may write below a folder that is its own, and raises where something does not contain."""

    name: str
    run: Callable[[bytes, Path], None]
    corpus: Callable[[], Sequence[bytes]]
    """What mutations begin with: input as it should be."""


def check_plain(value: Any) -> None:
    """A value that others may rely on: text that has UTF-8, finite numbers that fit a column, a safe display."""
    if isinstance(value, str):
        value.encode()
        assert not LIVE.search(one_line(value)), "something that acts on a terminal is displayed"
    elif isinstance(value, float):
        assert math.isfinite(value), f"{value} is no measurement"
    elif isinstance(value, int):
        assert -_INT64 <= value < _INT64, "an integer does not fit into a store"
    elif isinstance(value, dict):
        for key, item in value.items():
            check_plain(key)
            check_plain(item)
    elif isinstance(value, list | tuple):
        for item in value:
            check_plain(item)


def check_reason(reason: str) -> None:
    """A reason is one sentence for people, of bounded length."""
    check_plain(reason)
    assert reason.strip(), "a reason says nothing"
    assert len(reason) <= 1000, "a reason goes on and on"
