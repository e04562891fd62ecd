"""Calls that are added to a store while somebody looks at it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.support.pty_terminal import ROOT

MORE = """
import json, sys
from pathlib import Path
from tests.support import tiny_store
from riff_tui.cli import run
folder, store = Path(sys.argv[1]), sys.argv[2]
first, count, latency = map(int, sys.argv[3:])
numbers = range(first, first + count)
calls = [tiny_store.viewing(number, "gemini", "books", run="run-2", latency=latency) for number in numbers]
path = folder / f"flow-transcripts-{first}.jsonl"
path.write_text("".join(json.dumps(call) + "\\n" for call in calls))
sys.exit(run(["ingest", str(path), "--store", store]))
"""


def ingest_elsewhere(store: Path, first: int, count: int = 1, latency: int = 700) -> None:
    """Another process ingests some more calls of `viewing` with gemini."""
    folder = store.parent / f"more-{first}"
    folder.mkdir()
    paths = os.pathsep.join(str(ROOT / part) for part in (".", "store", "ingest"))
    subprocess.run(
        [sys.executable, "-c", MORE, str(folder), str(store), str(first), str(count), str(latency)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": paths},
        capture_output=True,
        check=True,
    )
