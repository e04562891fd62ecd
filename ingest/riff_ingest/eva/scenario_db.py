"""A scenario's database: its hash, in today's form and in older ones, and how one differs from another (10.1)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

SESSION = "session"
UNORDERED = frozenset(
    {"standby_list", "notifications", "bookings", "system_accounts", "group_memberships", "asset_recoveries"}
)
"""Lists under these names are the same in any order."""


def database_hash(database: Mapping[str, Any]) -> str:
    """SHA-256 in hex of a database's normalised content without its session."""
    return _digest(normalised({key: value for key, value in database.items() if key != SESSION}))


def plain_hash(database: Mapping[str, Any]) -> str:
    """SHA-256 in hex of a database as it stands: the form of runs from before values were normalised."""
    return _digest(database)


def stored_form(stored: str | None, database: Mapping[str, Any]) -> str | None:
    """Which form a stored hash has: `current`, `plain` or `other`; `None` where none is stored."""
    if stored is None:
        return None
    if stored == database_hash(database):
        return "current"
    return "plain" if stored == plain_hash(database) else "other"


def normalised(value: Any, key: str | None = None) -> Any:
    """The same value with whole numbers as integers, words for nothing as null, unordered lists sorted."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, str):
        return None if value.strip().lower() in ("none", "null") else value
    if isinstance(value, Mapping):
        return {name: normalised(item, name) for name, item in value.items()}
    if isinstance(value, list):
        found = [normalised(item) for item in value]
        return in_order(found) if key in UNORDERED else found
    return value


def in_order(items: list[Any]) -> list[Any]:
    """The items in the order of what they look like as JSON."""
    return sorted(items, key=lambda item: json.dumps(item, sort_keys=True, default=str))


def _digest(value: Any) -> str:
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()
