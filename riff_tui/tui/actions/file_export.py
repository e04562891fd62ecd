"""Write a location into a file: its name, its format, and the table that belongs into it."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, overload

from riff_tui.errors import UsageError
from riff_tui.output.files import write_whole
from riff_tui.output.formats import Format, format_of
from riff_tui.output.sinks import formats_of, render
from riff_tui.request import Request
from riff_tui.table import Row, Table
from riff_tui.text.safe_text import file_name
from riff_tui.tui.data.list_state import ColumnChoice
from riff_tui.tui.navigation.location import Location
from riff_tui.tui.render.columns import all_columns

if TYPE_CHECKING:
    from riff_tui.tui.data.backend import ShowView
    from riff_tui.tui.data.loader import LoadedView

ENDING = ".md"


class Exists(Exception):
    """Tell that a file stands at that path already."""


class ExportStopped(Exception):
    """Tell that the file is not wanted any more."""


def default_name(place: Location) -> str:
    """Return a name for the file, of letters that every file system takes, another one for every location."""
    what = " | ".join(filter(None, (*(place.pair or place.sides), "" if place.pair else place.where.text)))
    return file_name(f"{place.view} {what}" if what else place.view) + ENDING


def parse_target(typed: str, table: Table) -> tuple[Path, str]:
    """Return where to write and in which format; raise `UsageError` where the ending names none that the table has."""
    path = typed_path(typed)
    known, form = formats_of(table), format_of(path)
    if form is None or form not in known:
        endings = " ".join(ending for format in known for ending in format.endings)
        raise UsageError(f"the ending says the format: {endings}")
    return path, form


def typed_path(typed: str) -> Path:
    """Return the file that was typed; raise `UsageError` for the home directory of nobody."""
    try:
        return Path(os.path.abspath(Path(typed.strip()).expanduser()))
    except RuntimeError:
        raise UsageError("there is no home directory of that name; ./ before it makes it a name of its own") from None


def export_table(show: ShowView, place: Location, reading: LoadedView, choice: ColumnChoice, form: str) -> Table:
    """Return what a dump of the location holds, in the formats for people with the columns that were chosen.

    What was said in a call goes into formats that are made to be posted only as redacted as it can be.
    """
    source = reading.source
    if place.pair:
        return _with_columns(source, choice, form)
    sort = (place.chosen_order or None) if source is reading.main else None
    posted = Format(form).is_posted
    request = Request(
        where=source.filter,
        sort=sort,
        text=True,
        redact=posted,
        sides=place.between,
        aspect=place.aspect or None,
        by=place.splits,
    )
    return _with_columns(show(source.view, request), choice, form)


class FileExport:
    """Write a table into a file, on another thread; say how far it is, and stop when told to."""

    def __init__(self) -> None:
        self.rows = 0
        self.of = 0
        self._stop = threading.Event()

    def stop(self) -> None:
        """Give up; what was there before stays."""
        self._stop.set()

    def write(self, table: Table, path: Path, form: str, *, over: bool, ascii_only: bool) -> None:
        """Write it whole, readable by its owner only and not through a link.

        Raises `Exists` where a file is there already unless it shall be written `over`, `ExportStopped`
        where it was given up, and `OutputError`, also for anything else than a file that is there.
        """
        if not over and path.is_file() and not path.is_symlink():
            raise Exists
        self.of = len(table.rows)
        counted = replace(table, rows=_Counted(table.rows, self))
        write_whole(path, lambda out: render(counted, form, out, ascii_only=ascii_only))

    def count(self, row: int) -> None:
        """Count a row that is written; raise `ExportStopped` where the file is not wanted any more."""
        self.rows = max(self.rows, row)
        if self._stop.is_set():
            raise ExportStopped


class _Counted(Sequence[Row]):
    """Count the rows as they are written."""

    def __init__(self, rows: Sequence[Row], writing: FileExport) -> None:
        self._rows = rows
        self._writing = writing

    def __len__(self) -> int:
        return len(self._rows)

    @overload
    def __getitem__(self, index: int) -> Row: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Row]: ...
    def __getitem__(self, index: int | slice) -> Row | Sequence[Row]:
        return self._rows[index]

    def __iter__(self) -> Iterator[Row]:
        for number, row in enumerate(self._rows, 1):
            self._writing.count(number)
            yield row


def _with_columns(table: Table, choice: ColumnChoice, form: str) -> Table:
    """Return the table with the visible columns for people; the data formats hold all of them anyway."""
    if table.sections or form in ("json", "jsonl", "csv"):
        return table
    columns = [
        replace(column, shown=(column.shown or column.key in choice.shown) and column.key not in choice.hidden)
        for column in all_columns(table)
        if column in table.columns or column.key in choice.shown
    ]
    return replace(table, columns=columns)
