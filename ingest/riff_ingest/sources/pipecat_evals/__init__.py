"""Read pipecat's evals: `results.jsonl` of a run, and conversations by themselves (docs/formats/pipecat.md)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from riff_ingest.source import FileHead, ReadContext, ReadItem, Source


def _read(path: Path, context: ReadContext) -> Iterator[ReadItem]:
    from riff_ingest.sources.pipecat_evals.results import read

    return read(path, context)


def _is_company(path: Path) -> bool:
    if ".conversation.json" not in path.name:
        return False
    from riff_ingest.sources.pipecat_evals.results import is_companion

    return is_companion(path)


def _recognises(head: FileHead) -> str | None:
    from riff_ingest.sources.pipecat_evals.messages import is_messages
    from riff_ingest.sources.pipecat_evals.results import ENDINGS, is_result

    if any(is_result(record) for record in head.records):
        return "its lines are results of scripts or simulations"
    if head.path.name.endswith(ENDINGS) and is_messages(head.value):
        return "it is the messages of a conversation"
    return "its messages call tools" if isinstance(head.value, list) and _is_record(head.value) else None


def _is_record(value: Any) -> bool:
    from riff_ingest.sources.pipecat_evals.messages import TOOL, is_messages
    from riff_ingest.sources.pipecat_evals.results import is_result

    if isinstance(value, dict):
        return is_result(value)
    return is_messages(value) and any(message["role"] == TOOL for message in value)


SOURCE = Source(
    kind="pipecat",
    version=1,
    read=_read,
    title="Evals of pipecat",
    known_by="lines with kind script or simulation, bot and passed; or a list of messages named *.conversation.json",
    recognises=_recognises,
    is_record=_is_record,
    derives_states=True,
    is_companion=_is_company,
)
