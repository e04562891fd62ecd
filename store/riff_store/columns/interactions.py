"""Read how the sides of calls shared the line, as columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from riff_store.database import Store
from riff_store.interaction import EVENTS

_AT_ONCE = 20_000


def read_interactions(
    store: Store, keys: NDArray[np.int64], names: Sequence[str] = EVENTS
) -> Mapping[str, NDArray[np.float64]]:
    """Return sums of calls, by their sorted keys; nan is a call without a record of who spoke when."""
    columns = tuple(dict.fromkeys(names))
    query = (
        f"SELECT conversation_id, {', '.join(columns)} FROM call_interaction"
        " WHERE conversation_id BETWEEN ? AND ? ORDER BY conversation_id"
    )
    found = np.full((len(columns), len(keys)), np.nan)
    for start in range(0, len(keys), _AT_ONCE):
        some = keys[start : start + _AT_ONCE]
        rows = np.array(store.execute_sql(query, (int(some[0]), int(some[-1]))), float).reshape(-1, 1 + len(columns))
        _, here, there = np.intersect1d(some, rows[:, 0].astype(np.int64), assume_unique=True, return_indices=True)
        found[:, start + here] = rows[there, 1:].T
    return dict(zip(columns, found, strict=True))
