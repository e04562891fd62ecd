"""Write a decision as Markdown that a pull request takes: never too long for it, in whole rows, the gravest first."""

from __future__ import annotations

import io
from dataclasses import replace

from riff_tui.output.sinks import markdown
from riff_tui.output.sinks.options import Options
from riff_tui.table import Table

MOST_CHARACTERS = 60_000
"""GitHub takes 65,536 in a comment."""


def summary(table: Table, *, ascii_only: bool = False, most: int = MOST_CHARACTERS) -> str:
    """Return the table as Markdown of at most so many characters; rows that did not fit are counted below it.

    With no room for one row, there are none.
    """
    options = Options(ascii_only=ascii_only)
    whole = _printed(table, len(table.rows), options)
    if len(whole) <= most:
        return whole
    # The most rows that fit: each row makes the text longer.
    low, high = 0, len(table.rows) - 1
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if len(_printed(table, middle, options)) <= most else (low, middle - 1)
    return _printed(table, low, options)


def _printed(table: Table, count: int, options: Options) -> str:
    left_out = len(table.rows) - count
    notes = list(table.notes)
    if left_out:
        rows = "1 row is" if left_out == 1 else f"{left_out} rows are"
        notes.insert(0, f"{rows} left out here, the least grave: the text would be too long for a pull request.")
    out = io.StringIO()
    markdown.write(replace(table, rows=table.rows[:count], notes=notes), out, options)
    return out.getvalue()
