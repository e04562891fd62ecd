"""Take apart the JSON of others: the objects of a file, and parts of them as the type that they should have."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from riff_ingest.events import LONGEST
from riff_ingest.sources.lenient_json import clean, is_deep, loads
from riff_ingest.sources.lines import BrokenInput, read_lines, read_whole

HEAD_LINES = 8


def text_of(value: Any) -> str | None:
    """Return text that is not empty, a whole number as text, `None` for anything else."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return value if isinstance(value, str) and value else None


def number_of(value: Any, lowest: float = 0.0, highest: float = LONGEST) -> float | None:
    """Return a number within bounds, `None` for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not lowest <= value <= highest:
        return None
    return float(value)


def flag_of(value: Any) -> bool | None:
    """Return true or false, `None` for anything else."""
    return value if isinstance(value, bool) else None


def object_of(value: Any) -> dict[str, Any]:
    """Return an object, an empty one for anything else."""
    return value if isinstance(value, dict) else {}


def objects_of(value: Any) -> list[dict[str, Any]]:
    """Return the objects of a list, none for anything else."""
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def read_values(path: Path) -> Iterator[tuple[int, Any] | BrokenInput]:
    """Yield the values of a file with their lines: of one document, of a list in it, or of each of its lines.

    What is one document has line 0. What cannot be read is yielded as its reason. A value that is nested too deeply
    lacks what lies below. Raises `BrokenInput` where the file cannot be read at all.
    """
    if not _has_values(path, 1):
        try:
            document = _value(read_whole(path), "file")
        except BrokenInput:
            if not _has_values(path, HEAD_LINES):
                raise
        else:
            yield from _each(0, document)
            return
    broken: list[BrokenInput] = []
    for number, line in read_lines(path, broken.append):
        try:
            yield from _each(number, _value(line, "line"))
        except BrokenInput as problem:
            yield BrokenInput(problem.reason, number)
    yield from broken


def _each(line: int, value: Any) -> Iterator[tuple[int, Any]]:
    for each in value if isinstance(value, list) else [value]:
        yield line, each


def _value(data: bytes, what: str) -> Any:
    value = loads(data, what=what)
    return clean(value, Counter()) if is_deep(value) else value


def _has_values(path: Path, lines: int) -> bool:
    """Tell whether one of the first lines is an object or a list by itself."""
    return any(_is_value(line) for _, line in islice(read_lines(path), lines))


def _is_value(line: bytes) -> bool:
    try:
        return isinstance(loads(line), dict | list)
    except BrokenInput:
        return False
