"""Calls of tools whose ids come back: each has its own answer, in every format that has such ids."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from riff_ingest import Conversation, read_source
from tests.support import inspect_logs, livekit_reports, retell_calls, tau_runs, vapi_calls
from tests.surface.ingest import answers_in_order

MON: dict[str, Any] = {"day": "Mon"}
TUE: dict[str, Any] = {"day": "Tue"}
REFUSED, BOOKED = "Monday is closed", "booked Tue"


def _inspect() -> Any:
    log, failed = inspect_logs, {"type": "unknown", "message": REFUSED}
    messages = [
        log.calls("a1", "book", call="book", **MON),
        log.answers("book", "", error=failed),
        log.calls("a2", "book", call="book", **TUE),
        log.answers("book", BOOKED),
    ]
    events = [
        log.tool("book", "book", 1, arguments=MON, error=failed),
        log.tool("book", "book", 3, arguments=TUE, result=BOOKED),
    ]
    return log.header() | {"samples": [log.sample(messages=messages, events=events)]}


def _retell() -> Any:
    call, answer = retell_calls.invoked, retell_calls.answered
    items = [
        call("book", "book", json.dumps(MON), 1.0),
        answer("book", REFUSED, successful=False, t=2.0),
        call("book", "book", json.dumps(TUE), 3.0),
        answer("book", BOOKED, t=4.0),
    ]
    return retell_calls.retell_call(items=items)


def _vapi() -> Any:
    call, answer = vapi_calls.called, vapi_calls.answered
    messages = [
        call("book", "book", json.dumps(MON), 1.0),
        answer("book", "book", "No result returned.", 2.0),
        call("book", "book", json.dumps(TUE), 3.0),
        answer("book", "book", BOOKED, 4.0),
    ]
    return vapi_calls.vapi_call(messages=messages)


def _livekit() -> Any:
    first = livekit_reports.tool("book", 1.0, REFUSED, is_error=True, **MON)
    second = livekit_reports.tool("book", 3.0, BOOKED, is_error=False, **TUE)
    for item in (*first, *second):
        item["call_id"] = "book"
    return livekit_reports.report(first, second)


def _tau() -> Any:
    said, tool, answer = tau_runs.said, tau_runs.tool, tau_runs.answer
    messages = [
        said("user", "Monday, else Tuesday.", 0),
        said("assistant", None, 1, tool("book", id="book", **MON)),
        answer("book", REFUSED, 2, error=True, id="book"),
        said("assistant", None, 3, tool("book", id="book", **TUE)),
        answer("book", BOOKED, 4, id="book"),
    ]
    return {
        "timestamp": tau_runs.moment(0),
        "info": tau_runs.info(),
        "tasks": [tau_runs.task("1")],
        "simulations": [tau_runs.simulation("s", messages=messages)],
    }


@pytest.mark.parametrize("form", [_inspect, _retell, _vapi, _livekit, _tau])
def test_a_refusal_is_not_given_the_answer_of_the_call_that_came_after(tmp_path: Path, form: Any) -> None:
    path = tmp_path / "calls.json"
    path.write_text(json.dumps(form()))
    (call,) = [each for each in read_source(path) if isinstance(each, Conversation)]
    first, second = call.tool_calls
    assert (first.arguments, second.arguments) == (MON, TUE)
    assert first.result != BOOKED
    assert (second.result, second.error) == (BOOKED, None)
    if form is not _vapi:
        assert REFUSED in (first.error or "")


@pytest.mark.parametrize(
    ("steps", "found"),
    [
        ("c a c a", {0: 1, 2: 3}),
        ("c c a", {1: 2}),  # the first never had an answer
        ("c c a a", {0: 2, 1: 3}),  # both at once
        ("c a a c", {0: 1}),
        ("c a c", {0: 1}),
        ("a c", {1: 0}),  # an answer that stands before the one call of its id
        ("a c a", {1: 2}),
        ("a c c", {}),
    ],
)
def test_an_answer_belongs_to_the_last_call_that_has_none_yet(steps: str, found: dict[int, int]) -> None:
    assert answers_in_order(("id", step == "a") for step in steps.split()) == found


@given(st.lists(st.tuples(st.none() | st.integers(0, 2), st.booleans()), max_size=12))
def test_no_answer_is_given_twice_and_none_to_another_id(steps: list[tuple[int | None, bool]]) -> None:
    found = answers_in_order(steps)
    assert len(set(found.values())) == len(found)
    for call, answer in found.items():
        assert steps[call][0] == steps[answer][0] is not None
        assert (steps[call][1], steps[answer][1]) == (False, True)
