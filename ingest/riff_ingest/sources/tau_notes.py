"""Read what people noted on the calls of a tau run: a JSON file for each note (docs/formats/tau.md)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from riff_ingest.source import FileHead, Source
from riff_store.facts import Annotation, Skipped


def read(path: Path) -> Iterator[Annotation | Skipped]:
    """Yield the note of a file, and what of it had to be left out; raise `BrokenInput` if it has none."""
    from riff_ingest.sources.tau.judged import read_note

    return read_note(path)


def _recognises(head: FileHead) -> str | None:
    start = head.start.lstrip()
    is_likely = start.startswith(b"{") and b'"note"' in start and b'"simulation_id"' in start
    if is_likely and {"note", "simulation_id"} <= head.document.keys():
        return "it is a note on a simulation_id"
    return None


SOURCE = Source(
    kind="tau-notes",
    version=1,
    read=lambda path, context: read(path),
    title="Notes on calls of tau2-bench and tau3-bench",
    known_by="JSON with note and simulation_id",
    names=("task_*_note_*_note.json", "task_*_note_*_note.json.gz"),
    recognises=_recognises,
    keeps_text=False,
    rank=15,
)
