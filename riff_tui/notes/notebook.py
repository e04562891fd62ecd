"""Write notes into a store that is otherwise only read, take them back, and lose none if it cannot be written."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from riff_store.errors import StoreBusy, StoreError, StoreReadOnly
from riff_tui.catalog import open_to_read
from riff_tui.notes.author import author
from riff_tui.notes.kept_notes import append_kept
from riff_tui.settings import kept_notes_file

if TYPE_CHECKING:
    from riff_store.facts import Annotation

_Act: TypeAlias = "list[tuple[Annotation, Annotation | None]]"


class Receipt(NamedTuple):
    """Describe what was written and where: in the store, or in the file `kept_in`, and then `why` not in the store."""

    notes: Sequence[Annotation]
    kept_in: Path | None = None
    why: str = ""


class Notebook:
    """Write what one person notes on the calls of a store, which is open for writing only while that lasts.

    Its methods belong on one thread, that of the queries if there are any. `named` is who writes, if the settings name
    one.
    """

    def __init__(self, location: str, named: str | None = None, kept_file: Path | None = None) -> None:
        self.location = location
        self._named = named
        self._kept_file = kept_file or kept_notes_file()
        self._done: list[_Act] = []
        self._restored: dict[str, str] = {}
        self._waiting: list[Annotation] = []
        self._last_at = 0

    @property
    def author(self) -> str:
        """Return who writes."""
        return author(self._named)

    @property
    def can_undo(self) -> bool:
        """Return whether anything was written that was not taken back."""
        return bool(self._done)

    def now(self) -> int:
        """Return the time in microseconds since the epoch, later at each call."""
        self._last_at = max(time.time_ns() // 1000, self._last_at + 1)
        return self._last_at

    def standing_on(self, *conversations: str) -> list[Annotation]:
        """Return the lines that are on calls of these names, or on any call without one, the earliest first."""
        from riff_store.annotations import standing
        from riff_store.write.notes import read_notes

        with open_to_read(self.location) as store:
            found = standing([*read_notes(store, conversations or None), *self._waiting])
        return [line for line in found if not conversations or line.conversation in conversations]

    def write(self, notes: Sequence[Annotation], *, wait: float | None = None, keep: bool = False) -> Receipt:
        """Write notes, all of them or none; they can be taken back together.

        Another process that is writing is waited for, `wait` seconds at most; then `StoreBusy` is raised, unless they
        shall be kept in the file beside the settings, where they go as well if the store cannot be written at all.
        Raises `OutputError` if they cannot be kept there either.
        """
        act = self._act(notes)
        receipt = self._put(notes, wait, keep)
        self._done.append(act)
        return receipt

    def undo(self, *, wait: float | None = None, keep: bool = False) -> Receipt | None:
        """Take back what was written last, so that what was before is again; return nothing if there is none.

        Nothing is deleted: another line reports it. Raises as `write` does, and then nothing is taken back.
        """
        if not self._done:
            return None
        lines = [self._taken_back(note, before) for note, before in self._done[-1]]
        receipt = self._put(lines, wait, keep)
        for line, (_, before) in zip(lines, self._done.pop(), strict=True):
            if before is not None:
                self._restored[before.id] = line.id
        return receipt

    def _act(self, notes: Sequence[Annotation]) -> _Act:
        """Return the notes, each with the line that it takes the place of."""
        named = {note.conversation for note in notes if note.supersedes is not None}
        before = {line.id: line for line in self._lines(named)} if named else {}
        return [(note, before.get(note.supersedes or "")) for note in notes]

    def _lines(self, conversations: Iterable[str]) -> list[Annotation]:
        try:
            return self.standing_on(*conversations)
        except StoreError:
            return []

    def _taken_back(self, note: Annotation, before: Annotation | None) -> Annotation:
        import msgspec

        from riff_store.annotations import new_id

        line = before or note
        return msgspec.structs.replace(
            line,
            id=new_id(),
            at=self.now() if before is None else before.at,
            supersedes=self._restored.get(note.id, note.id),
            deleted=before is None,
            editor=line.editor if line.author == self.author else self.author,
        )

    def _put(self, notes: Sequence[Annotation], wait: float | None, keep: bool) -> Receipt:
        try:
            self._put_into_store(notes, wait)
        except StoreError as error:
            if self._kept_file is None or (isinstance(error, StoreBusy) and not keep):
                raise
            append_kept(self._kept_file, notes)
            self._waiting += notes
            busy = "another process is writing the store" if isinstance(error, StoreBusy) else str(error)
            why = "the store is read-only here" if isinstance(error, StoreReadOnly) else busy
            return Receipt(notes, self._kept_file, why)
        return Receipt(notes)

    def _put_into_store(self, notes: Sequence[Annotation], wait: float | None) -> None:
        """Write notes, and with them those for which there was no way into the store before."""
        from riff_store.database import open_store
        from riff_store.write.notes import add_notes

        with open_store(self.location, write=True) as store:
            if wait is not None:
                store.wait_at_most(wait)
            add_notes(store, [*self._waiting, *notes])
        self._waiting.clear()
