"""Notes on simulations: what a file gives, and why one is left out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.examples import examples
from tests.support.strategies import JSON
from tests.surface.ingest import BrokenInput, detect, find_inputs
from tests.surface.ingest import tau_notes_read as read
from tests.surface.store import Annotation, Skipped

NOTE: dict[str, Any] = {
    "id": "note_0a1b2c3d",
    "note": "Promises a seat that was gone.",
    "author_email": "ear@example.org",
    "created_at": "2026-07-05T10:00:00.000001",
    "simulation_id": "s-1",
    "task_id": "8",
    "trial": 2,
    "error_source": "agent",
    "error_type": "hallucination",
}
NAME = "task_8_note_0a1b2c3d_note.json"


def written(folder: Path, content: Any, name: str = NAME) -> Path:
    path = folder / name
    path.write_text(content if isinstance(content, str) else json.dumps(content, indent=1))
    return path


def test_a_note_is_of_its_call_with_both_labels_and_the_kind_of_error_as_code(tmp_path: Path) -> None:
    assert list(read(written(tmp_path, NOTE))) == [
        Annotation(
            "note_0a1b2c3d",
            "s-1",
            "ear@example.org",
            trial=2,
            code="hallucination",
            note="Promises a seat that was gone.",
            labels=["agent", "hallucination"],
            at=1_783_245_600_000_001,
        )
    ]


def test_what_is_not_filled_in_is_not_known(tmp_path: Path) -> None:
    bare = dict.fromkeys(NOTE) | {"id": "note_1", "simulation_id": "s-1", "note": "", "error_source": ""}
    assert list(read(written(tmp_path, bare))) == [Annotation("note_1", "s-1", "(unknown)")]


def test_a_part_that_is_of_the_wrong_kind_costs_no_other(tmp_path: Path) -> None:
    defects = [f"{name} is not what it should be and is left out" for name in ("trial", "created_at")]
    *noted, note = read(written(tmp_path, NOTE | {"trial": "first", "created_at": "yesterday"}))
    assert noted == [Skipped("defect", None, reason, "s-1") for reason in defects]
    assert isinstance(note, Annotation)
    assert (note.trial, note.at, note.note) == (None, None, NOTE["note"])


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ({**NOTE, "id": None}, "id is missing"),
        ({**NOTE, "simulation_id": ["s-1"]}, "simulation_id is missing"),
        ([NOTE], "file is not a note: it is not a JSON object"),
        (json.dumps(NOTE)[:-9], "file is not JSON: it ends too early"),
    ],
)
def test_what_is_no_note_is_left_out_with_the_reason(tmp_path: Path, content: Any, reason: str) -> None:
    with pytest.raises(BrokenInput) as caught:
        list(read(written(tmp_path, content)))
    assert caught.value.reason == reason


def test_a_note_is_known_by_what_it_holds_and_its_copy_of_the_simulation_is_no_input(tmp_path: Path) -> None:
    note = written(tmp_path, NOTE, "remark.json")
    named = written(tmp_path, NOTE)
    written(tmp_path, {"id": "s-1", "ticks": []}, NAME.replace("_note.json", "_simulation.json"))
    assert detect(note).kind == detect(named).kind == "tau-notes"
    found = find_inputs([tmp_path])
    assert (found.files, found.passed_over) == ([note, named], [])


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=examples(30))
@given(st.dictionaries(st.sampled_from(sorted(NOTE)), JSON), st.integers(0, 400))
def test_whatever_a_note_holds_and_wherever_it_is_cut_nothing_is_raised_but_a_reason(
    tmp_path: Path, change: dict[str, Any], cut: int
) -> None:
    text = json.dumps(NOTE | change)
    for content in (text, text[:cut]):
        try:
            found = list(read(written(tmp_path, content)))
        except BrokenInput:
            continue
        assert isinstance(found[-1], Annotation)
