"""What a format needs is loaded where an input of that format was found, and not before."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

INGEST = """
import sys
from riff_ingest import read_source
assert [call.conversation_id for call in read_source(sys.argv[1])] == ["c-1"]
print(*sorted(name for name in sys.modules if name.startswith("riff_ingest.")), sep="\\n")
"""
READERS = (
    "riff_ingest.edits",
    "riff_ingest.eva.record",
    "riff_ingest.json_members",
    "riff_ingest.platforms",
    "riff_ingest.sources.bland.to_conversation",
    "riff_ingest.sources.elevenlabs.to_conversation",
    "riff_ingest.sources.flow_files.flow",
    "riff_ingest.sources.inspect_log.to_conversation",
    "riff_ingest.sources.livekit.report",
    "riff_ingest.sources.pipecat_evals.results",
    "riff_ingest.sources.retell.to_conversation",
    "riff_ingest.sources.tau.results",
    "riff_ingest.sources.tau.judged",
    "riff_ingest.sources.tau.trajectories",
    "riff_ingest.sources.vapi.to_conversation",
)


def test_a_transcript_line_loads_no_reader_of_another_format(tmp_path: Path) -> None:
    (tmp_path / "calls.jsonl").write_text('{"conversation_id": "c-1", "flow": "booking"}\n')
    done = subprocess.run(
        [sys.executable, "-c", INGEST, tmp_path], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    loaded = done.stdout.split()
    assert "riff_ingest.sources.transcripts" in loaded
    assert [name for name in READERS if name in loaded] == []
