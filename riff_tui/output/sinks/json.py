"""Print JSON: the whole table with unrounded numbers, one record a line so that a diff can be read."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Any, TextIO

from riff_tui.output.sinks.parts import Options, data_columns, lines_of
from riff_tui.table import Batch, Column, Table
from riff_tui.text.numbers import utc
from riff_tui.text.safe_text import escaped_hidden

SCHEMA_VERSION = 1
_OF_COLUMNS = ("key", "title", "unit", "better")


def write(table: Table, out: TextIO, options: Options) -> None:
    """Print one object; `extras` come after the keys that every view has, and cannot displace them."""
    head = {
        "view": table.view,
        "schema_version": SCHEMA_VERSION,
        "filter": table.filter,
        "columns": [{name: getattr(column, name) for name in _OF_COLUMNS} for column in data_columns(table)],
    }
    counts = table.counts
    tail: dict[str, Any] = {
        "notes": list(table.notes), "total": counts.total, "matched": counts.matched, "hidden": counts.hidden
    }  # fmt: skip
    tail |= {key: value for key, value in table.extras.items() if key not in head and key not in (*tail, "rows")}
    out.write("{\n")
    for key, value in head.items():
        out.write(f"  {dumped(key, options)}: {dumped(value, options)},\n")
    out.write('  "rows": [')
    separator = "\n"
    for row in table.rows:
        out.write(f"{separator}    {dumped(table.record_of(row), options)}")
        separator = ",\n"
    out.write("\n  ]" if separator != "\n" else "]")
    for key, value in tail.items():
        out.write(f",\n  {dumped(key, options)}: {dumped(value, options)}")
    out.write("\n}\n")


def write_lines(table: Table, out: TextIO, options: Options) -> None:
    """Print JSON lines: each record alone on a line, for programs that read a stream."""
    write_records(map(table.record_of, table.rows), out, options)


def write_records(records: Iterable[Mapping[str, Any]], out: TextIO, options: Options) -> None:
    """Print JSON lines of records one after the other."""
    for record in records:
        out.write(dumped(record, options) + "\n")


def write_batches(columns: Sequence[Column], batches: Iterable[Batch], out: TextIO, options: Options) -> None:
    """Print JSON lines of batches."""

    def text(column: Column, value: Any) -> str:
        shown = utc(value) if column.kind == "time" and value is not None else value
        return f"{dumped(column.key, options)}: {dumped(shown, options)}"

    for batch in batches:
        out.writelines([f"{{{line}}}\n" for line in lines_of(batch, columns, text, ", ")])


def write_members(members: Iterable[tuple[str, Any]], out: TextIO, options: Options) -> None:
    """Print an object that is not a table, a member a line; no more than one of them need be in memory."""
    separator = "{\n"
    for key, value in members:
        out.write(f"{separator}  {dumped(key, options)}: {dumped(value, options)}")
        separator = ",\n"
    out.write("{}\n" if separator == "{\n" else "\n}\n")


def dumped(value: Any, options: Options) -> str:
    """Return a value as JSON on one line: no NaN and no infinity (both null), nothing in it that acts on a terminal."""
    try:
        text = _dumps(value, options)
    except (ValueError, TypeError):
        text = _dumps(_plain(value), options)
    return escaped_hidden(text)


def _dumps(value: Any, options: Options) -> str:
    return json.dumps(value, ensure_ascii=options.ascii_only, allow_nan=False)


def _plain(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {
            key if isinstance(key, str) else json.dumps(key, default=str): _plain(item) for key, item in value.items()
        }
    if value is None or isinstance(value, str | int):
        return value
    if isinstance(value, Set):
        return sorted((_plain(item) for item in value), key=repr)
    if isinstance(value, Iterable):
        return [_plain(item) for item in value]
    return str(value)
