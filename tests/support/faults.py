"""Count what can fail, and let the n-th of it fail."""

from __future__ import annotations

from dataclasses import dataclass

NEVER = 0


@dataclass(slots=True)
class Fault:
    """Fail at one step, counted from 1, or with `lasting` at that one and all that follow."""

    at: int = NEVER
    lasting: bool = False
    steps: int = 0

    def is_due(self) -> bool:
        """Count a step, and say if it has to fail."""
        self.steps += 1
        return self.steps == self.at or (self.lasting and NEVER < self.at < self.steps)
