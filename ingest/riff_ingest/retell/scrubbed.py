"""Prefer what Retell keeps without personal data to what it stands for: `scrubbed_` and the name of the other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

_SCRUBBED = "scrubbed_"


def kept_under(holder: Mapping[str, Any], *keys: str) -> Iterator[tuple[Any, bool]]:
    """Yield what is kept under some keys, and whether it was scrubbed: all that was before any that was not."""
    for prefix in (_SCRUBBED, ""):
        for key in keys:
            if value := holder.get(f"{prefix}{key}"):
                yield value, bool(prefix)


def preferred(holder: Mapping[str, Any], key: str) -> tuple[Any, bool]:
    """Return what is kept under a key, `None` for nothing, and whether it was scrubbed."""
    return next(kept_under(holder, key), (None, False))
