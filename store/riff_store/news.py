"""Say to those who look at a store what is being written into it: whose calls of which run, and how many."""

from __future__ import annotations

import msgspec

_LONGEST = 200


class News(msgspec.Struct, frozen=True, gc=False):
    """Hold what a transaction wrote: `run` is the one that most of its `calls` are of, nothing of what was said."""

    by: str = ""
    run: str = ""
    runs: int = 0
    calls: int = 0

    def shortened(self) -> News:
        """Return it as it can be sent on any channel."""
        return News(self.by[:_LONGEST], self.run[:_LONGEST], self.runs, self.calls)
