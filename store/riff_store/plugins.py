"""Load what other distributions add through entry points."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

_Added = TypeVar("_Added")


def load_plugins(
    group: str, noun: str, kind: type[_Added], refusal: Callable[[_Added, Sequence[_Added]], str]
) -> tuple[list[_Added], list[str]]:
    """Return the objects of a class that distributions name in a group, and a sentence on each that is left out.

    `noun` is what users call such an object. `refusal` says why one cannot be used beside those that were found
    before it, empty where it can. Order is that of names, whatever was installed first.
    """
    from importlib.metadata import entry_points

    found: list[_Added] = []
    problems = []
    for point in sorted(entry_points(group=group), key=lambda point: (point.name, point.value)):
        try:
            added = point.load()
        except Exception as error:  # foreign code may raise anything
            problem = f"it fails with {type(error).__name__}"
        else:
            problem = refusal(added, found) if isinstance(added, kind) else f"it is no {kind.__name__}"
        if problem:
            problems.append(f"{noun} plug-in {point.name} ({point.value}) is left out: {problem}")
        else:
            found.append(added)
    return found, problems
