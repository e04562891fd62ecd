"""What `schema` says of the JSON of views and commands is true of all that they print."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from tests.conftest import ROOT
from tests.support.eva_runs import files, make_run, take
from tests.support.every_dump import as_text, every_dump
from tests.support.json_page import json_page
from tests.surface.store import FIELDS, ExitCode, open_store
from tests.surface.tui import COMMANDS, Request, parse, run, schema_of, schema_of_all, views

Captured = pytest.CaptureFixture[str]
ALL: Mapping[str, Any] = schema_of_all()
MOST = 20
"""So many rows of a long dump stand for all of them, from both ends."""


def complaints(path: Path) -> Iterator[str]:
    with open_store(path) as store:
        for view, request in every_dump(store, str(path)):
            found = json.loads(as_text(store, view, request))
            if len(found["rows"]) > 2 * MOST:
                found["rows"][MOST:-MOST] = []
            for error in Draft202012Validator(ALL["views"][view]).iter_errors(found):
                yield f"{view} {request.where} {request.by}: {list(error.absolute_path)} {error.message}"


def test_every_dump_of_a_small_store_is_as_its_schema_says(tiny: Path) -> None:
    assert list(complaints(tiny)) == []


def test_every_dump_of_the_demo_is_as_its_schema_says(demo: Path) -> None:
    assert list(complaints(demo)) == []


def test_every_dump_of_names_that_try_to_act_is_as_its_schema_says(hostile: Path) -> None:
    assert list(complaints(hostile)) == []


def test_every_dump_of_voice_calls_is_as_its_schema_says(tmp_path: Path) -> None:
    take(tmp_path / "calls.db", make_run(tmp_path / "run", {"1.1.2": files(), "1.1.3": files("1.1.3", 2)}))
    assert list(complaints(tmp_path / "calls.db")) == []


@pytest.mark.parametrize("recorded", [pytest.param("star", marks=pytest.mark.nightly), "tau3"])
def test_every_dump_of_recordings_is_as_its_schema_says(shared_data: Path, tmp_path: Path, recorded: str) -> None:
    take(tmp_path / "calls.db", shared_data / recorded)
    assert list(complaints(tmp_path / "calls.db")) == []


@pytest.mark.parametrize("view", [spec.name for spec in views()])
def test_a_schema_is_one_and_lets_nothing_else_in(view: str) -> None:
    schema = ALL["views"][view]
    Draft202012Validator.check_schema(schema)
    assert schema["additionalProperties"] is False
    assert schema["$defs"]["row"]["additionalProperties"] is False
    assert schema["schema_version"] == 1


@pytest.mark.parametrize("view", [spec.name for spec in views()])
def test_the_fields_that_are_named_are_read_by_the_filter(view: str) -> None:
    for field, kind in ALL["views"][view]["fields"].items():
        assert kind in {"name", "number", "flag", "time"}
        if field in FIELDS and field.isidentifier():
            parse(f"{field}!=·")


def test_every_command_is_there_with_its_options() -> None:
    assert {name.partition(" ")[0] for name in ALL["commands"]} == set(COMMANDS)
    options = {name: option for option in ALL["commands"]["dump"]["options"] for name in option["names"]}
    assert {"--where", "--by", "--sort", "--limit", "--format", "--store"} <= options.keys()
    assert "json" in options["--format"]["choices"]
    assert "{" not in json.dumps([each["help"] for each in ALL["commands"]["dump"]["arguments"]]).replace("[{", "")
    assert ALL["exit_codes"][str(int(ExitCode.GATE_FAILED))] == "gate failed"


def test_one_view_or_command_is_printed_alone(capsys: Captured) -> None:
    assert run(["schema", "matrix"]) == 0
    assert json.loads(capsys.readouterr().out) == schema_of("flows")
    assert run(["schema", "notes import"]) == 0
    assert json.loads(capsys.readouterr().out)["schema_version"] == 1
    assert run(["schema", "compare"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["properties"]["view"], found["arguments"][0]["names"]) == ({"const": "compare"}, ["A"])
    assert run(["schema", "nope"]) == ExitCode.USAGE
    assert "commands are ui" in capsys.readouterr().err


def test_the_page_is_what_the_schema_says() -> None:
    assert (ROOT / "docs" / "json.md").read_text(encoding="utf-8") == json_page(), "`make readme` writes it anew"


def printed(command: str, *arguments: str, capsys: Captured) -> dict[str, Any]:
    """What a command prints as JSON, which is as its schema says."""
    capsys.readouterr()
    assert run([*command.split(), *arguments, "--json"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert wrong(command, found) == []
    assert found["schema_version"] == 1
    return found


def test_what_is_ingested_copied_and_checked_is_printed_as_json(
    tiny: Path, tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    store, copied = str(tmp_path / "calls.db"), str(tmp_path / "copy.db")
    ingested = printed("ingest", str(tiny.parent / "run-2"), "--store", store, capsys=capsys)
    assert ingested["conversations"] == sum(each["conversations"] for each in ingested["files"]) > 0
    assert ingested["skipped"] == sum(each["skipped"] for each in ingested["files"])
    again = printed("ingest", str(tiny.parent / "run-2"), "--store", store, capsys=capsys)
    assert (again["conversations"], again["unchanged"]) == (0, len(again["files"]))
    assert printed("copy", store, copied, capsys=capsys)["calls"] == ingested["conversations"]
    assert printed("doctor", "--store", copied, capsys=capsys)["whole"] is True
    found = printed("search", "a", "--store", str(tiny), "--context", "1", capsys=capsys)
    assert len(found["rows"]) == found["hits"] > 0


def test_notes_that_are_merged_and_a_case_that_is_made_are_printed_as_json(
    demo: Path, tmp_path: Path, capsys: Captured
) -> None:
    assert run(["notes", "export", "--store", str(demo), "-o", str(tmp_path / "notes.jsonl")]) == 0
    (merged,) = printed(
        "notes import", str(tmp_path / "notes.jsonl"), "--store", str(tmp_path / "new.db"), capsys=capsys
    )["files"]
    assert merged["new"] > 0
    with open_store(demo) as store:
        (row,) = json.loads(as_text(store, "conversations", Request(where="failed=true", limit=1)))["rows"]
    where = ("--where", row["drill"]["where"], "--store", str(demo))
    made = printed("case", *where, capsys=capsys)
    assert (made["flow"], made["file"], row["conversation"] in made["case"]) == (row["flow"], None, True)
    written = printed("case", *where, "-o", str(tmp_path / "case.json"), capsys=capsys)
    assert (written["case"], Path(written["file"]).read_text(encoding="utf-8")) == (None, made["case"])


def test_edits_are_printed_as_json(tmp_path: Path, capsys: Captured) -> None:
    for line in ("init -q", "config user.email a@example.org", "config user.name Ada"):
        subprocess.run(["git", *line.split()], cwd=tmp_path, check=True)
    (tmp_path / "viewing.toml").write_text("name = 'viewing'\n", encoding="utf-8")
    subprocess.run(["git", "add", "."], cwd=tmp_path, check=True)
    subprocess.run(["git", "commit", "-qm", "Begin"], cwd=tmp_path, check=True)
    options = ("--repo", str(tmp_path), "--flows", "{flow}.toml", "--store", str(tmp_path / "calls.db"))
    (flow,) = printed("edits", *options, capsys=capsys)["flows"]
    assert (flow["flow"], flow["edits"], flow["added"], flow["has_calls"]) == ("viewing", 1, 1, False)


def test_what_a_judge_would_be_asked_is_printed_as_json(tiny: Path, tmp_path: Path, capsys: Captured) -> None:
    options = ("--judge", "gemini", "--out", str(tmp_path), "--dry-run")
    found = printed("judge", str(tiny.parent / "run-2"), *options, capsys=capsys)
    assert (found["dry_run"], found["scored"], found["not_asked"]) == (True, 0, found["due"])


def wrong(command: str, found: Any) -> list[str]:
    schema = Draft202012Validator(ALL["commands"][command]["json"])
    return [f"{list(error.absolute_path)} {error.message}" for error in schema.iter_errors(found)]


def test_every_object_of_what_commands_print_is_described_or_that_of_a_file() -> None:
    def opened(shape: Any, path: str) -> Iterator[str]:
        if isinstance(shape, list):
            for each in shape:
                yield from opened(each, path)
        elif isinstance(shape, dict):
            if "properties" in shape and shape.get("additionalProperties") is not False:
                yield path
            for key, each in shape.items():
                yield from opened(each, f"{path}/{key}")

    for name, command in ALL["commands"].items():
        Draft202012Validator.check_schema(command["json"] or {})
        assert list(opened(command["json"], name)) == []


@pytest.mark.parametrize(
    "options", [(), ("--words",), ("--budget", "5000"), ("--budget", "20"), ("--where", "run=none")]
)
def test_a_brief_is_as_its_schema_says(
    demo: Path, tiny: Path, hostile: Path, capsys: Captured, options: tuple[str, ...]
) -> None:
    for store in (demo, tiny, hostile):
        capsys.readouterr()
        assert run(["brief", "--format", "json", "--store", str(store), *options]) == 0
        found = json.loads(capsys.readouterr().out)
        assert (wrong("brief", found), found["schema_version"]) == ([], 1)


def test_what_is_watched_is_as_its_schema_says(tmp_path: Path, capsys: Captured) -> None:
    example, store, out = ROOT / "examples" / "leaky_tap", str(tmp_path / "calls.db"), tmp_path / "fixed"
    for agent in ("agent", out.name):
        flow, command = str(example / "flow.toml"), f"command:{sys.executable} {example / agent}.py"
        asked = ["--flows", flow, "--agent", command, "--agent-name", "drip", "--ingest", store, "--json"]
        assert run(["run", "--out", str(tmp_path / agent), *asked]) == 0
        lines = capsys.readouterr().out.splitlines()
        assert [json.loads(line)["event"] for line in lines if not wrong("run", json.loads(line))] == ["launch", "done"]
    for more in ([], ["--text"], ["--store", store, "--baseline", "agent"]):
        assert run(["watch", "--run", str(out), "--json", *more]) == 0
        found = json.loads(capsys.readouterr().out)
        assert (wrong("watch", found), found["schema_version"], bool(found["calls"])) == ([], 1, True)


def test_what_eva_prints_is_as_its_schema_says(tmp_path: Path, capsys: Captured) -> None:
    made = make_run(tmp_path / "run", {"1.1.2": files(), "1.1.3": files("1.1.3", 2)})
    for part in ("context", "metrics"):
        for directory in (made, next((made / "records").iterdir())):
            assert run(["eva", part, str(directory)]) == 0
            assert wrong(f"eva {part}", json.loads(capsys.readouterr().out)) == []


def test_a_run_is_as_its_schema_says(tmp_path: Path, capsys: Captured) -> None:
    flow = ROOT / "examples" / "leaky_tap" / "flow.toml"
    asked = ["--flows", str(flow), "--agent", "command:cat", "--out", str(tmp_path)]
    assert run(["run", *asked, "--dry-run", "--json"]) == 0
    (line,) = capsys.readouterr().out.splitlines()
    assert wrong("run", json.loads(line)) == []
    assert json.loads(line)["dry_run"] is True
