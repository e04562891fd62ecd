"""Print a table in any format; no sink knows a view, and only the one that is needed is loaded."""

from __future__ import annotations

from functools import partial
from typing import TextIO

from riff_tui.errors import UsageError
from riff_tui.output.formats import FORMATS, Format
from riff_tui.output.sinks.parts import Options, Sink
from riff_tui.table import GraphFigure, Table

__all__ = ["Options", "formats_of", "render"]


def formats_of(table: Table) -> tuple[Format, ...]:
    """Return every format that a table has: those for graphs only where its figure is one, others where it has them."""
    is_graph = isinstance(table.figure, GraphFigure)
    return tuple(
        each for each in Format if each in FORMATS or (each.is_graph and is_graph) or each.value in table.files
    )


def render(
    table: Table,
    format: str,
    out: TextIO,
    *,
    width: int | None = None,
    ascii_only: bool = False,
    color: bool = False,
    csv_raw: bool = False,
) -> None:
    """Print a table; the same table with the same options gives the same bytes, wherever it runs.

    `width` is that of a terminal in cells: the text format cuts itself to it and reports it; without it nothing is cut.
    `color` is for the text format, `csv_raw` leaves out the apostrophe before what a spreadsheet would take for a
    formula. `out` has to take Unicode (or `ascii_only` be set). Raises `UsageError` for a format that the table does
    not have.
    """
    known = formats_of(table)
    if format not in known:
        what = "graph" if Format(format).is_graph else format
        raise UsageError(f"--format {format}: there is no {what} in {table.view}; it has {', '.join(known)}")
    _sink_of(Format(format))(table, out, Options(width=width, ascii_only=ascii_only, color=color, csv_raw=csv_raw))


def _sink_of(format: Format) -> Sink:
    """Return the function that writes a format, of whose module alone it needs."""
    match format:
        case Format.TEXT:
            from riff_tui.output.sinks.text import write
        case Format.MARKDOWN:
            from riff_tui.output.sinks.markdown import write
        case Format.JSON:
            from riff_tui.output.sinks.json import write
        case Format.JSONL:
            from riff_tui.output.sinks.json import write_lines as write
        case Format.CSV:
            from riff_tui.output.sinks.csv import write
        case Format.SVG:
            from riff_tui.output.sinks.svg import write
        case Format.DOT | Format.MERMAID:
            return partial(_write_graph, format)
        case Format.QUARANTINE:
            return partial(_write_file, format)
    return write


def _write_file(format: Format, table: Table, out: TextIO, options: Options) -> None:
    """Print what a table alone has in a format."""
    out.write(table.files[format])


def _write_graph(format: Format, table: Table, out: TextIO, options: Options) -> None:
    """Print the graph of a table whose figure is one in the language of Graphviz or Mermaid."""
    assert isinstance(table.figure, GraphFigure)
    text = table.figure.to_dot if format is Format.DOT else table.figure.to_mermaid
    out.write(text(ascii_only=options.ascii_only))
