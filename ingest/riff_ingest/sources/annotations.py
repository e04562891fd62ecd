"""Read what people noted on calls: lines of `riff.annotation/1`, or annotations of embedeval (docs/notes.md)."""

from __future__ import annotations

from riff_ingest.annotation_lines import is_annotation, is_of_embedeval, read_lines, refusal
from riff_ingest.sources.lines import BrokenInput
from riff_ingest.sources.source import FileHead, Source


def _recognises(head: FileHead) -> str | None:
    for record in head.records:
        if is_annotation(record):
            if reason := refusal(record):
                raise BrokenInput(reason)
            return "its lines are riff.annotation"
        if is_of_embedeval(record):
            return "its lines have traceId, annotator and a label of pass or fail"
    return None


SOURCE = Source(
    kind="notes",
    version=1,
    read=lambda path, context: read_lines(path),
    title="Notes of people",
    known_by="lines of riff.annotation/1, or those of embedeval with traceId, annotator and label",
    recognises=_recognises,
    keeps_text=False,
    notes_stay=True,
    rank=5,
)
