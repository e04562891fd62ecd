"""Files of notes are taken for what they are, and what they held stays when they change or go."""

from __future__ import annotations

import json
from pathlib import Path

from tests.support.facts import fresh
from tests.surface.ingest import IngestSummary, detect, ingest, line_of
from tests.surface.store import Annotation, Writer, read_notes

ANN = Annotation("n-1", "c-1", "ann", verdict="fail", flow="dental", at=1)
BOB = Annotation("n-2", "c-1", "bob", verdict="pass", flow="dental", at=2)


def written(folder: Path, *notes: Annotation) -> Path:
    path = folder / "notes.jsonl"
    path.write_text("".join(f"{line_of(note)}\n" for note in notes))
    return path


def taken(folder: Path, *, rebuild: bool = False) -> tuple[IngestSummary, list[Annotation]]:
    with fresh(folder / "store.db") as store:
        summary = ingest([folder / "notes.jsonl"], Writer(store), rebuild=rebuild)
        return summary, read_notes(store)


def test_notes_are_told_from_calls_by_their_schema(tmp_path: Path) -> None:
    assert detect(written(tmp_path, ANN)) == ("notes", "its lines are riff.annotation")


def test_notes_of_a_later_form_are_refused(tmp_path: Path) -> None:
    path = written(tmp_path, ANN)
    path.write_text(path.read_text().replace("riff.annotation/1", "riff.annotation/2"))
    assert detect(path) == (None, "schema riff.annotation/2 is not supported, only riff.annotation/1 is")


def test_annotations_of_embedeval_are_taken_only_where_they_can_be_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "annotations.jsonl"
    whole = {"id": "x", "traceId": "c-1", "annotator": "ann", "label": "fail"}
    for record, kind in (
        (whole, "notes"),
        (whole | {"label": "good"}, None),
        ({"traceId": "c", "label": "pass"}, None),
    ):
        path.write_text(json.dumps(record))
        assert detect(path).kind == kind


def test_notes_stay_when_their_file_changes(tmp_path: Path) -> None:
    written(tmp_path, ANN)
    first, _ = taken(tmp_path)
    written(tmp_path, BOB)
    second, notes = taken(tmp_path)
    assert (first.annotations, second.annotations) == (1, 1)
    assert notes == [ANN, BOB]


def test_reading_the_same_file_again_adds_nothing(tmp_path: Path) -> None:
    written(tmp_path, ANN, BOB)
    taken(tmp_path)
    again, _ = taken(tmp_path)
    assert again.count("unchanged") == 1
    assert not again.is_empty
    assert taken(tmp_path, rebuild=True)[1] == [ANN, BOB]


def test_lines_that_are_no_notes_are_listed_and_cost_no_other(tmp_path: Path) -> None:
    path = written(tmp_path, ANN)
    path.write_text(f"{path.read_text()}garbage\n")
    summary, notes = taken(tmp_path)
    assert (summary.skipped, notes) == (1, [ANN])
