"""A folder as teams have it: calls of every kind, other programs' files, and what is broken."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.support import (
    bland_calls,
    elevenlabs_calls,
    inspect_logs,
    livekit_reports,
    pipecat_runs,
    rasa_trackers,
    retell_calls,
    tau_runs,
    trajectories,
    vapi_calls,
)
from tests.support.eva_runs import files, make_run
from tests.surface.ingest import registry

TAKEN = {
    "nightly/flow-transcripts-1.jsonl": "transcripts",
    "nightly/humanness-1.jsonl": "humanness",
    "nightly/dental.toml": "flow-file",
    "nightly/notes.jsonl": "notes",
    "nightly/one.json": "transcripts",
    "nightly/wide.jsonl": "transcripts",
    "nightly/rows.jsonl": "transcripts",
    "eva/night/records/1.1.2": "eva",
    "tau/results.json": "tau",
    "tau/x.summary_quick.json": "tau-verdicts",
    "tau-bench/night.json": "tau-bench",
    "tau/task_1_note_1_note.json": "tau-notes",
    "livekit/session_report.json": "livekit",
    "livekit/transcript_a.json": "livekit-history",
    "livekit/hooks.json": "livekit",
    "livekit/rows.jsonl": "livekit-history",
    "pipecat/2026-11-20/results.jsonl": "pipecat",
    "pipecat/hook.json": "pipecat",
    "elevenlabs/calls.json": "elevenlabs",
    "bland/call.json": "bland",
    "bland/events.json": "bland",
    "bland/pathway.json": "flow-file",
    "rasa/tracker.json": "rasa",
    "elevenlabs/event.json": "elevenlabs",
    "elevenlabs/simulated.json": "elevenlabs",
    "elevenlabs/tests.json": "elevenlabs",
    "elevenlabs/agent.json": "flow-file",
    "retell/calls.json": "retell",
    "retell/flow.json": "flow-file",
    "retell/hooks.jsonl": "retell",
    "vapi.jsonl": "vapi",
    "viewing.eval": "inspect",
    "viewing.json": "inspect",
}
"""Which kind every input of the folder is of."""

REFUSED = {
    "cut.eval": "it is not a zip file, or was cut off before its list of members",
    "cut.json": "file is not JSON: it ends too early",
    "empty.json": "file is empty",
    "noise.json": "file is neither JSON nor TOML",
    "elevenlabs/page.json": "a list of ElevenLabs conversations without their words; fetch each conversation",
    "retell/execution.json": "an n8n execution; save the Webhook node's output",
    "spans.json": "it seems to be spans of OpenTelemetry (OTLP)",
    "package.json": f"not recognised: JSON with the keys name, version; {registry.OWN_DATA}",
}
"""What cannot be taken, and why."""

NOT_LOOKED_AT = ("audio.wav", "notes.txt")


def write_mixed(folder: Path) -> Path:
    """Write the folder, whose calls differ from each other."""
    make_run(folder / "eva", {"1.1.2": files()}, name="night")
    pipecat_runs.run_of(folder / "pipecat" / "2026-11-20", [pipecat_runs.simulation(), pipecat_runs.script()])
    for name in TAKEN:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
    call = {"conversation_id": "c1", "run_id": "night", "flow": "dental", "turns": [{"role": "agent", "text": "Hello"}]}
    _write(folder / "nightly/flow-transcripts-1.jsonl", call, {"conversation_id": "c2"})
    score = {"conversation_id": "c1", "run_id": "night", "judge": "codex", "score": 7}
    _write(folder / "nightly/humanness-1.jsonl", score)
    note = {"schema": "riff.annotation/1", "id": "n1", "conversation_id": "c1", "author": "ann", "verdict": "fail"}
    _write(folder / "nightly/notes.jsonl", note)
    (folder / "nightly/dental.toml").write_text('flow = "dental"\nsuccess_terminals = ["booked"]\n', encoding="utf-8")
    tau_runs.write_results(
        folder / "tau/results.json", tau_runs.results([tau_runs.simulation("a")], tau_runs.task("1"))
    )
    note = {"id": "note_1", "note": "Too long.", "author_email": "ann@example.org", "simulation_id": "a"}
    _write(folder / "tau/task_1_note_1_note.json", note | {"task_id": "1", "trial": 0})
    _write(folder / "tau-bench/night.json", trajectories.results())
    _write(folder / "livekit/session_report.json", livekit_reports.handed_over())
    _write(folder / "livekit/transcript_a.json", {"items": livekit_reports.history()})
    _write(folder / "nightly/one.json", {"conversations": [_call("c3"), _call("c4")]})
    (folder / "nightly/wide.jsonl").write_bytes(f"{json.dumps(_call('c5'))}\n".encode("utf-16"))
    _write(folder / "nightly/rows.jsonl", {"id": 1, "payload": json.dumps(_call("c6"))}, {"id": 2, "body": _call("c7")})
    verdict = {"simulation_id": "a", "judge_verdict": "pass", "judge_model": "m", "judge_prompt_name": "quick"}
    _write(folder / "tau/x.summary_quick.json", {"entries": [{"file": "/x/results.json", "label": "tau", **verdict}]})
    _write(
        folder / "livekit/hooks.json", [{"headers": {}, "body": {**livekit_reports.handed_over(), "job_id": "AJ_2"}}]
    )
    _write(
        folder / "livekit/rows.jsonl", {"detail": {"job_id": "AJ_3", "history": {"items": livekit_reports.history()}}}
    )
    _write(folder / "pipecat/hook.json", {"data": pipecat_runs.simulation(name="in-a-hook")})
    _write(folder / "elevenlabs/calls.json", [elevenlabs_calls.plain("el-1")])
    _write(folder / "bland/call.json", bland_calls.call())
    _write(folder / "bland/events.json", bland_calls.events())
    _write(folder / "bland/pathway.json", bland_calls.pathway())
    _write(folder / "rasa/tracker.json", rasa_trackers.tracker())
    _write(folder / "elevenlabs/event.json", [{"body": elevenlabs_calls.hook(elevenlabs_calls.plant_desk())}])
    _write(folder / "elevenlabs/simulated.json", elevenlabs_calls.simulated())
    _write(folder / "elevenlabs/tests.json", elevenlabs_calls.invocation())
    _write(folder / "elevenlabs/agent.json", elevenlabs_calls.workflow())
    page = {"conversations": [{"conversation_id": "x", "agent_id": "a", "message_count": 3}], "has_more": False}
    _write(folder / "elevenlabs/page.json", page)
    call = retell_calls.retell_call("hooked")
    events = {"call_started": {**call, "transcript_with_tool_calls": []}, "call_analyzed": call}
    _write(folder / "retell/hooks.jsonl", *({"payload": {"event": name, "call": of}} for name, of in events.items()))
    _write(folder / "retell/execution.json", {"data": {"resultData": {"runData": {}}}})
    _write(folder / "spans.json", {"resourceSpans": []})
    (folder / "empty.json").write_bytes(b"")
    (folder / "noise.json").write_bytes(bytes(range(256)))
    _write(folder / "retell/calls.json", retell_calls.a_day_of_calls())
    _write(folder / "retell/flow.json", retell_calls.retell_flow())
    _write(folder / "vapi.jsonl", vapi_calls.vapi_call(), vapi_calls.report(vapi_calls.squad_call()))
    inspect_logs.write_eval(folder / "viewing.eval", [inspect_logs.viewing()])
    inspect_logs.write_json(folder / "viewing.json", [inspect_logs.viewing()], run_id="r2")
    (folder / "cut.eval").write_bytes((folder / "viewing.eval").read_bytes()[:500])
    (folder / "cut.json").write_text('{"calls": [', encoding="utf-8")
    _write(folder / "package.json", {"name": "app", "version": "1.0.0"})
    for name in NOT_LOOKED_AT:
        (folder / name).write_bytes(b"RIFF")
    return folder


def _call(name: str) -> dict[str, Any]:
    turns = [{"role": "agent", "text": f"Hello, this is {name}."}, {"role": "caller", "text": f"Good day, {name}."}]
    return {"conversation_id": name, "run_id": "night", "flow": "dental", "turns": turns}


def _write(path: Path, *lines: Any) -> None:
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
