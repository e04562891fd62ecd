"""Logs whose every name and text tries to act on a terminal: they are read, told of and shown as text."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support import inspect_logs, livekit_reports, pipecat_runs, retell_calls, vapi_calls
from tests.support.hostile import HOSTILE, LIVE
from tests.surface.tui import run

ALL = " ".join(HOSTILE.values())
WORDS_OF_THE_FORMAT = frozenset({"role", "type", "event", "kind", "status", "call_status", "endedReason", "value"})
LOGS: dict[str, Any] = {
    "retell.json": retell_calls.stuck_call(1),
    "flow.json": retell_calls.retell_flow(),
    "vapi.json": vapi_calls.squad_call(),
    "livekit.json": livekit_reports.handed_over(),
    "results.jsonl": pipecat_runs.simulation(),
}


def poisoned(value: Any, key: str = "") -> Any:
    """The value with hostile strings behind all its texts but the words of its format, times and JSON in text."""
    if isinstance(value, dict):
        return {name: poisoned(each, name) for name, each in value.items()}
    if isinstance(value, list):
        return [poisoned(each, key) for each in value]
    plain = not isinstance(value, str) or value[:1] == "{" or value[4:5] == "-" or key in WORDS_OF_THE_FORMAT
    return value if plain else value + ALL


def test_nothing_live_comes_out_of_any_log(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder, store = tmp_path / "in", str(tmp_path / "calls.db")
    folder.mkdir()
    for name, log in LOGS.items():
        (folder / name).write_text(json.dumps(poisoned(log)), encoding="utf-8")
    inspect_logs.write_json(folder / "inspect.json", [poisoned(inspect_logs.viewing())])
    run(["ingest", str(folder), "--store", store])
    told = capsys.readouterr().err
    kinds = {line.split()[1] for line in told.splitlines() if line.startswith("taken")}
    assert kinds == {"flow-file", "inspect", "livekit", "pipecat", "retell", "vapi"}
    assert not LIVE.search(told)
    for view in ("conversations", "states", "judges", "skipped", "worklist", "causes"):
        run(["dump", view, "--store", store])
        assert not LIVE.search(capsys.readouterr().out)
