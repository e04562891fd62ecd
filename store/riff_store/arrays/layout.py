"""Say which columns are kept, by which names, and where their rows stand."""

from __future__ import annotations

from riff_store import schema as m
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


def _columns_of(model: type[m.BaseModel], *without: str) -> dict[str, str]:
    """Return the columns of a table by the names of its fields."""
    return {field.name: field.column_name for field in model._meta.sorted_fields if field.name not in without}


CALLS = _columns_of(m.Conversation, "id", "name", "error", "origin", "source_file", "line", "filled")
"""The columns of calls, besides their keys."""

STATES = _columns_of(m.StateScore, "conversation")
"""The columns of the rows of states, in the order of calls and then of states."""

TRANSITIONS = _columns_of(m.Transition, "conversation")
"""The columns of transitions, in the order of calls and then of states."""

KINDS_OF_FAILURE = (
    "marked", "missed step", "wrong arguments", "guard error", "tool error", "stall", "escalation", "loop", "none"
)  # fmt: skip
"""What can go wrong first in a call; stores hold their places here, so that another one comes at the end."""

FAILURES = _columns_of(m.CallFailure, "conversation", "kind") | {
    "kind": "CASE kind " + " ".join(f"WHEN '{kind}' THEN {at}" for at, kind in enumerate(KINDS_OF_FAILURE)) + " END",
}
"""The columns of where calls first went wrong, in the order of calls."""

ROWS_OF_CALLS = {
    "state": (STATES, "state_score", "state_id"),
    "transition": (TRANSITIONS, "transition", "from_state_id"),
    "failure": (FAILURES, "call_failure", "last_ok_id"),
}
"""Rows of calls: the columns, their table, and what orders the rows of a call."""


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
