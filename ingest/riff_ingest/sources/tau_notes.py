"""Read what people noted on the calls of a tau run: a JSON file for each note (docs/formats.md)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from riff_ingest.lenient_json import fitting, load_document, parse_time
from riff_ingest.lines import BrokenInput
from riff_ingest.source import FileHead, Source
from riff_ingest.sources.transcripts import Name, Whole
from riff_store.facts import Annotation, Skipped

NOBODY = "(unknown)"
"""The author of a note that names none."""

_NOTE, _COPY = "_note.json", "_simulation.json"


class _Note(msgspec.Struct):
    id: Name
    simulation_id: Name
    note: str | None = None
    author_email: str | None = None
    created_at: str | None = None
    trial: Whole | None = None
    error_source: str | None = None
    error_type: str | None = None


def read(path: Path) -> Iterator[Annotation | Skipped]:
    """Yield the note of a file, and what of it had to be left out; raise `BrokenInput` where it holds none."""
    document = load_document(path)
    if not isinstance(document, Mapping):
        raise BrokenInput("file is no note: it is not a JSON object")
    misfits: list[str] = []
    try:
        found = fitting(document, _Note, misfits.append)
    except KeyError as missing:
        raise BrokenInput(f"{missing.args[0]} is missing") from None
    written_at = parse_time(found.created_at) if found.created_at else None
    if found.created_at and written_at is None:
        misfits.append("created_at")
    for name in misfits:
        yield Skipped("defect", None, f"{name} is not what it should be and is left out", found.simulation_id)
    yield Annotation(
        id=found.id,
        conversation=found.simulation_id,
        author=found.author_email or NOBODY,
        trial=found.trial,
        code=found.error_type or None,
        note=found.note or None,
        labels=[label for label in (found.error_source, found.error_type) if label],
        at=written_at,
    )


def is_company(path: Path) -> bool:
    """Tell whether a file is the copy of a simulation that was written beside a note on it."""
    name = path.name.removesuffix(".gz")
    return name.endswith(_COPY) and path.with_name(name.removesuffix(_COPY) + _NOTE).exists()


def _is_note(value: Any) -> bool:
    return isinstance(value, Mapping) and "note" in value and "simulation_id" in value


def _recognises(head: FileHead) -> str | None:
    start = head.start.lstrip()
    if start.startswith(b"{") and b'"note"' in start and b'"simulation_id"' in head.start and _is_note(head.document):
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
    is_company=is_company,
    rank=15,
)
