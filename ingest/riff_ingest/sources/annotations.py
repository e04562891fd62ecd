"""Read what people noted on calls: lines of `riff.annotation/1`, or annotations of embedeval (docs/notes.md)."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeAlias

import msgspec

from riff_ingest import lines
from riff_ingest.lenient_json import fit, loads, parse_time
from riff_ingest.lines import BrokenInput
from riff_ingest.source import FileHead, Source
from riff_store.facts import Annotation, Skipped


def _recognises(head: FileHead) -> str | None:
    for record in head.records:
        if is_annotation(record):
            if reason := refusal(record):
                raise BrokenInput(reason)
            return "its lines are riff.annotation"
        if is_of_embedeval(record):
            return "its lines have traceId, annotator and a label of pass or fail"
    return None


SOURCE = Source(
    kind="notes",
    version=1,
    read=lambda path, context: read_lines(path),
    title="Notes of people",
    known_by="lines of riff.annotation/1, or those of embedeval with traceId, annotator and label",
    recognises=_recognises,
    keeps_text=False,
    notes_stay=True,
    rank=5,
)

# Write and read what people noted on calls as JSON lines, `riff.annotation/1` (docs/notes.md).
SCHEMA = "riff.annotation/1"
FAMILY, _, _MAJOR = SCHEMA.partition("/")
VERDICTS = ("pass", "fail")

LONGEST: Mapping[str, int] = {
    "id": 200,
    "run_id": 1_000,
    "flow": 1_000,
    "agent_model": 1_000,
    "conversation_id": 1_000,
    "state": 1_000,
    "code": 80,
    "note": 10_000,
    "author": 200,
    "supersedes": 200,
    "editor": 200,
}
"""How many characters each text of a line may have."""

MOST_LABELS, LONGEST_LABEL = 100, 200
NEEDED = ("id", "conversation_id", "author")

_HIGHEST = 2**63 - 1
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# What acts on a terminal, breaks lines or cannot be seen; a fixed list, for Python's own grows with each version.
_HIDDEN = "\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e007f"
_OF_EMBEDEVAL = {
    "conversation_id": "traceId",
    "author": "annotator",
    "at": "timestamp",
    "verdict": "label",
    "code": "failureCategory",
    "note": "notes",
}

Misfit: TypeAlias = Callable[[str, str], object]


def line_of(note: Annotation) -> str:
    """Return a note as one JSON line without its end, the same text for the same note wherever it is written.

    What is not known is left out; what acts on a terminal or cannot be seen is escaped.
    """
    document = {
        "schema": SCHEMA,
        "id": note.id,
        "run_id": note.run,
        "flow": note.flow,
        "agent_model": note.agent,
        "conversation_id": note.conversation,
        "trial": note.trial,
        "turn": note.turn,
        "state": note.state,
        "verdict": note.verdict,
        "code": note.code,
        "note": note.note,
        "labels": note.labels or None,
        "author": note.author,
        "at": time_text(note.at),
        "supersedes": note.supersedes,
        "deleted": note.deleted or None,
        "editor": note.editor,
    }
    known = {name: value for name, value in document.items() if value is not None}
    try:
        text = msgspec.json.encode(known).decode()
    except UnicodeEncodeError:
        text = msgspec.json.encode({name: _spelled(value) for name, value in known.items()}).decode()
    return text if text.isascii() and "\x7f" not in text else _hidden().sub(_escaped, text)


def read_lines(path: Path) -> Iterator[Annotation | Skipped]:
    """Yield the notes of a file of lines, and what of it was left out; it never raises on what the file has.

    A line that is not a note is `skipped`, a part of it that does not fit a `defect`. Annotations of embedeval are
    notes as well.
    """
    broken: list[BrokenInput] = []
    for number, data in lines.read_lines(path, broken.append):
        try:
            note, defects = read_line(data)
        except BrokenInput as problem:
            yield Skipped("skipped", number, problem.reason, problem.conversation)
            continue
        for reason in defects:
            yield Skipped("defect", number, reason, note.conversation)
        yield note
    for left in broken:
        yield Skipped("skipped", left.line, left.reason)


def read_line(data: bytes) -> tuple[Annotation, list[str]]:
    """Return the note of a line, with the reason for each part that was left out; raise `BrokenInput`."""
    record = loads(data)
    if not isinstance(record, dict):
        raise BrokenInput("line is not a note: it is not a JSON object")
    if is_of_embedeval(record):
        record = {"id": record.get("id"), **{name: record.get(other) for name, other in _OF_EMBEDEVAL.items()}}
    elif reason := refusal(record):
        raise BrokenInput(reason)
    defects: list[str] = []
    return _annotation(record, lambda name, wanted: defects.append(f"{name} is not {wanted} and is left out")), defects


def is_annotation(record: Mapping[str, Any]) -> bool:
    """Return whether a record names the schema of notes, in whichever version."""
    schema = record.get("schema")
    return isinstance(schema, str) and schema.startswith(f"{FAMILY}/")


def is_of_embedeval(record: Mapping[str, Any]) -> bool:
    """Return whether a record is an annotation of embedeval."""
    return "schema" not in record and "traceId" in record and "annotator" in record and record.get("label") in VERDICTS


def refusal(record: Mapping[str, Any]) -> str | None:
    """Return why a record is not a note that can be read, `None` if it can: any minor version is fine."""
    if not is_annotation(record):
        return f"line is not a note: its schema is not {SCHEMA}"
    schema = str(record["schema"])
    if schema.removeprefix(f"{FAMILY}/").partition(".")[0] == _MAJOR:
        return None
    return f"schema {schema[:60]} is not supported, only {SCHEMA} is"


def time_text(at: int | None) -> str | None:
    """Return microseconds since the epoch as RFC 3339 in UTC, `None` for what no calendar has."""
    if at is None:
        return None
    try:
        moment = _EPOCH + timedelta(microseconds=at)
    except OverflowError:
        return None
    return moment.isoformat(timespec="microseconds").replace("+00:00", "Z")


def _annotation(record: Mapping[str, Any], misfit: Misfit) -> Annotation:
    texts = {name: _text(record, name, longest, misfit) for name, longest in LONGEST.items()}
    call = texts["conversation_id"]
    for name in NEEDED:
        if texts[name] is None:
            wrong = f"is not text of at most {LONGEST[name]:,} characters" if record.get(name) else "is missing"
            raise BrokenInput(f"{name} {wrong}", conversation=call)
    verdict = record.get("verdict")
    if verdict is not None and verdict not in VERDICTS:
        misfit("verdict", "pass or fail")
        verdict = None
    deleted = record.get("deleted")
    if deleted is not None and not isinstance(deleted, bool):
        misfit("deleted", "true or false")
    return Annotation(
        id=str(texts["id"]),
        conversation=str(call),
        author=str(texts["author"]),
        run=texts["run_id"],
        flow=texts["flow"],
        agent=texts["agent_model"],
        trial=_whole(record, "trial", 0, misfit),
        turn=_whole(record, "turn", 1, misfit),
        state=texts["state"],
        verdict=verdict,
        code=texts["code"],
        note=texts["note"],
        labels=_labels(record.get("labels"), misfit),
        at=_time(record.get("at"), misfit),
        supersedes=texts["supersedes"],
        deleted=deleted is True,
        editor=texts["editor"],
    )


def _text(record: Mapping[str, Any], name: str, longest: int, misfit: Misfit) -> str | None:
    """Return a text, `None` for a blank one and for one that does not fit."""
    value = record.get(name)
    if value is None:
        return None
    try:
        text = str(fit(value, str))
    except msgspec.ValidationError:
        text = ""
    if len(text) > longest or not isinstance(value, str | int):
        if name not in NEEDED:
            misfit(name, f"text of at most {longest:,} characters")
        return None
    return text if text.strip() else None


def _whole(record: Mapping[str, Any], name: str, least: int, misfit: Misfit) -> int | None:
    value = record.get(name)
    if value is None:
        return None
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= _HIGHEST:
        misfit(name, f"a whole number from {least}")
        return None
    return value


def _labels(value: Any, misfit: Misfit) -> list[str]:
    if value is None:
        return []
    fits = isinstance(value, list) and len(value) <= MOST_LABELS
    if not fits or not all(isinstance(each, str) and len(each) <= LONGEST_LABEL for each in value):
        misfit("labels", f"a list of at most {MOST_LABELS} texts of at most {LONGEST_LABEL} characters")
        return []
    return [str(each) for each in value]


def _time(value: Any, misfit: Misfit) -> int | None:
    at = parse_time(value) if isinstance(value, str) else None
    if value is not None and at is None:
        misfit("at", "a time")
    return at


def _spelled(value: Any) -> Any:
    """Return a value with lone surrogates spelled out, as the store keeps them."""
    if isinstance(value, list):
        return [_spelled(each) for each in value]
    return value.encode("utf-8", "backslashreplace").decode() if isinstance(value, str) else value


@lru_cache(maxsize=1)
def _hidden() -> re.Pattern[str]:
    return re.compile(f"[{_HIDDEN}]")


def _escaped(found: re.Match[str]) -> str:
    return json.dumps(found.group())[1:-1]
