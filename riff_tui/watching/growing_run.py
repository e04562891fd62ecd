"""Follow the run that a store's latest calls come from, as long as it is being made."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from riff_tui.watching.head import head_line
from riff_tui.watching.run_place import directory_of

if TYPE_CHECKING:
    from riff_runner.run.status.run_reader import RunReader
    from riff_store.database import Store


HeadLine: TypeAlias = Callable[[int, str], str]
"""Return the line for a width, with an ellipsis; the text is safe."""


class GrowingRun:
    """Find the latest run of a store, and say where it stands while calls of it are being made.

    `find` asks the store and belongs on the thread that queries it, `look` reads files and belongs on none that
    anybody waits for.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._reader: RunReader | None = None

    def find(self) -> Path | None:
        """Return the directory of the latest run, `None` where that was not made by `riff-tui run`."""
        from riff_store.queries.run_files import latest_run, transcript_of_run

        run = latest_run(self._store)
        return None if run is None else directory_of(transcript_of_run(self._store, run))

    def look(self, directory: Path, now: float) -> HeadLine | None:
        """Return what says where the run of a directory stands, `None` where no process works on it."""
        from riff_runner.run.status.run_reader import RunReader
        from riff_tui.errors import UsageError

        if self._reader is None or self._reader.directory != directory:
            self._reader = RunReader(directory)
        try:
            status = self._reader.read(now) if self._reader.is_worked_on(now) else None
        except UsageError:
            return None
        return partial(head_line, status) if status is not None and status.phase == "running" else None
