"""Read logs of Inspect AI, `.eval` and `.json` (docs/formats/inspect.md)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from riff_ingest.conversation import Conversation
from riff_ingest.lenient_json import loads, object_of, parse_time, text_of
from riff_ingest.lines import BrokenInput
from riff_ingest.source import Attempt, FileHead, ReadContext, Source
from riff_store.facts import Annotation, JudgedScore, Skipped

_ZIP = b"PK\x03\x04"
_MEMBERS = ("header.json", "_journal/start.json")
_WORDS = (b'"eval"', b'"samples"', b'"plan"', b'"stats"')
_OF_A_RUN = frozenset({"run_id", "eval_id", "task_id", "created"})


def read(path: Path, context: ReadContext) -> Iterator[tuple[int, Conversation] | JudgedScore | Annotation | Skipped]:
    """Yield the calls of a log with the places of their samples, the verdicts on them and the edits of these.

    A sample that cannot be read is skipped with the reason; raises `BrokenInput` if the whole log cannot be read.
    """
    from riff_ingest.sources.inspect_log.to_conversation import read_log

    yield from read_log(path, context)


def _recognises(head: FileHead) -> str | None:
    if head.start.startswith(_ZIP):
        return _recognises_archive(head.path)
    start = head.start.lstrip()
    is_document = start.startswith(b"{") and not head.is_lines
    if is_document and any(word in start for word in _WORDS) and _describes_a_run(head.path):
        return "its eval names the task"
    return None


def _describes_a_run(path: Path) -> bool:
    from riff_ingest.json_members import read_members

    try:
        for member in read_members(path, ("eval",)):
            spec = object_of(None if isinstance(member, str) else loads(member.value))
            return "task" in spec and not _OF_A_RUN.isdisjoint(spec)
    except BrokenInput:
        return False
    return False


def _attempt(path: Path) -> Attempt | None:
    """Return which task a log is an attempt at: that is all which a retry has of the log that it goes on with."""
    from riff_ingest.sources.inspect_log.archive import header_at

    try:
        spec = object_of(header_at(path).get("eval"))
        written = path.stat().st_mtime
    except (BrokenInput, OSError):
        return None
    task, which = text_of(spec.get("task_id")), text_of(spec.get("eval_id")) or text_of(spec.get("run_id"))
    created = parse_time(text_of(spec.get("created")) or "")
    began = (-1 if created is None else created, path.name, written)
    return Attempt(task, which, began) if task and which else None


def _recognises_archive(path: Path) -> str | None:
    from riff_ingest.sources.inspect_log.archive import Archive

    try:
        with Archive(path) as archive:
            found = next((name for name in _MEMBERS if name in archive.names), None)
    except BrokenInput:
        return None
    return f"it is a zip file with {found}" if found else None


SOURCE = Source(
    kind="inspect",
    version=3,
    read=read,
    title="Logs of Inspect AI",
    known_by="zip files (*.eval) with a header.json or a _journal/start.json, or JSON with eval and samples",
    names=("*.eval",),
    recognises=_recognises,
    derives_states=True,
    takes_contracts=True,
    attempt=_attempt,
    rank=6,
)
