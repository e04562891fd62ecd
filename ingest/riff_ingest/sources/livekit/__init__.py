"""Read the session reports of LiveKit Agents: one session a file, or one a line (docs/formats/livekit.md)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from riff_ingest.conversation import Conversation
from riff_ingest.lenient_json import read_values
from riff_ingest.lines import BrokenInput
from riff_ingest.source import FileHead, ReadContext, ReadItem, Source, numbered
from riff_store.facts import JudgedScore, Skipped


def _reports(path: Path, context: ReadContext) -> Iterator[tuple[int, Conversation] | JudgedScore | Skipped]:
    from riff_ingest.sources.livekit.conversation import conversation_of, verdicts_of
    from riff_ingest.sources.livekit.report import is_report, report_of

    for value in read_values(path, is_report):
        if isinstance(value, BrokenInput):
            yield Skipped("skipped", value.line, value.reason)
            continue
        line, given = value
        try:
            report = report_of(given)
        except BrokenInput as problem:
            yield Skipped("skipped", line or None, problem.reason)
            continue
        call = conversation_of(report, path, context.contracts, context.tool_segments)
        yield line, call
        yield from verdicts_of(report, call)
        if report.odd_items:
            reason = f"{report.odd_items} of the items in its history are not objects and are left out"
            yield Skipped("defect", line or None, reason, call.conversation_id)


def _is_report(value: Any) -> bool:
    from riff_ingest.sources.livekit.report import is_report

    return is_report(value)


def _recognises(head: FileHead) -> str | None:
    documents = head.value if isinstance(head.value, list) else [head.value]
    if any(_is_report(document) for document in (*head.records, *documents[:1])):
        return "it has a chat_history with items and a job_id or sdk_version"
    return None


def read(path: Path, context: ReadContext) -> Iterator[ReadItem]:
    """Yield the call of each report with the verdicts on it, and what had to be left out."""
    return numbered(_reports(path, context))


SOURCE = Source(
    kind="livekit",
    version=3,
    read=read,
    title="LiveKit session reports",
    known_by="a chat_history with items, and a job_id or sdk_version",
    names=("session_report.json", "session_report.json.gz"),
    recognises=_recognises,
    is_record=_is_report,
    takes_contracts=True,
    derives_states=True,
)
