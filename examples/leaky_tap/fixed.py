"""Answer the phone of the same plumber, with the flaws of agent.py fixed."""

from __future__ import annotations

import re

from agent import Receptionist, take_call


class Fixed(Receptionist):
    """Understand a unit such as 132B, and that two o'clock is in the afternoon."""

    unit = re.compile(r"(?<!-)\b(?:unit )?\d{2,3}[A-Z]?\b(?!-)")

    def hour(self, time: str) -> int:
        """Return the hour that a caller means."""
        hour = super().hour(time)
        return hour + 12 if hour < 8 else hour


if __name__ == "__main__":
    take_call(Fixed())
