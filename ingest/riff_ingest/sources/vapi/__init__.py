"""Read the calls of Vapi as its API and its webhooks give them (docs/formats.md, section 12)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from riff_ingest.lenient_json import object_of
from riff_ingest.source import FileHead, ReadContext, ReadItem, Source

_TYPES = ("inboundPhoneCall", "outboundPhoneCall", "webCall", "vapi.websocketCall")


def read(path: Path, context: ReadContext) -> Iterator[ReadItem]:
    """Yield the calls of a file with the verdicts on them; never raises on what they hold."""
    from riff_ingest.sources.vapi.to_conversation import read_vapi_calls

    return read_vapi_calls(path, context)


def _is_call(value: Any) -> bool:
    record = object_of(value)
    message = object_of(record.get("message"))
    if message:
        call = object_of(message.get("call"))
        return isinstance(message.get("type"), str) and (_is_known(call) or "artifact" in message)
    return _has_times(record) or (_is_known(record) and ("endedReason" in record or "artifact" in record))


def _is_known(call: dict[str, Any]) -> bool:
    return isinstance(call.get("id"), str) and ("orgId" in call or call.get("type") in _TYPES)


def _has_times(call: dict[str, Any]) -> bool:
    messages = object_of(call.get("artifact")).get("messages") or call.get("messages")
    return isinstance(messages, list) and any("secondsFromStart" in object_of(each) for each in messages)


def _recognises(head: FileHead) -> str | None:
    from riff_ingest.platforms import recognised

    return recognised(head, "Vapi", _is_call, _is_start)


def _is_start(start: bytes) -> bool:
    return b'"secondsFromStart"' in start or (b'"orgId"' in start and b'"assistantId"' in start)


SOURCE = Source(
    kind="vapi",
    version=2,
    read=read,
    title="Calls of Vapi",
    known_by="JSON with endedReason or messages: one call, a list, an end-of-call report, or lines of either",
    recognises=_recognises,
    takes_contracts=True,
    derives_states=True,
    rank=36,
)
