"""Write the demo's voice calls as runs of EVA: what each side meant, said and heard, and when (docs/eva.md)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from importlib import resources
from itertools import product
from pathlib import Path
from random import Random
from typing import Any

import msgspec

from riff_ingest.transcript_writer import LineFile

DATASET = "night_train_dataset.jsonl"
BETWEEN_CALLS = 300
_LETTERS_A_SECOND = 15
_PAUSE = {"agent": 1.0, "caller": 0.6, "tool": 0.5}
_SIDES = {"agent": "assistant", "caller": "simulated_user"}


class Line(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Describe what is said or called; the fields are explained in demo/voice.toml."""

    agent: str | None = None
    caller: str | None = None
    tool: str | None = None
    wait: float | None = None
    lasts: float | None = None
    heard: str | None = None
    given: dict[str, Any] = {}
    answer: dict[str, Any] = {}

    @property
    def by(self) -> str:
        """Return who does it: `agent`, `caller` or `tool`."""
        return "agent" if self.agent is not None else "caller" if self.caller is not None else "tool"


class Scenario(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Describe why somebody calls, the booking that it is about, and what is `wanted` to have changed of it."""

    persona: str
    goal: str
    code: str
    booking: dict[str, str]
    wanted: dict[str, str]
    steps: list[dict[str, Any]]


class VoiceCall(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Describe a call by its lines; `leaves` is what it changed of the booking."""

    scenario: str
    lines: list[Line]
    leaves: dict[str, str]
    ended: str = "goodbye"


class VoiceRun(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Describe an evening of calls, each of which is made `trials` times."""

    id: str
    start: datetime
    commit: str
    calls: list[VoiceCall]


class VoiceDesk(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Describe the whole file."""

    agent: str
    domain: str
    trials: int
    scenarios: dict[str, Scenario]
    runs: list[VoiceRun]


def write_voice_calls(folder: Path) -> list[Path]:
    """Write the runs, and the dataset that they played, below a folder; return the directory of each call.

    It is the same bytes whenever it is written.
    """
    text = resources.files(__package__).joinpath("demo", "voice.toml").read_bytes()
    desk = msgspec.toml.decode(text, type=VoiceDesk)
    _write_lines(folder / DATASET, (_played(name, scenario) for name, scenario in desk.scenarios.items()))
    written = []
    for run in desk.runs:
        _write(folder / run.id / "config.json", _configuration(desk, run))
        for place, (trial, call) in enumerate(product(range(desk.trials), run.calls)):
            # A name of its own for each evening, so that a call is found by its name alone.
            record = folder / run.id / "records" / f"{call.scenario}-{run.start.day}" / f"trial_{trial}"
            pace = 0.9 + 0.25 * Random(f"{run.id}/{call.scenario}/{trial}").random() if trial else 1.0
            began = run.start.timestamp() + BETWEEN_CALLS * place
            _write_record(record, call, desk.scenarios[call.scenario], began, pace)
            written.append(record)
    return written


def _played(name: str, scenario: Scenario) -> dict[str, Any]:
    return {
        "id": name,
        "user_goal": scenario.goal,
        "user_config": {"user_persona_id": scenario.persona},
        "ground_truth": {
            "expected_scenario_db": _database(scenario, scenario.wanted),
            "expected_trace": [{"type": "tool_call", **step} for step in scenario.steps],
        },
    }


def _configuration(desk: VoiceDesk, run: VoiceRun) -> dict[str, Any]:
    return {
        "run_id": run.id,
        "domain": desk.domain,
        "language": "en",
        "model": {"llm": desk.agent},
        "dataset_path": DATASET,
        "provenance": {"git_commit_sha": run.commit, "git_branch": "main"},
    }


def _database(scenario: Scenario, changed: Mapping[str, str]) -> dict[str, Any]:
    return {"bookings": {scenario.code: scenario.booking | {**changed}}}


class _Logs:
    """Keep the entries of the three logs of a call, each with its moment in seconds since the call began."""

    def __init__(self, began: float) -> None:
        self._began = began
        self.audit: list[tuple[float, dict[str, Any]]] = []
        self.framework: list[tuple[float, dict[str, Any]]] = []
        self.simulator: list[tuple[float, dict[str, Any]]] = []
        self.connected("session_started", 0.0)

    def said(self, by: str, text: str, heard: str, start: float, end: float) -> None:
        side = _SIDES[by]
        if by == "agent":
            self._note(start - 0.2, "assistant", text)
            self._add(self.framework, start - 0.1, type="tts_text", data={"frame": text})
            self._speech(end + 0.01, "assistant_speech", heard)
        else:
            self._add(self.framework, start, type="turn_end", data={"frame": "UserStartedSpeakingFrame#0"})
            self._speech(start + 0.01, "user_speech", text)
            self._note(end + 0.1, "user", heard)
        for kind, at in (("audio_start", start), ("audio_end", end)):
            self._add(self.simulator, at, event_type=kind, user=side, audio_timestamp=self._began + at)

    def called(self, line: Line, at: float) -> None:
        self._note(at, "tool_call", {"tool": line.tool, "parameters": line.given})
        self._note(at + 0.2, "tool_response", {"tool": line.tool, "response": line.answer})

    def connected(self, state: str, at: float, **details: str) -> None:
        self._add(self.simulator, at, type="connection_state", data={"state": state, "details": details})

    def _note(self, at: float, kind: str, value: Any) -> None:
        self._add(self.audit, at, message_type=kind, value=value)

    def _speech(self, at: float, kind: str, text: str) -> None:
        self._add(self.simulator, at, type=kind, data={"text": text})

    def _add(self, log: list[tuple[float, dict[str, Any]]], at: float, **entry: Any) -> None:
        log.append((at, {"timestamp": round((self._began + at) * 1000), **entry}))


def _write_record(folder: Path, call: VoiceCall, scenario: Scenario, began: float, pace: float) -> None:
    logs, now = _Logs(began), 0.0
    for line in call.lines:
        start = round(now + pace * (_PAUSE[line.by] if line.wait is None else line.wait), 2)
        now = start
        if text := line.agent or line.caller:
            now = round(start + pace * (line.lasts or 0.3 + len(text) / _LETTERS_A_SECOND), 2)
            logs.said(line.by, text, line.heard or text, start, now)
        else:
            logs.called(line, start)
    logs.connected("session_ended", now + 0.5, reason=call.ended)
    tools = [line.tool for line in call.lines if line.tool]
    result = {
        "record_id": call.scenario,
        "completed": True,
        "duration_seconds": round(now + 0.5, 2),
        "conversation_ended_reason": call.ended,
        "pipecat_logs_path": "framework_logs.jsonl",
        "user_simulator_logs_path": "user_simulator_events.jsonl",
        "num_turns": sum(line.caller is not None for line in call.lines),
        "num_tool_calls": len(tools),
        "tools_called": list(dict.fromkeys(tools)),
    }
    _write(folder / "result.json", result)
    _write(folder / "audit_log.json", {"transcript": list(_in_order(logs.audit))})
    _write(folder / "initial_scenario_db.json", _database(scenario, {}))
    _write(folder / "final_scenario_db.json", _database(scenario, call.leaves))
    _write_lines(folder / "framework_logs.jsonl", _in_order(logs.framework))
    _write_lines(folder / "user_simulator_events.jsonl", _in_order(logs.simulator))


def _in_order(log: list[tuple[float, dict[str, Any]]]) -> Iterator[dict[str, Any]]:
    return (entry for _, entry in sorted(log, key=lambda each: each[0]))


def _write(path: Path, document: dict[str, Any]) -> None:
    _write_lines(path, (document,))


def _write_lines(path: Path, documents: Iterable[dict[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with LineFile(path) as lines:
        for document in documents:
            lines.write(document)
