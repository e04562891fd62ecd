"""Read the calls of Vapi as its API and its webhooks give them (docs/formats/vapi.md)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from riff_ingest.lenient_json import object_of
from riff_ingest.lines import BrokenInput
from riff_ingest.source import FileHead, ReadContext, ReadItem, Source

_EVENTS = frozenset(
    {"conversation-update", "end-of-call-report", "hang", "speech-update", "status-update", "tool-calls", "transcript"}
)
_NO_CALLS = (
    (("itemCounts", "simulations"), "a Vapi simulation run; its calls are read, by GET /call"),
    (("evalId", "evalRunResultId"), "a run of a Vapi eval, which is not a call; calls are read, by GET /call"),
    (("callsCounterEnded", "callsCounter"), "a Vapi campaign; its calls are read, by GET /call"),
    (("target",), "a Vapi run without a call; its calls are read, by GET /call"),
)
_TYPES = ("inboundPhoneCall", "outboundPhoneCall", "webCall", "vapi.websocketCall")


def read(path: Path, context: ReadContext) -> Iterator[ReadItem]:
    """Yield the calls of a file with the verdicts on them; never raises on what they have."""
    from riff_ingest.sources.vapi.to_conversation import read_vapi_calls

    return read_vapi_calls(path, context)


def is_call(value: Any) -> bool:
    """Return whether a value is the record of a call, or an event of one."""
    record = object_of(value)
    message = object_of(record.get("message"))
    if message:
        call, kind = object_of(message.get("call")), message.get("type")
        is_event = isinstance(kind, str) and kind in _EVENTS and isinstance(call.get("id"), str)
        return is_event or (isinstance(kind, str) and (_is_known(call) or "artifact" in message))
    if no_call(record):
        return False
    is_told = "endedReason" in record or "artifact" in record
    return _has_times(record) or (_is_known(record) and is_told and (_is_typed(record) or _has_agent(record)))


def no_call(record: Mapping[str, Any]) -> str | None:
    """Return what a record of Vapi is that looks like one of a call, `None` if it may be one."""
    if not isinstance(record.get("id"), str) or "orgId" not in record:
        return None
    return next((what for keys, what in _NO_CALLS if any(key in record for key in keys)), None)


def _is_known(call: dict[str, Any]) -> bool:
    return isinstance(call.get("id"), str) and ("orgId" in call or _is_typed(call))


def _is_typed(call: dict[str, Any]) -> bool:
    return isinstance(kind := call.get("type"), str) and kind in _TYPES


def _has_agent(call: dict[str, Any]) -> bool:
    return any(call.get(key) for key in ("assistantId", "squadId", "workflowId", "assistant", "squad"))


def _has_times(call: dict[str, Any]) -> bool:
    messages = object_of(call.get("artifact")).get("messages") or call.get("messages")
    return isinstance(messages, list) and any("secondsFromStart" in object_of(each) for each in messages)


def _recognises(head: FileHead) -> str | None:
    from riff_ingest.platforms import recognised, records_of

    found = recognised(head, "Vapi", is_call, _is_start)
    listed = [] if found else [head.value, *records_of(head.value)[:8], *head.records]
    others = filter(None, (no_call(object_of(each)) for each in listed))
    if other := next(others, None):
        raise BrokenInput(f"it is {other}")
    return found


def _is_start(start: bytes) -> bool:
    return b'"secondsFromStart"' in start or (b'"orgId"' in start and b'"assistantId"' in start)


SOURCE = Source(
    kind="vapi",
    version=5,
    read=read,
    title="Calls of Vapi",
    known_by="JSON with endedReason or messages: one call, a list, an end-of-call report, or lines of either",
    recognises=_recognises,
    is_record=is_call,
    takes_contracts=True,
    derives_states=True,
    rank=36,
)
