"""Answer the phone of the same plumber, with what was wrong in agent.py mended."""

from __future__ import annotations

import re

from agent import Receptionist, take_call


class Mended(Receptionist):
    """Understand units such as 132B, and every way to agree."""

    unit = re.compile(r"(?<!-)\b(?:unit )?\d{2,3}[A-Z]?\b(?!-)")

    def agrees(self, text: str) -> bool:
        """Say whether the caller confirms what was read back."""
        return re.search(r"\b(yes|yep|right|correct|perfect|that's it|mm-hm)\b", text.lower()) is not None


if __name__ == "__main__":
    take_call(Mended())
