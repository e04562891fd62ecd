"""What people noted on calls goes into lines and comes back as it was."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from tests.support.annotations import ANY_NOTE
from tests.support.hostile import HOSTILE, LIVE
from tests.surface.ingest import ANNOTATIONS_LONGEST as LONGEST
from tests.surface.ingest import MOST_LABELS, NEEDED, BrokenInput, line_of, time_text
from tests.surface.ingest import annotations_read_line as read_line
from tests.surface.ingest import annotations_read_lines as read_lines
from tests.surface.store import Annotation, Skipped

WHOLE = Annotation(
    "0199-a", "c-1", "ann@example.org", "nightly", "dental", "codex", 1, 7, "collect_slot", "fail", "ignored date",
    "asked twice", ["agent"], 1_790_000_000_000_001, "0199-b", True, "bob@example.org",
)  # fmt: skip
KEYS = (
    "schema id run_id flow agent_model conversation_id trial turn state verdict code note labels author at supersedes"
    " deleted editor"
)


def read(folder: Path, content: str | bytes, name: str = "notes.jsonl") -> list[Annotation | Skipped]:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return list(read_lines(path))


def given_with(**parts: Any) -> bytes:
    return json.dumps({**json.loads(line_of(WHOLE)), **parts}).encode()


def test_a_line_has_all_that_is_known_in_one_order() -> None:
    document = json.loads(line_of(WHOLE))
    assert " ".join(document) == KEYS
    assert document["at"] == "2026-09-21T14:13:20.000001Z"


def test_what_is_not_known_is_left_out() -> None:
    assert json.loads(line_of(Annotation("a", "c-1", "ann"))) == {
        "schema": "riff.annotation/1", "id": "a", "conversation_id": "c-1", "author": "ann",
    }  # fmt: skip


@given(ANY_NOTE)
def test_a_note_comes_back_as_it_was(note: Annotation) -> None:
    line = line_of(note)
    assert read_line(line.encode()) == (note, [])
    assert line_of(read_line(line.encode())[0]) == line


@pytest.mark.parametrize("text", HOSTILE.values(), ids=list(HOSTILE))
def test_a_line_is_one_line_and_acts_on_no_terminal(text: str) -> None:
    line = line_of(Annotation("a", "c-1", "ann", note=text, labels=[text]))
    assert not LIVE.search(line)
    assert len(line.splitlines()) == 1
    found, _ = read_line(line.encode())
    kept = text.encode("utf-8", "backslashreplace").decode()
    assert (found.note or "").strip() == kept.strip()
    assert found.labels == [kept]


def test_files_are_read_however_they_were_written(tmp_path: Path) -> None:
    lines = f"{line_of(WHOLE)}\n{line_of(Annotation('b', 'c-2', 'bob'))}\n"
    wanted = [WHOLE, Annotation("b", "c-2", "bob")]
    assert read(tmp_path, lines) == wanted
    assert read(tmp_path, gzip.compress(lines.encode())) == wanted
    assert read(tmp_path, b"\xef\xbb\xbf" + lines.replace("\n", "\r\n").encode()) == wanted
    assert read(tmp_path, lines.encode("utf-16")) == wanted


def test_a_line_that_is_no_note_costs_no_other(tmp_path: Path) -> None:
    whole = line_of(WHOLE)
    found = read(tmp_path, f'garbage\n[1]\n{{"schema": "riff.other/1"}}\n{whole}\n{whole[:40]}')
    assert [each.line for each in found if isinstance(each, Skipped)] == [1, 2, 3, 5]
    assert [each for each in found if isinstance(each, Annotation)] == [WHOLE]


@pytest.mark.parametrize("name", ["id", "conversation_id", "author"])
@pytest.mark.parametrize("value", [None, "", "  ", [], "x" * 1001])
def test_a_note_without_its_names_is_skipped(name: str, value: Any) -> None:
    with pytest.raises(BrokenInput, match=f"^{name} is "):
        read_line(given_with(**{name: value}))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("verdict", "maybe"),
        ("verdict", []),
        ("turn", 0),
        ("turn", "seven"),
        ("turn", 1e300),
        ("trial", -1),
        ("trial", 2**63),
        ("at", "yesterday"),
        ("at", 5),
        ("deleted", "yes"),
        ("labels", "agent"),
        ("labels", [1]),
        ("labels", ["x"] * (MOST_LABELS + 1)),
        ("labels", ["x" * 201]),
        *((name, "x" * (longest + 1)) for name, longest in LONGEST.items() if name not in NEEDED),
    ],
)
def test_a_part_that_does_not_fit_is_left_out_and_named(name: str, value: Any) -> None:
    note, defects = read_line(given_with(**{name: value}))
    assert [defect.split(" ")[0] for defect in defects] == [name]
    assert name not in json.loads(line_of(note))


def test_later_versions_of_the_form_are_read_where_they_can_be() -> None:
    assert read_line(given_with(schema="riff.annotation/1.4", mood="bad")) == (WHOLE, [])
    with pytest.raises(BrokenInput, match="not supported"):
        read_line(given_with(schema="riff.annotation/2"))


def test_annotations_of_embedeval_are_notes() -> None:
    line = {
        "id": "x-1", "traceId": "c-1", "annotator": "ann", "timestamp": "2026-01-02T03:04:05Z", "label": "fail",
        "failureCategory": "loop", "notes": "asked thrice", "duration": 12, "source": "manual",
    }  # fmt: skip
    note, defects = read_line(json.dumps(line).encode())
    assert (note.conversation, note.author, note.verdict, note.code) == ("c-1", "ann", "fail", "loop")
    assert (note.note, time_text(note.at), defects) == ("asked thrice", "2026-01-02T03:04:05.000000Z", [])
