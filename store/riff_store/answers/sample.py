"""Hold the answers about the reading list: calls that were drawn for people to read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from riff_store.answers.calls import Call
from riff_store.sampling import Drawn


@dataclass(frozen=True, slots=True)
class Sample:
    """Say how calls were drawn: how many of which strata, from those that a filter (an expression) leaves.

    `drawn_at` is microseconds since the epoch.
    """

    n: int
    mix: Mapping[str, int]
    seed: int
    expression: str
    drawn_at: int

    def is_drawn_like(self, other: Sample) -> bool:
        """Say whether the same was asked for."""
        mine, others = ((each.n, each.mix, each.seed, each.expression) for each in (self, other))
        return mine == others


@dataclass(frozen=True, slots=True)
class SampledCall:
    """Describe a call of the list: `position` counts from 1, `call` is `None` where the store has it no more."""

    position: int
    drawn: Drawn
    call: Call | None

    @property
    def is_read(self) -> bool:
        """Return whether anybody noted something on it."""
        return self.call is not None and bool(self.call.notes)


@dataclass(frozen=True, slots=True)
class ReadingList:
    """Hold the calls in the order in which they are to be read.

    `codes` are those that people gave them; no code is new in the `since_new` calls that were read last.
    """

    sample: Sample
    calls: Sequence[SampledCall]
    codes: int
    since_new: int

    @property
    def read(self) -> int:
        """Return how many calls were read."""
        return sum(each.is_read for each in self.calls)

    @property
    def gone(self) -> int:
        """Return how many calls the store has no more."""
        return sum(each.call is None for each in self.calls)
