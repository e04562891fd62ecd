"""Offer what the explorer reads from and writes to: a store that others fill, replace or take away meanwhile."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol, TypeAlias

from riff_store.database import Store
from riff_store.errors import StoreBusy, StoreError, StoreMissing, StoreReadOnly, StoreSilent
from riff_store.write.names import CallNames
from riff_tui import catalog
from riff_tui.catalog import Request
from riff_tui.filters import split
from riff_tui.filters.parser import parse
from riff_tui.table import Table
from riff_tui.text.safe_text import one_line
from riff_tui.tui.data.query_worker import QueryWorker
from riff_tui.tui.data.session import SessionFile
from riff_tui.watching.growing_run import GrowingRun

if TYPE_CHECKING:
    from riff_store.facts import Annotation
    from riff_store.filters.predicates import Predicate
    from riff_tui.notes.notebook import Notebook


WRITING_S = 10.0
"""For how long somebody is said to be writing after a batch."""
ASKED_EVERY_S = 10.0
"""How often a store is asked whether it changed, whose writers tell: one may be taken away unheard."""
LONGEST_NAME = 24

StoreChange: TypeAlias = Literal["same", "changed", "busy", "replaced", "gone", "silent"]


class StoreWatcher:
    """Query a store for views, and see whether it still has what it had when it was read last.

    `named` is what a command has to name to find the store, if that is not the default one. `show`, `look` and `renew`
    belong on the thread of the query worker.
    """

    def __init__(self, store: Store, named: str = "") -> None:
        self._named = named
        self.location = store.location
        self._store = store
        self._written_at: float | None = None
        self._identity: object = None
        self._seen: object = None
        self._is_told = False
        self._looked_at = 0.0
        self._calls: int | None = None
        self._writing: tuple[float, str] = (0.0, "")
        store.listen()
        self._remember()

    def show(self, view: str, request: Request, /) -> Table:
        """Return the table of a view, all of it from one state of the store."""
        try:
            return self._show(view, request)
        except StoreReadOnly:
            # A writer was killed: only opening takes back what it left half done.
            self._store.reopen()
            self.mark_stale()
            return self._show(view, request)

    def look(self) -> StoreChange:
        """Return what became of the store since it was read last; a writer is not waited for."""
        try:
            if self._receives() and not self._is_told and time.monotonic() - self._looked_at < ASKED_EVERY_S:
                return "same"
            self._looked_at = time.monotonic()
            if self._store.identity() != self._identity:
                return "replaced"
            seen = self._store.change_counter(wait=False)
        except StoreMissing:
            return "gone"
        except StoreBusy:
            return "busy"
        except StoreSilent:
            return self._connect_again()
        except StoreError:
            # What is wrong with it is found when it is read.
            return "changed"
        return "same" if seen == self._seen and not self._is_told else "changed"

    def _connect_again(self) -> StoreChange:
        try:
            self._store.reopen()
        except StoreSilent:
            return "silent"
        except StoreError:
            return "changed"
        self.mark_stale()
        return "changed"

    @property
    def hears_of_writers(self) -> bool:
        """Return whether those who write to the store announce it: then looking costs next to nothing."""
        return self._store.engine.tells

    def writing(self) -> str:
        """Return who is writing what, nothing if nobody has for a while."""
        told_at, words = self._writing
        return words if time.monotonic() - told_at < WRITING_S else ""

    def renew(self) -> None:
        """Open what is at the store's path by now; raise the store's errors, and then nothing changes."""
        self._store.reopen()
        self._remember()

    def count_more(self) -> int:
        """Return how many calls more there are than when they were counted last, none at first."""
        from riff_store.queries.conversations import count_conversations

        with self._store.snapshot():
            before, self._calls = self._calls, count_conversations(self._store)
        return 0 if before is None else max(0, self._calls - before)

    def mark_stale(self) -> None:
        """Find the store changed when it is looked at next."""
        self._seen = None

    def age(self) -> str:
        """Return how long ago the store was written before it was read last, in a few words."""
        return "" if self._written_at is None else f"written {ago(time.time() - self._written_at)}"

    def close(self) -> None:
        """Close the store."""
        self._store.close()

    def _show(self, view: str, request: Request) -> Table:
        with self._store.snapshot():
            table = catalog.show(self._store, view, request._replace(store=self._named))
            if self._calls is None:
                self.count_more()
            return table

    def _receives(self) -> bool:
        """Take note of what others show; report whether anything would be received at all."""
        received = self._store.notifications()
        for written in received or ():
            self._is_told = True
            if written.by and written.runs:
                what = written.run if written.runs == 1 else f"{written.runs} runs"
                self._writing = time.monotonic(), f"{_short(written.by)} is writing {_short(what)}"
        return received is not None

    def _remember(self) -> None:
        # What is written between the two is found changed at the next look, which does no harm.
        self._identity = self._store.identity()
        self._is_told = False
        self._written_at = self._store.written_at()
        self._seen = self._store.change_counter()


def _short(name: str) -> str:
    """Return the end of a name that others chose: of an address that is what distinguishes it."""
    plain = one_line(name)
    return plain if len(plain) <= LONGEST_NAME else f"…{plain[1 - LONGEST_NAME :]}"


class KnownNames(NamedTuple):
    """Query a store for names; raise `FilterError` for an expression that calls cannot be chosen by."""

    store: Store

    def known(self, field: str, where: str = "") -> list[str]:
        """Return every name of a field in order, states of the calls that `where` chooses; no missing ones."""
        from riff_store.queries.contents import known_names

        return known_names(self.store, field, _on_calls(where))

    def counted(self, field: str, where: str = "") -> list[tuple[str, int, float | None]]:
        """Return the names that the calls have which `where` chooses, each with how many and their share of success.

        Runs come with the latest first.
        """
        from riff_store.queries.contents import counted_names

        return counted_names(self.store, field, _on_calls(where))


def _on_calls(where: str) -> Predicate | None:
    return split(parse(where), ())[0]


def ago(seconds: float) -> str:
    """Return how long something is past, in the largest unit that fits."""
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= size:
            return f"{int(seconds // size)} {unit} ago"
    return "just now"


class NotesOfCalls(NamedTuple):
    """Ask one store; its methods belong on the thread of the query worker."""

    store: Store

    def codes(self) -> list[tuple[str, int]]:
        """Return the codes in use, each with how many calls it has, most first."""
        from riff_store.filters.notes import notes_by_call

        given = ({note.code for note in notes if note.code} for notes in notes_by_call(self.store).values())
        counts = Counter(code for codes in given for code in codes)
        return sorted(counts.items(), key=lambda found: (-found[1], found[0]))

    def read_by(self, author: str) -> set[CallNames]:
        """Return the calls that somebody noted anything on."""
        from riff_store.filters.notes import notes_by_call
        from riff_store.queries.calls import names_of_calls

        noted = notes_by_call(self.store).items()
        keys = [key for key, notes in noted if any(note.author == author for note in notes)]
        return set(names_of_calls(self.store, keys))

    def keep(self, notes: Sequence[Annotation]) -> None:
        """Read these notes with the store, for they could not be written into it."""
        self.store.kept_notes = [*self.store.kept_notes, *notes]


ShowView: TypeAlias = Callable[[str, Request], Table]
"""Query the store for a view by its name; raise what stopped the query."""
CaseText: TypeAlias = Callable[[str], str]
"""Return the file of the case (docs/runner.md) of the one call that a filter selects; raise what stands against it."""


class NameSource(Protocol):
    """Query the store for names."""

    def known(self, field: str, where: str = "") -> Sequence[str]:
        """Return every name of a field in order."""

    def counted(self, field: str, where: str = "") -> Sequence[tuple[str, int, float | None]]:
        """Return the names that such calls have, each with how many and the share of them that is a success."""


@dataclass(frozen=True, slots=True)
class Backend:
    """Offer the store as the explorer knows it, and what lasts from one session to the next.

    `show_view`, `case_text`, `names` and `notes` query the store, `notebook` writes notes into it; all of them belong
    on the `worker`. `age` returns how old the data are, in a few words, and `notice` is to be said once. `growing`
    knows of the run that is being made. `watcher` sees the store change, which is shown at once unless `paused`;
    `store` is what a command has to name to find it, empty for the default one, `place` what opens it in any case,
    both without secrets; `send` writes an escape sequence to
    the terminal. On a page `deliver` hands a file to the browser, and `told` gets the address and the name of where one
    is.
    """

    show_view: ShowView
    age: Callable[[], str] = lambda: ""
    case_text: CaseText | None = None
    names: NameSource | None = None
    notes: NotesOfCalls | None = None
    notebook: Notebook | None = None
    notice: str = ""
    growing: GrowingRun | None = None
    watcher: StoreWatcher | None = None
    paused: bool = False
    store: str = ""
    place: str = ""
    session: SessionFile = field(default_factory=SessionFile)
    worker: QueryWorker = field(default_factory=QueryWorker)
    send: Callable[[str], None] = lambda sequence: None
    deliver: Callable[[Path], None] | None = None
    told: Callable[[str, str], None] = lambda address, title: None
