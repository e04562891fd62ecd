"""Records whose metrics are all known."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from riff_ingest.eva import read_record
from tests.surface.ingest import compute_metrics, load_yaml, read_files


@pytest.mark.parametrize("name", ["a_old_names_caller_barges_in", "b_new_names_previews_parked"])
def test_every_metric_of_a_known_record_is_what_eva_says(shared_data: Path, name: str) -> None:
    directory = shared_data / "eva" / "records" / name
    record = directory / "record"
    known = json.loads((directory / "expected.json").read_text().replace("<record>", str(record)))
    context = read_record(
        record,
        pipeline_type=known["pipeline"],
        dataset_record={
            "ground_truth": {"expected_scenario_db": json.loads((directory / "expected_scenario_db.json").read_text())}
        },
        agent=load_yaml(directory / "agent.yaml"),
    )
    found = {name: score.to_dict() for name, score in compute_metrics(context, read_files(record)).items()}
    assert json.loads(json.dumps(found)) == known["metrics"]


def test_the_real_record_has_figures_for_all_that_needs_no_expected_database(shared_data: Path) -> None:
    directory = shared_data / "eva" / "run-real" / "records" / "1.1.2"
    scores = compute_metrics(read_record(directory), read_files(directory))
    found = {name: score.value for name, score in scores.items()}
    assert found == {
        "task_completion": None,
        "turn_taking": 0.2696,
        "response_speed": 5.616,
        "tool_call_validity": 1.0,
        "stt_wer": 0.911,
        "authentication_success": None,
        "conversation_correctly_finished": 1.0,
        "conversation_completed_on_time": 1.0,
        "conversation_valid_end": 1.0,
    }
    parts = scores["turn_taking"].sub_metrics or {}
    tokens = parts["mean_output_tokens"].score
    assert tokens is not None
    assert tokens > 0
    assert "mean_reasoning_tokens" not in parts, "the old file has no such column"


def test_an_old_hash_is_named_and_not_believed(shared_data: Path) -> None:
    directory = shared_data / "eva" / "run-real" / "records" / "1.1.2"
    final = json.loads((directory / "final_scenario_db.json").read_text())
    context = read_record(directory, dataset_record={"ground_truth": {"expected_scenario_db": final}})
    score = compute_metrics(context, read_files(directory))["task_completion"]
    assert (score.score, score.details["stored_hash_form"]) == (1.0, "plain")
    assert score.details["actual_hash"].startswith("d929bfc0")
    assert score.details["stored_hash"].startswith("4bc4901f")
