"""Measure whether the caller was authenticated as the scenario wants it (10.2)."""

from __future__ import annotations

from collections import Counter
from typing import Any

from riff_ingest.eva.context import MetricContext
from riff_ingest.eva.metrics.files import RecordFiles
from riff_ingest.eva.metrics.score import MetricScore, part, rate, unmeasured
from riff_ingest.eva.metrics.task_completion import NO_EXPECTED, NO_FINAL, session_mismatches, session_of

NAME = "authentication_success"


def authentication_success(context: MetricContext, files: RecordFiles) -> MetricScore:
    """Return 1.0 where the final session has all that is expected, else 0.0.

    Skipped where nothing is expected (10.2).
    """
    expected, final = context.expected_scenario_db, context.final_scenario_db
    if expected is None:
        return unmeasured(NAME, NO_EXPECTED)
    if not session_of(expected):
        return MetricScore(NAME, skipped=True, details={"reason": "no session is expected"})
    if final is None:
        return unmeasured(NAME, NO_FINAL)
    mismatches = session_mismatches(expected, final)
    details: dict[str, Any] = {
        "expected_session": session_of(expected),
        "actual_session": session_of(final),
        "mismatches": mismatches,
    }
    if mismatches:
        details["reason"] = f"The session differs from the expected one in: {', '.join(mismatches)}"
    value = 0.0 if mismatches else 1.0
    return MetricScore(NAME, value, value, details, sub_metrics=_parts(_calls(context), succeeded=not mismatches))


def _calls(context: MetricContext) -> Counter[str]:
    """Count the answers of each of the agent's tools for authentication."""
    known = {
        name
        for tool in context.agent_tools or ()
        if tool.get("tool_type") == "auth"
        for key in ("id", "name")
        if isinstance(name := tool.get(key), str)
    }
    names = (response.get("tool_name") for response in context.tool_responses)
    return Counter(name for name in names if isinstance(name, str) and name in known)


def _parts(calls: Counter[str], *, succeeded: bool) -> dict[str, MetricScore] | None:
    if not calls:
        return None
    average = round(calls.total() / len(calls), 4)
    if not succeeded:
        return {"num_auth_calls_on_failure": part(NAME, "num_auth_calls_on_failure", average)}
    at_once = 1.0 if all(count == 1 for count in calls.values()) else 0.0
    share = len(calls) / calls.total()
    return {
        "auth_first_try_success": part(NAME, "auth_first_try_success", at_once, at_once),
        "num_auth_calls": part(NAME, "num_auth_calls", average),
        "authentication_success_rate": rate(NAME, "authentication_success_rate", share),
    }
