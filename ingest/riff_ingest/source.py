"""Describe one kind of input: how it is recognised, read and named to users."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias

from riff_ingest.conversation import Contract, Conversation
from riff_ingest.lenient_json import load_document, loads
from riff_ingest.lines import BrokenInput, digest, read_lines
from riff_ingest.segments import NO_SEGMENTS, ToolSegments
from riff_store.facts import Annotation, DescribedFlow, JudgedScore, RunOfCall, Skipped

if TYPE_CHECKING:
    from riff_ingest.eva.run_inputs import RunInputs


ROOT = "(root)"
HEAD_LINES = 8
"""Lines at the head of a file that may tell what it is, so that a few broken ones do not hide it."""

ReadItem: TypeAlias = Conversation | tuple[int, Conversation] | JudgedScore | Annotation | DescribedFlow | Skipped
"""What a reader yields: a conversation, alone or with the number of its line, anything else as it is stored."""


@dataclass
class FileHead:
    """Describe the beginning of a file, as raw bytes in UTF-8, and read more of it where somebody asks."""

    path: Path
    start: bytes = b""

    @cached_property
    def records(self) -> list[dict[str, Any]]:
        """Return the JSON objects on the first lines, which are the whole file if it has no line ends."""
        return list(_records(self.path))

    @cached_property
    def is_lines(self) -> bool:
        """Return whether an object ends with the first line and another begins: the file is not a single document."""
        first, end, rest = self.start.partition(b"\n")
        return bool(end) and first.rstrip().endswith(b"}") and rest.lstrip().startswith(b"{")

    @property
    def document(self) -> dict[str, Any]:
        """Return the object or table that the whole file is, empty if it is none."""
        value = self._loaded[0]
        return value if isinstance(value, dict) else {}

    @property
    def value(self) -> Any:
        """Return the value of the document that the whole file is, `None` if it is none."""
        return self._loaded[0]

    @property
    def misread(self) -> str | None:
        """Return why the file is not a document of JSON, TOML or YAML, `None` if it is."""
        return self._loaded[1]

    @cached_property
    def _loaded(self) -> tuple[Any, str | None]:
        try:
            return load_document(self.path), None
        except BrokenInput as problem:
            return None, str(problem)


@dataclass(frozen=True, slots=True)
class ReadContext:
    """Describe what a reader may need beside its input.

    Contracts by flow, files that the user named for all runs, the phases of tools as the user set them, the inputs that
    are later attempts at the same task, in their order, and the runs that have a call of a name, by these names.
    """

    contracts: Mapping[str, Contract] = field(default_factory=dict)
    run_inputs: RunInputs | None = None
    tool_segments: ToolSegments = NO_SEGMENTS
    retries: tuple[Path, ...] = ()
    runs: Mapping[str, Sequence[RunOfCall]] = field(default_factory=dict)


class Attempt(NamedTuple):
    """Name the task that an input is an attempt at, which attempt it is, and when it began, as it is ordered."""

    task: str
    id: str
    began: tuple[int, str, float]


@dataclass(frozen=True, slots=True)
class DirectoryInput:
    """Describe a source whose inputs are directories.

    `claims` shows whether a directory is one input as a whole, `digest` returns the SHA-256 and the size of what is
    read of it, `set_aside` shows why a directory and everything in it is left out on purpose, `None` if it is not.
    `accompanies` shows whether a file is beside such directories and is read with them, so that nobody misses it.
    """

    claims: Callable[[Path], bool]
    digest: Callable[[Path], tuple[str, int]]
    set_aside: Callable[[Path], str | None] = lambda directory: None
    accompanies: Callable[[Path], bool] = lambda path: False


@dataclass(frozen=True, kw_only=True)
class Source:
    """Describe one kind of input; everything that is known of a kind follows from this.

    - `kind` names it to `--as` and in the store; raising `version` has its files reread.
    - `read` yields what an input has, and `Skipped` for what it leaves out; it raises nothing but `BrokenInput`;
      anything else that a source of another distribution raises leaves that input out.
    - `read_some` yields what some lines of a file contain, so that several processes can share a large one: what `read`
      yields is that of all lines, then what could not be read as lines.
    - `in_lines` shows whether a file has lines at all that can be shared.
    - `title` and `known_by` show users what it is and how it is recognised.
    - `names` are patterns of file names that a walk takes unseen. `recognises` returns why a file is of this kind,
      judged by its head, else `None`; raising `BrokenInput` refuses the file. `directory` is for inputs that are
      directories.
    - `is_record` shows, by keys that only this kind has, whether a JSON value is one of its records: what nothing
      recognises is looked into for them, as they are in the envelopes of those who hand them on.
    - `yaml_words` are in every YAML file of this kind: a walk looks at no other, for most belong to other programs.
    - `keeps_text`: its transcripts go into the store, unless the user leaves them out.
    - `notes_stay`: notes that it has are merged into those of the store and outlive the file.
    - `takes_contracts`: flow files give their contracts to conversations that bring none; `contracts` returns those
      that an input of this kind gives.
    - `derives_states`: the states of its calls are the tools that were called, with phases that users may set.
    - `find_run_inputs` returns the dataset and the agent's file of an input, from those that the user named.
    - `attempt` shows which task an input is an attempt at, `None` if it is none: calls that a later attempt copied or
      made again count there.
    - `judged_calls` returns the names of calls that an input judges without their run: it is read after all calls, and
      again once others have these names.
    - `digest_file` returns the SHA-256 and the size of a file with what is read beside it; raises `BrokenInput`.
    - `is_companion` shows for a file in a walk that it was written beside inputs of this kind and is none itself.
    - `rank` orders the sources: the lowest is asked first whether it recognises a file.
    """

    kind: str
    version: int
    read: Callable[[Path, ReadContext], Iterable[ReadItem]]
    read_some: LineReader | None = None
    in_lines: Callable[[Path], bool] = lambda path: True
    title: str
    known_by: str
    names: tuple[str, ...] = ()
    recognises: Callable[[FileHead], str | None] = lambda head: None
    is_record: Callable[[Any], bool] = lambda value: False
    directory: DirectoryInput | None = None
    yaml_words: tuple[bytes, ...] = ()
    keeps_text: bool = True
    notes_stay: bool = False
    takes_contracts: bool = False
    contracts: Callable[[Path], Mapping[str, Contract]] = lambda path: {}
    derives_states: bool = False
    find_run_inputs: Callable[[Path, RunInputs | None], RunInputs] | None = None
    attempt: Callable[[Path], Attempt | None] = lambda path: None
    judged_calls: Callable[[Path], set[str]] | None = None
    digest_file: Callable[[Path], tuple[str, int]] = digest
    is_companion: Callable[[Path], bool] = lambda path: False
    rank: int = 50

    def is_named(self, name: str) -> bool:
        """Return whether a file name is one of this kind's."""
        return any(fnmatchcase(name, pattern) for pattern in self.names)

    def items(self, path: Path, context: ReadContext) -> Iterator[ReadItem]:
        """Yield what `read` yields; if it cannot go on, that comes as `Skipped`."""
        try:
            yield from self.read(path, context)
        except BrokenInput as problem:
            yield Skipped("skipped", problem.line, problem.reason, problem.conversation)

    def digest(self, path: Path) -> tuple[str, int]:
        """Return the SHA-256 (hexadecimal) and the size in bytes of an input; raise `BrokenInput`."""
        return self.directory.digest(path) if self.directory and path.is_dir() else self.digest_file(path)


def numbered(items: Iterable[ReadItem]) -> Iterator[ReadItem]:
    """Yield items with their verdicts numbered from 1, where several are in one place of a file.

    The store shows the verdicts of a file apart by their lines.
    """
    place = 0
    for item in items:
        if isinstance(item, JudgedScore):
            place += 1
            item.line = place
        yield item


def _records(path: Path) -> Iterator[dict[str, Any]]:
    lines = islice(read_lines(path), HEAD_LINES)
    while True:
        try:
            _, line = next(lines)
        except (BrokenInput, StopIteration):
            return
        try:
            record = loads(line)
        except BrokenInput:
            continue
        if isinstance(record, dict):
            yield record


def run_of(path: Path) -> str:
    """Return the run of an input that names none: the name of the directory that has it."""
    return text_of(os.path.basename(os.path.dirname(os.path.abspath(path)))) or ROOT


def text_of(name: str) -> str:
    """Return the name of a file as text, with bytes that are none spelled out."""
    return os.fsencode(name).decode(errors="backslashreplace")


# Read files whose lines can be read some at a time, one after the other or by several processes.
Lines: TypeAlias = Iterable[tuple[int, bytes]]
"""Lines with their numbers."""
_NO_CONTEXT = ReadContext()
FlowOfRun: TypeAlias = tuple[str, str]
"""The names of a run and of a flow."""


@dataclass(slots=True)
class Contracts:
    """Describe what some lines of a file pass to those after them: the contract of a flow in a run.

    `before` is what earlier lines gave, `given` what these give, `asked` what they took of `before` or found missing.
    """

    before: dict[FlowOfRun, Contract] = field(default_factory=dict)
    given: dict[FlowOfRun, Contract] = field(default_factory=dict)
    asked: set[FlowOfRun] = field(default_factory=set)

    def get(self, key: FlowOfRun) -> Contract | None:
        """Return the contract that was given last."""
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
