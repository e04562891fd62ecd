"""Load what other distributions add through entry points."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from importlib.machinery import PathFinder
from pathlib import Path
from typing import TypeVar

_Added = TypeVar("_Added")
_PLAIN_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")


def load_plugins(
    group: str, noun: str, kind: type[_Added], refusal: Callable[[_Added, Sequence[_Added]], str]
) -> tuple[dict[str, _Added], list[str]]:
    """Return the objects of a class that distributions name in a group, and a sentence on each that is left out.

    Objects are found by what the entry point names, `module:object`. `noun` is what users call such an object.
    `refusal` shows why one cannot be used beside those that were found before it, empty if it can. Order is that of
    names, whatever was installed first.
    """
    if "importlib.metadata" not in sys.modules and not _may_be_named(group):
        return {}, []
    from importlib.metadata import entry_points

    found: dict[str, _Added] = {}
    problems = []
    for point in sorted(entry_points(group=group), key=lambda point: (point.name, point.value)):
        try:
            added = point.load()
            problem = refusal(added, [*found.values()]) if isinstance(added, kind) else f"it is not a {kind.__name__}"
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # foreign code may raise anything, and exit
            problem = f"it fails with {type(error).__name__}"
        if problem:
            problems.append(f"{noun} plug-in {point.name} ({point.value}) is left out: {problem}")
        else:
            found[point.value] = added
    return found, problems


def _may_be_named(group: str) -> bool:
    """Return whether a distribution may name a group, without loading what reads all about distributions."""
    if any(hasattr(finder, "find_distributions") for finder in sys.meta_path if finder is not PathFinder):
        return True
    for folder in sys.path:
        try:
            named = [name for name in os.listdir(folder or ".") if name.lower().endswith("-info")]
        except NotADirectoryError:  # an archive
            return True
        except OSError:
            continue
        for name in named:
            with suppress(OSError):
                if group.encode() in Path(folder, name, "entry_points.txt").read_bytes():
                    return True
    return False


def name_refusal(word: str, names: Sequence[str], taken: Iterable[str]) -> str:
    """Return why the names of a plug-in cannot be used, an empty text if they can; `word` is what they are."""
    for name in names:
        if not _PLAIN_NAME.fullmatch(name):
            return f"the {word} {name!a} is not plain: lower-case letters and digits, joined by -"
    used = sorted({*taken}.intersection(names))
    return f"the {word} {used[0]} is taken" if used else ""
