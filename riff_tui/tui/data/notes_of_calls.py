"""Query a store for what people noted on its calls: the codes in use, and who has read which call."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from riff_store.answers.calls import CallNames
from riff_store.database import Store

if TYPE_CHECKING:
    from riff_store.facts import Annotation


@dataclass(frozen=True, slots=True)
class NotesOfCalls:
    """Ask one store; its methods belong on the thread of the query worker."""

    store: Store

    def codes(self) -> list[tuple[str, int]]:
        """Return the codes in use, each with how many calls it has, most first."""
        from riff_store.queries.annotations import notes_by_call

        given = ({note.code for note in notes if note.code} for notes in notes_by_call(self.store).values())
        counts = Counter(code for codes in given for code in codes)
        return sorted(counts.items(), key=lambda found: (-found[1], found[0]))

    def read_by(self, author: str) -> set[CallNames]:
        """Return the calls that somebody noted anything on."""
        from riff_store.queries.annotations import notes_by_call
        from riff_store.queries.call_names import names_of_calls

        noted = notes_by_call(self.store).items()
        keys = [key for key, notes in noted if any(note.author == author for note in notes)]
        return set(names_of_calls(self.store, keys))

    def keep(self, notes: Sequence[Annotation]) -> None:
        """Read these notes with the store, for they could not be written into it."""
        self.store.kept_notes = [*self.store.kept_notes, *notes]
