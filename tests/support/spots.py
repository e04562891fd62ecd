"""Values put in the place of others inside of JSON."""

from __future__ import annotations

import json
from typing import Any


def spots(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The places of all values inside of a value, each as the keys that lead there."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [spot for key, item in inner for spot in ((*path, key), *spots(item, (*path, key)))]


def with_value_at(value: Any, spot: tuple[Any, ...], other: Any) -> Any:
    """A copy of a value with another one at a place."""
    copy = json.loads(json.dumps(value))
    holder = copy
    for key in spot[:-1]:
        holder = holder[key]
    holder[spot[-1]] = other
    return copy
