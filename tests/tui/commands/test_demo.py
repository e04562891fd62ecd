"""A demo needs nothing but itself and has something for every key, and a simulation leaves files to ingest."""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.support.walker import exploring
from tests.surface.ingest import flow_files_read
from tests.surface.store import open_store
from tests.surface.tui import ExitCode, Request, Table, run, show

Captured = pytest.CaptureFixture[str]


def test_a_demo_without_a_terminal_prints_worklist_and_flows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["demo", "--conversations", "60"]) == ExitCode.OK
    out, err = capsys.readouterr()
    assert out.startswith("What to work on")
    assert "\nEvaluation matrix" in out
    assert "60 simulated conversations and 32 voice calls below demo." in err
    assert (tmp_path / "demo" / "demo.db").is_file()


def test_a_demo_says_where_its_store_is_to_be_found_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run(["demo", "--conversations", "8", "--out", "try it"]) == ExitCode.OK
    command, view, *options = shlex.split(capsys.readouterr().err.splitlines()[-1].removeprefix("Next: "))
    assert (command, view) == ("riff-tui", "ui")
    assert run(["dump", "worklist", *options]) == ExitCode.OK


def made(folder: Path, *options: str) -> Path:
    """The store of a small demo in a folder."""
    assert run(["demo", "--out", str(folder), "--conversations", "8", *options]) == ExitCode.OK
    return folder / "demo.db"


def shown(store: Path, view: str, where: str = "", **asked: Any) -> Table:
    with open_store(store) as opened:
        return show(opened, view, Request(where=where, **asked))


def contents(folder: Path) -> Mapping[str, bytes]:
    """What a demo wrote, but for its store and what git keeps."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.suffix != ".db" and ".git" not in path.parts
    }


def head(repository: Path) -> str:
    asked = ["git", "-C", str(repository), "rev-parse", "main", "shorter-prompts"]
    return subprocess.run(asked, capture_output=True, encoding="utf-8", check=True).stdout


def test_a_demo_is_the_same_wherever_it_is_made(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "two words"
    made(one)
    made(other)
    assert contents(one) == contents(other)
    assert head(one / "agent") == head(other / "agent")


def test_a_second_demo_keeps_what_was_done_with_the_first(tmp_path: Path, capsys: Captured) -> None:
    store = made(tmp_path)
    where = f"--store={store}"
    assert run(["notes", "add", "--where", "conversation=a-bicycle-9/trial_0", "--code", "mine", where]) == 0
    assert run(["sample", "--n", "3", "--seed", "9", "--replace", where]) == 0
    (tmp_path / "agent" / "flows" / "dental_clinic.toml").write_text("flow = 'dental_clinic'\nedges = [['a', 'b']]\n")
    before = [row.record["conversation"] for row in shown(store, "sample").rows]
    made(tmp_path)
    assert [row.record["conversation"] for row in shown(store, "sample").rows] == before
    assert "mine" in {row.record["code"] for row in shown(store, "codes").rows}
    assert "['a', 'b']" in (tmp_path / "agent" / "flows" / "dental_clinic.toml").read_text()
    assert not shown(store, "skipped").rows


def test_without_git_a_demo_lacks_its_edits_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    store = made(tmp_path / "demo")
    assert "There are no edits of flows in it: git is not installed" in capsys.readouterr().err
    assert not shown(store, "edits").rows
    assert shown(store, "codes").rows
    assert any(row.record["n"] == 0 for row in shown(store, "states", "flow=dental_clinic").rows)


def test_calls_of_another_seed_have_no_notes_that_were_written_on_those_of_the_first(tmp_path: Path) -> None:
    store = made(tmp_path, "--seed", "7")
    with open_store(store) as opened:
        noted = show(opened, "conversations", Request(where="noted"))
        assert {row.record["flow"] for row in noted.rows} == {"night_train"}


@pytest.mark.parametrize("keys", ["H", "U", "#", "P", "B", "5"])
async def test_every_key_that_needs_something_has_something_to_show(demo: Path, keys: str) -> None:
    async with exploring(demo, (80, 24)) as at:
        await at.press("number_sign" if keys == "#" else keys)
        await at.until(lambda: at.screen.loaded is not None and at.screen.loaded.main.view != "flows")
        assert at.screen.loaded is not None
        assert len(at.screen.loaded.main.rows) > 4, at.path


def test_its_reading_list_is_half_read_by_two_people(demo: Path) -> None:
    table = shown(demo, "sample")
    read = [row.record["read"] for row in table.rows]
    assert (len(read), sum(read)) == (40, 24)
    assert table.extras["readers"] == {"ada@example.org": 24, "bo@example.org": 7}
    assert {"pass", "fail", "split"} <= {row.record["verdict"] for row in table.rows}


def test_what_people_noted_stands_where_they_say(demo: Path) -> None:
    with open_store(demo) as store:
        calls = [row.where for row in show(store, "conversations", Request(where="noted", limit=100)).rows]
        details = [show(store, "conversation", Request(where=where)).extras for where in calls]
    assert len(details) == 31
    for detail in details:
        for note in detail["annotations"]:
            if note["code"]:
                turn = detail["turns"][note["turn"] - 1]
                assert turn["role"] == "agent"
                assert note["state"] in (None, turn["state"])


def test_people_find_its_judges_wanting(demo: Path) -> None:
    found = [row.record for row in shown(demo, "alignment").rows]
    of_all = {row["judge"]: row["tpr"] for row in found if not row["code"]}
    assert of_all["sim-warm"] < 0.2 < of_all["sim-strict"]


def test_in_its_voice_calls_either_side_breaks_in_and_the_agent_is_late(demo: Path) -> None:
    figure = shown(demo, "conversation", "conversation=move-the-day-8/trial_0").figure
    assert figure is not None
    drawn = "\n".join(figure.draw(ascii_only=False, width=80))
    assert "▲ agent interrupts" in drawn
    assert "▼ caller interrupts" in drawn
    assert "· late" in drawn


def test_its_two_voice_runs_differ_beyond_chance(demo: Path) -> None:
    rows = shown(demo, "compare", sides=("voice-2026-06-08", "voice-2026-06-09")).rows
    verdicts = {row.record["aspect"]: row.record["verdict"] for row in rows}
    assert verdicts["success_rate"] == "better"
    assert verdicts["turn_taking"] == "better"


def test_an_edit_stands_before_every_night_and_one_made_a_flow_better(demo: Path) -> None:
    agent = demo.parent / "agent"
    log = ["git", "-C", str(agent), "log", "--all", "--format=%h"]
    commits = subprocess.run(log, capture_output=True, encoding="utf-8", check=True).stdout.split()
    runs = {row.record["commit"] for row in shown(demo, "runs").rows}
    assert len(runs) == 12
    assert runs <= {commit[:7] for commit in commits}, "runs.toml and demo/voice.toml name commits of demo/history.toml"
    edits = [row.record for row in shown(demo, "edits").rows]
    assert {edit["basis"] for edit in edits} == {"commit"}
    assert [edit["flow"] for edit in edits if edit["verdict"] == "better"] == ["night_train"]


def test_some_of_what_its_flow_files_declare_is_touched_by_no_call(demo: Path) -> None:
    rows = [row.record for row in shown(demo, "states", limit=500).rows]
    gone = {(row["flow"], row["state"], after) for row in rows for after in row["to_states"] or ()}
    assert [(row["flow"], row["state"]) for row in rows if row["n"] == 0] == [("dental_clinic", "offer_waiting_list")]
    for flow, edge in (
        ("dental_clinic", ("book_visit", "offer_waiting_list")),
        ("austin_plumbing", ("check_coverage", "collect_address")),
    ):
        file = flow_files_read(demo.parent / "agent" / "flows" / f"{flow}.toml")
        assert not file.left_out
        assert edge in file.described.edges
        assert (flow, *edge) not in gone


def test_its_calls_that_were_simulated_are_those_that_a_simulation_makes(demo: Path, tmp_path: Path) -> None:
    assert run(["simulate", "--out", str(tmp_path)]) == ExitCode.OK
    files = contents(tmp_path)
    written = contents(demo.parent)
    assert {name: written[name] for name in files} == files


def test_a_simulation_leaves_files_to_ingest(tmp_path: Path, capsys: Captured) -> None:
    out = tmp_path / "two words"
    assert run(["simulate", "--out", str(out), "--conversations", "8", "--flows", "dental_clinic"]) == ExitCode.OK
    assert capsys.readouterr().err == f"8 conversations in {len(list(out.rglob('*.jsonl')))} files below {out}.\n" + (
        f"Next: riff-tui ingest '{out}'\n"
    )


def test_what_no_call_touched_leads_the_coverage_of_a_flow_and_is_marked_once(demo: Path) -> None:
    rows = shown(demo, "coverage", "flow=dental_clinic").rows
    never = [row for row in rows if not row.record["calls"]]
    assert ("edge", "book_visit > offer_waiting_list") in [(row.record["kind"], row.record["item"]) for row in never]
    assert [row.severity for row in rows[: len(never)]] == [{"": "warn"}] * len(never)
