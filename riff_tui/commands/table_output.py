"""Print the table of a command to stdout or into a file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from riff_tui.output.formats import Format, format_of

if TYPE_CHECKING:
    from pathlib import Path

    from riff_tui.table import Table


def form_of(format: Format | None, output: Path | None) -> Format:
    """Return the chosen format, else the one that the ending of the file stands for, else text.

    Says on stderr where both are given and differ; any format may go into a file that ends in .txt.
    """
    of_file = format_of(output) if output is not None else None
    if format is not None and of_file not in (None, format, Format.TEXT):
        from riff_tui.output.streams import say

        say(f"{output}: ends like a file of {of_file}, and {format} is written into it, as --format says.")
    return format or of_file or Format.TEXT


def print_table(table: Table, form: Format, output: Path | None, *, csv_raw: bool, ascii_only: bool) -> None:
    """Write a table to a file, whole or not at all, or to stdout."""
    if output is not None and str(output) != "-":
        from riff_tui.output.files import write_whole
        from riff_tui.output.sinks import render

        write_whole(output, lambda file: render(table, form.value, file, ascii_only=ascii_only, csv_raw=csv_raw))
    else:
        from riff_tui.output.streams import standard_output

        standard_output(ascii_only=ascii_only).print_table(table, form.value, csv_raw=csv_raw)
