"""How quickly the agent answers (10.4), and how well it calls tools (10.5)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.eva_calls import NO_FILES, call, parts_of, waits
from tests.surface.ingest import INVALID, response_speed, tool_call_validity


def test_speed_is_the_mean_of_latencies_that_are_some() -> None:
    score = response_speed(call(*waits(1.0004, -0.5, 2.0, 0.0, 1000.0), tools_in=[3]), NO_FILES)
    assert (score.score, score.normalized_score) == (1.5, None)
    assert score.details == {
        "mean_speed_seconds": 1.5,
        "max_speed_seconds": 2.0,
        "num_turns": 2,
        "per_turn_speeds": [1.0, 2.0],
    }
    assert parts_of(score) == {"with_tool_calls": 2.0, "no_tool_calls": 1.0}


def test_speed_is_skipped_where_there_is_none() -> None:
    score = response_speed(call(*waits(-1.0), llm_latency={"mean_ms": 5}), NO_FILES)
    assert (score.score, score.normalized_score, score.skipped, score.error) == (None, None, True, None)


def test_a_kind_of_turn_that_there_is_not_has_no_part() -> None:
    assert set(parts_of(response_speed(call(*waits(1.0), tools_in=[1]), NO_FILES))) == {"with_tool_calls"}


def test_the_models_tell_how_long_they_took() -> None:
    latency = {"mean_ms": 812.5, "p50_ms": 800, "p95_ms": None, "total_calls": 3, "unit_ms": "x"}
    score = response_speed(
        call(*waits(1.0), llm_latency=latency, stt_latency={"p50_ms": 1}, tts_latency={"mean_ms": "5"}), NO_FILES
    )
    parts = score.sub_metrics or {}
    assert set(parts) == {"no_tool_calls", "llm_latency"}
    assert parts["llm_latency"].score == 0.812
    assert parts["llm_latency"].details == {
        "mean_seconds": 0.812,
        "p50_seconds": 0.8,
        "p95_seconds": None,
        "total_calls": 3,
        "unit_seconds": None,
    }


def response(name: str, value: Any) -> dict[str, Any]:
    return {"tool_name": name, "tool_response": value}


def test_without_tools_all_calls_are_valid() -> None:
    score = tool_call_validity(call(), NO_FILES)
    assert (score.score, score.details, parts_of(score)) == (1.0, {"total_tool_calls": 0}, {"num_tool_calls": 0.0})


def test_calls_that_tools_complain_of_are_counted_by_what_they_complain_of() -> None:
    responses = [
        response("book", {"error_type": "invalid_fare_class", "message": "no such class"}),
        response("book", {"error_type": "sold_out"}),
        response("book", {"error_type": "tool_not_found"}),
        response("book", {"error_type": "invalid_employee_id_format"}),
        response("book", "error_type"),
        response("book", {"error_type": ["invalid_fare_class"]}),
    ]
    given = [{"tool_name": "book", "tool_parameters": {"class": 9}}]
    score = tool_call_validity(call(tool_responses=responses, tool_params=given), NO_FILES)
    assert (score.score, score.normalized_score) == (0.6667, 0.6667)
    assert score.details == {
        "total_tool_calls": 6,
        "valid_tool_calls": 4,
        "invalid_tool_calls": 2,
        "errors": [
            {
                "tool_name": "book",
                "error_type": "invalid_fare_class",
                "message": "no such class",
                "parameters": {"class": 9},
            },
            {"tool_name": "book", "error_type": "tool_not_found", "message": None, "parameters": None},
        ],
    }
    parts = parts_of(score)
    assert set(parts) == {"num_tool_calls", *(f"{kind}_rate" for kind in INVALID)}
    assert {key: value for key, value in parts.items() if value} == {
        "num_tool_calls": 6.0,
        "invalid_fare_class_rate": 0.1667,
        "tool_not_found_rate": 0.1667,
    }


@pytest.mark.parametrize("kind", INVALID)
def test_every_known_complaint_counts(kind: str) -> None:
    assert tool_call_validity(call(tool_responses=[response("x", {"error_type": kind})]), NO_FILES).score == 0.0


def test_there_are_19_known_complaints() -> None:
    assert len(set(INVALID)) == len(INVALID) == 19
