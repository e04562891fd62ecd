"""Normalise, hash and compare the databases of a scenario (10.1)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from typing import Any

SESSION = "session"
UNORDERED = frozenset(
    {"standby_list", "notifications", "bookings", "system_accounts", "group_memberships", "asset_recoveries"}
)
"""Lists under these names are the same in any order."""


def database_hash(database: Mapping[str, Any]) -> str:
    """Return SHA-256 in hex of a database's normalised content without its session."""
    return _digest(normalised({key: value for key, value in database.items() if key != SESSION}))


def plain_hash(database: Mapping[str, Any]) -> str:
    """Return SHA-256 in hex of a database as it is: the form of runs from before values were normalised."""
    return _digest(database)


def stored_form(stored: str | None, database: Mapping[str, Any]) -> str | None:
    """Return which form a stored hash has: `current`, `plain` or `other`; `None` if none is stored."""
    if stored is None:
        return None
    if stored == database_hash(database):
        return "current"
    return "plain" if stored == plain_hash(database) else "other"


def normalised(value: Any, key: str | None = None) -> Any:
    """Return the same value with whole numbers as integers, words for nothing as null, unordered lists sorted."""
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
    """Return the items in the order of what they look like as JSON."""
    return sorted(items, key=lambda item: json.dumps(item, sort_keys=True, default=str))


def _digest(value: Any) -> str:
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()


def databases_differ(expected: Mapping[str, Any], actual: Mapping[str, Any]) -> dict[str, Any]:
    """Return tables that were added, removed and modified; the session is a table like any other.

    A modified table has `records_added`, `records_removed` and `records_modified`; one that is not an object has
    `expected` and `actual`. A modified record is described as by `values_differ`.
    """
    changed = {name: _tables_differ(expected[name], actual[name]) for name in sorted(expected.keys() & actual.keys())}
    return {
        "tables_added": sorted(actual.keys() - expected.keys()),
        "tables_removed": sorted(expected.keys() - actual.keys()),
        "tables_modified": {name: change for name, change in changed.items() if change is not None},
    }


def summary(diff: Mapping[str, Any]) -> str:
    """Summarise a difference in one line: how many tables it touches."""
    counts = (f"{len(diff[f'tables_{how}'])} tables {how}" for how in ("modified", "added", "removed"))
    found = [count for count in counts if not count.startswith("0 ")]
    return ", ".join(found) or "No differences found (hash collision?)"


def values_differ(expected: Any, actual: Any, name: str | None = None) -> dict[str, Any] | None:
    """Return how two values differ once normalised, `None` if they do not; `name` is the field that has them."""
    return _differ(normalised(expected, name), normalised(actual, name), name)


def _tables_differ(expected: Any, actual: Any) -> dict[str, Any] | None:
    if not (isinstance(expected, dict) and isinstance(actual, dict)):
        return None if expected == actual else {"type": "non_dict_table", "expected": expected, "actual": actual}
    return _objects_differ(expected, actual, "records", values_differ)


def _differ(expected: Any, actual: Any, name: str | None) -> dict[str, Any] | None:
    if expected == actual:
        return None
    if type(expected) is not type(actual):
        return {
            "type": "type_mismatch",
            "expected": expected,
            "actual": actual,
            "expected_type": type(expected).__name__,
            "actual_type": type(actual).__name__,
        }
    if isinstance(expected, dict):
        return _objects_differ(expected, actual, "fields", _differ)
    if isinstance(expected, list):
        return _lists_differ(expected, actual, name)
    return {"type": "value_mismatch", "expected": expected, "actual": actual}


def _objects_differ(
    expected: Mapping[str, Any],
    actual: Mapping[str, Any],
    kind: str,
    differ: Callable[[Any, Any, str | None], dict[str, Any] | None],
) -> dict[str, Any] | None:
    added, removed = sorted(actual.keys() - expected.keys()), sorted(expected.keys() - actual.keys())
    shared = sorted(expected.keys() & actual.keys())
    changed = {key: change for key in shared if (change := differ(expected[key], actual[key], key)) is not None}
    if not (added or removed or changed):
        return None
    return {f"{kind}_added": added, f"{kind}_removed": removed, f"{kind}_modified": changed}


def _lists_differ(expected: list[Any], actual: list[Any], name: str | None) -> dict[str, Any] | None:
    if name in UNORDERED:
        expected, actual = in_order(expected), in_order(actual)
    if len(expected) != len(actual):
        return {
            "type": "list_length_mismatch",
            "expected": expected,
            "actual": actual,
            "expected_length": len(expected),
            "actual_length": len(actual),
        }
    pairs = enumerate(zip(expected, actual, strict=True))
    found = [{"index": at, "diff": diff} for at, (a, b) in pairs if (diff := _differ(a, b, None)) is not None]
    return {"type": "list_differences", "differences": found} if found else None
