"""Ingest says what it took each file for and what became of it, and how much of it was skipped."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.support.eva_runs import files, make_run
from tests.surface.ingest import sources
from tests.surface.tui import ExitCode, run

Captured = pytest.CaptureFixture[str]


def test_an_ingest_tells_what_became_of_each_file_on_stderr(tiny: Path, tmp_path: Path, capsys: Captured) -> None:
    folder, store = str(tiny.parent), str(tmp_path / "store.db")
    assert run(["ingest", folder, "--store", store]) == ExitCode.OK
    out, err = capsys.readouterr()
    assert out == ""
    assert "run-2/flow-transcripts-tiny.jsonl: 8 conversations, 1 skipped\n" in err
    assert "humanness    " in err
    assert "20 conversations and 4 scores stored" in err
    assert f"skipped (why: riff-tui dump skipped --store {store})." in err
    assert stat.S_IMODE(os.stat(store).st_mode) == 0o600

    assert err.endswith(f"Next: riff-tui --store {store}\n")

    assert run(["ingest", folder, "--store", store]) == ExitCode.OK
    assert "0 conversations and 0 scores stored, 3 files unchanged" in capsys.readouterr().err


def test_what_comes_next_names_the_store_as_a_shell_takes_it_unless_it_is_the_default_one(
    tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    folder, store = str(tiny.parent), str(tmp_path / "my calls.db")
    assert run(["ingest", folder, "--store", store]) == ExitCode.OK
    assert capsys.readouterr().err.endswith(f"Next: riff-tui --store '{store}'\n")
    monkeypatch.setenv("RIFF_TUI_STORE", store)
    assert run(["ingest", folder]) == ExitCode.OK
    assert capsys.readouterr().err.endswith("Next: riff-tui\n")
    (tmp_path / "empty").mkdir()
    assert run(["ingest", str(tmp_path / "empty")]) == ExitCode.OK
    assert "Next:" not in capsys.readouterr().err


def test_strict_makes_a_skipped_line_an_exit_code_and_stores_the_rest(
    tiny: Path, tmp_path: Path, capsys: Captured
) -> None:
    store = str(tmp_path / "store.db")
    assert run(["ingest", str(tiny.parent / "run-2"), "--store", store, "--strict"]) == ExitCode.SKIPPED
    assert f"1 input was skipped; `riff-tui doctor --store {store}` lists what and why" in capsys.readouterr().err
    assert run(["dump", "conversations", "--store", store, "--format", "json"]) == ExitCode.OK
    assert len(json.loads(capsys.readouterr().out)["rows"]) == 8


def test_without_text_a_conversation_says_why_it_is_silent(tiny: Path, tmp_path: Path, capsys: Captured) -> None:
    store = str(tmp_path / "store.db")
    run(["ingest", str(tiny.parent), "--no-text", "--store", store])
    capsys.readouterr()
    assert run(["dump", "conversation", "--where", "c-0000", "--store", store]) == ExitCode.OK
    assert "The store keeps no transcript of this call" in capsys.readouterr().out


def test_kinds_can_be_forced(tiny: Path, tmp_path: Path, capsys: Captured) -> None:
    scores = str(tiny.parent / "run-1" / "humanness-codex.jsonl")
    store = str(tmp_path / "store.db")
    assert run(["ingest", scores, "--as", "transcripts", "--strict", "--store", store]) == ExitCode.SKIPPED
    err = capsys.readouterr().err
    assert "skipped    transcripts" in err
    assert "Nothing was read. With --as transcripts" in err


def test_a_folder_without_input_says_what_is_looked_for(tmp_path: Path, capsys: Captured) -> None:
    (tmp_path / "empty").mkdir()
    store = str(tmp_path / "store.db")
    assert run(["ingest", str(tmp_path / "empty"), "--store", store]) == ExitCode.OK
    found, *kinds = capsys.readouterr().err.splitlines()
    assert found.startswith("Nothing to ingest was found there")
    assert [line.split()[0] for line in kinds] == [source.kind for source in sources()]
    assert run(["ingest", str(tmp_path / "empty"), "--store", store, "--strict"]) == ExitCode.SKIPPED
    assert "nothing was taken" in capsys.readouterr().err
    assert not Path(store).exists()


def test_a_file_that_nothing_recognises_is_skipped_with_its_reason_and_leaves_no_store(
    tmp_path: Path, capsys: Captured
) -> None:
    path, store = tmp_path / "results.json", tmp_path / "store.db"
    path.write_text('{"info": 1, "tasks": 2}', encoding="utf-8")
    assert run(["ingest", str(path), "--store", str(store)]) == ExitCode.OK
    err = capsys.readouterr().err
    assert f"skipped    unknown      {path}: not recognised: " in err
    assert err.endswith("Nothing was read.\n")
    assert list(tmp_path.iterdir()) == [path]
    assert run(["ingest", str(path), "--store", str(store), "--strict"]) == ExitCode.SKIPPED
    assert not store.exists()


def test_a_file_of_broken_lines_alone_says_why_and_leaves_no_store(tmp_path: Path, capsys: Captured) -> None:
    path, store = tmp_path / "flow-transcripts-x.jsonl", tmp_path / "store.db"
    path.write_text("{oops\n", encoding="utf-8")
    assert run(["ingest", str(path), "--store", str(store), "--strict"]) == ExitCode.SKIPPED
    assert "1 skipped (line 1: " in capsys.readouterr().err
    assert not store.exists()


def test_a_store_that_was_there_stays_when_nothing_is_taken(tiny: Path, tmp_path: Path, capsys: Captured) -> None:
    store, path = tmp_path / "store.db", tmp_path / "notes.txt"
    path.write_text("hello", encoding="utf-8")
    assert run(["ingest", str(tiny.parent), "--store", str(store)]) == ExitCode.OK
    assert run(["ingest", str(path), "--store", str(store), "--strict"]) == ExitCode.SKIPPED
    assert run(["ingest", str(path), "--store", str(store), "--strict"]) == ExitCode.SKIPPED
    assert "notes.txt: file is neither JSON nor TOML" in capsys.readouterr().err.splitlines()[-3]
    assert store.exists()


def lines(path: Path, *calls: Mapping[str, object]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps({"run_id": "r", **call}) + "\n" for call in calls), encoding="utf-8")
    return path


def test_natural_ids_of_two_agents_on_two_flows_are_calls_of_their_own(tmp_path: Path, capsys: Captured) -> None:
    for agent in ("a", "b"):
        calls = [
            {"conversation_id": f"case-{number}", "flow": flow, "agent_model": agent}
            for flow in ("booking", "dispatch")
            for number in range(5)
        ]
        lines(tmp_path / "in" / f"flow-transcripts-{agent}.jsonl", *calls)
    store = str(tmp_path / "store.db")
    assert run(["ingest", str(tmp_path / "in"), "--store", store, "--strict"]) == ExitCode.OK
    assert "20 conversations and 0 scores stored.\n" in capsys.readouterr().err
    assert run(["dump", "conversations", "--store", store, "--format", "json"]) == ExitCode.OK
    assert len(json.loads(capsys.readouterr().out)["rows"]) == 20


def test_what_stands_again_is_said_with_its_number_and_is_an_exit_code_under_strict(
    tmp_path: Path, capsys: Captured
) -> None:
    calls = [{"conversation_id": f"case-{number}", "flow": "booking"} for number in range(3)]
    first = lines(tmp_path / "in" / "flow-transcripts-a.jsonl", *calls)
    again = lines(tmp_path / "in" / "flow-transcripts-b.jsonl", *calls[:2], calls[0])
    store = str(tmp_path / "store.db")
    for _ in range(2):
        assert run(["ingest", str(first.parent), "--store", store, "--strict"]) == ExitCode.SKIPPED
        assert "3 conversations replaced by the same call elsewhere" in capsys.readouterr().err
    assert run(["ingest", str(first.parent), "--store", store, "--rebuild"]) == ExitCode.OK
    err = capsys.readouterr().err
    assert f"{first}: 1 conversation, 2 replaced\n" in err
    assert f"{again}: 2 conversations, 1 replaced\n" in err
    assert f"3 conversations replaced, because the same call is also in {again} (which: " in err
    assert "3 conversations and 0 scores stored.\n" in err


def test_an_errored_call_that_was_run_again_in_its_file_is_normal_also_under_strict(
    tmp_path: Path, capsys: Captured
) -> None:
    case = {"conversation_id": "case-0", "flow": "booking"}
    path = lines(tmp_path / "flow-transcripts-a.jsonl", {**case, "errored": True}, {**case, "final_state": "booked"})
    store = str(tmp_path / "store.db")
    for _ in range(2):
        assert run(["ingest", str(path), "--store", store, "--strict"]) == ExitCode.OK
        assert "replaced" not in capsys.readouterr().err
    assert run(["ingest", str(path), "--store", store, "--rebuild"]) == ExitCode.OK
    err = capsys.readouterr().err
    assert f"{path}: 1 conversation, 1 run again\n" in err
    assert "1 conversation and 0 scores stored.\n" in err
    assert run(["dump", "conversations", "--store", store, "--format", "json"]) == ExitCode.OK
    assert [row["final_state"] for row in json.loads(capsys.readouterr().out)["rows"]] == ["booked"]
    assert run(["dump", "skipped", "--store", store, "--format", "json"]) == ExitCode.OK
    assert [(row["kind"], row["line"]) for row in json.loads(capsys.readouterr().out)["rows"]] == [("rerun", 1)]


def test_a_call_of_an_earlier_file_that_still_holds_it_is_dropped_and_fails_under_strict(
    tmp_path: Path, capsys: Captured
) -> None:
    calls = [{"conversation_id": f"case-{number}", "flow": "booking"} for number in range(3)]
    earlier = lines(tmp_path / "flow-transcripts-a.jsonl", *calls)
    later, store = lines(tmp_path / "flow-transcripts-b.jsonl", *calls[:2]), str(tmp_path / "store.db")
    assert run(["ingest", str(earlier), "--store", store, "--strict"]) == ExitCode.OK
    capsys.readouterr()
    for _ in range(2):
        assert run(["ingest", str(later), "--store", store, "--strict"]) == ExitCode.SKIPPED
        err = capsys.readouterr().err
        assert f"2 conversations of earlier files that still contain them ({earlier}) replaced by the same call" in err
        assert f"2 conversations replaced by the same call elsewhere; `riff-tui doctor --store {store}` lists" in err
    assert run(["ingest", str(earlier), "--store", store, "--strict"]) == ExitCode.SKIPPED


@pytest.mark.parametrize("change", ["changed", "gone"])
def test_a_call_of_an_earlier_file_that_is_no_longer_as_it_was_is_no_drop(
    change: str, tmp_path: Path, capsys: Captured
) -> None:
    call = {"conversation_id": "case-0", "flow": "booking"}
    earlier, store = lines(tmp_path / "flow-transcripts-a.jsonl", call), str(tmp_path / "store.db")
    assert run(["ingest", str(earlier), "--store", store, "--strict"]) == ExitCode.OK
    lines(earlier, {**call, "completed": True})
    if change == "gone":
        earlier.rename(tmp_path / "flow-transcripts-moved.jsonl")
    else:
        assert run(["ingest", str(earlier), "--store", store, "--strict"]) == ExitCode.OK
        lines(tmp_path / "flow-transcripts-moved.jsonl", call)
        lines(earlier, {**call, "conversation_id": "case-1"})
    later = str(tmp_path / "flow-transcripts-moved.jsonl")
    assert run(["ingest", later, "--store", store, "--strict"]) == ExitCode.OK
    assert "1 conversation of earlier files replaced by the same call in these.\n" in capsys.readouterr().err


def test_scores_whose_id_stands_for_several_calls_are_told_and_listed(tmp_path: Path, capsys: Captured) -> None:
    lines(
        tmp_path / "in" / "flow-transcripts-a.jsonl",
        *({"conversation_id": "case-0", "flow": flow} for flow in ("booking", "dispatch")),
    )
    said: dict[str, object] = {"conversation_id": "case-0", "judge": "codex", "score": 7}
    lines(tmp_path / "in" / "humanness-codex.jsonl", said, {**said, "flow": "booking", "trial": 0})
    store = str(tmp_path / "store.db")
    assert run(["ingest", str(tmp_path / "in"), "--store", store, "--strict"]) == ExitCode.OK
    assert "1 score in the store joined to no call: 1 has an id that may be of several" in capsys.readouterr().err
    assert run(["dump", "skipped", "--store", store, "--format", "json"]) == ExitCode.OK
    (row,) = json.loads(capsys.readouterr().out)["rows"]
    assert (row["kind"], row["line"], row["conversation"]) == ("unjoined", 1, "case-0")
    assert row["reason"] == "its id means 2 calls of run r: it needs flow"


def test_scores_without_their_call_wait_and_are_told_and_listed_with_those_of_several(
    tmp_path: Path, capsys: Captured
) -> None:
    calls = [{"conversation_id": "case-0", "flow": flow} for flow in ("booking", "dispatch")]
    said: dict[str, object] = {"conversation_id": "case-0", "judge": "codex", "score": 7}
    scores = lines(
        tmp_path / "humanness-codex.jsonl",
        said,
        {**said, "run_id": "unheard-of"},
        {**said, "flow": "dental"},
        {**said, "conversation_id": "case-1"},
    )
    store = str(tmp_path / "store.db")
    for _ in range(2):
        assert run(["ingest", str(scores), "--store", store, "--strict"]) == ExitCode.OK
        assert "4 scores in the store joined to no call: 4 wait for their calls (which: " in capsys.readouterr().err
    assert run(["ingest", str(lines(tmp_path / "flow-transcripts-a.jsonl", *calls)), "--store", store]) == ExitCode.OK
    told = "4 scores in the store joined to no call: 3 wait for their calls, 1 has an id that may be of several calls"
    assert told in capsys.readouterr().err
    assert run(["dump", "skipped", "--store", store, "--format", "json"]) == ExitCode.OK
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert [(row["kind"], row["line"], row["reason"]) for row in rows] == [
        ("unjoined", 1, "its id means 2 calls of run r: it needs flow"),
        ("unjoined", 2, "no call of that run and id (yet)"),
        ("unjoined", 3, "no call of that run and id (yet): what there is has another flow, agent or trial"),
        ("unjoined", 4, "no call of that run and id (yet)"),
    ]
    assert run(["doctor", "--store", store]) == ExitCode.OK
    assert "unjoined    4\n" in capsys.readouterr().out

    lines(scores, {**said, "flow": "booking"}, {**said, "conversation_id": "case-1"})
    assert run(["ingest", str(scores), "--store", store, "--strict"]) == ExitCode.OK
    assert "1 score in the store joined to no call: 1 waits for its call (which: " in capsys.readouterr().err
    lines(tmp_path / "flow-transcripts-a.jsonl", *calls, {"conversation_id": "case-1", "flow": "booking"})
    assert run(["ingest", str(tmp_path), "--store", store, "--strict"]) == ExitCode.OK
    assert "joined to no call" not in capsys.readouterr().err


def test_a_run_of_eva_is_told_with_what_it_was_made_with(tmp_path: Path, capsys: Captured) -> None:
    run_directory = make_run(tmp_path / "run", {"1.1.2": files(), "1.2.1": files("1.2.1")})
    dataset = tmp_path / "data.json"
    dataset.write_text(json.dumps([{"id": "1.1.2"}]))
    store = str(tmp_path / "store.db")
    assert run(["ingest", str(run_directory), "--dataset", str(dataset), "--store", store]) == ExitCode.OK
    out, err = capsys.readouterr()
    assert out == ""
    assert f"taken      eva          {run_directory}/records/1.1.2: 1 conversation\n" in err
    assert "records/1.2.1: 1 conversation, 1 noted\n" in err
    assert f"used       with eva     {dataset}: for 2 conversations\n" in err
    assert "2 conversations and 0 scores stored.\n" in err

    assert run(["dump", "skipped", "--store", store, "--format", "csv"]) == ExitCode.OK
    assert "dataset_record_missing: the dataset has no record 1.2.1" in capsys.readouterr().out
    assert run(["doctor", "--store", store]) == ExitCode.OK
    assert "dataset_record_missing" in capsys.readouterr().out


def test_a_dataset_that_is_not_there_is_an_error_before_anything_is_read(tmp_path: Path, capsys: Captured) -> None:
    store = tmp_path / "store.db"
    run_directory = make_run(tmp_path / "run", {"1.1.2": files()})
    arguments = ["ingest", str(run_directory), "--dataset", "nowhere.json", "--store", str(store)]
    assert run(arguments) == ExitCode.USAGE
    assert "nowhere.json: there is no such file or directory" in capsys.readouterr().err
    assert not store.exists()


def test_notes_of_people_are_counted_whether_they_are_new_or_unchanged(tmp_path: Path, capsys: Captured) -> None:
    note = {"id": "note_1", "note": "Dead line.", "simulation_id": "s-1"}
    (tmp_path / "task_1_note_1_note.json").write_text(json.dumps(note))
    command = ["ingest", str(tmp_path), "--store", str(tmp_path / "store.db")]
    assert run(command) == ExitCode.OK
    err = capsys.readouterr().err
    assert "task_1_note_1_note.json: 1 note\n" in err
    assert "0 conversations, 0 scores and 1 note stored." in err
    assert f"1 note in the store waits for its call (which: riff-tui dump skipped --store {command[-1]})." in err
    assert run(command) == ExitCode.OK
    err = capsys.readouterr().err
    assert "task_1_note_1_note.json: 1 note\n" in err
    assert "0 conversations and 0 scores stored, 1 file unchanged." in err
    assert run(["doctor", "--store", str(tmp_path / "store.db")]) == ExitCode.OK
    out = capsys.readouterr().out
    assert "\nnotes       1\n" in out
    assert "a note on a call that is not there (yet)" in out
