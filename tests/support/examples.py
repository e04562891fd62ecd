"""How many random examples a test tries: few where all tests run, and as many as one likes of some."""

from __future__ import annotations

from hypothesis import settings

# Others each time, so what few of them miss shows within days.
FEW = 15
ENOUGH = 100
_COUNTED_OF = 25


def examples(few: int) -> int:
    """Return so many where the profile has 25, and in proportion more or fewer under another one."""
    return max(1, few * settings().max_examples // _COUNTED_OF)
