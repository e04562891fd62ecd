"""Fuzz what reads inputs: each source by itself, the detection of all, and a whole ingest."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from importlib import resources
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, get_args

import msgspec

from tests.support import (
    agent_flows,
    bland_calls,
    dirty_inputs,
    elevenlabs_calls,
    eva_records,
    eva_runs,
    inspect_logs,
    livekit_reports,
    pipecat_flows,
    pipecat_runs,
    rasa_trackers,
    retell_calls,
    source_files,
    tau_runs,
    tau_ticks,
    trajectories,
    vapi_calls,
)
from tests.support.fuzzing.target import Target, check_plain, check_reason
from tests.support.run_directories import BEGAN, RunDirectory
from tests.surface.ingest import BrokenInput, Item, detect, ingest, load, plan_of
from tests.surface.runner import RunReader, read_case
from tests.surface.runner import flow_files_load_flow as load_flow
from tests.surface.runner import riff_runner_simulate as simulate
from tests.surface.store import ConversationFacts, JudgedScore, Skipped, UsageError, Writer, examine, open_store

_KINDS = get_args(Item)


def _check(items: Iterable[Item]) -> list[Item]:
    """Every item is of a known kind and sound; a score is on the scale or not there, an errored call is no success."""
    found = list(items)
    for item in found:
        assert isinstance(item, _KINDS), f"{type(item)} is nothing that a store takes"
        check_plain(msgspec.to_builtins(item))
        if isinstance(item, Skipped):
            check_reason(item.reason)
        elif isinstance(item, JudgedScore):
            assert item.score is None or 0 <= item.score <= 10, "a score is off the scale"
        elif isinstance(item, ConversationFacts):
            assert item.conversation_id, "a call has no name"
            assert item.flow, "a call has no flow"
    return found


def _read(path: Path, kind: str) -> None:
    items = _check(load(plan_of(path, kind, with_text=True)))
    assert repr(items) == repr(list(load(plan_of(path, kind, with_text=True)))), (
        "a file read twice gives something else"
    )
    try:
        check_reason(detect(path).reason)
    except BrokenInput as problem:
        check_reason(str(problem))


def _file(kind: str, name: str, data: bytes, folder: Path) -> None:
    path = folder / name
    path.write_bytes(data)
    _read(path, kind)


def _humanness(data: bytes, folder: Path) -> None:
    path = folder / "humanness-a.jsonl"
    path.write_bytes(data)
    for item in _check(load(plan_of(path, "humanness", with_text=True))):
        if isinstance(item, JudgedScore) and item.score == 0:
            assert b"0" in data or b"e-" in data.lower(), "a score of 0 comes out of nowhere"


_RUN_FILES = ("run.json", "progress.jsonl", "flow-transcripts-dental.jsonl")
_EVA_FILES = ("result.json", "audit_log.json", eva_records.FRAMEWORK_LOG, eva_records.SIMULATOR_LOG, "metrics.json",
              "final_scenario_db.json")  # fmt: skip


def _eva(data: bytes, folder: Path) -> None:
    """The first byte shows which file of a record the others are."""
    record = folder / "records" / "r1"
    if not record.is_dir():
        eva_records.write_record(record)
    path = record / _EVA_FILES[(data[0] if data else 0) % len(_EVA_FILES)]
    before = path.read_bytes() if path.exists() else None
    try:
        path.write_bytes(data[1:])
        _read(record, "eva")
    finally:
        if before is None:
            path.unlink()
        else:
            path.write_bytes(before)


def _tau_simulation(data: bytes, folder: Path) -> None:
    """A simulation that has a file of its own."""
    run = folder / "run"
    if not run.is_dir():
        tau_runs.write_run(run, [tau_runs.simulation("s1"), tau_runs.simulation("s2")], tau_runs.task("1"))
    (run / "simulations" / "s1.json").write_bytes(data)
    _read(run / "results.json", "tau")


def _bland_events(data: bytes, folder: Path) -> None:
    """What a pathway logged, in the folder of the call that it is of."""
    folder.joinpath("call.json").write_text(json.dumps(bland_calls.call()), encoding="utf-8")
    (folder / "events.json").write_bytes(data)
    _read(folder / "call.json", "bland")


def _run_directory(data: bytes, folder: Path) -> None:
    """The first byte shows which file of a run that is watched the others are."""
    run = RunDirectory(folder / "nightly")
    place = (data[0] if data else 0) % len(_RUN_FILES)
    for name in _RUN_FILES[1:]:
        (run.path / name).write_bytes(b"")
    (run.path / _RUN_FILES[place]).write_bytes(data[1:])
    reader = RunReader(run.path)
    try:
        status = reader.read(1e9)
    except UsageError as error:
        check_reason(str(error))
    else:
        if status is not None:
            check_plain(msgspec.to_builtins(reader.calls(status, 10)[0], enc_hook=str))


def _refusing(read: Callable[[Path], Any], name: str, data: bytes, folder: Path) -> None:
    path = folder / name
    path.write_bytes(data)
    try:
        read(path)
    except UsageError as error:
        check_reason(str(error))


def _ingest(data: bytes, folder: Path) -> None:
    """A folder with a good file and one of any content, whose first byte names it: the good one goes in."""
    names = ("a.json", "flow-transcripts-b.jsonl", "log.eval", "flow.yaml", "humanness-a.jsonl.gz", "flow.toml")
    calls = folder / "calls"
    shutil.rmtree(calls, ignore_errors=True)
    calls.mkdir()
    (calls / "flow-transcripts-good.jsonl").write_text(dirty_inputs.text_of(dirty_inputs.FIRST), "utf-8")
    (calls / names[(data[0] if data else 0) % len(names)]).write_bytes(data[1:])
    (folder / "s.db").unlink(missing_ok=True)
    with open_store(str(folder / "s.db"), write=True, create=True) as store:
        summary = ingest([calls], Writer(store))
        for result in summary.results:
            assert (result.status == "taken") or result.skipped, "a file is neither taken nor left out"
        good = next(each for each in summary.results if each.path.endswith("good.jsonl"))
        assert good.conversations + good.replaced == 1, "a good file did not go in"
        health = examine(store)
        assert health.readable, "a store that was just written cannot be read"
        assert not health.wrong, health.wrong
        again = ingest([calls], Writer(store))
        assert {each.status for each in again.results} == {"unchanged"}, "the same files are read again"


def _lines(*values: Any) -> bytes:
    return b"".join(json.dumps(value, ensure_ascii=False).encode() + b"\n" for value in values)


def _of(*values: Any) -> list[bytes]:
    return [json.dumps(value).encode() for value in values]


_SCORE = {"run_id": "nightly", "conversation_id": "c-1", "judge": "j", "score": 7.5,
          "judged_at": "2026-06-22T02:00:07Z", "rationale": "brisk", "model": "m", "evidence": [1, 2]}  # fmt: skip
_NOTE = {"schema": "riff.annotation/1", "id": "n-1", "run_id": "nightly", "conversation_id": "c-1", "author": "ann",
         "verdict": "fail", "code": "wrong day", "turn": 2, "at": "2026-06-22T02:00:07Z"}  # fmt: skip
_TAU_NOTE = {"id": "note_0a1b2c3d", "note": "Promises a seat.", "author_email": "ear@example.org", "task_id": "8",
             "created_at": "2026-07-05T10:00:00.000001", "simulation_id": "s-1", "trial": 2, "error_source": "agent",
             "error_type": "hallucination"}  # fmt: skip
_TAU_VERDICT = {"simulation_id": "s-1", "judge_verdict": "Satisfied", "judge_model": "gpt-9",
                "judge_prompt_name": "policy", "judge_justification": "It asked first."}  # fmt: skip
_CASE = b"""schema = "riff.case/1"
flow = "toy"
name = "no-free-day"
says = ["Hello"]
[facts.name]
value = "Ann"
[[lines]]
text = "Tuesday"
state = "ask"
"""


def _flow_files() -> list[bytes]:
    return [
        source_files.NATIVE.encode(),
        *_of(source_files.EDITOR, retell_calls.retell_flow(), elevenlabs_calls.workflow(), bland_calls.pathway()),
        *_of(*(agent_flows.retell_llm(), agent_flows.exported_llm(), agent_flows.squad(), agent_flows.vapi_workflow())),
    ]


def _transcripts() -> list[bytes]:
    return [content for content, _, _ in dirty_inputs.FILES.values() if len(content) < 5000]


def _retell() -> list[bytes]:
    return [json.dumps(retell_calls.a_day_of_calls()[:2]).encode(), _lines(*retell_calls.a_day_of_calls()[:2])]


def _vapi() -> list[bytes]:
    one = vapi_calls.vapi_call()
    return [*_of([one], vapi_calls.report(one), vapi_calls.squad_call(), vapi_calls.workflow_call()), _lines(one, one)]


def _elevenlabs() -> list[bytes]:
    calls = [elevenlabs_calls.hook(elevenlabs_calls.plant_desk()), elevenlabs_calls.plain()]
    return [*_of(calls, elevenlabs_calls.simulated(), elevenlabs_calls.invocation()), _lines(*calls)]


def _bland() -> list[bytes]:
    events = bland_calls.events("b-2")
    return [*_of([bland_calls.call()], bland_calls.call(), events, {"data": events}), _lines(*events)]


def _inspect() -> list[bytes]:
    samples = [inspect_logs.viewing("s1")]
    packed = [inspect_logs.zip_of(inspect_logs.members(samples, method)) for method in (0, 8, 93)]
    return [*packed, json.dumps({**inspect_logs.header(), "samples": samples}).encode()]


def _eva_corpus() -> list[bytes]:
    logs = [
        json.dumps({"record_id": "r1", "completed": True, "duration_seconds": 6.0}).encode(),
        json.dumps({"transcript": eva_records.AUDIT}).encode(),
        eva_records.lines(eva_records.FRAMEWORK).encode(),
        eva_records.lines(eva_records.SIMULATOR).encode(),
        eva_runs.files().get("metrics.json", b"{}"),
        json.dumps(eva_records.FINAL_DB).encode(),
    ]
    return _placed(logs)


def _tau() -> list[bytes]:
    voiced = tau_ticks.simulation("v", "cc..c", ".aa.a")
    return _of(tau_runs.results([tau_runs.simulation("s1")], tau_runs.task("1")), tau_runs.results([voiced]))


def _flows_to_run() -> list[bytes]:
    built_in = resources.files(simulate).joinpath("flows", "dental_clinic.toml").read_bytes()
    return [built_in, *_flow_files()]


def _mixed() -> list[bytes]:
    return _placed([*_retell()[:1], _transcripts()[-1], _inspect()[1], pipecat_flows.PIZZA.encode(), _lines(_SCORE)])


def _run_corpus() -> list[bytes]:
    with TemporaryDirectory() as folder:
        run = RunDirectory(Path(folder) / "nightly")
        run.progress("c-1", "running", BEGAN + 1)
        run.finish("c-1", BEGAN + 2)
        return _placed([(run.path / name).read_bytes() for name in _RUN_FILES])


def _placed(files: Iterable[bytes]) -> list[bytes]:
    """Files with a first byte that shows which each is."""
    return [bytes([place]) + each for place, each in enumerate(files)]


def _named(kind: str, name: str, corpus: Callable[[], Sequence[bytes]], also: str = "") -> Target:
    return Target(f"{kind}{also}", partial(_file, kind, name), corpus)


TARGETS = (
    _named("transcripts", "flow-transcripts-a.jsonl", _transcripts),
    Target("humanness", _humanness, lambda: [_lines(_SCORE, {**_SCORE, "score": None})]),
    _named("notes", "notes.jsonl", lambda: [_lines(_NOTE, {**_NOTE, "id": "n-2", "supersedes": "n-1"})]),
    _named("flow-file", "flow.json", _flow_files),
    _named("flow-file", "flow.yaml", lambda: [pipecat_flows.PIZZA.encode()], "-yaml"),
    _named("retell", "calls.json", _retell),
    _named("vapi", "calls.json", _vapi),
    _named("elevenlabs", "calls.json", _elevenlabs),
    _named("bland", "calls.json", _bland),
    Target("bland-events", _bland_events, lambda: _of(bland_calls.events())),
    _named(
        "rasa",
        "a.json",
        lambda: [*_of(rasa_trackers.tracker(), [rasa_trackers.forms()]), _lines(rasa_trackers.forms())],
    ),
    _named("livekit", "session_report.json", lambda: _of(livekit_reports.handed_over())),
    _named("livekit-history", "a.json", lambda: _of({"items": livekit_reports.history()}, livekit_reports.history())),
    _named("pipecat", "results.jsonl", lambda: [_lines(pipecat_runs.simulation(), pipecat_runs.script())]),
    _named("pipecat", "a.conversation.json", lambda: _of(pipecat_runs.MESSAGES), "-conversation"),
    _named("inspect", "log.eval", _inspect),
    _named("tau", "results.json", _tau),
    Target("tau-simulation", _tau_simulation, lambda: _of(tau_runs.simulation("s1"))),
    _named("tau-bench", "a.json", lambda: _of(trajectories.results())),
    _named("tau-notes", "task_8_note_0a1b2c3d_note.json", lambda: _of(_TAU_NOTE)),
    _named("tau-verdicts", "night.summary_policy.json", lambda: _of({"entries": [_TAU_VERDICT]})),
    Target("eva", _eva, _eva_corpus),
    Target("case", partial(_refusing, read_case, "case.toml"), lambda: [_CASE]),
    Target("flow-to-run", partial(_refusing, lambda path: load_flow(str(path)), "flow.toml"), _flows_to_run),
    Target("run-directory", _run_directory, _run_corpus),
    Target("ingest", _ingest, _mixed),
)
