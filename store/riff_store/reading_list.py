"""Keep the calls that were drawn for people to read, by their names: one list in a store."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import msgspec

from riff_store.database import Store
from riff_store.engines.engine import Connection
from riff_store.sampling import STRATA, Drawn
from riff_store.write.names import CallNames


@dataclass(frozen=True, slots=True)
class Sample:
    """Describe how calls were drawn: how many of which strata, from those that a filter (an expression) leaves.

    `drawn_at` is microseconds since the epoch.
    """

    n: int
    mix: Mapping[str, int]
    seed: int
    expression: str
    drawn_at: int

    def is_drawn_like(self, other: Sample) -> bool:
        """Return whether the same was asked for."""
        mine, others = ((each.n, each.mix, each.seed, each.expression) for each in (self, other))
        return mine == others


class KeptList(NamedTuple):
    """Describe the calls of a list in the order in which they are to be read, and how they were drawn."""

    sample: Sample
    calls: Sequence[Drawn]


def keep_list(store: Store, kept: KeptList) -> None:
    """Put a reading list in the place of the one that the store has."""
    sample = kept.sample
    drawn = (sample.n, json.dumps(sample.mix), sample.seed, sample.expression, sample.drawn_at)
    with store.writing():
        connection: Connection = store.connection
        connection.execute("DELETE FROM sampled_call")
        connection.execute("DELETE FROM sample")
        connection.execute("INSERT INTO sample VALUES (1, ?, ?, ?, ?, ?)", drawn)
        rows = [(place, *call.names, *call[1:]) for place, call in enumerate(kept.calls, 1)]
        connection.executemany("INSERT INTO sampled_call VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)


def kept_list(store: Store) -> KeptList | None:
    """Return the reading list of a store, `None` if none was drawn."""
    samples = store.execute_sql("SELECT n, mix, seed, expression, drawn_at FROM sample ORDER BY id LIMIT 1")
    if not samples:
        return None
    n, mix, *others = samples[0]
    rows = store.execute_sql(
        "SELECT run_name, flow_name, agent_name, conversation_name, trial, stratum, figure, value, median"
        " FROM sampled_call ORDER BY position"
    )
    calls = [Drawn(CallNames(*row[:5]), *row[5:]) for row in rows]
    return KeptList(Sample(n, _counts(mix), *others), calls)


def _counts(kept: str) -> dict[str, int]:
    """Return the kept counts by stratum; a store that was tampered with has none."""
    try:
        found = msgspec.json.decode(kept, type=dict[str, int])
    except (msgspec.DecodeError, RecursionError, UnicodeEncodeError):
        return {}
    return {stratum: found[stratum] for stratum in STRATA if stratum in found}
