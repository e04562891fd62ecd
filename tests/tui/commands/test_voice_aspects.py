"""The metrics of voice calls wherever aspects are: an agent that answers late is seen everywhere."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.support.commands import riff_tui
from tests.support.eva_runs import CONFIG, files, make_run, take

CALLS = 12
LATE = 3.0
OPTIONAL = {
    "turn_taking", "response_speed", "tool_call_validity", "stt_wer", "conversation_correctly_finished",
    "conversation_completed_on_time", "conversation_valid_end",
}  # fmt: skip


def late(record: dict[str, bytes]) -> dict[str, bytes]:
    """A record in which each sound of the agent begins later."""
    lines = [json.loads(line) for line in record["user_simulator_events.jsonl"].splitlines()]
    for line in lines:
        if line.get("event_type") == "audio_start" and line["user"] == "assistant":
            line["audio_timestamp"] += LATE
    return {**record, "user_simulator_events.jsonl": "".join(json.dumps(line) + "\n" for line in lines).encode()}


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs of the same records by two agents, of which the second answers late."""
    folder = tmp_path_factory.mktemp("voice")
    records = {f"1.{n}.1": files(f"1.{n}.1", n, turns=4) for n in range(CALLS)}
    slower = {**CONFIG, "model": {"stt": "ear", "llm": "mind-3", "tts": "mouth"}}
    make_run(folder / "runs", records, name="before")
    make_run(folder / "runs", {name: late(record) for name, record in records.items()}, slower, name="late")
    take(folder / "calls.db", folder / "runs")
    return folder / "calls.db"


def rows(*arguments: str | Path) -> list[dict[str, object]]:
    done = riff_tui(*arguments, "--format", "json")
    assert done.returncode == 0, done.stderr
    return list(json.loads(done.stdout)["rows"])


def test_flows_have_columns_to_choose_for_what_was_measured(store: Path) -> None:
    table = json.loads(riff_tui("dump", "flows", "--format", "json", "--store", store).stdout)
    columns = {column["key"]: column for column in table["columns"]}
    assert columns.keys() & {*OPTIONAL, "task_completion", "authentication_success"} == OPTIONAL
    assert columns["stt_wer"] == {"key": "stt_wer", "title": "stt_wer", "unit": "share", "better": "lower"}
    first, second = (row["response_speed"] for row in sorted(table["rows"], key=lambda row: row["agent"]))
    assert second == pytest.approx(first + LATE)
    assert "turn_taking" not in riff_tui("dump", "flows", "--store", store).stdout, "unless they are chosen"


def test_a_filter_and_a_sort_speak_of_them(store: Path) -> None:
    found = rows("dump", "flows", "--where", "turn_taking<0.5", "--store", store)
    assert [row["agent"] for row in found] == ["ear + mind-3 + mouth"]
    assert len(rows("dump", "conversations", "--where", "response_speed>=3", "--store", store)) == CALLS
    worst = rows("dump", "conversations", "--sort", "turn_taking", "--limit", "1", "--store", store)
    assert worst[0]["run"] == "late"


def test_runs_are_compared_by_them(store: Path) -> None:
    found = {str(row["aspect"]): row for row in rows("compare", "before", "late", "--store", store)}
    assert found.keys() >= OPTIONAL
    assert [found[key]["verdict"] for key in ("turn_taking", "response_speed")] == ["worse", "worse"]
    assert (found["turn_taking"]["unit"], found["turn_taking"]["better"]) == ("0-1", "higher")
    assert found["response_speed"]["effect"] == pytest.approx(LATE)
    assert found["conversation_valid_end"]["test"] == "Fisher", "yes or no is a rate"
    assert (found["conversation_valid_end"]["a"], found["conversation_valid_end"]["b"]) == (1.0, 1.0)


def test_a_comparison_tells_their_units(store: Path) -> None:
    done = riff_tui("compare", "before", "late", "--store", store)
    assert " · turn_taking 0-1 · response_speed s, lower is better · " in done.stdout


def test_a_gate_fails_by_them(store: Path, tmp_path: Path) -> None:
    sides = ("gate", "--baseline", "before", "--candidate", "late")
    done = riff_tui(*sides, "--max-drop", "turn_taking=0.1", "--junit", tmp_path / "gate.xml", "--store", store)
    assert done.returncode == 3, done.stderr
    (failure,) = ElementTree.parse(tmp_path / "gate.xml").getroot().iter("failure")
    assert "turn_taking" in failure.get("message", "")
    assert "allowed 0.1;" in failure.get("message", "")
    assert "latency s · turn_taking 0-1 · else points of 0-10" in done.stdout
    for allowed in ("response_speed=3.5", "conversation_valid_end=5%", "wer=0.1"):
        done = riff_tui(*sides, "--max-drop", allowed, "--store", store)
        assert (done.returncode, done.stderr.count("gate passed")) == (0, 1), done.stderr
    done = riff_tui(*sides, "--max-drop", "turn_taking=5", "--store", store)
    assert done.returncode == 2
    assert "it takes points from 0 to 1" in done.stderr


def test_effects_explain_them_and_the_export_has_them(store: Path) -> None:
    done = riff_tui("dump", "effects", "--aspect", "turn_taking", "--store", store)
    assert "Units: turn_taking 0-1, higher is better" in done.stdout
    assert "mind-3" in done.stdout
    done = riff_tui("export", "--where", "aspect=wer", "-o", "-", "--store", store)
    assert done.stdout.count(",stt_wer,(computed),") == 2 * CALLS


def test_a_call_tells_them_and_why_others_are_not_measured(store: Path) -> None:
    done = riff_tui("dump", "conversation", "--where", "run=late conversation=1.3.1", "--store", store)
    assert " · stt_wer 0.00" in done.stdout
    assert "Not measured: task_completion, authentication_success: no expected database is known" in done.stdout
