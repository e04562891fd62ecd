"""Read the calls of Retell as its API and its webhooks give them (docs/formats/retell.md)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from riff_ingest.source import FileHead, ReadContext, ReadItem, Source

_TRANSCRIPTS = (
    "transcript_with_tool_calls",
    "transcript_object",
    "scrubbed_transcript_with_tool_calls",
    "scrubbed_transcript_object",
)
_OF_EVERY_CALL = frozenset({"agent_id", "call_status"})


def read(path: Path, context: ReadContext) -> Iterator[ReadItem]:
    """Yield the calls of a file with the verdicts on them; never raises on what they have."""
    from riff_ingest.sources.retell.to_conversation import read_retell_calls

    return read_retell_calls(path, context, _is_call)


def _is_call(value: Any) -> bool:
    if not isinstance(value, Mapping):
        return False
    call = value["call"] if isinstance(value.get("call"), dict) else value
    if "call_id" in call:
        return any(key in call for key in _TRANSCRIPTS) or call.keys() >= _OF_EVERY_CALL
    return "test_case_job_id" in call and "test_case_definition_snapshot" in call


def _recognises(head: FileHead) -> str | None:
    from riff_ingest.platforms import recognised

    return recognised(head, "Retell", _is_call, _is_start)


def _is_start(start: bytes) -> bool:
    return b'"call_id"' in start and any(f'"{key}"'.encode() in start for key in _TRANSCRIPTS)


SOURCE = Source(
    kind="retell",
    version=5,
    read=read,
    title="Calls of Retell",
    known_by="JSON with call_id and a transcript: one call, a list, a webhook's body, or lines of either",
    recognises=_recognises,
    is_record=_is_call,
    takes_contracts=True,
    derives_states=True,
    rank=35,
)
