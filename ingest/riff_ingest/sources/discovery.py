"""Find the files that a user's paths stand for, in one order whatever the order of the paths."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from riff_ingest.sources.compression import BrokenInput, unreadable
from riff_ingest.sources.detect import (
    accompanies,
    claimed_kind,
    detect,
    is_company,
    may_be_known,
    named_kind,
    set_aside,
)
from riff_ingest.sources.yaml_document import ENDINGS as _YAML

_LINES = (".jsonl", ".jsonl.gz")
_STORES = (".db", ".db-wal", ".db-shm")
_DOCUMENTS = (".json", ".json.gz", ".toml")


@dataclass(slots=True)
class FoundInputs:
    """Hold inputs in the order of their absolute paths, and what was passed over: path and reason.

    `kinds` are those of the inputs that were looked into to find them. `set_aside` was so by whoever wrote it, and
    nothing is wrong with that. `not_looked_at` are files of a walk whose names are of nothing that is read.
    """

    files: list[Path] = field(default_factory=list)
    kinds: dict[Path, str] = field(default_factory=dict)
    passed_over: list[tuple[str, str]] = field(default_factory=list)
    set_aside: list[tuple[str, str]] = field(default_factory=list)
    not_looked_at: list[str] = field(default_factory=list)


def find_inputs(paths: Iterable[str | os.PathLike[str]]) -> FoundInputs:
    """Find the files and directories that are inputs.

    A directory that is one input as a whole is not looked into, one that was put aside is passed over.

    A file that is named is an input whatever it holds. A directory is walked, hidden entries left
    out: known names are inputs, other JSON, TOML and YAML files where their content is known. Passed over are
    links below it, special files, unknown or broken `.jsonl`, `.json` and `.toml` files (but not valid
    JSON and TOML of other programs, and no YAML that names none of what is known) and what cannot be read.
    A file reached twice is one input.
    """
    search = _Search()
    for path in paths:
        search.root(Path(path))
    return FoundInputs(
        sorted(search.inputs.values(), key=_order),
        search.kinds,
        search.out(search.passed_over),
        search.out(search.set_aside),
        sorted(search.not_looked_at),
    )


class _Search:
    def __init__(self) -> None:
        self.inputs: dict[str, Path] = {}
        self.kinds: dict[Path, str] = {}
        self.passed_over: dict[Path, str] = {}
        self.set_aside: dict[Path, str] = {}
        self.not_looked_at: set[str] = set()

    def root(self, path: Path) -> None:
        try:
            mode = path.stat().st_mode
        except (OSError, ValueError) as error:
            self._pass(path, unreadable(error).reason)
            return
        if stat.S_ISDIR(mode):
            self._directory(path, self._walk)
        elif stat.S_ISREG(mode):
            self._take(path)
        else:
            self._pass(path, "not a regular file")

    def _walk(self, root: Path) -> None:
        waiting = [root]
        while waiting:
            directory = waiting.pop()
            for entry in self._entries(directory):
                path = directory / entry.name
                try:
                    waiting += self._entry(entry, path)
                except OSError as error:
                    self._pass(path, unreadable(error).reason)

    def _entry(self, entry: os.DirEntry[str], path: Path) -> list[Path]:
        """Take what lies in a directory or pass it over; a directory that has to be walked comes back."""
        if entry.is_symlink():
            self._pass(path, "a link below the directory is not followed")
        elif entry.is_dir(follow_symlinks=False):
            found: list[Path] = []
            self._directory(path, found.append)
            return found
        elif entry.is_file(follow_symlinks=False):
            self._file(path)
        else:
            self._pass(path, "not a regular file")
        return []

    def _directory(self, path: Path, walk: Callable[[Path], object]) -> None:
        """Take a directory that is one input, pass over one that is none, and have any other walked."""
        if reason := set_aside(path):
            self.set_aside[path] = reason
        elif (kind := claimed_kind(path)) is None:
            walk(path)
        else:
            self._take(path, kind)

    def _entries(self, directory: Path) -> Iterator[os.DirEntry[str]]:
        try:
            with os.scandir(directory) as entries:
                found = [entry for entry in entries if not entry.name.startswith(".")]
        except OSError as error:
            self._pass(directory, unreadable(error).reason)
            return
        yield from found

    def _file(self, path: Path) -> None:
        name = path.name
        if named_kind(name) is not None:
            self._take(path)
        elif is_company(path):
            return
        elif not self._may_be_input(path):
            if not name.endswith((*_YAML, *_STORES)) and not accompanies(path):
                self.not_looked_at.add(str(path))
        else:
            try:
                kind, reason = detect(path)
            except BrokenInput as problem:
                kind, reason = None, problem.reason
            if kind is not None:
                self._take(path, kind)
            elif not accompanies(path):
                self._pass(path, reason)

    def _may_be_input(self, path: Path) -> bool:
        name = path.name
        return name.endswith((*_LINES, *_DOCUMENTS)) or (name.endswith(_YAML) and may_be_known(path))

    def _take(self, path: Path, kind: str | None = None) -> None:
        if kind is not None:
            self.kinds[path] = kind
        real = _real(path)
        known = self.inputs.get(real)
        if known is None or _rank(path) < _rank(known):
            self.inputs[real] = path

    def _pass(self, path: Path, reason: str) -> None:
        self.passed_over[path] = reason

    def out(self, reasons: Mapping[Path, str]) -> list[tuple[str, str]]:
        """Return paths, in order and each once, with the reasons why they are left out, but for what is an input."""
        spelled = {_order(path): path for path in sorted(reasons, key=_rank, reverse=True)}
        return [(str(path), reasons[path]) for _, path in sorted(spelled.items()) if _real(path) not in self.inputs]


def _real(path: Path) -> str:
    try:
        return os.path.realpath(path)
    except ValueError:  # no path at all
        return str(path)


def _order(path: Path) -> bytes:
    return os.fsencode(os.path.abspath(path))


def _rank(path: Path) -> tuple[bool, bytes]:
    """Return the rank of a spelling of a file: the one without links stays."""
    return os.path.abspath(path) != _real(path), os.fsencode(path)
