"""Find what belongs to the results of a run beside the file itself, and what lies there and is no part of them."""

from __future__ import annotations

import hashlib
import os
from functools import lru_cache
from pathlib import Path

from riff_ingest.sources.json_members import read_members
from riff_ingest.sources.lines import BrokenInput, digest

SIMULATIONS, ARTIFACTS, DISCARDED = "simulations", "artifacts", "hallucination_discarded"

_RESULTS = ("results.json", "results.json.gz")
_READ = (".json", ".json.gz")
_DEEPEST = 5
"""The levels below a run's folder at which the files of its calls may lie."""


def simulation_files(results: Path) -> list[Path]:
    """Return the files beside results that hold a simulation each, by name; none where results hold them themselves."""
    folder = results.parent / SIMULATIONS
    if results.name not in _RESULTS or folder.is_symlink() or not folder.is_dir() or lists_simulations(results):
        return []
    try:
        names = sorted(os.listdir(folder), key=os.fsencode)
    except OSError:
        return []
    files = (folder / name for name in names if name.endswith(_READ) and not name.startswith("."))
    return [file for file in files if file.is_file() and not file.is_symlink()]


def lists_simulations(results: Path) -> bool:
    """Tell whether results hold at least one simulation themselves."""
    try:
        found = next(read_members(results, lists=(SIMULATIONS,)), None)
    except BrokenInput:
        return False
    return isinstance(found, str) or (found is not None and found.place is not None)


def digest_of_results(results: Path) -> tuple[str, int]:
    """Return what stands for results with the files of their simulations, and the bytes of all of them.

    Raises `BrokenInput` where the results cannot be read.
    """
    content, size = digest(results)
    files = simulation_files(results)
    if not files:
        return content, size
    found = hashlib.sha256(content.encode())
    for file in files:
        try:
            content, length = digest(file)
        except BrokenInput as problem:
            content, length = problem.reason, 0
        found.update(b"%b\0%b\n" % (os.fsencode(file.name), content.encode()))
        size += length
    return found.hexdigest(), size


def is_of_a_run(path: Path) -> bool:
    """Tell whether a file lies where a run keeps its simulations, or what was recorded of them."""
    parents = [Path(os.path.abspath(path)).parent]
    while len(parents) < _DEEPEST:
        parents.append(parents[-1].parent)
    if parents[0].name == SIMULATIONS and _has_results(parents[1]):
        return True
    return any(folder.name == ARTIFACTS and _has_results(folder.parent) for folder in parents)


@lru_cache(maxsize=64)
def _has_results(folder: Path) -> bool:
    return any((folder / name).is_file() for name in _RESULTS)
