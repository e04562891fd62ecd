"""Find what a run was made with and does not hold itself: the dataset that it played and the file of its agent."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple, TypeVar

from riff_ingest.eva.config import Configuration
from riff_ingest.eva.dataset import aliases_beside, aliases_folder, filled, records_of
from riff_ingest.eva.history import Warnings
from riff_ingest.sources.lines import BrokenInput, digest
from riff_ingest.sources.yaml_document import load_yaml

LEVELS = 3
"""How many directories above a run its configuration's paths are looked for in."""

_Read = TypeVar("_Read")


class RunInputs(NamedTuple):
    """Hold the paths of the dataset and of the agent's file, `None` where there is none."""

    dataset: str | None = None
    agent: str | None = None

    def or_near(self, run: Path | None, configuration: Configuration) -> RunInputs:
        """Return these, and those that the run's configuration names where none is given."""
        return RunInputs(
            self.dataset or near(run, configuration.dataset_path),
            self.agent or near(run, configuration.agent_config_path),
        )

    def digest(self) -> str:
        """Return a hash of the content of these files, empty without any."""
        paths = [path for path in self if path]
        if self.dataset:
            paths += map(str, aliases_folder(Path(self.dataset)))
        return digest_of(paths)


NONE_GIVEN = RunInputs()


def near(run: Path | None, stored: str | None) -> str | None:
    """Return the file that a path in a configuration means, from one of the directories above the run.

    Only regular files below that directory: no absolute path, none with `..` and none through a link out of it.
    """
    if run is None or not stored or "\0" in stored or "\\" in stored:
        return None
    wanted = PurePosixPath(stored)
    if wanted.is_absolute() or ".." in wanted.parts:
        return None
    for base in list(run.parents)[:LEVELS]:
        path = base / wanted
        if _is_file_below(path, base):
            return str(path)
    return None


def played_record(path: str | None, record: str, language: str, warnings: Warnings) -> dict[str, Any] | None:
    """Return the dataset's record of this id with its placeholders filled.

    `None`, with a warning, where it has none.
    """
    if path is None:
        return None
    try:
        records, aliases = _cached(_dataset, path)
    except BrokenInput as problem:
        warnings.add("dataset_unreadable", problem.reason)
        return None
    found = records.get(record)
    if found is None:
        warnings.add("dataset_record_missing", f"the dataset has no record {record}")
        return None
    try:
        return filled(found, language, aliases)
    except BrokenInput:
        return found  # reading the record fails on it once more, and says so


def agent_at(path: str | None, warnings: Warnings) -> Mapping[str, Any] | None:
    """Return what an agent's file says, `None`, with a warning, where it cannot be read."""
    if path is None:
        return None
    try:
        return _cached(_agent, path)
    except BrokenInput as problem:
        warnings.add("agent_file_unreadable", problem.reason)
        return None


def digest_of(paths: Iterable[str]) -> str:
    """Return a hash of the content of some files, empty without any; one that cannot be read counts as such."""
    found = hashlib.sha256()
    for path in (given := list(paths)):
        try:
            found.update(_cached(_digest, path).encode())
        except BrokenInput as problem:
            found.update(problem.reason.encode())
    return found.hexdigest() if given else ""


def _is_file_below(path: Path, base: Path) -> bool:
    try:
        if not stat.S_ISREG(path.lstat().st_mode):
            return False
        return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(base))
    except (OSError, ValueError):
        return False


def _cached(read: Callable[[str, int, int], _Read], path: str) -> _Read:
    """Return what a file holds, read once as long as it does not change: a run's records share it."""
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return read(path, 0, 0)
    return read(path, status.st_mtime_ns, status.st_size)


@lru_cache(maxsize=4)
def _dataset(path: str, mtime: int, size: int) -> tuple[dict[str, dict[str, Any]], list[dict[str, Any]]]:
    return records_of(Path(path)), aliases_beside(Path(path))


@lru_cache(maxsize=64)
def _digest(path: str, mtime: int, size: int) -> str:
    return digest(Path(path))[0]


@lru_cache(maxsize=4)
def _agent(path: str, mtime: int, size: int) -> Mapping[str, Any]:
    return load_yaml(Path(path))
