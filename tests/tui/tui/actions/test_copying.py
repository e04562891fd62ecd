"""What leaves the explorer by copying."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.walker import exploring
from tests.surface.explorer import copying
from tests.surface.ingest import ingest
from tests.surface.store import Writer, open_store

CALL = {
    "conversation_id": "c-1",
    "run_id": "r-1",
    "flow": "viewing",
    "turns": [{"role": "caller", "text": "Write to jo@example.org please.", "t": 1.0}],
    "events": [{"type": "state_entered", "t": 0.0, "state": "greet"}],
}


async def test_a_call_copied_as_markdown_holds_no_address_of_the_caller(tmp_path: Path) -> None:
    file = tmp_path / "flow-transcripts-a.jsonl"
    file.write_text(json.dumps(CALL))
    with open_store(tmp_path / "store.db", write=True, create=True) as store:
        ingest([file], Writer(store))
    async with exploring(tmp_path / "store.db", size=(300, 30)) as at:
        await at.press("4", "enter")
        assert "jo@example.org" in "\n".join(row.record.get("text") or "" for row in at.controls.transcript.table.rows)
        await at.press("y", "m")
        await at.app.workers.wait_for_complete()
        copied = Path(at.bottom.rsplit("to ", 1)[1].strip()).read_text()
    assert "jo@example.org" not in copied
    assert "email 1" in copied
    assert "names and spoken digits are not found" in copied


async def test_a_table_that_is_too_long_is_not_copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(copying, "MOST_ROWS", 2)
    calls = [{**CALL, "conversation_id": f"c-{number}"} for number in range(3)]
    file = tmp_path / "flow-transcripts-a.jsonl"
    file.write_text("".join(f"{json.dumps(each)}\n" for each in calls))
    with open_store(tmp_path / "store.db", write=True, create=True) as store:
        ingest([file], Writer(store))
    async with exploring(tmp_path / "store.db") as at:
        await at.press("4", "y", "m")
        assert at.bottom.strip().endswith("3 rows are too many to copy; o writes them into a file")
        await at.press("/", *"c-1", "enter", "y", "m")
        assert "table copied" in at.bottom
