"""Print the graph above the rows alone, for programs and pages that draw graphs themselves."""

from __future__ import annotations

from typing import TextIO

from riff_tui.output.sinks.options import Options
from riff_tui.table import GraphFigure, Table


def write_dot(table: Table, out: TextIO, options: Options) -> None:
    """Print the graph of a table whose figure is one in Graphviz's language."""
    assert isinstance(table.figure, GraphFigure)
    out.write(table.figure.to_dot(ascii_only=options.ascii_only))


def write_mermaid(table: Table, out: TextIO, options: Options) -> None:
    """Print the graph of a table whose figure is one in Mermaid's language."""
    assert isinstance(table.figure, GraphFigure)
    out.write(table.figure.to_mermaid(ascii_only=options.ascii_only))
