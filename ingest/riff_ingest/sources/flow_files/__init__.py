"""Read flow files: native ones, and those of pipecat, Retell, Vapi and ElevenLabs (docs/formats/flow-files.md)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from riff_ingest.conversation import Contract
from riff_ingest.source import FileHead, Source
from riff_store.facts import DescribedFlow, Skipped

_PARTS = (
    *("nodes", "flow", "conversationFlow", "workflow", "conversation_config"),
    *("general_prompt", "members", "model", "retellLlmData", "states"),
    *("data", "pathway"),
)
"""One of these stands in every document of a flow, or of an agent that may have one."""


def _recognises(head: FileHead) -> str | None:
    if any("conversation_id" in record for record in head.records) or not any(part in head.document for part in _PARTS):
        return None
    from riff_ingest.sources.flow_files.config import NoFlow
    from riff_ingest.sources.flow_files.flow import form_of

    try:
        form = form_of(head.document)
    except NoFlow:
        return "it is an agent without a flow"
    return f"it has {form}" if form else None


def _items(path: Path) -> Iterator[DescribedFlow | Skipped]:
    from riff_ingest.sources.flow_files.config import NoFlow
    from riff_ingest.sources.flow_files.flow import read

    try:
        found = read(path)
    except NoFlow as none:
        yield Skipped("defect", None, none.reason)  # no loss: calls without a flow are read all the same
        return
    yield found.described
    yield from found.left_out
    yield from (Skipped("defect", None, str(remark)) for remark in (*found.unknown, *found.remarks))


def _contracts(path: Path) -> dict[str, Contract]:
    from riff_ingest.sources.flow_files.flow import read

    found = read(path)
    return {found.described.flow: found.contract}


SOURCE = Source(
    kind="flow-file",
    version=7,
    read=lambda path, context: _items(path),
    title="Flow file",
    known_by="parts of a contract, or nodes of pipecat, its editor, Retell, Vapi, ElevenLabs, Bland (TOML, JSON, YAML)",
    recognises=_recognises,
    yaml_words=(b"initial_node", b"nodes"),
    keeps_text=False,
    contracts=_contracts,
    rank=30,
)
