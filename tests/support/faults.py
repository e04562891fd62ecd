"""Count what can fail, and let the n-th of it fail."""

from __future__ import annotations

import os
import signal
from dataclasses import dataclass

NEVER = 0


@dataclass(slots=True)
class Fault:
    """Fail at one step, counted from 1, or with `lasting` at that one and all that follow.

    With `kills` the process is killed there, as when the machine runs out of memory.
    """

    at: int = NEVER
    lasting: bool = False
    steps: int = 0
    kills: bool = False

    def is_due(self) -> bool:
        """Count a step, and report whether it has to fail."""
        self.steps += 1
        if self.kills and self.steps == self.at:
            os.kill(os.getpid(), signal.SIGKILL)
        return self.steps == self.at or (self.lasting and NEVER < self.at < self.steps)
