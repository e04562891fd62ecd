"""Answers written by hand, so that a view is tested without a store."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.surface.store import (
    UNIT,
    Call,
    CallDetail,
    FlowCell,
    Measure,
    SegmentCell,
    StateCell,
    StepCounts,
    VisitedState,
)

RATES = {"progress", "stall", "escalation"}


def measure(mean: float | None, n: int = 10, *, rate: bool = False) -> Measure:
    """A measure of `n` values of this mean, all of them equal unless they are a rate."""
    if mean is None:
        return Measure(0, 0, rate=rate)
    return Measure(n, round(mean * n * UNIT), mean * mean * n, rate)


def flow_cell(
    flow: str,
    agent: str = "qwen-flash",
    *,
    n: int = 10,
    excluded: int = 0,
    operability: float | None = None,
    blend: float | None = None,
    success_rate: float | None = 0.5,
    quality: float | None = 4.0,
    lost: int | None = 2,
    judges: Mapping[str, float] | None = None,
    keys: Mapping[str, str | None] | None = None,
    **aspects: float | None,
) -> FlowCell:
    return FlowCell(
        keys={"flow": flow, "agent": agent, **(keys or {})},
        n=n,
        excluded=excluded,
        aspects={name: measure(value, n) for name, value in aspects.items()},
        humanness={judge: measure(value, n) for judge, value in (judges or {}).items()},
        success=measure(success_rate, n, rate=True),
        quality=measure(quality, n),
        computed_quality=measure(quality, n),
        lost=lost,
        operability=operability,
        blend=operability if blend is None else blend,
    )


def measures(n: int, values: Mapping[str, float | None]) -> dict[str, Measure]:
    return {name: measure(value, n, rate=name in RATES) for name, value in values.items()}


def state_cell(
    flow: str,
    state: str,
    *,
    n: int = 9,
    segment: str = "collect",
    to_states: Mapping[str, int] | None = None,
    keys: Mapping[str, str | None] | None = None,
    lost: int | None = 1,
    steps: StepCounts | None = None,
    asks_steps: bool = False,
    blames: Mapping[str, int] | None = None,
    **values: float | None,
) -> StateCell:
    return StateCell(
        keys={"flow": flow, "state": state, **(keys or {})},
        segment=segment,
        n=n,
        measures=measures(n, values),
        to_states=to_states or {},
        lost=lost,
        steps=steps,
        asks_steps=asks_steps or steps is not None,
        blames=blames or {},
    )


def segment_cell(
    flow: str,
    segment: str,
    worst: StateCell,
    *,
    n: int = 20,
    lost: int | None = 3,
    blames: Mapping[str, int] | None = None,
    **values: float | None,
) -> SegmentCell:
    found = measures(n, values)
    return SegmentCell(
        {"flow": flow, "segment": segment}, n, found, worst, worst, worst, lost=lost, blames=blames or {}
    )


def call(**known: Any) -> Call:
    facts: dict[str, Any] = {
        "id": 7,
        "run": "nightly",
        "conversation": "c-0007",
        "flow": "apartment_viewing",
        "agent": "gemini-2.5-flash",
        "persona": "hurried",
        "scenario": None,
        "trial": 0,
        "started_at": 1_782_093_607_000_000,
        "duration_s": 60.0,
        "completed": False,
        "stop_reason": "max_turns",
        "final_state": "collect_details",
        "final_status": None,
        "errored": False,
        "error": None,
        "correctness": 0.0,
        "turn_count": 5.0,
        "latency_p95": 3.1,
        "error_count": 0,
        "defects": 0,
    }
    return Call(**{**facts, **known})


DOCUMENT: Mapping[str, object] = {
    "turns": [
        {"role": "agent", "text": "Hi, which day suits you?", "t": 0.0, "state": "collect_details", "latency_ms": 910},
        {"role": "caller", "text": "Tuesday, call 555-123-4567.", "t": 2.4},
    ],
    "events": [
        {"type": "state_entered", "t": 0.0, "state": "greet"},
        {"type": "state_exited", "t": 0.0, "state": "greet", "to_state": "collect_details", "reason": "greeted"},
        {"type": "state_entered", "t": 0.0, "state": "collect_details"},
        {"type": "turn_complete", "t": 0.91, "latency_ms": 910},
        {"type": "guard_evaluated", "t": 2.5, "guard": "has_date", "result": False, "error": None},
        {"type": "guard_evaluated", "t": 2.5, "guard": "has_name", "result": None, "error": "KeyError: 'name'"},
        {"type": "slot_filled", "t": 2.6, "slot": "date", "value": "Tuesday", "state": "collect_details"},
    ],
    "tool_calls": [
        {"t": 3.0, "name": "find_slots", "arguments": {"day": "Tuesday"}, "error": "timeout", "by": "agent"}
    ],
}


def detail(document: Mapping[str, object] | None = DOCUMENT, **known: Any) -> CallDetail:
    return CallDetail(
        call=call(**known),
        aspects={"correctness": 0.0, "latency_p95": None},
        verdicts=(),
        states=[
            VisitedState("collect_details", "collect", 0, 1, 0, 0, 5.0, 3100.0, 1, 0.5, {}),
        ],
        document=document,
        source_path="runs/nightly.jsonl",
        source_line=7,
    )
