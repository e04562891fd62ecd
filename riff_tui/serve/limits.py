"""Say how much a page may ask for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

_DIGITS = 9


class Bounded(NamedTuple):
    """Hold the bounds of a whole number and what it is where none is given."""

    lowest: int
    highest: int
    default: int

    def clamp(self, value: int) -> int:
        """Return the number within the bounds that is closest."""
        return min(max(value, self.lowest), self.highest)

    def read(self, text: str | None) -> int:
        """Return the number that a text says, within the bounds, else the default."""
        digits = (text or "").removeprefix("-")
        if not (digits.isascii() and digits.isdigit()):
            return self.default
        # Python refuses to read very long numbers.
        return self.clamp(int(digits[:_DIGITS]) * (-1 if (text or "").startswith("-") else 1))


WIDTH = Bounded(20, 500, 80)
HEIGHT = Bounded(8, 200, 24)
FONT_SIZE = Bounded(6, 72, 16)
MESSAGE_BYTES = 1 << 20
UNREAD_BYTES = 1 << 20
PACKET_BYTES = 1 << 26
COMPLAINT_BYTES = 1 << 16


@dataclass(frozen=True, slots=True)
class Limits:
    """Hold how many explorers run at once, and after how many seconds one ends that nobody uses.

    An explorer that is to end gets `patience_s` for each of the ways in which it is asked.
    """

    sessions: int = 8
    idle_s: float = 8 * 3600
    patience_s: float = 2.0
