"""Print CSV: every column under its key with unrounded numbers, one record a line, for spreadsheets and scripts."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TextIO

from riff_tui.output.sinks.json import dumped
from riff_tui.output.sinks.parts import Options, data_columns, lines_of
from riff_tui.table import Batch, Column, Table
from riff_tui.text.numbers import utc
from riff_tui.text.safe_text import one_line

_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")


def write(table: Table, out: TextIO, options: Options) -> None:
    """Print a header of keys and a line for each row; what was not measured is an empty cell."""
    write_records(data_columns(table), (row.record for row in table.rows), out, options)


def write_records(
    columns: Sequence[Column], records: Iterable[Mapping[str, Any]], out: TextIO, options: Options
) -> None:
    """Print CSV of records one after the other."""
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([_text(column.key, options) for column in columns])
    for record in records:
        writer.writerow([_cell(column, column.value(record), options) for column in columns])


def write_batches(columns: Sequence[Column], batches: Iterable[Batch], out: TextIO, options: Options) -> None:
    """Print the same of batches."""

    def text(column: Column, value: Any) -> str:
        return _quoted(_cell(column, value, options))

    out.write(",".join([_quoted(_text(column.key, options)) for column in columns]) + "\n")
    for batch in batches:
        out.writelines([f"{line}\n" for line in lines_of(batch, columns, text, ",")])


def _quoted(text: str) -> str:
    """Quote the text of a cell as `csv.writer` does; safe text has no line ends."""
    return '"' + text.replace('"', '""') + '"' if "," in text or '"' in text else text


def _cell(column: Column, value: Any, options: Options) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        if not math.isfinite(value):
            return ""
        return utc(value) if column.kind == "time" else repr(value)
    if isinstance(value, str):
        return _text(value, options)
    return dumped(value, options)


def _text(text: str, options: Options) -> str:
    """Return safe text on one line, behind an apostrophe where a spreadsheet would take it for a formula."""
    safe = options.line(text) if options.ascii_only else one_line(text)
    return f"'{safe}" if text.startswith(_FORMULA_STARTS) and not options.csv_raw else safe
