"""Printing a table: one module per format, found by name, none of which knows a view."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TextIO

from riff_tui.sinks import csv, json, jsonl, markdown, text
from riff_tui.sinks.options import Options, Sink
from riff_tui.table import Table

FORMATS: Mapping[str, Sink] = MappingProxyType(
    {
        "text": text.write,
        "markdown": markdown.write,
        "json": json.write,
        "jsonl": jsonl.write,
        "csv": csv.write,
    }
)

__all__ = ["FORMATS", "Options", "Sink", "render"]


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
    """Print a table; the same table with the same options gives the same bytes, whatever the surroundings.

    `width` is that of a terminal: the text format cuts itself to it and says so; without it nothing
    is cut. `color` is for the text format, `csv_raw` leaves out the apostrophe before what a
    spreadsheet would take for a formula. `out` has to take Unicode (or `ascii_only` be set).
    Raises KeyError for a format that is not in `FORMATS`.
    """
    FORMATS[format](table, out, Options(width=width, ascii_only=ascii_only, color=color, csv_raw=csv_raw))
