"""Keep notes in a file beside the settings while their store cannot be written, and read them back with it."""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from riff_tui.errors import OutputError, writing
from riff_tui.settings import kept_notes_file

if TYPE_CHECKING:
    from riff_store.database import Store
    from riff_store.facts import Annotation


def read_kept(path: Path | None) -> list[Annotation]:
    """Return the notes that a file keeps, none if it is not there or no plain file; a torn line is left out."""
    try:
        if path is None or not stat.S_ISREG(os.lstat(path).st_mode):
            return []
        from riff_ingest.sources.annotations import read_lines
        from riff_store.facts import Annotation

        return [line for line in read_lines(path) if isinstance(line, Annotation)]
    except OSError:
        return []


def append_kept(path: Path, notes: Sequence[Annotation]) -> None:
    """Add notes to a file, each in a line of its own that is on the disk when this returns.

    The file is its owner's alone, and no link is followed. Raises `OutputError`.
    """
    from riff_ingest.sources.annotations import line_of

    text = "".join(f"{line_of(note)}\n" for note in notes)
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    with writing(str(path)):
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        if path.is_symlink():
            raise OutputError(f"{path}: is a link, which is never written through; put a plain file there")
        descriptor = os.open(path, flags, 0o600)
        try:
            found = os.fstat(descriptor)
            if not stat.S_ISREG(found.st_mode):
                raise OutputError(f"{path}: is not a plain file; move it away")
            try:
                # A last line that was torn off is ended, so that no note is written behind it.
                is_torn = found.st_size and os.pread(descriptor, 1, found.st_size - 1) != b"\n"
                data = (b"\n" if is_torn else b"") + text.encode()
                while data:
                    data = data[os.write(descriptor, data) :]
                os.fsync(descriptor)
            except OSError:
                os.ftruncate(descriptor, found.st_size)  # what nobody asks to keep shall not come back
                raise
        finally:
            os.close(descriptor)


def lacking(store: Store, kept: Sequence[Annotation]) -> list[Annotation]:
    """Return the notes of a file that a store lacks, of calls that it has."""
    if not kept:
        return []
    from riff_store.filters.notes import calls_named
    from riff_store.write.notes import read_notes

    known = {note.id for note in read_notes(store, {note.conversation for note in kept})}
    names = {note.id: (note.run, note.flow, note.agent, note.conversation, note.trial) for note in kept}
    calls = calls_named(store, (names[note.id] for note in kept if note.id not in known))
    return [note for note in kept if calls.get(names[note.id])]


def told_of_kept_notes(store: Store) -> str:
    """Return what is to be said of kept notes that a store lacks though it can be written, nothing if there is none.

    A store that cannot be written is read with them.
    """
    import shlex

    path = kept_notes_file()
    found = [] if store.kept_notes else lacking(store, read_kept(path))
    if not found:
        return ""
    noted = "1 note" if len(found) == 1 else f"{len(found):,} notes"
    command = shlex.join(["riff-tui", "notes", "import", str(path)])
    return f"{noted} on calls of this store are in a file: {command} brings them in"
