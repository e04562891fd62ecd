"""Notes are written, taken to others and in, and merged, from the command line."""

from __future__ import annotations

import csv
import io
import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from riff_ingest import Conversation, store_conversations
from tests.surface.ingest import StateEntered, StateExited, Turn, line_of, write_transcripts
from tests.surface.store import Annotation, open_store, read_notes, standing
from tests.surface.tui import PARTS, ExitCode, complete, lines_where, run

Captured = pytest.CaptureFixture[str]


def call(name: str, **given: Any) -> Conversation:
    """Three turns, the last of them in a state of its own."""
    facts: dict[str, Any] = {
        "flow": "dental",
        "run_id": "night-1",
        "agent_model": "acme",
        "completed": False,
        "turns": [Turn("agent", "Hello?", 1.0), Turn("caller", "Tuesday.", 3.0), Turn("agent", "Monday it is.", 7.0)],
        "events": [
            StateEntered("greeting", 0.0),
            StateExited("greeting", "date", None, 5.0),
            StateEntered("date", 5.0),
        ],
    }
    return Conversation(conversation_id=name, **(facts | given))


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "calls.db"
    store_conversations(path, [call("c-1"), call("c-2"), call("c-3", run_id="night-2")])
    monkeypatch.setenv("RIFF_TUI_STORE", str(path))
    monkeypatch.setenv("RIFF_TUI_AUTHOR", "ann")
    return path


def noted(where: str, *options: str) -> int:
    return run(["notes", "add", "--where", where, *options])


def lines(path: Path) -> list[Annotation]:
    with open_store(path) as opened:
        return read_notes(opened)


def test_a_note_has_the_names_of_its_call_and_the_state_of_its_turn(store: Path, capsys: Captured) -> None:
    assert noted("conversation=c-1", "--turn", "3", "--code", "wrong day", "--note", "said Tuesday") == ExitCode.OK
    [note] = lines(store)
    out, said = capsys.readouterr()
    assert (note.run, note.flow, note.agent, note.conversation) == ("night-1", "dental", "acme", "c-1")
    assert (note.turn, note.state, note.verdict, note.code, note.note) == (
        3,
        "date",
        "fail",
        "wrong day",
        "said Tuesday",
    )
    assert (note.author, json.loads(out)["id"]) == ("ann", note.id)
    assert "Noted: fail · wrong day · a remark on turn 3 in date of c-1 by ann." in said
    assert "riff-tui ui conversation --where 'run=night-1 conversation=c-1' --at turn:3" in said


def test_a_code_leaves_a_verdict_of_its_author_alone(store: Path) -> None:
    noted("conversation=c-1", "--verdict", "pass")
    noted("conversation=c-1", "--code", "slow")
    noted("conversation=c-1", "--code", "slow", "--author", "bob")
    assert [(note.author, note.verdict) for note in lines(store)] == [("ann", "pass"), ("ann", None), ("bob", "fail")]


def test_a_code_is_written_as_it_is_in_use(store: Path, capsys: Captured) -> None:
    noted("conversation=c-1", "--code", "wrong day")
    noted("conversation=c-2", "--code", "Wrong  Day")
    assert {note.code for note in lines(store)} == {"wrong day"}
    assert "The code is wrong day, as it is written in use." in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--turn", "9", "--code", "x"], "c-1 has turns 1 to 3"),
        (["--turn", "0", "--code", "x"], "c-1 has turns 1 to 3"),
        (["--state", "checkout", "--code", "x"], "c-1 was in date, greeting"),
        ([], "there is nothing to note"),
        (["--note", "  "], "there is nothing to note"),
        (["--code", " "], "--code needs a name"),
        (["--code", "x" * 81], "at most 80"),
        (["--note", "x" * 10_001], "at most 10,000"),
        (["--verdict", "maybe"], "'maybe' is not one of"),
    ],
)
def test_what_makes_no_sense_is_refused_with_what_would(
    store: Path, options: list[str], said: str, capsys: Captured
) -> None:
    assert noted("conversation=c-1", *options) == ExitCode.USAGE
    assert said in capsys.readouterr().err
    assert lines(store) == []


@pytest.mark.parametrize("where", ["", "flow=dental", "conversation=c-9"])
def test_a_note_is_on_one_call(store: Path, where: str) -> None:
    assert noted(where, "--verdict", "pass") == ExitCode.USAGE


def test_a_remark_is_read_from_stdin(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("two\nlines\n"))
    noted("conversation=c-1", "--note", "-")
    assert lines(store)[0].note == "two\nlines"


def test_an_export_is_the_same_for_the_same_store_and_comes_in_as_it_was(store: Path, tmp_path: Path) -> None:
    for name in ("c-1", "c-2", "c-3"):
        noted(f"conversation={name}", "--code", "slow", "--author", f"author of {name}")
    run(["notes", "rename", "slow", "late"])
    first, second, other = tmp_path / "a.jsonl", tmp_path / "b.jsonl", tmp_path / "other.db"
    run(["notes", "export", "-o", str(first)])
    run(["notes", "import", str(first), "--store", str(other)])
    run(["notes", "export", "-o", str(second), "--store", str(other)])
    assert len(first.read_text().splitlines()) == 6
    assert first.read_bytes() == second.read_bytes()
    assert lines(other) == lines(store)


def test_a_file_in_which_a_line_is_before_the_one_it_takes_the_place_of_is_put_in_order(
    store: Path, tmp_path: Path
) -> None:
    noted("conversation=c-1", "--code", "slow")
    run(["notes", "rename", "slow", "late"])
    path = tmp_path / "notes.jsonl"
    run(["notes", "export", "-o", str(path)])
    first = path.read_text("utf-8")
    path.write_text("".join(reversed(first.splitlines(keepends=True))), "utf-8")
    run(["notes", "export", "-o", str(path)])
    assert path.read_text("utf-8") == first


def test_importing_twice_adds_nothing_and_says_so(store: Path, tmp_path: Path, capsys: Captured) -> None:
    noted("conversation=c-1", "--verdict", "pass")
    path, other = tmp_path / "notes.jsonl", str(tmp_path / "other.db")
    run(["notes", "export", "-o", str(path)])
    capsys.readouterr()
    assert run(["notes", "import", str(path), "--store", other]) == ExitCode.OK
    assert f"{path}: 1 new, 0 known" in (first := capsys.readouterr().err)
    assert "1 note in the store waits for its call" in first
    assert run(["notes", "import", str(path), str(path), "--store", other]) == ExitCode.OK
    assert capsys.readouterr().err.count("0 new, 1 known") == 2


def test_a_line_that_names_a_turn_alone_gets_its_state_once_the_call_is_there(
    store: Path, tmp_path: Path, capsys: Captured
) -> None:
    file = tmp_path / "notes.jsonl"
    found = [
        Annotation("a", "c-1", "bob", turn=3, code="late"),
        Annotation("b", "c-9", "bob", turn=3, code="late"),
        Annotation("c", "c-2", "bob", turn=30, code="late"),
        Annotation("d", "c-2", "bob", turn=3, state="greeting", code="late"),
    ]
    file.write_text("".join(f"{line_of(line)}\n" for line in found))
    assert run(["notes", "import", str(file)]) == 0
    assert [line.state for line in lines(store)] == ["date", None, None, "greeting"]
    store_conversations(store, [call("c-9")])
    assert run(["notes", "import", str(file)]) == 0
    assert "1 changed" in capsys.readouterr().err
    assert [line.state for line in lines(store)] == ["date", "date", None, "greeting"]


def test_a_note_that_may_be_of_several_calls_is_said(store: Path, tmp_path: Path, capsys: Captured) -> None:
    store_conversations(store, [call("c-1", run_id="night-2")])
    path = tmp_path / "annotations.jsonl"
    path.write_text(json.dumps({"id": "x", "traceId": "c-1", "annotator": "ann", "label": "fail"}))
    run(["notes", "import", str(path)])
    assert "1 note in the store may be of several calls and counts for none" in capsys.readouterr().err


@pytest.mark.parametrize("command", [["notes", "import"], ["ingest"]], ids=" ".join)
def test_codes_that_differ_in_case_or_blanks_come_in_as_the_one_in_use(
    store: Path, tmp_path: Path, command: list[str]
) -> None:
    other = str(tmp_path / "other.db")
    noted("conversation=c-1", "--code", "Wrong Day")
    noted("conversation=c-2", "--code", "loop")
    assert run(["notes", "export", "-o", str(tmp_path / "notes.jsonl")]) == ExitCode.OK
    text = (tmp_path / "notes.jsonl").read_text(encoding="utf-8")
    (tmp_path / "bob.jsonl").write_text(text.replace("Wrong Day", "wrong  day"), encoding="utf-8")
    label = {"traceId": "c-3", "annotator": "ann", "label": "fail", "failureCategory": "LOOP"}
    (tmp_path / "of-embedeval.jsonl").write_text(json.dumps({"id": "e", **label}), encoding="utf-8")
    for name in ("notes.jsonl", "bob.jsonl", "of-embedeval.jsonl"):
        assert run([*command, str(tmp_path / name), "--store", other]) == ExitCode.OK
    with open_store(other) as opened:
        assert sorted(note.code or "" for note in read_notes(opened)) == ["Wrong Day", "loop", "loop"]


@pytest.mark.parametrize("command", [["notes", "import"], ["ingest"]], ids=" ".join)
def test_a_code_that_was_given_another_spelling_comes_in_with_that(
    store: Path, tmp_path: Path, command: list[str]
) -> None:
    noted("conversation=c-1", "--code", "wrong day")
    assert run(["notes", "rename", "wrong day", "Wrong day"]) == ExitCode.OK
    assert run(["notes", "export", "-o", str(tmp_path / "notes.jsonl")]) == ExitCode.OK
    assert run([*command, str(tmp_path / "notes.jsonl"), "--store", str(tmp_path / "other.db")]) == ExitCode.OK
    with open_store(tmp_path / "other.db") as opened:
        assert [note.code for note in standing(read_notes(opened))] == ["Wrong day"]


def test_lines_that_are_no_notes_are_named_and_fail_where_that_is_asked_for(
    store: Path, tmp_path: Path, capsys: Captured
) -> None:
    noted("conversation=c-1", "--verdict", "pass")
    path = tmp_path / "notes.jsonl"
    run(["notes", "export", "-o", str(path)])
    path.write_text(f"garbage\n{path.read_text()}")
    other = tmp_path / "other.db"
    assert run(["notes", "import", str(path), "--store", str(other), "--strict"]) == ExitCode.SKIPPED
    assert "line 1: line is not JSON" in capsys.readouterr().err
    assert lines(other) == lines(store)


def test_a_file_without_a_note_makes_no_store(store: Path, tmp_path: Path) -> None:
    path, other = tmp_path / "notes.jsonl", tmp_path / "other.db"
    path.write_text("garbage\n")
    assert run(["notes", "import", str(path), "--store", str(other)]) == ExitCode.OK
    assert not other.exists()
    assert run(["notes", "import", str(tmp_path / "nowhere.jsonl")]) == ExitCode.USAGE


def test_an_export_writes_over_no_note_that_the_store_lacks(store: Path, tmp_path: Path, capsys: Captured) -> None:
    noted("conversation=c-1", "--verdict", "pass")
    path, theirs = tmp_path / "notes.jsonl", line_of(Annotation("n-9", "c-1", "bob", verdict="fail"))
    run(["notes", "export", "-o", str(path)])
    path.write_text(f"{path.read_text()}{theirs}\n")
    assert run(["notes", "export", "-o", str(path)]) == ExitCode.USAGE
    assert (
        f"has 1 note that the store lacks; take them in first: riff-tui notes import {path}" in capsys.readouterr().err
    )
    assert theirs in path.read_text()
    run(["notes", "import", str(path)])
    assert run(["notes", "export", "-o", str(path)]) == ExitCode.OK
    assert theirs in path.read_text()


def test_a_filter_chooses_the_calls_whose_notes_are_exported(store: Path, capsys: Captured) -> None:
    for name in ("c-1", "c-2", "c-3"):
        noted(f"conversation={name}", "--verdict", "fail" if name == "c-2" else "pass")
    for where, found in (("run=night-1", ["c-1", "c-2"]), ("verdict=fail", ["c-2"]), ("run=night-9", [])):
        capsys.readouterr()
        assert run(["notes", "export", "--where", where]) == ExitCode.OK
        assert [json.loads(line)["conversation_id"] for line in capsys.readouterr().out.splitlines()] == found


def test_a_spreadsheet_has_what_counts_and_runs_no_formula(store: Path, capsys: Captured) -> None:
    noted("conversation=c-1", "--verdict", "pass")
    noted("conversation=c-1", "--verdict", "fail", "--note", "=1+1")
    capsys.readouterr()
    run(["notes", "export", "--format", "csv"])
    [row] = csv.DictReader(io.StringIO(capsys.readouterr().out))
    assert (row["run"], row["verdict"], row["note"]) == ("night-1", "fail", "'=1+1")
    run(["notes", "export", "--format", "csv", "--all"])
    assert [row["verdict"] for row in csv.DictReader(io.StringIO(capsys.readouterr().out))] == ["pass", "fail"]


def test_embedeval_gets_one_annotation_of_a_person_on_a_call_and_its_categories(
    store: Path, tmp_path: Path, capsys: Captured
) -> None:
    noted("conversation=c-1", "--code", "wrong day", "--note", "Monday for Tuesday")
    noted("conversation=c-1", "--note", "and slow")
    noted("conversation=c-2", "--verdict", "pass")
    noted("conversation=c-3", "--note", "no verdict yet")
    table = tmp_path / "taxonomy.json"
    capsys.readouterr()
    run(["notes", "export", "--format", "embedeval", "--taxonomy", str(table)])
    first, second = map(json.loads, capsys.readouterr().out.splitlines())
    assert " ".join(first) == "id traceId annotator timestamp label failureCategory notes duration source"
    assert (first["traceId"], first["label"], first["failureCategory"]) == ("c-1", "fail", "wrong day")
    assert first["notes"] == "Monday for Tuesday\nand slow"
    assert (second["traceId"], second["label"], second["failureCategory"]) == ("c-2", "pass", None)
    found = json.loads(table.read_text())
    assert [(each["name"], each["count"]) for each in found["categories"]] == [("wrong day", 1)]
    assert found["stats"] == {"totalAnnotated": 2, "totalPassed": 1, "totalFailed": 1, "passRate": 0.5}


def test_an_annotation_of_embedeval_takes_nothing_from_the_note_that_it_was_made_of(
    store: Path, tmp_path: Path, capsys: Captured
) -> None:
    noted("conversation=c-1", "--code", "wrong day", "--turn", "2")
    noted("conversation=c-1", "--note", "and slow")
    before, file = lines(store), tmp_path / "annotations.jsonl"
    run(["notes", "export", "--format", "embedeval", "-o", str(file)])
    assert run(["notes", "import", str(file)]) == ExitCode.OK
    assert "0 new, 1 known" in capsys.readouterr().err
    assert lines(store) == before


@pytest.mark.parametrize(
    "options", [["--taxonomy", "t.json"], ["--format", "embedeval", "--all"], ["-o", "notes.jsonl.gz"]]
)
def test_options_that_do_not_go_together_are_refused(store: Path, options: list[str]) -> None:
    assert run(["notes", "export", *options]) == ExitCode.USAGE


def test_a_code_is_renamed_where_it_was_given_and_its_author_stays(store: Path, capsys: Captured) -> None:
    noted("conversation=c-1", "--code", "slow")
    noted("conversation=c-3", "--code", "slow", "--author", "bob")
    assert run(["notes", "rename", "slow", "late", "--where", "run=night-2", "--dry-run"]) == ExitCode.OK
    assert len(lines(store)) == 2
    assert run(["notes", "rename", "slow", "late", "--where", "run=night-2"]) == ExitCode.OK
    assert "Renamed: slow to late, in 1 note on 1 call." in capsys.readouterr().err
    found = {(note.author, note.editor, note.code) for note in standing(lines(store))}
    assert found == {("ann", None, "slow"), ("bob", "ann", "late")}


def test_a_code_that_nobody_gave_is_not_renamed(store: Path, capsys: Captured) -> None:
    noted("conversation=c-1", "--code", "slow")
    for names in (("slwo", "late"), ("slow", "slow"), ("slow", " ")):
        assert run(["notes", "rename", *names]) == ExitCode.USAGE
    assert "there is slow" in capsys.readouterr().err


def test_codes_in_use_complete_the_line(store: Path, capsys: Captured) -> None:
    noted("conversation=c-1", "--code", "slow")
    for line in ("riff-tui notes rename s", "riff-tui notes add --code s"):
        capsys.readouterr()
        complete("bash", [line])
        assert capsys.readouterr().out.splitlines() == ["slow"]


def test_notes_are_there_after_their_run_was_read_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    monkeypatch.setenv("RIFF_TUI_STORE", str(tmp_path / "calls.db"))
    runs, notes = tmp_path / "runs", tmp_path / "runs" / "notes.jsonl"
    runs.mkdir()
    write_transcripts(runs / "flow-transcripts-1.jsonl", [call("c-1"), call("c-2")])
    run(["ingest", str(runs)])
    noted("conversation=c-1", "--code", "slow", "--author", "ann")
    run(["notes", "export", "-o", str(notes)])
    before = lines(tmp_path / "calls.db")
    for words in (["--rebuild"], [], ["--rebuild", "--no-text"]):
        assert run(["ingest", str(runs), *words]) == ExitCode.OK
        assert lines(tmp_path / "calls.db") == before
    (tmp_path / "calls.db").unlink()
    run(["ingest", str(notes)])
    run(["ingest", str(runs)])
    capsys.readouterr()
    run(["dump", "conversations", "--where", "code=slow", "--format", "jsonl"])
    assert [json.loads(each)["conversation"] for each in capsys.readouterr().out.splitlines()] == ["c-1"]


def test_a_note_that_is_kept_beside_the_settings_as_well_is_exported_once(store: Path) -> None:
    noted("conversation=c-1", "--code", "slow")
    with open_store(store) as opened:
        opened.kept_notes = [*read_notes(opened), Annotation("later", "c-2", "bob", code="late")]
        for where in ("", "flow=dental"):
            assert [note.code for note in lines_where(opened, where)] == ["late", "slow"]


@pytest.mark.parametrize("part", PARTS)
def test_every_part_explains_itself_and_takes_a_store(part: str, capsys: Captured) -> None:
    assert run(["notes", part, "--help"]) == ExitCode.OK
    shown = capsys.readouterr().out
    assert "--store PATH|URL" in shown
    assert "--debug" in shown
    assert f"riff-tui notes {part}" in shown.partition("Examples:")[2]


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
def test_two_people_merge_their_notes_with_git(store: Path, tmp_path: Path) -> None:
    repository, notes = tmp_path / "repository", tmp_path / "repository" / "notes.jsonl"
    repository.mkdir()

    def git(*words: str) -> None:
        identity = ["-c", "user.email=ann@example.org", "-c", "user.name=ann", "-c", "commit.gpgsign=false"]
        environment = os.environ | {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
        subprocess.run(["git", *identity, *words], cwd=repository, check=True, capture_output=True, env=environment)

    def exported(author: str, *calls: str) -> None:
        own = tmp_path / f"{author}.db"
        shutil.copy(store, own)
        for name in calls:
            noted(f"conversation={name}", "--verdict", "fail", "--author", author, "--store", str(own))
        run(["notes", "export", "-o", str(notes), "--store", str(own)])
        git("commit", "-qam", author)

    git("init", "-q", "-b", "main")
    (repository / ".gitattributes").write_text("*.jsonl merge=union\n")
    noted("conversation=c-1", "--verdict", "pass")
    run(["notes", "export", "-o", str(notes)])
    git("add", ".")
    git("commit", "-qm", "first")
    git("checkout", "-qb", "bob")
    exported("bob", "c-1", "c-2")
    git("checkout", "-q", "main")
    exported("eve", "c-2", "c-3")
    git("merge", "-q", "bob")
    assert run(["notes", "import", str(notes), "--strict"]) == ExitCode.OK
    found = sorted((note.author, note.conversation) for note in lines(store))
    assert found == [("ann", "c-1"), ("bob", "c-1"), ("bob", "c-2"), ("eve", "c-2"), ("eve", "c-3")]
    # What git put behind each other stays so: the next commit shows what is new.
    together = notes.read_text("utf-8")
    run(["notes", "export", "-o", str(notes)])
    assert notes.read_text("utf-8") == together
    noted("conversation=c-3", "--verdict", "fail", "--author", "ann")
    run(["notes", "export", "-o", str(notes)])
    assert notes.read_text("utf-8").startswith(together)
