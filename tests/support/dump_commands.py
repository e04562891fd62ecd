"""The rows that an explorer shows, and those that its dump command prints."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.support.walker import Walker


def rows_on(at: Walker) -> list[object]:
    table = at.screen.loaded.main if at.screen.loaded else None
    assert table is not None
    return [as_json(row.record) for row in table.rows]


def dumped_rows(store: Path, at: Walker) -> list[object]:
    assert at.screen.loaded is not None
    (command,) = at.screen.loaded.dumps
    rows: list[object] = answer(store, command)["rows"]
    return rows


def answer(store: Path, command: str) -> dict[str, Any]:
    """What a dump command prints, as JSON."""
    given = [*shlex.split(command)[1:], "--format", "json", "--store", str(store)]
    run = "import sys; from riff_tui.cli import main; main(sys.argv[1:])"
    done = subprocess.run([sys.executable, "-c", run, *given], capture_output=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def as_json(value: object) -> object:
    return json.loads(json.dumps(value))
