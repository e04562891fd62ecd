"""A decision as Markdown that a pull request takes: never too long for it, in whole rows, the gravest first."""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import replace

from riff_tui.gating.wording import short
from riff_tui.sinks import markdown
from riff_tui.sinks.options import Options
from riff_tui.table import Row, Table

MOST_CHARACTERS = 60_000
"""GitHub takes 65,536 in a comment."""


def summary(table: Table, *, ascii_only: bool = False, most: int = MOST_CHARACTERS) -> str:
    """The table as Markdown of at most so many characters; rows that did not fit are counted below it.

    Names longer than any should be are cut. With no room for one row, there are none.
    """
    options = Options(ascii_only=ascii_only)
    brief = replace(table, title=short_title(table.title), rows=[_cut(row) for row in table.rows])
    whole = _printed(brief, len(brief.rows), options)
    if len(whole) <= most:
        return whole
    # The most rows that fit: each row makes the text longer.
    low, high = 0, len(brief.rows) - 1
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if len(_printed(brief, middle, options)) <= most else (low, middle - 1)
    return _printed(brief, low, options)


def short_title(title: str) -> str:
    """A title in which no name takes more room than two of them may."""
    return title if len(title) <= 250 else short(title[:1000])


def _printed(table: Table, count: int, options: Options) -> str:
    left_out = len(table.rows) - count
    notes = list(table.notes)
    if left_out:
        rows = "1 row is" if left_out == 1 else f"{left_out} rows are"
        notes.insert(0, f"{rows} left out here, the least grave: the text would be too long for a pull request.")
    out = io.StringIO()
    markdown.write(replace(table, rows=table.rows[:count], notes=notes), out, options)
    return out.getvalue()


def _cut(row: Row) -> Row:
    def shown(key: str) -> str | None:
        found = row.display.get(key, row.record.get(key))
        return short(found) if isinstance(found, str) else None

    names: Mapping[str, str | None] = {key: shown(key) for key in ("flow", "aspect")}
    return replace(row, display={**row.display, **{key: name for key, name in names.items() if name is not None}})
