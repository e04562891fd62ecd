"""Decide whether and when a request is sent again."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """Limit tries and the seconds between them.

    Pauses double from `pause_s` to `longest_pause_s`, less up to a quarter by chance; an endpoint that asks for more
    than `longest_wait_s` is given up.
    """

    tries: int = 3
    pause_s: float = 0.5
    longest_pause_s: float = 8.0
    longest_wait_s: float = 120.0

    def pause(self, failed: int, asked: float | None, chance: Random) -> float | None:
        """Return the seconds before the next try, `None` where there is none.

        `failed` counts the tries so far, `asked` is the wait that the endpoint asks for.
        """
        if failed >= self.tries:
            return None
        if asked is not None:
            return asked if asked <= self.longest_wait_s else None
        doubled: float = self.pause_s * 2.0 ** (failed - 1)
        return min(self.longest_pause_s, doubled) * (1 - 0.25 * chance.random())
