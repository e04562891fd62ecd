"""Read conversations of ElevenLabs Agents as the API and the webhooks give them (docs/formats/elevenlabs.md)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from riff_ingest.lenient_json import object_of, objects_of
from riff_ingest.lines import BrokenInput
from riff_ingest.source import FileHead, ReadContext, ReadItem, Source

WITHOUT_WORDS = "a list of ElevenLabs conversations without their words; fetch each conversation"
OF_EVA = "it is of EVA's simulated caller, and goes with the record beside it"

_LOOKED_AT = 8
_OF_RECORDS = tuple(f"{name}.json{packed}" for name in ("audit_log", "result") for packed in ("", ".gz"))


def read(path: Path, context: ReadContext) -> Iterator[ReadItem]:
    """Yield the calls of a file with the verdicts on them; never raises on what they have."""
    from riff_ingest.sources.elevenlabs.to_conversation import read_elevenlabs_calls

    return read_elevenlabs_calls(path, context, _is_record)


def _is_record(value: Any) -> bool:
    record = object_of(value)
    if record.get("type") in ("post_call_audio", "call_initiation_failure"):
        return "conversation_id" in object_of(record.get("data"))
    if isinstance(record.get("simulated_conversation"), list):
        return True
    if any("test_run_id" in each for each in objects_of(record.get("test_runs"))):
        return True
    return _is_conversation(record) or _is_conversation(object_of(record.get("data")))


def _is_conversation(record: dict[str, Any]) -> bool:
    items = record.get("transcript")
    if not isinstance(record.get("conversation_id"), str) or not isinstance(items, list):
        return False
    return isinstance(record.get("agent_id"), str) or any(
        "time_in_call_secs" in item or "tool_calls" in item for item in objects_of(items)
    )


def _recognises(head: FileHead) -> str | None:
    from riff_ingest.platforms import recognised

    listed = objects_of(head.document.get("conversations"))[:_LOOKED_AT] if b'"message_count"' in head.start else []
    if any("message_count" in each and "conversation_id" in each and "transcript" not in each for each in listed):
        raise BrokenInput(WITHOUT_WORDS)
    found = recognised(head, "ElevenLabs", _is_record, _is_start)
    if found and any(head.path.with_name(name).is_file() for name in _OF_RECORDS):
        raise BrokenInput(OF_EVA)
    return found


def _is_start(start: bytes) -> bool:
    return (b'"time_in_call_secs"' in start and b'"transcript"' in start) or b'"post_call_audio"' in start


SOURCE = Source(
    kind="elevenlabs",
    version=3,
    read=read,
    title="Conversations of ElevenLabs Agents",
    known_by="JSON with conversation_id, agent_id and transcript: a call, a list, webhooks, simulations, or lines",
    recognises=_recognises,
    is_record=_is_record,
    takes_contracts=True,
    derives_states=True,
    rank=37,
)
