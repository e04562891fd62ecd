"""What a file or a directory is, by its content first and by its name where the content says nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from riff_ingest.sources import eva, flow_files
from riff_ingest.sources.lenient_json import loads
from riff_ingest.sources.lines import BrokenInput, read_lines, read_start
from riff_ingest.sources.transcript_line import refusal

LOOKED_AT = 8
"""Lines at the head of a file that may tell what it is, so that a few broken ones do not hide it."""

UNKNOWN = "nothing in the file is known"
EMPTY = "file is empty"

_SCHEMAS = "riff.flow-transcript/"


class Detected(NamedTuple):
    """The kind of an input, `None` if it is none that can be read, and why."""

    kind: str | None
    reason: str


@dataclass
class Head:
    """The beginning of a file: raw bytes as UTF-8, and the JSON objects on its first lines."""

    path: Path
    start: bytes = b""
    records: list[dict[str, Any]] = field(default_factory=list)

    @property
    def document(self) -> dict[str, Any]:
        """The object or table that the whole file is, empty where it is none."""
        value = self._loaded[0]
        return value if isinstance(value, dict) else {}

    @property
    def misread(self) -> str | None:
        """Why the file is neither a JSON nor a TOML document, `None` where it is."""
        return self._loaded[1]

    @cached_property
    def _loaded(self) -> tuple[Any, str | None]:
        try:
            return flow_files.load(self.path), None
        except BrokenInput as problem:
            return None, str(problem)


@dataclass(frozen=True)
class Source:
    """How one kind of input is known.

    `names` are patterns of file names that a walk takes unseen, `recognises` says from a file's head
    why it is of this kind, `claims` whether a directory is one input as a whole, `set_aside` why one is
    none and nothing in it either. Raising `BrokenInput` in `recognises` refuses the file with that reason.
    """

    kind: str
    names: tuple[str, ...] = ()
    recognises: Callable[[Head], str | None] = lambda head: None
    claims: Callable[[Path], bool] = lambda directory: False
    set_aside: Callable[[Path], str | None] = lambda directory: None

    def is_named(self, name: str) -> bool:
        """Whether a file name is one of this kind's."""
        return any(fnmatchcase(name, pattern) for pattern in self.names)


def _is_transcripts(head: Head) -> str | None:
    for record in head.records:
        schema = record.get("schema")
        if isinstance(schema, str) and schema.startswith(_SCHEMAS):
            if reason := refusal(schema):
                raise BrokenInput(reason)
            return f"its lines are {_SCHEMAS.rstrip('/')}"
        if "conversation_id" in record and "flow" in record and "judge" not in record:
            return "its lines have conversation_id and flow"
    return None


def _is_humanness(head: Head) -> str | None:
    if any("conversation_id" in record and "judge" in record for record in head.records):
        return "its lines have conversation_id and judge"
    return None


def _is_flow_file(head: Head) -> str | None:
    if any("conversation_id" in record for record in head.records):
        return None
    if flow_files.is_editor_document(head.document):
        return "it has the nodes of a flow editor"
    if flow_files.is_native_document(head.document):
        return "it has a flow and parts of its contract"
    return None


SOURCES: tuple[Source, ...] = (
    Source("transcripts", ("flow-transcripts-*.jsonl", "flow-transcripts-*.jsonl.gz"), _is_transcripts),
    Source("humanness", ("humanness-*.jsonl", "humanness-*.jsonl.gz"), _is_humanness),
    Source("flow-file", (), _is_flow_file),
    Source("eva", claims=eva.claims, set_aside=eva.set_aside),
)


def detect(path: Path) -> Detected:
    """What a file or a directory is taken for, and why; raises `BrokenInput` where it cannot be read at all."""
    if path.is_dir():
        kind = claimed(path)
        return Detected(kind, f"it is a directory of {kind}" if kind else "it is a directory")
    head = Head(path, read_start(path), list(_records(path)))
    for source in SOURCES:
        try:
            reason = source.recognises(head)
        except BrokenInput as problem:
            return Detected(None, problem.reason)
        if reason:
            return Detected(source.kind, reason)
    named = named_kind(path.name)
    if named is not None:
        return Detected(named, "its name says so")
    if not head.start.strip():
        return Detected(None, EMPTY)
    return Detected(None, UNKNOWN if head.records else head.misread or UNKNOWN)


def named_kind(name: str) -> str | None:
    """The kind that takes files of this name."""
    return next((source.kind for source in SOURCES if source.is_named(name)), None)


def claimed(directory: Path) -> str | None:
    """The kind that takes this directory as one input."""
    return next((source.kind for source in SOURCES if source.claims(directory)), None)


def set_aside(directory: Path) -> str | None:
    """Why neither a directory nor anything in it is input, `None` where it may be."""
    return next((reason for source in SOURCES if (reason := source.set_aside(directory))), None)


def _records(path: Path) -> Iterator[dict[str, Any]]:
    lines = islice(read_lines(path), LOOKED_AT)
    while True:
        try:
            _, line = next(lines)
        except (BrokenInput, StopIteration):
            return
        try:
            record = loads(line, Counter())
        except BrokenInput:
            continue
        if isinstance(record, dict):
            yield record
