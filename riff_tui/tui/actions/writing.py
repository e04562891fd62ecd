"""Write what a screen shows into a file: a location in any format, or its call as a scenario that is run again."""

from __future__ import annotations

import contextlib
import os
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TextIO, overload

from riff_tui.errors import UsageError, describe
from riff_tui.output.files import write_whole
from riff_tui.output.formats import Format, format_of
from riff_tui.output.sinks import formats_of, render
from riff_tui.table import Row, Table
from riff_tui.text.safe_text import file_name
from riff_tui.tui.actions.action import Controls
from riff_tui.tui.data.backend import ShowView
from riff_tui.tui.data.lists import ColumnChoice
from riff_tui.tui.data.loader import LoadedView
from riff_tui.tui.navigation.location import Location
from riff_tui.tui.render.columns import all_columns
from riff_tui.tui.widgets.field import FieldRequest

ENDING = ".md"
_READ_AT_ONCE = 26
"""Letters of a proposed name that are read; with what tells it from others, and its ending, it has 40."""


class Exists(Exception):
    """Report that a file is at that path already."""


class ExportStopped(Exception):
    """Report that the file is not wanted any more."""


def default_name(place: Location) -> str:
    """Return a name for the file, of letters that every file system takes, another one for every location."""
    what = " | ".join(filter(None, (*(place.pair or place.sides), "" if place.pair else place.where.text)))
    return file_name(f"{place.view} {what}" if what else place.view, _READ_AT_ONCE) + ENDING


def parse_target(typed: str, table: Table) -> tuple[Path, str]:
    """Return where to write and in which format; raise `UsageError` if the ending names none that the table has."""
    path = typed_path(typed)
    known, form = formats_of(table), format_of(path)
    if form is None or form not in known:
        endings = " ".join(ending for format in known for ending in format.endings)
        raise UsageError(f"the ending of the name chooses the format: {endings}")
    return path, form


def typed_path(typed: str) -> Path:
    """Return the file that was typed; raise `UsageError` for the home directory of nobody."""
    try:
        return Path(os.path.abspath(Path(typed.strip()).expanduser()))
    except RuntimeError:
        raise UsageError("there is no home directory of that name; ./ before it makes it a name of its own") from None


def export_table(show: ShowView, place: Location, reading: LoadedView, choice: ColumnChoice, form: str) -> Table:
    """Return what a dump of the location contains, in the formats for people with the columns that were chosen.

    What was said in a call goes into formats that are made to be posted only as redacted as it can be.
    """
    source = reading.source
    if place.pair:
        return _with_columns(source, choice, form)
    sort = (place.chosen_order or None) if source is reading.main else None
    posted = Format(form).is_posted
    request = place.request._replace(
        where=source.filter,
        predicate=None,
        sort=sort,
        text=True,
        redact=posted,
        outline=posted or form == Format.TEXT,
    )
    return _with_columns(show(source.view, request), choice, form)


class FileExport:
    """Write a table into a file, on another thread; report how far it is, and stop when asked to."""

    def __init__(self) -> None:
        self.rows = 0
        self.of = 0
        self._stop = threading.Event()

    def stop(self) -> None:
        """Give up; what was there before stays."""
        self._stop.set()

    def write(self, table: Table, path: Path, form: str, *, over: bool, ascii_only: bool) -> None:
        """Write it whole, readable by its owner only and not through a link.

        Raises `Exists` if a file is there already unless it shall be written `over`, `ExportStopped` where it was given
        up, and `OutputError`, also for anything else than a file that is there.
        """
        if not over and path.is_file() and not path.is_symlink():
            raise Exists
        self.of = len(table.rows)
        counted = table._replace(rows=_Counted(table.rows, self))
        write_whole(path, lambda out: render(counted, form, out, ascii_only=ascii_only))

    def count(self, row: int) -> None:
        """Count a row that is written; raise `ExportStopped` if the file is not wanted any more."""
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
    """Return the table with the visible columns for people; the data formats have all of them anyway."""
    if table.sections or form in ("json", "jsonl", "csv"):
        return table
    columns = [
        column._replace(shown=(column.shown or column.key in choice.shown) and column.key not in choice.hidden)
        for column in all_columns(table)
        if column in table.columns or column.key in choice.shown
    ]
    return table._replace(columns=columns)


FORMATS_HINT = "the ending sets the format: .md .txt .csv .json .jsonl .svg · Enter writes"
_TOLD_EVERY_S = 0.5
WriteFile = Callable[[str, FileExport, bool], Path]
"""Write what was typed, on another thread, over a file that is there or not; return the path."""


def ask_for_file(controls: Controls, name: str, write: WriteFile, *, hint: str = FORMATS_HINT) -> None:
    """Ask for a name in place of the one proposed, have the file written, and report where it went."""
    host, deliver = controls.host, controls.backend.deliver
    if deliver is None:
        _FileQuestion(controls, write, lambda path: host.say(f"written to {path}")).ask(name, hint)
        return

    def hand_over(path: Path) -> None:
        deliver(path)
        path.parent.rmdir()
        host.say(f"{path.name} goes to your browser; nothing of it stays on the server")

    _FileQuestion(controls, _into_empty_folder(write), hand_over).ask(name, hint)


class _FileQuestion:
    """Ask for the name of a file and have it written; one that exists is only replaced by a second Enter."""

    def __init__(self, controls: Controls, write: WriteFile, done: Callable[[Path], None]) -> None:
        self._host = controls.host
        self._field = controls.field
        self._write_file = write
        self._done = done
        self._overwritable = ""
        self._writing: FileExport | None = None

    def ask(self, name: str, hint: str) -> None:
        """Ask where to write it."""
        self._field.ask(
            FieldRequest("write to", name, hint, self._begin, remark=self._changed, stays=True, stop=self._stop)
        )

    def _changed(self, typed: str) -> str:
        self._overwritable = ""
        return ""

    def _stop(self) -> bool:
        if self._writing is None:
            return False
        self._writing.stop()
        return True

    def _begin(self, typed: str) -> None:
        if self._writing is None:
            self._writing = FileExport()
            self._field.say("writing …")
            self._host.run(partial(self._write, typed, self._writing), "write")

    async def _write(self, typed: str, writing: FileExport) -> None:
        field, over = self._field, self._overwritable == typed

        def tell() -> None:
            if writing.rows:
                field.say(f"writing row {writing.rows:,} of {writing.of:,} … Esc stops it")

        telling = field.set_interval(_TOLD_EVERY_S, tell)
        try:
            path = await self._host.worker.ask(lambda: self._write_file(typed, writing, over))
        except Exists:
            self._overwritable = typed
            field.say("this file exists: press Enter again to overwrite it, or type another name", "warn")
        except ExportStopped:
            field.say("stopped; nothing was written")
        except UsageError as error:
            field.say(str(error), "warn")
        except Exception as error:  # said, and another name can be tried
            field.say(describe(error)[1], "bad")
        else:
            field.close()
            self._done(path)
        finally:
            self._writing = None
            telling.stop()


def _into_empty_folder(write: WriteFile) -> WriteFile:
    """Return what writes the file of that name into a folder of its own, which only its owner can look into."""

    def write_there(typed: str, export: FileExport, over: bool) -> Path:
        folder = Path(tempfile.mkdtemp(prefix="riff-tui-"))
        try:
            return write(str(folder / Path(typed.strip()).name), export, over)
        except BaseException:
            with contextlib.suppress(OSError):
                folder.rmdir()
            raise

    return write_there


def write_screen(controls: Controls) -> None:
    """Write what the screen shows, in the format that the ending of the file names."""
    host, loaded, location = controls.host, controls.host.loaded, controls.here
    if loaded is None:
        return
    show, choice = host.show_view, controls.list_state.columns(location)

    def write(typed: str, export: FileExport, over: bool) -> Path:
        path, form = parse_target(typed, loaded.source)
        export.write(export_table(show, location, loaded, choice, form), path, form, over=over, ascii_only=False)
        return path

    ask_for_file(controls, default_name(location), write)


CASE_ENDING = ".toml"
CASE_HINT = "riff-tui run --scenarios FILE makes the call again · Enter writes"


def write_case(controls: Controls) -> None:
    """Write a call as a scenario that is run again."""
    location, case_text = controls.here, controls.backend.case_text
    if case_text is None:
        return

    def write(typed: str, export: FileExport, over: bool) -> Path:
        path = typed_path(typed)
        if path.suffix != CASE_ENDING:
            raise UsageError(f"a case is read from a file that ends in {CASE_ENDING}")
        if not over and path.is_file() and not path.is_symlink():
            raise Exists
        text = case_text(location.where.text)

        def put(stream: TextIO) -> None:
            stream.write(text)

        write_whole(path, put)
        return path

    ask_for_file(
        controls, file_name(location.crumb or location.view, _READ_AT_ONCE) + CASE_ENDING, write, hint=CASE_HINT
    )
