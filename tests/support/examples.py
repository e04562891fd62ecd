"""How many random examples a test tries: few where all tests run, and as many as one likes of some."""

from __future__ import annotations

from hypothesis import settings

FEW = 25
ENOUGH = 100


def examples(few: int) -> int:
    """Return so many where the profile has `FEW`, and in proportion more under one that has more."""
    return max(1, few * settings().max_examples // FEW)
