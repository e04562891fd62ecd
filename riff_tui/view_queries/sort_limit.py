"""Sort and limit the rows of a table, and say what was left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from riff_store.measure import THIN
from riff_store.vocabulary import ALIASES
from riff_tui.errors import UsageError
from riff_tui.table import NOT_MEASURED, Column, Row, Table
from riff_tui.views.parts.callers import excluded_text

LISTED = 5
_NAMES = ("archetype", "flow", "agent", "run")


def ordered(table: Table, sort: str, ranked: str = "") -> Table:
    """Sort the rows: `KEY` upwards, `-KEY` downwards, what is not measured last; rows alike keep their order."""
    if ranked:
        raise UsageError(f"{table.view} cannot be sorted: its lists are ranked {ranked}")
    down = sort.startswith("-")
    column = sort_column(table.columns, sort)
    values = [(column.value(row.record), row) for row in table.rows]
    measured = [(value, row) for value, row in values if value is not None]
    measured.sort(key=lambda found: _place(found[0]), reverse=down)
    rows = [row for _, row in measured] + [row for value, row in values if value is None]
    return replace(table, rows=rows, sort=f"{'-' if down else ''}{column.key}")


def sort_column(columns: Sequence[Column], sort: str) -> Column:
    """Return the column that `KEY` or `-KEY` names, by key, title or short name; raises `UsageError`."""
    key = sort.removeprefix("-")
    known = {column.key: column for column in columns if column.kind != "object"}
    headed = {column.short.lower(): column for column in known.values() if column.short}
    headed |= {column.title.lower(): column for column in known.values()}
    column = known.get(key) or known.get(ALIASES.get(key.lower(), key)) or headed.get(key.lower())
    if column is None:
        raise UsageError(f"--sort: there is no column {key} here; there are {', '.join(known)}")
    return column


def limited(table: Table, limit: int | None) -> Table:
    """Keep at most so many rows; of a table of lists at most so many a list."""
    if limit is None:
        return table
    table = replace(table, limit=limit)
    if not table.sections:
        return replace(table, rows=table.rows[:limit])
    kept: set[str] = set()
    for section in table.sections:
        wanted = frozenset(section.row_ids)
        kept.update([row.id for row in table.rows if row.id in wanted][:limit])
    return replace(table, rows=[row for row in table.rows if row.id in kept])


def left_out(table: Table, keys: Sequence[str] = ()) -> list[str]:
    """Return a sentence each on errored calls, which averages leave out, and on thin rows; `keys` name a row."""
    notes, rows = [], table.rows
    excluded = [(int(row.record.get("excluded") or 0), row) for row in rows]
    total = sum(count for count, _ in excluded)
    if total:
        where = _listed([f"{_named(row, table.columns, keys)} {count}" for count, row in excluded if count])
        failed = sum(int(row.record.get("caller_failed") or 0) for row in rows)
        notes.append(f"Excluded: {excluded_text(total, failed)} ({where}).")
    thin = sum(row.thin for row in rows)
    if thin:
        few = f"fewer than {THIN} groups" if any("groups" in row.record for row in rows) else f"n < {THIN}"
        notes.append(f"Thin: {thin} {'row has' if thin == 1 else 'rows have'} {few}, marked ~.")
    return notes


def _place(value: Any) -> tuple[int, Any, str]:
    """Order numbers before text; text without regard to case, unless nothing else tells it apart."""
    if isinstance(value, (int, float)):
        return 0, value, ""
    return 1, str(value).casefold(), str(value)


def _named(row: Row, columns: Sequence[Column], keys: Sequence[str]) -> str:
    if not keys and not any(key in row.record for key in _NAMES):
        keys = [column.key for column in columns if column.kind == "name"]
    names = (row.record.get(key) for key in dict.fromkeys((*_NAMES, *keys)))
    return " ".join(str(name) for name in names if name) or NOT_MEASURED


def _listed(parts: Sequence[str]) -> str:
    shown = list(parts[:LISTED])
    more = len(parts) - len(shown)
    return ", ".join([*shown, *([f"{more} more"] if more else [])])
