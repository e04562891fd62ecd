"""A folder with calls of every kind: what each file is taken for is told, and what is not taken, with why."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.mixed_folder import NOT_LOOKED_AT, REFUSED, TAKEN, write_mixed
from tests.surface.ingest import archive
from tests.surface.store import Transcripts, open_store
from tests.surface.tui import LEFT_OUT, LISTED_FILES, ExitCode, run

Captured = pytest.CaptureFixture[str]


def told(folder: Path, store: Path, capsys: Captured, *options: str) -> list[str]:
    """Return what an ingest of a folder says, with paths from the folder on."""
    run(["ingest", str(folder), "--store", str(store), *options])
    return capsys.readouterr().err.replace(f"{folder}/", "").splitlines()


def test_every_file_is_told_with_what_it_was_taken_for(tmp_path: Path, capsys: Captured) -> None:
    folder, lines = write_mixed(tmp_path / "in"), list[str]()
    # Of more files at once than these only those of which not everything was taken are told.
    some = [[entry] for entry in sorted(folder.iterdir()) if entry.is_dir()]
    for paths in (*some, [entry for entry in folder.iterdir() if entry.suffix not in ("", ".wav", ".txt")]):
        run(["ingest", *map(str, paths), "--store", str(tmp_path / "calls.db")])
        lines += capsys.readouterr().err.replace(f"{folder}/", "").splitlines()
    found = {line.split()[2].removesuffix(":"): line.split()[:2] for line in lines if line[:5] in ("taken", "skipp")}
    assert {path: kind for path, (became, kind) in found.items() if became == "taken"} == TAKEN
    assert {path for path, (became, _) in found.items() if became == "skipped"} == set(REFUSED)
    for path, reason in REFUSED.items():
        assert any(path in line and reason in line for line in lines)
    transcripts = next(place for place, line in enumerate(lines) if line.endswith("1 conversation, 1 skipped"))
    assert lines[transcripts + 1].strip() == "line 2: flow is missing"


def test_files_of_no_such_name_are_told_of_in_one_line(tmp_path: Path, capsys: Captured) -> None:
    lines = told(write_mixed(tmp_path / "in"), tmp_path / "calls.db", capsys)
    assert f"Not looked at (no input has such a name): {', '.join(NOT_LOOKED_AT)}." in lines


def test_of_many_files_the_kinds_are_counted_and_what_was_not_taken_is_listed(tmp_path: Path, capsys: Captured) -> None:
    folder = write_mixed(tmp_path / "in")
    for number in range(LISTED_FILES):
        shutil.copyfile(folder / "cut.json", folder / f"more-{number:02}.json")
    lines = told(folder, tmp_path / "calls.db", capsys)
    kinds = [line.split(maxsplit=2)[1:] for line in lines if " file" in line and line[:5] in ("taken", "skipp")]
    assert ["inspect", "2 files: 2 conversations, 4 scores"] in kinds
    assert ["inspect", "1 file: 1 skipped"] in kinds
    assert {kind for kind, _ in kinds} >= set(TAKEN.values())
    reasons = [line for line in lines if line.endswith("it ends too early")]
    assert 0 < len(reasons) < LEFT_OUT
    assert f"skipped    …            of {len(REFUSED) + 2 + LISTED_FILES - LEFT_OUT} other files" in lines
    why = f"(why: riff-tui dump skipped --store {tmp_path / 'calls.db'})"
    assert lines[-2].endswith(f"{len(REFUSED) + 3 + LISTED_FILES} skipped {why}.")


def said_in(value: Any) -> Iterator[str]:
    """What either side says in a record, whatever platform it is of."""
    if isinstance(value, list):
        for each in value:
            yield from said_in(each)
    elif isinstance(value, str) and value.startswith(('{"', "[{")):
        yield from said_in(json.loads(value))
    elif isinstance(value, dict):
        who = next((value[key] for key in ("role", "message_type", "type", "user", "event") if key in value), None)
        if who in SPEAKERS:
            for key in ("text", "content", "message", "value"):
                parts = value[key] if isinstance(value.get(key), list) else [value.get(key)]
                parts = [part.get("text") if isinstance(part, dict) else part for part in parts]
                yield from (part for part in parts if isinstance(part, str))
        yield from (
            said for key, inner in value.items() if "sender_id" in value or key not in UNSAID for said in said_in(inner)
        )


SPEAKERS = ("agent", "assistant", "assistant_speech", "bot", "caller", "robot", "user", "user_speech")
UNSAID = ("input", "output", "events", "events_data", "choices", "target", "artifactPlan")
"""Where logs of Inspect AI keep what was sent to models, which is said in their messages as well."""


def test_no_word_that_somebody_says_is_lost(tmp_path: Path, capsys: Captured) -> None:
    folder, store = write_mixed(tmp_path / "in"), tmp_path / "calls.db"
    told(folder, store, capsys)
    with open_store(str(store)) as opened:
        reader = Transcripts(opened)
        rows = list(opened.execute_sql("SELECT body, dictionary_id FROM transcript"))
        kept = b"\n".join(reader.text(*each) for each in rows).decode()
    heard = 0
    for name, kind in TAKEN.items():
        if kind in ("flow-file", "humanness", "notes", "tau-notes", "tau-verdicts"):
            continue
        words = [said for value in values_in(folder / name) for said in said_in(value)]
        assert bool(words) == (name not in SILENT), f"{name} has words or not"
        for said in words:
            part = NOT_KEPT.split(said)[0].strip()
            heard += 1
            assert json.dumps(part)[1:-1] in kept or part in kept, f"{name} says {said!r}"
    assert heard > 200


def values_in(path: Path) -> Iterator[Any]:
    """The values of a file: of lines, of one document, of the samples of an archive or of the logs of a directory."""
    if path.is_dir():
        for each in (path / "audit_log.json", path / "user_simulator_events.jsonl"):
            yield from values_in(each)
    elif path.suffix == ".eval":
        with archive.Archive(path) as log:
            yield from [json.loads(log.read(name)) for name in log.names if name.startswith("samples/")]
    else:
        data = path.read_bytes()
        text = data.decode("utf-16" if data[:2] == b"\xff\xfe" else "utf-8")
        yield from map(json.loads, text.splitlines() if path.suffix == ".jsonl" else [text])


SILENT = ("bland/events.json",)
"""Calls of which nothing that was said is there."""


NOT_KEPT = re.compile(r"\+\d|\d{4} \d{7}|https?:|###|Thought:|Action:|API output:|\.\.\.$|eyJ")
"""Where in a text something begins that is not kept as it is: numbers, links, signs of the benchmark, silence."""


def test_the_same_folder_again_changes_nothing(tmp_path: Path, capsys: Captured) -> None:
    folder, store = write_mixed(tmp_path / "in"), tmp_path / "calls.db"
    told(folder, store, capsys)
    again = told(folder, store, capsys)
    assert [line for line in again if line.startswith("taken")] == []
    assert again[-2].startswith("0 conversations and 0 scores stored")


def test_strict_minds_what_was_refused_and_not_what_was_not_looked_at(tmp_path: Path, capsys: Captured) -> None:
    folder, store = write_mixed(tmp_path / "in"), str(tmp_path / "calls.db")
    assert run(["ingest", str(folder), "--store", store, "--strict"]) == ExitCode.SKIPPED
    for name in (*REFUSED, "nightly/flow-transcripts-1.jsonl", "elevenlabs/tests.json"):
        (folder / name).unlink()
    assert run(["ingest", str(folder), "--store", store, "--strict"]) == ExitCode.OK
    assert "notes.txt" in capsys.readouterr().err
