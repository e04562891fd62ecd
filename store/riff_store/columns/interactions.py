"""Read how the sides of calls shared the line, as columns."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from riff_store.database import Store
from riff_store.interaction import EVENTS

_AT_ONCE = 20_000
_ROWS = (
    f"SELECT conversation_id, {', '.join(EVENTS)} FROM call_interaction"
    " WHERE conversation_id BETWEEN ? AND ? ORDER BY conversation_id"
)


def read_interactions(store: Store, keys: NDArray[np.int64]) -> Mapping[str, NDArray[np.float64]]:
    """Return each sum of calls, by their sorted keys; nan is a call without a record of who spoke when."""
    found = np.full((len(EVENTS), len(keys)), np.nan)
    for start in range(0, len(keys), _AT_ONCE):
        some = keys[start : start + _AT_ONCE]
        rows = np.array(store.execute_sql(_ROWS, (int(some[0]), int(some[-1]))), float).reshape(-1, 1 + len(EVENTS))
        _, here, there = np.intersect1d(some, rows[:, 0].astype(np.int64), assume_unique=True, return_indices=True)
        found[:, start + here] = rows[there, 1:].T
    return dict(zip(EVENTS, found, strict=True))
