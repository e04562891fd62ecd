"""Report what keeps a flow file from being run."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from riff_store.errors import RiffError


class FlowProblem(RiffError):
    """Report that a flow cannot be run, with the place in its file and what to do."""


def near_or_all(name: str, known: Iterable[str]) -> str:
    """Say which known name was meant, or which names there are."""
    names = list(known)
    near = difflib.get_close_matches(name, names, n=1)
    if near:
        return f"did you mean {near[0]}?"
    return f"there are {', '.join(names)}" if names else "there are none"
