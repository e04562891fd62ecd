"""Define the batch: rows by column, for what has too many of them to make a record of each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, repeat
from typing import Any, TypeVar

Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class Batch:
    """Hold rows by the keys of their columns, in groups of so many `counts`; times are microseconds since the epoch.

    Columns that are `shared` have a value for each group, those that are `single` one for each row.
    """

    counts: Sequence[int]
    shared: Mapping[str, Sequence[Any]]
    single: Mapping[str, Sequence[Any]]

    def __len__(self) -> int:
        return sum(self.counts)

    def spread(self, values: Iterable[Value]) -> Iterator[Value]:
        """Repeat what groups share for each of their rows."""
        return chain.from_iterable(map(repeat, values, self.counts))
