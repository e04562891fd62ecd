"""List how a database differs from what a task should have left: table / record / field: expected, found."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

DEEPEST = 12


@dataclass(frozen=True, slots=True)
class RecordDifference:
    """Hold one place where the database differs; `expected` and `found` are JSON, empty for nothing."""

    path: tuple[str, ...]
    expected: str = ""
    found: str = ""

    @property
    def line(self) -> str:
        """Return the difference as people read it."""
        where = " / ".join(self.path)
        if self.expected and self.found:
            return f"{where}: {self.expected} → {self.found}"
        if self.expected:
            return f"{where}: {self.expected} is missing"
        return f"{where}: {self.found} is there" if self.found else where


def differences(diff: Mapping[str, Any], mismatches: Mapping[str, Any] | None = None) -> list[RecordDifference]:
    """Return all differences of a diff in EVA's form (section 10.1), of a session's `mismatches` first.

    What is not in that form is told as it stands: the diff may come out of anybody's store.
    """
    found = []
    for key, value in (mismatches or {}).items():
        ends = _ends(value) if isinstance(value, Mapping) else ("", _json(value))
        found.append(RecordDifference(("session", str(key)), *ends))
    found += [RecordDifference((str(name),), found="this table") for name in _listed(diff, "tables_added")]
    found += [RecordDifference((str(name),), expected="this table") for name in _listed(diff, "tables_removed")]
    tables = diff.get("tables_modified")
    for name, table in tables.items() if isinstance(tables, Mapping) else ():
        found += _table((str(name),), table)
    return found


def per_table(found: Sequence[RecordDifference]) -> dict[str, int]:
    """Count the differences in each table, which says nothing of what stands in it."""
    counts: dict[str, int] = {}
    for difference in found:
        counts[difference.path[0]] = counts.get(difference.path[0], 0) + 1
    return counts


def _table(path: tuple[str, ...], table: object) -> Iterator[RecordDifference]:
    if not isinstance(table, Mapping) or "type" in table:
        yield from _node(path, table, 0)
        return
    for key in _listed(table, "records_added"):
        yield RecordDifference((*path, str(key)), found="this record")
    for key in _listed(table, "records_removed"):
        yield RecordDifference((*path, str(key)), expected="this record")
    records = table.get("records_modified")
    for key, record in records.items() if isinstance(records, Mapping) else ():
        yield from _node((*path, str(key)), record, 0)


def _node(path: tuple[str, ...], node: object, depth: int) -> Iterator[RecordDifference]:
    if not isinstance(node, Mapping) or depth > DEEPEST:
        yield _plain(path, node)
    elif node.get("type") == "list_differences":
        listed = node.get("differences")
        for each in listed if isinstance(listed, list) else ():
            if isinstance(each, Mapping):
                yield from _node((*path, str(each.get("index", "?"))), each.get("diff"), depth + 1)
            else:
                yield _plain(path, each)
    elif "type" in node or "expected" in node:
        yield RecordDifference(path, *_ends(node))
    else:
        for key in _listed(node, "fields_added"):
            yield RecordDifference((*path, str(key)), found="this field")
        for key in _listed(node, "fields_removed"):
            yield RecordDifference((*path, str(key)), expected="this field")
        fields = node.get("fields_modified")
        for key, field in fields.items() if isinstance(fields, Mapping) else ():
            yield from _node((*path, str(key)), field, depth + 1)


def _ends(node: Mapping[str, Any]) -> tuple[str, str]:
    return _json(node.get("expected")), _json(node.get("actual"))


def _plain(path: Sequence[object], value: object) -> RecordDifference:
    return RecordDifference(tuple(str(step) for step in path), found=_json(value))


def _listed(node: Mapping[str, Any], key: str) -> list[Any]:
    """Return the names of a list, or of an object whose keys they are."""
    listed = node.get(key)
    return list(listed) if isinstance(listed, list | Mapping) else []


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)
