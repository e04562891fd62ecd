"""What leaves the explorer by copying."""

from __future__ import annotations

import json
from pathlib import Path

from riff_ingest.pipeline import ingest
from riff_store.database import open_store
from riff_store.writer import Writer
from tests.support.walker import exploring

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
