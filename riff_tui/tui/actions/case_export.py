"""Write the call on the screen into a file, as a scenario that `run` makes again."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from riff_tui.errors import UsageError
from riff_tui.output.files import write_whole
from riff_tui.text.safe_text import file_name
from riff_tui.tui.actions.file_export import Exists, FileExport, typed_path
from riff_tui.tui.actions.file_target import WriteFile

if TYPE_CHECKING:
    from typing import TextIO

    from riff_tui.tui.data.backend import CaseText
    from riff_tui.tui.navigation.location import Location

ENDING = ".toml"
CASE_HINT = "riff-tui run --scenarios FILE makes the call again · Enter writes"


def case_name(place: Location) -> str:
    """Return the name proposed for the case of the call at a location."""
    return file_name(place.crumb or place.view) + ENDING


def case_writer(case_text: CaseText, place: Location) -> WriteFile:
    """Return what writes the case of the call at a location into the file that was typed."""
    where = place.where.text

    def write(typed: str, export: FileExport, over: bool) -> Path:
        path = case_path(typed)
        if not over and path.is_file() and not path.is_symlink():
            raise Exists
        text = case_text(where)

        def put(stream: TextIO) -> None:
            stream.write(text)

        write_whole(path, put)
        return path

    return write


def case_path(typed: str) -> Path:
    """Return where to write a case; raise `UsageError` where the name does not end as one."""
    path = typed_path(typed)
    if path.suffix != ENDING:
        raise UsageError(f"a case is read from a file that ends in {ENDING}")
    return path
