"""Find the files of a record and read their JSON, with what cannot be read counted."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePosixPath
from typing import Any

from riff_ingest.eva.warnings import Warnings
from riff_ingest.limits import limits
from riff_ingest.sources.lenient_json import clean, loads
from riff_ingest.sources.lines import BrokenInput, read_lines, read_whole


def find(directory: Path, *names: str | None) -> Path | None:
    """Return the first of these files that a directory has itself, plain or compressed; links are not followed."""
    for name in names:
        for candidate in (directory / name, directory / f"{name}.gz") if name else ():
            if _is_own_file(candidate):
                return candidate
    return None


def absent(directory: Path, name: str) -> str:
    """Return why a directory has no file of this name."""
    linked = any((directory / each).is_symlink() for each in (name, f"{name}.gz"))
    return f"{name} is a link, and links are not followed" if linked else f"{name} is not there"


def _is_own_file(path: Path) -> bool:
    try:
        return path.is_file() and not path.is_symlink()
    except OSError:  # a name that is too long for any file
        return False


def stored_name(path: Any) -> str | None:
    """Return the name of the file that a stored path leads to, `None` where nothing is stored."""
    return PurePosixPath(path.replace("\\", "/")).name or None if isinstance(path, str) else None


def stored_file(path: Any) -> Path | None:
    """Return the file at a stored path, if it is one that is there."""
    if not isinstance(path, str) or not path or "\0" in path:
        return None
    try:
        return Path(path) if Path(path).is_file() else None
    except OSError:
        return None


def log_at(directory: Path, stored_path: Any, names: Iterable[str], log: str, warnings: Warnings) -> Path | None:
    """Return where a log is: in the directory by its stored name, else by one of these names, else at its stored path.

    That path may lead anywhere, so a log from outside the directory is warned of, and so is what is no file there.
    """
    path = find(directory, stored_name(stored_path), *names)
    if path is not None:
        return path
    path = stored_file(stored_path)
    if path is not None:
        warnings.add(f"{log}_elsewhere", "it was read from where result.json says it is, outside the record")
    elif isinstance(stored_path, str) and os.path.lexists(stored_path):
        warnings.add(f"{log}_elsewhere", "what is where result.json says it is, outside the record, is no file")
    return path


def read_object(path: Path, defects: Counter[str] | None = None) -> dict[str, Any]:
    """Return the object that a JSON file is; raise `BrokenInput`."""
    defects = Counter() if defects is None else defects
    value = clean_object(loads(read_whole(path, "log_mib"), defects, what="file"), defects)
    if not isinstance(value, dict):
        raise BrokenInput("file is not a JSON object")
    return value


def clean_object(value: Any, defects: Counter[str]) -> Any:
    """Return the same value without what lies too deep."""
    return clean(value, defects)


def read_records(path: Path, log: str, warnings: Warnings) -> Iterator[tuple[dict[str, Any], bytes]]:
    """Yield the objects on the lines of a log with their bytes; lines that hold none are counted under the log's name.

    What comes after `limits.log_mib` or `limits.log_lines` is not read.
    """

    def broken(problem: BrokenInput) -> None:
        warnings.add(f"{log}_broken_line", f"line {problem.line}: {problem.reason}" if problem.line else problem.reason)

    defects: Counter[str] = Counter()
    expected = 1
    for number, line in read_lines(path, broken, "log_mib"):
        if number > limits().log_lines:
            broken(BrokenInput(f"log has more than {limits().told('log_lines')}; the rest was not read"))
            break
        if number > expected:
            warnings.add(f"{log}_blank_line", f"line {expected}", number - expected)
        expected = number + 1
        try:
            record = loads(line, defects)
        except BrokenInput as problem:
            broken(BrokenInput(problem.reason, number))
            continue
        if isinstance(record, dict):
            yield record, line
        else:
            broken(BrokenInput("line is not a JSON object", number))
    for defect, count in defects.items():
        warnings.add(f"{log}_defect", defect, count)
