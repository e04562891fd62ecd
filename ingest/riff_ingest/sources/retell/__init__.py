"""Read the calls of Retell as its API and its webhooks give them (docs/formats.md, section 11)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from riff_ingest.conversation import Conversation
from riff_ingest.lines import BrokenInput
from riff_ingest.source import FileHead, ReadContext, Source, run_of
from riff_ingest.sources.platforms import CallRecord, Sketch, read_call_records, records_of
from riff_store.facts import JudgedScore, Skipped

NO_FLOW_FILE = (
    "no flow file says how calls of {flow} should end, so completion and stalls are not measured; ingest Retell's"
    " conversation flow along with them"
)

_TRANSCRIPTS = tuple(
    f"{prefix}{key}" for prefix in ("", "scrubbed_") for key in ("transcript_with_tool_calls", "transcript_object")
)
_OF_EVERY_CALL = frozenset({"agent_id", "call_status"})
_ANALYZED, _ENDED = "call_analyzed", "call_ended"


def read(path: Path, context: ReadContext) -> Iterator[tuple[int, Conversation] | JudgedScore | Skipped]:
    """Yield the calls of a file with the verdicts on them; never raises on what they hold.

    Numbers are those of lines, or places in a list.
    """
    from riff_ingest.sources.retell.to_conversation import JUDGE, FlowNodes, conversation_of

    flows, run = FlowNodes(context.contracts), run_of(path)
    unended: Counter[str] = Counter()
    for record in read_call_records(path, _sketch):
        if not isinstance(record, CallRecord):
            yield record
            continue
        try:
            found = conversation_of(record.value, context, flows, record.filled)
        except BrokenInput as problem:
            yield Skipped("skipped", record.number, problem.reason, problem.conversation)
            continue
        call = found.conversation
        call.run_id = call.run_id or run
        unended[call.flow] += call.completed is None and call.origin == "observed"
        yield record.number, call
        for note in found.notes:
            yield Skipped("defect", record.number, note, call.conversation_id)
        for verdict in found.verdicts:
            yield verdict.of(JUDGE, call, found.judged_at)
    for flow, calls in unended.items():
        if calls > 1:
            yield Skipped("defect", None, NO_FLOW_FILE.format(flow=flow))


def _sketch(value: Any) -> Sketch | None:
    if not isinstance(value, dict):
        return None
    call = value["call"] if isinstance(value.get("call"), dict) else value
    name = call.get("call_id") or call.get("test_case_job_id")
    if not isinstance(name, str) or not name:
        return None
    event = value.get("event")
    is_ended = event in (_ANALYZED, _ENDED) or call.get("call_status") in ("ended", "error")
    is_analyzed = event == _ANALYZED or bool(call.get("call_analysis"))
    has_text = any(call.get(key) for key in _TRANSCRIPTS)
    return Sketch(name, 4 * is_analyzed + 2 * is_ended + has_text)


def _is_call(value: Any) -> bool:
    if not isinstance(value, Mapping):
        return False
    call = value["call"] if isinstance(value.get("call"), dict) else value
    if "call_id" in call:
        return any(key in call for key in _TRANSCRIPTS) or call.keys() >= _OF_EVERY_CALL
    return "test_case_job_id" in call and "test_case_definition_snapshot" in call


def _recognises(head: FileHead) -> str | None:
    if any(map(_is_call, head.records)) or any(map(_is_call, records_of(head.value)[:8])):
        return "it has calls of Retell"
    if head.misread and head.start.lstrip()[:1] in (b"[", b"{") and _is_start(head.start):
        return "it begins with a call of Retell"
    return None


def _is_start(start: bytes) -> bool:
    """Tell whether a file that is too large to be looked at as a whole begins like calls do."""
    return b'"call_id"' in start and any(f'"{key}"'.encode() in start for key in _TRANSCRIPTS)


SOURCE = Source(
    kind="retell",
    version=1,
    read=read,
    title="Calls of Retell",
    known_by="JSON with call_id and a transcript: one call, a list, a webhook's body, or lines of either",
    recognises=_recognises,
    takes_contracts=True,
    derives_states=True,
    rank=35,
)
