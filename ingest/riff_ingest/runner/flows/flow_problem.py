"""Report what keeps a flow file from being run."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from riff_store.errors import RiffError

LONGEST = 500
"""The characters of a sentence about a flow, in whose file names may be of any length."""


class FlowProblem(RiffError):
    """Report that a flow cannot be run, with the place in its file and what to do."""

    def __init__(self, message: str) -> None:
        super().__init__(message if len(message) <= LONGEST else f"{message[:LONGEST]}…")


def near_or_all(name: str, known: Iterable[str]) -> str:
    """Say which known name was meant, or which names there are."""
    names = list(known)
    if near := nearest(name, names):
        return f"did you mean {near}?"
    return f"there are {', '.join(names)}" if names else "there are none"


def nearest(name: str, known: Iterable[str], likeness: float = 0.6) -> str | None:
    """Return the known name that is most like another one, `None` where none is as like as that (1: the same)."""
    return next(iter(difflib.get_close_matches(name, sorted(known), n=1, cutoff=likeness)), None)
