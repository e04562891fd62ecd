"""Lay out which columns of calls are kept packed, and drop the chunks of calls that change.

A row group is packed when no further call will get a key of it; until then its rows are read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from riff_store import schema as m
from riff_store.engines.engine import Connection
from riff_store.errors import StoreError
from riff_store.vocabulary import FAILURE_KINDS, SPELLED

GROUP_CALLS = 4096
"""How many keys of calls a row group spans; stores hold it, so it may not change."""
MOST_GROUPS = 2**20
"""How many row groups a store can have: keys are given one after the other, and these are four thousand million."""
FEWEST_CALLS = 20_000
"""A store with fewer calls has no chunks: reading its rows is as quick."""
FEW_CALLS = 5_000
"""The rows of fewer calls, which an index finds, are read as quickly as columns of all."""

SPAN_GROUPS = 32
"""How many row groups a span has; stores hold it, so it may not change. It is whole blocks of `arrays.blocks`."""
SLICES = ("persona", "scenario")
"""What the calls of a span are summed by, beside their flow and agent: filters on these need not read each call."""

CALL_IDS = "call.id"
ROWS = "rows"
"""Names, after a kind of rows, how many of them each call has."""
SPAN = "span"
"""Names the chunk of a span whose calls were summed."""


def _columns_of(model: type[m.BaseModel], *without: str) -> dict[str, str]:
    return {field.name: field.column_name for field in model._meta.sorted_fields if field.name not in without}


CALLS = _columns_of(m.Conversation, "id", "name", "error", "origin", "source_file", "line", "filled")
"""The columns of calls, besides their keys."""

STATES = _columns_of(m.StateScore, "conversation")
"""The columns of the rows of states, in the order of calls and then of states."""

TRANSITIONS = _columns_of(m.Transition, "conversation")
"""The columns of transitions, in the order of calls and then of states."""

KINDS_OF_FAILURE = FAILURE_KINDS
"""What can go wrong in a failed call; stores hold their places here, so that another one comes at the end."""

FAILURES = _columns_of(m.CallFailure, "conversation", "kind", "who", "turn", "t", "list", "place") | {
    column: " ".join((f"CASE {column}", *(f"WHEN '{word}' THEN {at}" for at, word in enumerate(words)), "END"))
    for column, words in SPELLED.values()
}
"""The columns of where calls first went wrong, in the order of calls."""

TOOLS = _columns_of(m.ToolScore, "conversation")
"""The columns of the rows of tools, in the order of calls and then of tools and states; state 0 is none."""

ROWS_OF_CALLS = {
    "state": (STATES, "state_score", "state_id"),
    "transition": (TRANSITIONS, "transition", "from_state_id, to_state_id"),
    "tool": (TOOLS, "tool_score", "tool_id, state"),
    "failure": (FAILURES, "call_failure", "last_ok_id"),
}
"""Rows of calls: the columns, their table, and what orders the rows of a call."""


def score_name(aspect: int, judge: int) -> str:
    """Return the name of a column of scores."""
    return f"score.{aspect}.{judge}"


def group_of(key: int) -> int:
    """Return the row group of a call's key."""
    return key // GROUP_CALLS


def place_of_span(group: int) -> int:
    """Return where the sums of the span of a row group are kept: below all row groups."""
    return -1 - group // SPAN_GROUPS


def keys_of_span(place: int) -> range:
    """Return the keys that calls of a span may have."""
    calls = GROUP_CALLS * SPAN_GROUPS
    return range((-1 - place) * calls, -place * calls)


def groups_between(first: int, last: int) -> range:
    """Return the row groups from one key of a call to another; raises `StoreError` if no store has so many."""
    groups = range(group_of(first), group_of(last) + 1)
    if last // GROUP_CALLS - first // GROUP_CALLS >= MOST_GROUPS:
        message = f"calls have keys from {first} to {last}, as no store gives them"
        raise StoreError(message, "restore a copy, or ingest again into a new one")
    return groups


def keys_of(group: int) -> tuple[int, int]:
    """Return the first and the last key that calls of a row group may have."""
    return group * GROUP_CALLS, (group + 1) * GROUP_CALLS - 1


Ask: TypeAlias = Callable[[str, tuple[Any, ...]], Sequence[tuple[Any, ...]]]
"""What answers a statement with all its rows."""

ENDS = "SELECT (SELECT MIN(id) FROM conversation), (SELECT MAX(id) FROM conversation)"
"""Read the first and the last key of calls: of one statement for both SQLite looks at all."""


def drop_calls(connection: Connection, calls: str, values: Sequence[Any] = (), key: str = "id") -> None:
    """Drop the chunks of calls, given as what follows FROM; call it in the transaction that changes them."""
    if is_packed(asking(connection)):
        span = GROUP_CALLS * SPAN_GROUPS
        groups = f"SELECT {key} / {GROUP_CALLS} FROM {calls} UNION SELECT -1 - {key} / {span} FROM {calls}"
        connection.execute(f"DELETE FROM column_chunk WHERE row_group IN ({groups})", [*values, *values])


def drop_keys(connection: Connection, first: int, end: int) -> None:
    """Drop the chunks of calls with keys from `first` to before `end`."""
    if first < end:
        groups = group_of(first), group_of(end - 1)
        for ends in (groups, sorted(map(place_of_span, groups))):
            connection.execute("DELETE FROM column_chunk WHERE row_group BETWEEN ? AND ?", ends)


def unpacked(connection: Connection) -> list[int]:
    """Return the row groups that are to be packed; none while the store has few calls."""
    first, last = connection.execute(ENDS).fetchone()
    if first is None or last < FEWEST_CALLS:
        return []
    packed = set(packed_groups(asking(connection)))
    if not packed and connection.execute("SELECT SUM(n + excluded) FROM call_rollup").fetchone()[0] < FEWEST_CALLS:
        return []
    any_call = "SELECT 1 FROM conversation WHERE id BETWEEN ? AND ? LIMIT 1"
    return [
        group
        for group in groups_between(first, last + 1)[:-1]
        if group not in packed and connection.execute(any_call, keys_of(group)).fetchone()
    ]


def is_packed(ask: Ask) -> bool:
    """Return whether any row group is packed, as in all stores of many calls."""
    return bool(ask("SELECT 1 FROM column_chunk LIMIT 1", ()))


def packed_groups(ask: Ask) -> list[int]:
    """Return the row groups that are packed."""
    return [group for (group,) in ask("SELECT row_group FROM column_chunk WHERE name = ? ORDER BY 1", (CALL_IDS,))]


def unsummed(ask: Ask) -> list[int]:
    """Return the places of the spans that are packed and not summed."""
    packed = Counter(map(place_of_span, packed_groups(ask)))
    known = {place for (place,) in ask("SELECT row_group FROM column_chunk WHERE name = ?", (SPAN,))}
    return [place for place, groups in packed.items() if groups == SPAN_GROUPS and place not in known]


def asking(connection: Connection) -> Ask:
    """Return what asks a connection."""
    return lambda sql, values: connection.execute(sql, values).fetchall()
