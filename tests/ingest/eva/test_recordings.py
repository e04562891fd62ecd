"""Histories and records whose whole context is known."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from riff_ingest.eva import MetricContext, process_history, read_record


@pytest.fixture
def eva(shared_data: Path) -> Path:
    return shared_data / "eva"


def without_times(trace: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{key: value for key, value in entry.items() if key != "timestamp"} for entry in trace]


def test_every_known_history_gives_its_whole_context(eva: Path) -> None:
    cases = json.loads((eva / "cases.json").read_text())
    assert len(cases) == 10
    for case in cases:
        found = process_history(case["history"], case["pipeline_type"]).to_dict()
        assert found["warnings"] == []
        found["conversation_trace"] = without_times(found["conversation_trace"])
        wanted = {**case["expected"], "conversation_trace": without_times(case["expected"]["conversation_trace"])}
        assert {key: found[key] for key in wanted} == wanted, case["id"]


def test_every_known_record_gives_its_whole_context(eva: Path) -> None:
    records = sorted((eva / "records").iterdir())
    assert len(records) == 2
    for directory in records:
        known = json.loads((directory / "expected.json").read_text())
        found = read_record(directory / "record", pipeline_type=known["pipeline"]).to_dict()
        assert found["warnings"] == []
        assert {key: found[key] for key in known["context"]} == known["context"], directory.name


def test_the_real_record_is_read_without_a_warning(eva: Path) -> None:
    found = read_record(eva / "run-real" / "records" / "1.1.2")
    assert found.warnings == []
    assert found.assistant_interrupted_turns == {3}
    assert found.latency_assistant_turns[3] == -21.287848
    assert (found.num_tool_calls, len(found.transcribed_user_turns)) == (5, 10)


def test_a_context_survives_its_json(eva: Path) -> None:
    found = read_record(eva / "run-real" / "records" / "1.1.2")
    assert MetricContext.from_dict(json.loads(json.dumps(found.to_dict()))) == found
