"""Shorten names and count things in words."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

LEAST = 4
"""Letters of a name that are shown if it has them: fewer say nothing."""
LISTED = 5
"""Names that a sentence takes in."""


def abbreviated(names: Collection[str]) -> dict[str, str]:
    """Return a beginning of each name, without the words that all begin with, as short as no two are alike."""
    words = {name: re.findall(r"[^\W_]+|[\W_]+", name) for name in names}
    common = 0
    if len(names) > 1:
        while (
            all(len(parts) > common + 1 for parts in words.values()) and len({w[common] for w in words.values()}) == 1
        ):
            common += 1
    rests = {name: "".join(parts[common:]) or name for name, parts in words.items()}
    length = LEAST
    while len({rest[:length] for rest in rests.values()}) < len(rests):
        length += 1
    return {name: rest[:length] for name, rest in rests.items()}


def counted(count: int, noun: str) -> str:
    """Return a number with its noun, such as `1 call` or `7 calls`; the plural takes an s."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def listed(names: Sequence[str]) -> str:
    """Return the first names and how many more there are, as many as one takes in."""
    more = len(names) - LISTED
    return ", ".join([*names[:LISTED], *([f"{more} more"] if more > 0 else [])])


def excluded_text(count: int, caller_failed: int = 0) -> str:
    """Return how many errored calls are not counted in averages, and of how many of them the caller failed."""
    if caller_failed:
        calls = "call is" if count == 1 else "calls are"
        errored = f"{count - caller_failed} errored, " if count > caller_failed else ""
        return f"{count} {calls} not counted in averages: {errored}{caller_failed} whose caller failed"
    return f"{count} errored {'call is' if count == 1 else 'calls are'} not counted in averages"
