"""Edits of the flows of the hand-written store."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from tests.surface.store import FlowEdit, Writer, open_store

MADE = (
    ("viewing", "2026-06-01T10:00:00Z", "Ada", "Write the flow down"),
    ("viewing", "2026-06-21T10:00:00Z", "Grace", "Ask for the name first, for so many callers gave it unasked"),
    ("viewing", "2026-06-21T11:00:00Z", "Grace", "Confirm the date"),
    ("viewing", "2026-07-01T10:00:00Z", "Ada", "Not called yet"),
    ("weather", "2026-06-21T02:00:00Z", "Ada", "Say where the forecast comes from"),
    ("weather", "2026-06-21T02:00:11Z", "Ada", "Made while the run went on"),
    ("uncalled", "2026-06-02T10:00:00Z", "Ada", "Begin"),
)


def edits() -> list[FlowEdit]:
    return [
        FlowEdit(flow, f"{number:02x}" * 20, microseconds(time), author, subject, f"flows/{flow}.toml")
        for number, (flow, time, author, subject) in enumerate(MADE, 1)
    ]


def microseconds(time: str) -> int:
    return int(datetime.fromisoformat(time).timestamp()) * 1_000_000


def record(path: Path, found: list[FlowEdit]) -> Path:
    by_flow: dict[str, list[FlowEdit]] = {}
    for edit in found:
        by_flow.setdefault(edit.flow, []).append(edit)
    with open_store(path, write=True) as store:
        writer = Writer(store)
        with writer.batch():
            writer.put_edits("root", by_flow)
    return path
