"""Read calls of Bland, and what its pathways logged of them (docs/formats/bland.md)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from riff_ingest.lenient_json import object_of, objects_of
from riff_ingest.lines import BrokenInput
from riff_ingest.source import FileHead, ReadContext, ReadItem, Source

WITHOUT_WORDS = "a list of Bland calls without their words; fetch each call by GET /v1/calls/{id}"

_LOOKED_AT = 8
_OWN = frozenset({"call_length", "call_ended_by", "answered_by", "queue_status", "pathway_id", "c_id"})
_WORDS = frozenset({"transcripts", "pathway_logs", "concatenated_transcript"})
_EVENT_KINDS = frozenset({"conversation", "node", "webhook", "operation"})


def read(path: Path, context: ReadContext) -> Iterator[ReadItem]:
    """Yield the calls of a file, and what had to be left out; never raises on what they have."""
    from riff_ingest.sources.bland.to_conversation import read_bland_calls

    return read_bland_calls(path, context)


def digest(path: Path) -> tuple[str, int]:
    """Return what represents a file and what is read with it, and its size in bytes; raise `BrokenInput`."""
    from riff_ingest.sources.bland.pathway_events import digest_with_company

    return digest_with_company(path)


def is_call(value: Any) -> bool:
    """Return whether a value is the record of a call."""
    record = object_of(value)
    return (
        isinstance(record.get("call_id"), str)
        and not _WORDS.isdisjoint(record)
        and not (_OWN | {"pathway_logs", "concatenated_transcript"}).isdisjoint(record)
    )


def is_event(value: Any) -> bool:
    """Return whether a value is an event of a pathway."""
    record = object_of(value)
    kind = record.get("event_type")
    return (
        isinstance(record.get("conversation_id"), str)
        and bool(record["conversation_id"])
        and isinstance(kind, str)
        and kind.partition(".")[0] in _EVENT_KINDS
        and not {"sequence", "operation_id", "node_id"}.isdisjoint(record)
    )


def _recognises(head: FileHead) -> str | None:
    if b'"event_type"' in head.start:
        document = head.document
        listed = [*head.records, *objects_of(head.value)[:_LOOKED_AT], *objects_of(document.get("data"))[:_LOOKED_AT]]
        return "it has events of a pathway of Bland" if any(map(is_event, listed)) else None
    if b"call_id" not in head.start:
        return None
    from riff_ingest.platforms import recognised

    listed = objects_of(head.document.get("calls"))[:_LOOKED_AT] if b'"call_length"' in head.start else []
    if any("call_length" in each and _WORDS.isdisjoint(each) for each in listed):
        raise BrokenInput(WITHOUT_WORDS)
    return recognised(head, "Bland", is_call, _is_start)


def _is_start(start: bytes) -> bool:
    return b'"call_id"' in start and any(f'"{key}"'.encode() in start for key in ("pathway_logs", "call_length"))


SOURCE = Source(
    kind="bland",
    version=2,
    read=read,
    title="Calls of Bland",
    known_by="JSON with call_id and transcripts or pathway_logs, or events of a pathway: one, a list, or lines",
    recognises=_recognises,
    is_record=is_call,
    digest_file=digest,
    takes_contracts=True,
    derives_states=True,
    rank=38,
)
