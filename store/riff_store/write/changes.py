"""Hold what a batch changes, from which follows what has to be summed anew."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from riff_store.engines.engine import Connection

Cell: TypeAlias = tuple[int, int, int]
"""The keys of a flow, an agent and a run."""


@dataclass(slots=True)
class Changes:
    """Hold what a batch has changed so far.

    Calls from the key `first` on are new, and `next` is the key of the next one. `shrunk` cells have lost calls, and
    `judged` are the keys of the files whose verdicts are new.
    """

    first: int
    next: int
    shrunk: set[Cell] = field(default_factory=set)
    judged: set[int] = field(default_factory=set)

    @property
    def last(self) -> int:
        """Return the key of the last new call, one less than `first` where there is none."""
        return self.next - 1

    def copy(self) -> Changes:
        """Return what to come back to where a file does not go in."""
        return Changes(self.first, self.next, set(self.shrunk), set(self.judged))


def no_changes(connection: Connection) -> Changes:
    """Return what a batch begins with."""
    first = int(connection.execute("SELECT coalesce(max(id), 0) + 1 FROM conversation").fetchone()[0])
    return Changes(first, first)
