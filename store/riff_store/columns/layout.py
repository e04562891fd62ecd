"""Say which columns are kept, by which names, and where their rows stand."""

from __future__ import annotations

from riff_store.errors import StoreError

GROUP_CALLS = 4096
"""How many keys of calls a row group spans; stores hold it, so it may not change."""
MOST_GROUPS = 2**20
"""How many row groups a store can have: keys are given one after the other, and these are four thousand million."""
FEWEST_CALLS = 20_000
"""A store with fewer calls has no chunks: reading its rows is as quick."""
FEW_CALLS = 5_000
"""The rows of fewer calls, which an index finds, are read as quickly as columns of all."""

CALL_IDS = "call.id"
CALLS = {
    "flow": "flow_id",
    "agent": "agent_id",
    "run": "run_id",
    "persona": "persona_id",
    "scenario": "scenario_id",
    "caller": "caller_id",
    "stop_reason": "stop_reason_id",
    "final_state": "final_state_id",
    "final_status": "final_status_id",
    "trial": "trial",
    "started_at": "started_at",
    "duration_s": "duration_s",
    "completed": "completed",
    "errored": "errored",
    "error_count": "error_count",
    "defects": "defects",
    "success": "success",
    "lost": "lost",
    "quality": "quality",
    "computed_quality": "computed_quality",
    "caller_ok": "caller_ok",
}
"""The columns of calls, besides their keys."""

STATES = {
    "state": "state_id",
    "segment": "segment_id",
    "progress": "progress",
    "stall": "stall",
    "lost": "lost",
    "escalation": "escalation",
    "revisit": "revisit",
    "dwell_turns": "dwell_turns",
    "latency_p95_ms": "latency_p95_ms",
    "guard_error": "guard_error",
    "slot_fill_rate": "slot_fill_rate",
    "position": "position",
}
"""The columns of the rows of states, in the order of calls and then of states."""

TRANSITIONS = {"from_state": "from_state_id", "to_state": "to_state_id", "n": "n"}
"""The columns of transitions, in the order of calls and then of states."""

KINDS_OF_FAILURE = (
    "marked", "missed step", "wrong arguments", "guard error", "tool error", "stall", "escalation", "loop", "none"
)  # fmt: skip
"""What can go wrong first in a call; stores hold their places here, so that another one comes at the end."""

FAILURES = {
    "last_ok": "last_ok_id",
    "first_failed": "first_failed_id",
    "detail": "detail_id",
    "error": "error_id",
    "kind": "CASE kind " + " ".join(f"WHEN '{kind}' THEN {at}" for at, kind in enumerate(KINDS_OF_FAILURE)) + " END",
}
"""The columns of where calls first went wrong, in the order of calls."""

HANGING = {
    "state": (STATES, "state_score", "state_id"),
    "transition": (TRANSITIONS, "transition", "from_state_id"),
    "failure": (FAILURES, "call_failure", "last_ok_id"),
}
"""What hangs on calls: the columns, their table, and what orders the rows of a call."""


def score_name(aspect: int, judge: int) -> str:
    """Return the name of a column of scores."""
    return f"score.{aspect}.{judge}"


def group_of(key: int) -> int:
    """Return the row group of a call's key."""
    return key // GROUP_CALLS


def groups_between(first: int, last: int) -> range:
    """Return the row groups from one key of a call to another; raises `StoreError` where no store has so many."""
    groups = range(group_of(first), group_of(last) + 1)
    if last // GROUP_CALLS - first // GROUP_CALLS >= MOST_GROUPS:
        message = f"calls have keys from {first} to {last}, as no store gives them"
        raise StoreError(message, "restore a copy, or ingest again into a new one")
    return groups


def keys_of(group: int) -> tuple[int, int]:
    """Return the first and the last key that calls of a row group may have."""
    return group * GROUP_CALLS, (group + 1) * GROUP_CALLS - 1
