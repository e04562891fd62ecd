"""`eva`: contexts and metrics of voice logs, by the real program."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.support.commands import riff_tui
from tests.support.eva_records import FINAL_DB, SIMULATOR, goodbye, speech, write_record

METRICS = {
    "task_completion",
    "turn_taking",
    "response_speed",
    "tool_call_validity",
    "stt_wer",
    "authentication_success",
    "conversation_correctly_finished",
    "conversation_completed_on_time",
    "conversation_valid_end",
}


def eva(*arguments: str | Path, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return riff_tui("eva", *arguments, directory=cwd)


def printed(*arguments: str | Path, cwd: Path | None = None) -> tuple[dict[str, Any], list[str]]:
    """What stdout says as JSON, and the lines of stderr."""
    ended = eva(*arguments, cwd=cwd)
    assert ended.returncode == 0, ended.stderr
    return json.loads(ended.stdout), ended.stderr.splitlines()


def refused(*arguments: str | Path) -> str:
    ended = eva(*arguments)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr.count("\n") == 1
    return ended.stderr


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run of three records, one of them tried twice, one never finished."""
    records = tmp_path / "night" / "records"
    write_record(records / "1.10")
    write_record(records / "1.9" / "trial_0")
    write_record(records / "1.9" / "trial_10", simulator=None)
    write_record(records / "1.9" / "trial_2_failed_attempt_1")
    (records / "1.11").mkdir()
    return tmp_path / "night"


def test_a_conversation_prints_its_context(run: Path) -> None:
    found, told = printed("context", run / "records" / "1.10")
    assert told == []
    assert (found["record_id"], found["pipeline_type"], found["warnings"]) == ("r1", "cascade", [])
    assert found["transcribed_user_turns"] == {"1": "Rolls"}
    found, told = printed("context", ".", "--pipeline", "s2s", cwd=run / "records" / "1.9" / "trial_0")
    assert found["pipeline_type"] == "s2s"


def test_paths_begin_as_the_directory_was_named(run: Path) -> None:
    for place, prefix in (
        ("records/1.10", "records/1.10/"),
        ("./records/../records/1.10/", "records/../records/1.10/"),
    ):
        found, _ = printed("metrics", place, cwd=run)
        assert found["conversation_valid_end"]["details"]["file_path"] == f"{prefix}user_simulator_events.jsonl"
    found, _ = printed("metrics", ".", cwd=run)
    assert list(found) == ["1.9/trial_0", "1.9/trial_10", "1.10"]


def test_warnings_are_told_on_stderr_as_well(run: Path) -> None:
    found, told = printed("context", run / "records" / "1.9" / "trial_10")
    assert found["warnings"] == told
    assert [line.partition(":")[0] for line in told] == ["simulator_log_missing"]


def test_a_run_prints_its_finished_conversations_by_output_id(run: Path) -> None:
    found, told = printed("metrics", run)
    assert list(found) == ["1.9/trial_0", "1.9/trial_10", "1.10"]
    assert all(set(scores) == METRICS for scores in found.values())
    assert told[0].startswith("1.9/trial_10: simulator_log_missing: ")
    unheard = found["1.9/trial_10"]
    assert {name for name, score in unheard.items() if "simulator" in (score["error"] or "")} == {
        "turn_taking", "response_speed", "stt_wer", "conversation_valid_end"
    }  # fmt: skip
    assert all(score["score"] is None for score in unheard.values() if score["error"])
    assert told[1:] == ["1.11: left out, for without a result.json it was never finished"]
    found, _ = printed("metrics", run / "records" / "1.9")
    assert list(found) == ["1.9/trial_0", "1.9/trial_10"]


def test_the_records_of_a_run_are_the_run(run: Path) -> None:
    wanted = printed("context", "night", cwd=run.parent)
    assert printed("context", "night/records", cwd=run.parent) == wanted
    assert list(printed("context", ".", cwd=run / "records")[0]) == list(wanted[0])


def test_an_attempt_that_was_put_aside_can_be_looked_at(run: Path) -> None:
    found, _ = printed("metrics", run / "records" / "1.9" / "trial_2_failed_attempt_1")
    assert set(found) == METRICS


def test_metrics_have_the_keys_that_are_stored(run: Path) -> None:
    found, _ = printed("metrics", run / "records" / "1.10")
    keys = {"name", "score", "normalized_score", "details", "error", "skipped", "version", "sub_metrics"}
    for name, score in found.items():
        assert set(score) == keys | {"prompt_hash"}
        assert score["name"] == name
        assert all(set(part) == keys for part in (score["sub_metrics"] or {}).values())
    assert found["turn_taking"]["details"]["per_turn_evidence"]["1"]["latency_ms"] == 1000.0
    assert found["task_completion"]["error"].startswith("no expected database is known")
    assert found["conversation_valid_end"]["details"]["file_path"] == str(
        run / "records" / "1.10" / "user_simulator_events.jsonl"
    )


def test_the_expected_database_comes_from_a_file_or_from_the_dataset(run: Path, tmp_path: Path) -> None:
    right, wrong = tmp_path / "right.json", tmp_path / "wrong.json"
    right.write_text(json.dumps(FINAL_DB))
    wrong.write_text(json.dumps({**FINAL_DB, "orders": {}}))
    record = run / "records" / "1.10"
    found, _ = printed("metrics", record, "--expected-db", right)
    assert found["task_completion"]["score"] == 1.0
    assert found["authentication_success"]["score"] == 1.0

    dataset = tmp_path / "bakery_dataset.json"
    dataset.write_text(json.dumps([{"id": "r1", "ground_truth": {"expected_scenario_db": {**FINAL_DB, "orders": {}}}}]))
    found, _ = printed("metrics", record, "--dataset", dataset)
    assert found["task_completion"]["score"] == 0.0
    assert found["task_completion"]["details"]["diff_summary"] == "1 tables modified"
    found, _ = printed("metrics", record, "--dataset", dataset, "--expected-db", right)
    assert found["task_completion"]["score"] == 1.0

    dataset.write_text(json.dumps({"id": "other"}))
    found, told = printed("metrics", record, "--dataset", dataset)
    assert told == ["dataset_record_missing: the dataset has no record r1"]
    assert found["task_completion"]["score"] is None


def test_names_of_the_dataset_are_those_of_the_runs_language(run: Path, tmp_path: Path) -> None:
    (run / "config.json").write_text(json.dumps({"language": "sv"}))
    expected = {**FINAL_DB, "session": {"caller": "M. <LAST_NAME>"}}
    names = {"en": {"last_name": "Smith"}, "sv": {"last_name": "ODE"}}
    dataset = tmp_path / "d.jsonl"
    dataset.write_text(
        json.dumps({"id": "r1", "culture_overrides": names, "ground_truth": {"expected_scenario_db": expected}})
    )
    found, _ = printed("metrics", run / "records" / "1.10", "--dataset", dataset)
    assert found["task_completion"]["score"] == 1.0
    assert found["stt_wer"]["skipped"] is True


def test_the_agents_file_says_which_tools_authenticate(run: Path, tmp_path: Path) -> None:
    agent = tmp_path / "agent.yaml"
    agent.write_text("id: baker\ntools:\n- {name: check_pin, tool_type: auth}\n")
    found, _ = printed("context", run / "records" / "1.10", "--agent", agent)
    assert found["agent_tools"] == [{"name": "check_pin", "tool_type": "auth"}]


def test_it_is_written_to_a_file_whole_and_for_its_owner(run: Path, tmp_path: Path) -> None:
    path = tmp_path / "out.json"
    ended = eva("metrics", run / "records" / "1.10", "-o", path)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")
    assert set(json.loads(path.read_text())) == METRICS
    assert path.stat().st_mode & 0o777 == 0o600


def test_nothing_in_the_logs_acts_on_a_terminal(tmp_path: Path) -> None:
    evil = "\x1b]52;c;aGk=\x07\x1b[2J\x9b31m\u202e\x00"
    log = [*SIMULATOR[:-1], {**speech(5.5, "user_speech", evil), "user": evil}, goodbye(6)]
    record = write_record(
        tmp_path / "r\x1b[2J", simulator=log, result={"record_id": evil, "final_scenario_db_hash": evil}
    )
    for command in ("context", "metrics"):
        ended = eva(command, record)
        assert ended.returncode == 0
        for text in (ended.stdout, ended.stderr):
            assert not set(text) & set("\x00\x07\x1b\x9b\u202e")
    assert json.loads(eva("context", record).stdout)["record_id"] == evil


def test_there_is_no_number_that_json_does_not_have(tmp_path: Path) -> None:
    record = write_record(tmp_path / "r")
    text = (
        (record / "result.json")
        .read_text()
        .replace("6.0", "NaN")
        .replace('"r1"', '"r1", "llm_latency": {"mean_ms": 1e999}')
    )
    (record / "result.json").write_text(text)
    for command in ("context", "metrics"):
        ended = eva(command, record)
        assert ended.returncode == 0
        json.loads(ended.stdout, parse_constant=lambda name: pytest.fail(name))


def test_what_is_no_conversation_is_refused_with_what_to_name(tmp_path: Path) -> None:
    file = tmp_path / "f.json"
    file.write_text("[1]")
    assert "is not a directory; name that of a conversation" in refused("context", tmp_path / "none")
    assert "is not a directory" in refused("metrics", file)
    (tmp_path / "empty").mkdir()
    assert "contains no conversation of EVA; name a directory with a result.json" in refused(
        "context", tmp_path / "empty"
    )
    record = write_record(tmp_path / "r")
    assert f"--expected-db: {file}: file is not a JSON object" in refused("metrics", record, "--expected-db", file)
    assert f"--agent: {file}: file is not a YAML mapping" in refused("metrics", record, "--agent", file)
    assert "--dataset: " in refused("metrics", record, "--dataset", tmp_path / "none.json")
    assert "Missing command; see `riff-tui eva --help`" in refused()


def test_an_expected_database_is_of_one_conversation(run: Path, tmp_path: Path) -> None:
    (tmp_path / "db.json").write_text("{}")
    assert "is of one conversation" in refused("metrics", run, "--expected-db", tmp_path / "db.json")


def test_help_of_each_has_examples_of_its_own() -> None:
    for command in ("context", "metrics"):
        shown = eva(command, "--help").stdout
        examples = shown.partition("Examples:\n")[2].splitlines()
        assert len(examples) >= 2
        assert all(line.startswith(f"    riff-tui eva {command} ") for line in examples)
