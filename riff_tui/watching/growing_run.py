"""Follow the run that a store's latest calls come from, as long as it is being made."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from riff_tui.errors import UsageError
from riff_tui.text.numbers import fixed
from riff_tui.text.safe_text import cell_width, fit, one_line

if TYPE_CHECKING:
    from riff_runner.run.status.run_reader import RunReader
    from riff_runner.run.status.run_status import RunStatus
    from riff_store.database import Store


HeadLine: TypeAlias = Callable[[int, str], str]
"""Return the line for a width, with an ellipsis; the text is safe."""


class GrowingRun:
    """Find the latest run of a store, and report where it is while calls of it are being made.

    `find` asks the store and belongs on the thread that queries it, `look` reads files and belongs on none that
    anybody waits for.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._reader: RunReader | None = None

    def find(self) -> Path | None:
        """Return the directory of the latest run, `None` if that was not made by `riff-tui run`."""
        from riff_store.queries.contents import latest_run, transcript_of_run

        run = latest_run(self._store)
        return None if run is None else directory_of(transcript_of_run(self._store, run))

    def look(self, directory: Path, now: float) -> HeadLine | None:
        """Return what shows where the run of a directory is, `None` if no process works on it."""
        from riff_runner.run.status.run_reader import RunReader

        if self._reader is None or self._reader.directory != directory:
            self._reader = RunReader(directory)
        try:
            status = self._reader.read(now) if self._reader.is_worked_on(now) else None
        except UsageError:
            return None
        return partial(head_line, status) if status is not None and status.phase == "running" else None


SEPARATOR = " · "
_NAME_WIDTH = 32
_CALLER = 6


class _Part(NamedTuple):
    """Describe a part of the line; if there is no room for all, those of the lowest rank are taken in first."""

    text: str
    rank: int


def head_line(status: RunStatus, width: int, ellipsis: str = "…") -> str:
    """Return where a run is in at most `width` cells; what matters least is left out if there is no room.

    The text is safe.
    """
    parts = _parts(status, ellipsis)
    taken: list[_Part] = []
    for part in sorted(parts, key=lambda each: each.rank):
        more = [each for each in parts if each in taken or each is part]
        if not taken or cell_width(_joined(more)) <= width:
            taken = more
    return fit(_joined(taken), width, ellipsis)


def whole_head_line(status: RunStatus) -> str:
    """Return where a run is, however long that is, but for its caller."""
    return _joined([part for part in _parts(status, "…") if part.rank != _CALLER])


def span(seconds: float) -> str:
    """Write a number of seconds as `1h50`, `12min` or `<1min`."""
    minutes = int(seconds // 60)
    if minutes >= 60:
        return f"{minutes // 60}h{minutes % 60:02d}"
    return f"{minutes}min" if minutes else "<1min"


def ending(status: RunStatus) -> str:
    """Return how a run ended that nobody works on, in a few words."""
    if status.phase == "ended":
        return "ended"
    return f"stopped ({status.ending or 'not begun'})"


def _parts(status: RunStatus, ellipsis: str) -> list[_Part]:
    counts = status.counts
    name = fit(one_line(status.run_id), _NAME_WIDTH, ellipsis)
    found = [_Part(f"run {name}  {counts.done}/{status.planned} calls", 0)]
    if status.phase == "running":
        found.append(_Part(f"{counts.running} running", 5))
    else:
        found.append(_Part(ending(status), 1))
    if counts.errored:
        found.append(_Part(f"{counts.errored} errored", 2))
    if counts.retrying:
        found.append(_Part(f"{counts.retrying} retrying", 3))
    if status.rate_per_min is not None:
        found.append(_Part(f"{fixed(status.rate_per_min)}/min", 7))
    if status.eta_s is not None:
        found.append(_Part(f"ETA {span(status.eta_s)}", 4))
    found.append(_Part(f"caller {fit(one_line(status.caller), _NAME_WIDTH, ellipsis)}", _CALLER))
    return found


def _joined(parts: list[_Part]) -> str:
    return SEPARATOR.join(part.text for part in parts)


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
    """Return the directory that the calls of a run were read from; raise `UsageError` if no run is there."""
    from riff_store.queries.contents import transcript_of_run
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
