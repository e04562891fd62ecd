"""How calls end, and which of them count."""

from __future__ import annotations

from typing import Any

import pytest

from tests.surface.ingest import outcome_of


@pytest.mark.parametrize(
    ("reason", "completed", "stop"),
    [
        ("goodbye", True, "terminal"),
        ("transfer", True, "terminal"),
        ("time_limit_exceeded", False, "timeout"),
        ("timeout", False, "timeout"),
        ("inactivity_timeout", False, "timeout"),
        ("assistant_disconnect", False, "hangup"),
        ("elevenlabs_disconnect", False, "hangup"),
        ("session_ended", False, "hangup"),
        ("something_new", None, "something_new"),
        (None, None, None),
        (7, None, None),
    ],
)
def test_each_reason_is_an_end(reason: Any, completed: bool | None, stop: str | None) -> None:
    found = outcome_of({"completed": True, "conversation_ended_reason": reason})
    assert found.said_goodbye is (completed is True)
    assert (found.completed, found.stop_reason, found.error) == (completed, stop, None)


@pytest.mark.parametrize(
    ("result", "why"),
    [
        (None, "result.json is missing or broken, so the conversation was never finished"),
        ({"completed": True, "conversation_ended_reason": "error"}, "it ended with error"),
        ({"completed": True, "conversation_ended_reason": "cancelled"}, "it ended with cancelled"),
        ({"completed": False, "error": "boom"}, "result.json reports that it was not completed: boom"),
        (
            {"completed": False, "error_details": {"error_type": "RateLimit"}},
            "result.json reports that it was not completed: RateLimit",
        ),
    ],
)
def test_a_broken_call_says_why_it_does_not_count(result: Any, why: str) -> None:
    found = outcome_of(result)
    assert found.error == why
    assert found.completed is False


def test_a_time_limit_that_was_accepted_breaks_nothing() -> None:
    given = {"completed": False, "time_limit_accepted": True, "conversation_ended_reason": "time_limit_exceeded"}
    assert outcome_of(given) == (False, "timeout", None)
