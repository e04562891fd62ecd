"""Read the calls of Vapi as its API and its webhooks give them (docs/formats.md, section 12)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from riff_ingest.conversation import Conversation
from riff_ingest.lenient_json import object_of
from riff_ingest.lines import BrokenInput
from riff_ingest.source import FileHead, ReadContext, Source, run_of
from riff_ingest.sources.platforms import CallRecord, Sketch, read_call_records, records_of
from riff_store.facts import JudgedScore, Skipped

REPORT = "end-of-call-report"
"""The kind of the message that tells of a call as a whole."""
_TYPES = ("inboundPhoneCall", "outboundPhoneCall", "webCall", "vapi.websocketCall")


def read(path: Path, context: ReadContext) -> Iterator[tuple[int, Conversation] | JudgedScore | Skipped]:
    """Yield the calls of a file with the verdicts on them; never raises on what they hold.

    Numbers are those of lines, or places in a list.
    """
    from riff_ingest.sources.vapi.to_conversation import JUDGE, conversation_of

    run = run_of(path)
    for record in read_call_records(path, _sketch):
        if not isinstance(record, CallRecord):
            yield record
            continue
        try:
            found = conversation_of(record.value, context, record.filled)
        except BrokenInput as problem:
            yield Skipped("skipped", record.number, problem.reason, problem.conversation)
            continue
        call = found.conversation
        call.run_id = call.run_id or run
        yield record.number, call
        for verdict in found.verdicts:
            yield verdict.of(JUDGE, call, found.judged_at)


def _sketch(value: Any) -> Sketch | None:
    if not isinstance(value, dict):
        return None
    message = object_of(value.get("message"))
    call = object_of(message.get("call")) if message else value
    name = call.get("id")
    if not isinstance(name, str) or not name:
        return None
    told = message if message.get("type") == REPORT else call
    has_text = bool(object_of(told.get("artifact")).get("messages") or told.get("messages"))
    is_analyzed = bool(told.get("analysis"))
    return Sketch(name, 4 * is_analyzed + 2 * bool(told.get("endedReason")) + has_text)


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
    if any(map(_is_call, head.records)) or any(map(_is_call, records_of(head.value)[:8])):
        return "it has calls of Vapi"
    if head.misread and head.start.lstrip()[:1] in (b"[", b"{") and _is_start(head.start):
        return "it begins with a call of Vapi"
    return None


def _is_start(start: bytes) -> bool:
    """Tell whether a file that is too large to be looked at as a whole begins like calls do."""
    return b'"secondsFromStart"' in start or (b'"orgId"' in start and b'"assistantId"' in start)


SOURCE = Source(
    kind="vapi",
    version=1,
    read=read,
    title="Calls of Vapi",
    known_by="JSON with endedReason or messages: one call, a list, an end-of-call report, or lines of either",
    recognises=_recognises,
    takes_contracts=True,
    derives_states=True,
    rank=36,
)
