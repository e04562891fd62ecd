"""Keep what is packed true: drop the chunks of calls that change, and pack them again once they stay.

A row group is packed when no further call will get a key of it; until then its rows are read.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from riff_store.arrays import layout
from riff_store.arrays.layout import CALL_IDS, group_of, groups_between, keys_of
from riff_store.engines.engine import Connection

Ask: TypeAlias = Callable[[str, tuple[Any, ...]], Sequence[tuple[Any, ...]]]
"""What answers a statement with all its rows."""

ENDS = "SELECT (SELECT MIN(id) FROM conversation), (SELECT MAX(id) FROM conversation)"
"""Read the first and the last key of calls: of one statement for both SQLite looks at all."""
_PUT = "INSERT INTO column_chunk (name, row_group, n, body) VALUES (?, ?, ?, ?)"


def drop_calls(connection: Connection, calls: str, values: Sequence[Any] = (), key: str = "id") -> None:
    """Drop the chunks of calls, given as what follows FROM; call it in the transaction that changes them."""
    if is_packed(_asking(connection)):
        groups = f"SELECT DISTINCT {key} / {layout.GROUP_CALLS} FROM {calls}"
        connection.execute(f"DELETE FROM column_chunk WHERE row_group IN ({groups})", values)


def drop_keys(connection: Connection, first: int, end: int) -> None:
    """Drop the chunks of calls with keys from `first` to before `end`."""
    if first < end:
        groups = group_of(first), group_of(end - 1)
        connection.execute("DELETE FROM column_chunk WHERE row_group BETWEEN ? AND ?", groups)


def unpacked(connection: Connection) -> list[int]:
    """Return the row groups that are to be packed; none while the store has few calls."""
    first, last = connection.execute(ENDS).fetchone()
    if first is None or last < layout.FEWEST_CALLS:
        return []
    packed = set(packed_groups(_asking(connection)))
    if (
        not packed
        and connection.execute("SELECT SUM(n + excluded) FROM call_rollup").fetchone()[0] < layout.FEWEST_CALLS
    ):
        return []
    open_groups = (group for group in groups_between(first, last + 1)[:-1] if group not in packed)
    return [group for group in open_groups if _has_calls(connection, group)]


def pack(connection: Connection, groups: Sequence[int]) -> None:
    """Pack row groups that are not packed."""
    from riff_store.arrays.rows import packed_group

    ask = _asking(connection)
    for group in groups:
        connection.executemany(_PUT, [(name, group, n, body) for name, n, body in packed_group(ask, group)])


def pack_all(connection: Connection) -> None:
    """Pack every row group anew."""
    connection.execute("DELETE FROM column_chunk")
    pack(connection, unpacked(connection))


def is_packed(ask: Ask) -> bool:
    """Say whether any row group is packed, as in all stores of many calls."""
    return bool(ask("SELECT 1 FROM column_chunk LIMIT 1", ()))


def packed_groups(ask: Ask) -> list[int]:
    """Return the row groups that are packed."""
    return [group for (group,) in ask("SELECT row_group FROM column_chunk WHERE name = ? ORDER BY 1", (CALL_IDS,))]


def differs(ask: Ask, group: int) -> bool:
    """Say whether a packed row group is not what its rows are."""
    from riff_store.arrays.rows import packed_group

    kept = ask("SELECT name, n, body FROM column_chunk WHERE row_group = ?", (group,))
    return {(name, n, bytes(body)) for name, n, body in kept} != set(packed_group(ask, group))


def _has_calls(connection: Connection, group: int) -> bool:
    any_call = "SELECT 1 FROM conversation WHERE id BETWEEN ? AND ? LIMIT 1"
    return connection.execute(any_call, keys_of(group)).fetchone() is not None


def _asking(connection: Connection) -> Ask:
    return lambda sql, values: connection.execute(sql, values).fetchall()
