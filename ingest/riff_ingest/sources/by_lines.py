"""Read files whose lines can be read some at a time, one after the other or by several processes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, TypeAlias

from riff_ingest.contract import Contract
from riff_ingest.sources.lines import BrokenInput, read_lines
from riff_ingest.sources.source import ReadContext, ReadItem
from riff_store.facts import Skipped

Lines: TypeAlias = Iterable[tuple[int, bytes]]
"""Lines with their numbers."""
_NO_CONTEXT = ReadContext()
FlowOfRun: TypeAlias = tuple[str, str]
"""The names of a run and of a flow."""


@dataclass(slots=True)
class Contracts:
    """Hold what some lines of a file tell those after them: the contract of a flow in a run.

    `before` is what earlier lines told, `given` what these tell, `asked` what they took of `before` or found missing.
    """

    before: dict[FlowOfRun, Contract] = field(default_factory=dict)
    given: dict[FlowOfRun, Contract] = field(default_factory=dict)
    asked: set[FlowOfRun] = field(default_factory=set)

    def get(self, key: FlowOfRun) -> Contract | None:
        """Return the contract that was told last."""
        found = self.given.get(key)
        if found is None:
            self.asked.add(key)
            found = self.before.get(key)
        return found


LineReader: TypeAlias = Callable[[Path, ReadContext, Lines, Contracts], Iterator[ReadItem]]
"""What yields what some lines of a file hold; all else that it knows of the file is its path and the context."""


class FileReader(Protocol):
    """Read a whole file."""

    def __call__(self, path: Path, context: ReadContext = ...) -> Iterator[ReadItem]: ...


def by_lines(read_some: LineReader) -> FileReader:
    """Return what reads all lines of a file in their order."""

    def read(path: Path, context: ReadContext = _NO_CONTEXT) -> Iterator[ReadItem]:
        broken: list[BrokenInput] = []
        yield from read_some(path, context, read_lines(path, broken.append), Contracts())
        yield from left_out(broken)

    return read


def left_out(broken: Iterable[BrokenInput]) -> Iterator[Skipped]:
    """Yield what of a file could not be read as lines; it comes after all that could."""
    return (Skipped("skipped", left.line, left.reason) for left in broken)
