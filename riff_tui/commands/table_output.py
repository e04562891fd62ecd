"""Where a command's table goes, in which form: to stdout or into a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from riff_tui.output.formats import Format, format_of

if TYPE_CHECKING:
    from riff_tui.table import Table


SortOption = Annotated[
    str | None,
    typer.Option("--sort", metavar="KEY|-KEY", help="Sort by a column, with - downwards.", show_default=False),
]
LimitOption = Annotated[
    int | None, typer.Option("--limit", metavar="N", min=0, help="At most N rows.", show_default=False)
]
OutputOption = Annotated[
    Path | None,
    typer.Option("-o", "--output", metavar="FILE", help="Write to a file instead of stdout.", show_default=False),
]
CsvRawOption = Annotated[
    bool,
    typer.Option("--csv-raw", help="Leave CSV cells that a spreadsheet would take for a formula as they are."),
]


def form_of(format: Format | None, output: Path | None) -> Format:
    """Return the chosen format, else the one that the ending of the file stands for, else text."""
    return format or (format_of(output) if output is not None else None) or Format.TEXT


def print_table(table: Table, form: Format, output: Path | None, *, csv_raw: bool, ascii_only: bool) -> None:
    """Write a table to a file, whole or not at all, or to stdout."""
    if output is not None and str(output) != "-":
        from riff_tui.output.files import write_whole
        from riff_tui.output.sinks import render

        write_whole(output, lambda file: render(table, form.value, file, ascii_only=ascii_only, csv_raw=csv_raw))
    else:
        from riff_tui.output.streams import standard_output

        standard_output(ascii_only=ascii_only).print_table(table, form.value, csv_raw=csv_raw)
