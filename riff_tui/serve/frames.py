"""Read what a page sends: text frames that hold a JSON list, which may say anything."""

from __future__ import annotations

import json
from typing import Any, NamedTuple, TypeAlias

from riff_tui.serve.limits import HEIGHT, WIDTH

_PING_LENGTH = 32


class Typed(NamedTuple):
    """Hold what keys and the mouse sent, as a terminal would."""

    keys: bytes


class Resized(NamedTuple):
    """Hold how many cells the page has."""

    width: int
    height: int


class Focused(NamedTuple):
    """Say whether the page has the focus."""

    has: bool


class Ping(NamedTuple):
    """Hold what is to be sent back."""

    text: str


Frame: TypeAlias = Typed | Resized | Focused | Ping


def parse_frame(text: str) -> Frame | None:
    """Return what a frame says, sizes within bounds; nothing where it makes no sense."""
    try:
        kind, *more = json.loads(text)
    except (ValueError, TypeError, RecursionError):
        return None
    value: Any = more[0] if more else None
    if kind == "stdin" and isinstance(value, str):
        return Typed(value.encode("utf-8", "replace"))
    if kind == "resize" and isinstance(value, dict):
        return _resized(value.get("width"), value.get("height"))
    if kind == "ping" and isinstance(value, str):
        return Ping(value[:_PING_LENGTH])
    return Focused(kind == "focus") if kind in ("focus", "blur") else None


def _resized(width: object, height: object) -> Resized | None:
    if isinstance(width, bool) or isinstance(height, bool):
        return None
    if not isinstance(width, int) or not isinstance(height, int):
        return None
    return Resized(WIDTH.clamp(width), HEIGHT.clamp(height))
