"""What was not taken as it stood, and why?"""

from __future__ import annotations

from riff_store import models as m
from riff_store.answers.lists import SkippedEntry
from riff_store.database import Store


def skipped(store: Store) -> list[SkippedEntry]:
    """All notes of the ingest, in the order of files and lines."""
    note = m.SkippedInput
    query = (
        note.select(m.SourceFile.path, note.line, note.kind, note.reason, note.conversation)
        .join(m.SourceFile, on=(m.SourceFile.id == note.source_file))
        .order_by(m.SourceFile.path, note.line.asc(nulls="FIRST"), note.kind, note.reason, note.id)
    )
    return [SkippedEntry(*row) for row in store.execute(query)]
