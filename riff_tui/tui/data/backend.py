"""Offer what the explorer reads from and writes to."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from riff_tui.catalog import Request
from riff_tui.table import Table
from riff_tui.tui.data.query_worker import QueryWorker
from riff_tui.tui.data.session import SessionFile
from riff_tui.tui.data.store_watcher import StoreWatcher
from riff_tui.watching.growing_run import GrowingRun

if TYPE_CHECKING:
    from riff_store.facts import Annotation
    from riff_store.write.names import CallNames
    from riff_tui.notes.notebook import Notebook


class ShowView(Protocol):
    """Query the store for a view."""

    def __call__(self, view: str, request: Request, /) -> Table:
        """Return the table; raise what stopped the query."""
        ...


class CaseText(Protocol):
    """Make a case of a call of the store (docs/runner.md)."""

    def __call__(self, where: str, /) -> str:
        """Return the file of the case of the one call that a filter selects; raise what stands against it."""
        ...


class NameSource(Protocol):
    """Query the store for names."""

    def known(self, field: str, where: str = "") -> Sequence[str]:
        """Return every name of a field in order."""
        ...

    def counted(self, field: str, where: str = "") -> Sequence[tuple[str, int]]:
        """Return the names that such calls have, each with how many."""
        ...


class NoteSource(Protocol):
    """Query the store for what people noted."""

    def codes(self) -> Sequence[tuple[str, int]]:
        """Return the codes in use, each with how many calls it has, most first."""
        ...

    def read_by(self, author: str) -> Collection[CallNames]:
        """Return the calls that somebody noted anything on."""
        ...

    def keep(self, notes: Sequence[Annotation]) -> None:
        """Read these notes with the store, for they could not be written into it."""
        ...


@dataclass(frozen=True, slots=True)
class Backend:
    """Offer the store as the explorer knows it, and what lasts from one session to the next.

    `show_view`, `case_text`, `names` and `notes` query the store, `notebook` writes notes into it; all of them belong
    on the `worker`. `age` returns how old the data are, in a few words, and `notice` is to be said once. `growing`
    knows of the run that is being made. `watcher` sees the store change, which is shown at once unless `paused`;
    `store` is what a command has to name to find it, empty for the default one; `send` writes an escape sequence to
    the terminal. On a page `deliver` hands a file to the browser, and `told` gets the address and the name of where one
    is.
    """

    show_view: ShowView
    age: Callable[[], str] = lambda: ""
    case_text: CaseText | None = None
    names: NameSource | None = None
    notes: NoteSource | None = None
    notebook: Notebook | None = None
    notice: str = ""
    growing: GrowingRun | None = None
    watcher: StoreWatcher | None = None
    paused: bool = False
    store: str = ""
    session: SessionFile = field(default_factory=SessionFile)
    worker: QueryWorker = field(default_factory=QueryWorker)
    send: Callable[[str], None] = lambda sequence: None
    deliver: Callable[[Path], None] | None = None
    told: Callable[[str, str], None] = lambda address, title: None
