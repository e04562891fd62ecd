"""Merge files of notes into a store, and say what became of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from riff_tui.text.words import counted

if TYPE_CHECKING:
    from riff_store.database import Store
    from riff_store.facts import Skipped
    from riff_store.notes import Written

LISTED = 5
_PIECE = 1 << 20


@dataclass(frozen=True, slots=True)
class Merged:
    """Hold what one file brought, and what of it was left out."""

    written: Written
    left_out: Sequence[Skipped]

    @property
    def skipped(self) -> int:
        """Return how many lines were left out whole."""
        return sum(each.kind == "skipped" for each in self.left_out)

    def told(self, name: str) -> Iterator[str]:
        """Yield what became of the file, and why the first lines were left out."""
        new, known, changed = self.written
        rest = [f"{count} {word}" for count, word in ((changed, "changed"), (self.skipped, "skipped")) if count]
        yield f"{name}: {', '.join([f'{new} new', f'{known} known', *rest])}"
        for each in self.left_out[:LISTED]:
            yield f"  {'' if each.line is None else f'line {each.line}: '}{each.reason}"
        if len(self.left_out) > LISTED:
            yield f"  and {len(self.left_out) - LISTED} more"


def merge_file(store: Store, path: Path) -> Merged:
    """Merge the notes of a file into a store, all of them or none; those on a turn get its state."""
    from riff_ingest.annotation_lines import read_lines
    from riff_store.facts import Annotation
    from riff_store.notes import add_notes
    from riff_tui.notes.turn_states import with_states

    found = list(read_lines(path))
    left_out = [each for each in found if not isinstance(each, Annotation)]
    notes = with_states(store, (each for each in found if isinstance(each, Annotation)))
    return Merged(add_notes(store, notes), left_out)


def merge_stream(store: Store, stream: BinaryIO) -> Merged:
    """Merge the notes of a stream, which may be compressed as a file may."""
    import shutil
    import tempfile

    with tempfile.NamedTemporaryFile(prefix="riff-tui-notes-") as copy:
        shutil.copyfileobj(stream, copy, _PIECE)
        copy.flush()
        return merge_file(store, Path(copy.name))


def of_no_call(store: Store) -> Iterator[str]:
    """Yield how many notes of a store wait for their call, and how many may be of several."""
    from riff_store.notes import notes_of_no_call

    waiting, ambiguous = notes_of_no_call(store)
    which = "(which: riff-tui dump skipped)"
    if waiting:
        wait = "waits for its call" if waiting == 1 else "wait for their calls"
        yield f"{counted(waiting, 'note')} in the store {wait} {which}."
    if ambiguous:
        count = "counts" if ambiguous == 1 else "count"
        yield f"{counted(ambiguous, 'note')} in the store may be of several calls and {count} for none {which}."
