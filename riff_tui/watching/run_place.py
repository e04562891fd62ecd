"""Find the directory of a run, by its path or by the calls of it that a store holds."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from riff_tui.errors import UsageError

if TYPE_CHECKING:
    from riff_store.database import Store

_RUN_FILE = "run.json"
_BEGIN = "riff-tui run --out DIR makes one, and --run takes its directory"


def named_directory(name: str) -> Path | None:
    """Return the directory that a name is the path of, `None` for a name that is none; raise `UsageError`."""
    path = Path(name)
    if path.name == _RUN_FILE and path.is_file():
        return path.parent
    if not path.is_dir():
        if os.sep in name:
            raise UsageError(f"--run {name}: there is no such directory", _BEGIN)
        return None
    if not (path / _RUN_FILE).is_file():
        raise UsageError(f"--run {name}: there is no run in this directory, it has no {_RUN_FILE}", _BEGIN)
    return path


def directory_in_store(store: Store, name: str) -> Path:
    """Return the directory that the calls of a run were read from; raise `UsageError` where no run is there."""
    from riff_store.queries.run_files import transcript_of_run
    from riff_store.queries.sides import side

    found = side(store, name)
    if found.kind != "run":
        raise UsageError(f"--run {name}: only a run can be watched", "name a run's directory, or its id")
    directory = directory_of(transcript_of_run(store, found.name))
    if directory is None:
        raise UsageError(f"--run {name}: its calls were not made by riff-tui run, so there is nothing to watch", _BEGIN)
    return directory


def directory_of(transcript: str | None) -> Path | None:
    """Return the directory of a transcript where a run is made there, else `None`."""
    if transcript is None:
        return None
    directory = Path(transcript).parent
    return directory if (directory / _RUN_FILE).is_file() else None
