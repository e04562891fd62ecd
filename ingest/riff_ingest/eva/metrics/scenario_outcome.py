"""Measure whether a call left the scenario's database and its session as they should be (10.1, 10.2)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from riff_ingest.eva.context import MetricContext
from riff_ingest.eva.metrics.files import RecordFiles
from riff_ingest.eva.metrics.score import MetricScore, part, rate, unmeasured
from riff_ingest.eva.scenario_db import SESSION, database_hash, databases_differ, stored_form, summary

TASK = "task_completion"
NO_EXPECTED = "no expected database is known; --expected-db names it, --dataset the dataset that was played"
NO_FINAL = "the record has no final_scenario_db.json"
AUTHENTICATION = "authentication_success"


def task_completion(context: MetricContext, files: RecordFiles) -> MetricScore:
    """Return 1.0 if the session and the whole final database are as expected, else 0.0 with how they differ (10.1).

    Today's hash is computed of both databases, for a hash in result.json may be of an older form; which one it is is in
    the details (`stored_hash`, `stored_hash_form`: current, plain or other).
    """
    expected, final = context.expected_scenario_db, context.final_scenario_db
    if expected is None:
        return unmeasured(TASK, NO_EXPECTED)
    if final is None:
        return unmeasured(TASK, NO_FINAL)
    mismatches = session_mismatches(expected, final)
    if mismatches:
        return MetricScore(TASK, 0.0, 0.0, _session_details(mismatches))
    expected_hash, actual_hash = database_hash(expected), database_hash(final)
    matches = expected_hash == actual_hash
    details: dict[str, Any] = {
        "match": matches,
        "auth_success": True,
        "expected_hash": expected_hash,
        "actual_hash": actual_hash,
        **_stored(files.stored_final_hash, final),
    }
    if not matches:
        details |= _difference(expected, final)
    value = 1.0 if matches else 0.0
    return MetricScore(TASK, value, value, details)


def session_mismatches(expected: Mapping[str, Any], final: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the session should contain and does not, by key; text is compared in lower case (10.1, step 1)."""
    wanted, found = session_of(expected), session_of(final)
    return {
        key: {"expected": value, "actual": found.get(key)}
        for key, value in wanted.items()
        if _lower(value) != _lower(found.get(key))
    }


def session_of(database: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the session of a database, empty if it has none."""
    session = (database or {}).get(SESSION)
    return session if isinstance(session, dict) else {}


def _lower(value: Any) -> Any:
    return value.lower() if isinstance(value, str) else value


def _session_details(mismatches: dict[str, Any]) -> dict[str, Any]:
    return {
        "match": False,
        "auth_success": False,
        "message": f"The session differs from the expected one in: {', '.join(mismatches)}",
        "auth_mismatches": mismatches,
    }


def _stored(stored: str | None, final: Mapping[str, Any]) -> dict[str, Any]:
    if stored is None:
        return {}
    return {"stored_hash": stored, "stored_hash_form": stored_form(stored, final)}


def _difference(expected: Mapping[str, Any], final: Mapping[str, Any]) -> dict[str, Any]:
    diff = databases_differ(expected, final)
    told = summary(diff)
    return {
        "message": f"The final database is not the expected one: {told}",
        "diff": diff,
        "diff_summary": told,
        "debugging_hints": _hints(diff),
    }


def _hints(diff: Mapping[str, Any]) -> list[str]:
    hints = [f"table {name} is not expected" for name in diff["tables_added"]]
    hints += [f"table {name} is missing" for name in diff["tables_removed"]]
    for name, change in diff["tables_modified"].items():
        counts = ((len(change.get(f"records_{how}", ())), how) for how in ("added", "removed", "modified"))
        told = ", ".join(f"{count} {how}" for count, how in counts if count)
        hints.append(f"records of table {name}: {told}" if told else f"table {name} has another value")
    return hints


def authentication_success(context: MetricContext, files: RecordFiles) -> MetricScore:
    """Return 1.0 if the final session has all that is expected, else 0.0.

    Skipped if nothing is expected (10.2).
    """
    expected, final = context.expected_scenario_db, context.final_scenario_db
    if expected is None:
        return unmeasured(AUTHENTICATION, NO_EXPECTED)
    if not session_of(expected):
        return MetricScore(AUTHENTICATION, skipped=True, details={"reason": "no session is expected"})
    if final is None:
        return unmeasured(AUTHENTICATION, NO_FINAL)
    mismatches = session_mismatches(expected, final)
    details: dict[str, Any] = {
        "expected_session": session_of(expected),
        "actual_session": session_of(final),
        "mismatches": mismatches,
    }
    if mismatches:
        details["reason"] = f"The session differs from the expected one in: {', '.join(mismatches)}"
    value = 0.0 if mismatches else 1.0
    return MetricScore(
        AUTHENTICATION, value, value, details, sub_metrics=_parts(_calls(context), succeeded=not mismatches)
    )


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
        return {"num_auth_calls_on_failure": part(AUTHENTICATION, "num_auth_calls_on_failure", average)}
    at_once = 1.0 if all(count == 1 for count in calls.values()) else 0.0
    share = len(calls) / calls.total()
    return {
        "auth_first_try_success": part(AUTHENTICATION, "auth_first_try_success", at_once, at_once),
        "num_auth_calls": part(AUTHENTICATION, "num_auth_calls", average),
        "authentication_success_rate": rate(AUTHENTICATION, "authentication_success_rate", share),
    }
