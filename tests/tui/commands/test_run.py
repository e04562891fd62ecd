"""Running an agent from the command line: what is written, what is said, and how it ends."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from riff_store import ask
from tests.support.facts import call, fresh, put
from tests.support.golden import assert_golden
from tests.support.toy_runs import kept_lines, times_kept
from tests.surface.runner import Cost, RunSettings, RunSide, RunTally, model_prices, plan_cases, touchable
from tests.surface.runner import flow_files_load_flow as load_flow
from tests.surface.store import Store, Touched, open_store
from tests.surface.tui import ExitCode, run, run_cost

Captured = pytest.CaptureFixture[str]
PROGRAM = Path(sys.executable).parent / "riff-tui"
TIME = "2026-06-22T03:00:00Z"
FLOW = "apartment_viewing"

AGENT = """
import os
import time

from riff_ingest.runner import EndpointRefused, Unavailable

MODE = os.environ.get("TOY_MODE", "")
SECONDS = float(os.environ.get("TOY_SECONDS", "0"))


def books(call, text):
    case = call.case
    if MODE == "refuses" or (MODE == "refuses later" and case.trial):
        raise EndpointRefused("agent", "401 the key is wrong")
    if MODE == "says nothing":
        return ""
    if MODE == "fails" or (MODE == "fails first" and not case.trial):
        raise Unavailable("agent", "503 overloaded")
    time.sleep(SECONDS)
    machine = call.machine
    if MODE == "hands over" and case.trial:
        machine.commit_transition("escalated")
        return "I put you through."
    state = call.flow.states[machine.state]
    for slot in state.required_slots:
        fact = case.facts.get(slot)
        machine.collect(slot, fact.value if fact else "none")
    way = state.forward
    machine.commit_transition(way if isinstance(way, str) else way[case.scenario.tasks[0]])
    return f"Let us go on with {machine.state.replace('_', ' ')}."
"""


@pytest.fixture
def agent(tmp_path: Path) -> str:
    path = tmp_path / "toy_agent.py"
    path.write_text(AGENT)
    return f"python:{path}:books"


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "nightly"


def options(agent: str, out: Path, *more: str, flow: str = FLOW) -> list[str]:
    return ["run", "--flows", flow, "--agent", agent, "--out", str(out), "--clock", TIME, *more]


def calls_of(out: Path) -> int:
    return len(times_kept(out))


def test_a_run_writes_calls_and_says_what_came_of_them(agent: str, out: Path, capsys: Captured) -> None:
    assert run(options(agent, out, "--trials", "2", "--agent-name", "mine", "--label", "Tuesday")) == ExitCode.OK
    lines = kept_lines(out)
    assert {(line["agent_model"], line["run_id"], line["run_label"]) for line in lines} == {
        ("mine", "nightly", "Tuesday")
    }
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.splitlines()[0] == f"{len(lines)} calls to make of 1 flow."
    assert f"{FLOW}  {len(lines)} calls, {len(lines)} completed" in shown.err
    assert shown.err.splitlines()[-1] == f"Next: riff-tui ingest {out}"


def test_what_it_wrote_is_ingested_without_a_complaint(agent: str, out: Path, tmp_path: Path, capsys: Captured) -> None:
    run(options(agent, out))
    store = str(tmp_path / "calls.db")
    assert run(["ingest", str(out), "--store", store, "--strict"]) == ExitCode.OK
    [row] = ask(store, "flows")
    assert (row["flow"], row["agent"], row["n"]) == (FLOW, "books", calls_of(out))


def test_with_json_there_is_nothing_else_on_stdout(agent: str, out: Path, capsys: Captured) -> None:
    assert run(options(agent, out, "--json")) == ExitCode.OK
    launch, done = map(json.loads, capsys.readouterr().out.splitlines())
    calls = calls_of(out)
    assert (launch["event"], launch["due"], launch["planned"]) == ("launch", calls, calls)
    assert (done["event"], done["calls"], done["errored"], done["completed"]) == ("done", calls, 0, calls)
    assert (done["cost"], done["stopped"], done["reasons"]) == (None, {}, [])
    assert done["tokens"] == {"agent": None, "caller": None}


def test_what_the_code_of_an_agent_prints_is_not_on_stdout(agent: str, out: Path, capsys: Captured) -> None:
    module = Path(agent.split(":")[1])
    module.write_text(f"print('imported')\n{AGENT.replace('    case =', '    print(text)' + chr(10) + '    case =')}")
    assert run(options(agent, out, "--json")) == ExitCode.OK
    shown = capsys.readouterr()
    assert [json.loads(line)["event"] for line in shown.out.splitlines()] == ["launch", "done"]
    assert "imported" in shown.err
    assert kept_lines(out)[0]["turns"][0]["text"] in shown.err


def test_with_json_one_learns_why_calls_were_errored(
    agent: str, out: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOY_MODE", "fails first")
    run(options(agent, out, "--trials", "2", "--json"))
    done = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert done["reasons"] == [{"error": "agent: 503 overloaded", "calls": 3}]


def test_the_same_run_gives_the_same_bytes(agent: str, tmp_path: Path) -> None:
    for name, at_once in (("a", "1"), ("b", "7")):
        run(options(agent, tmp_path / name, "--run-id", "same", "--trials", "3", "--concurrency", at_once))
    [first], [second] = ((tmp_path / name).glob("flow-*") for name in "ab")
    assert first.read_bytes() == second.read_bytes()


def test_a_dry_run_prints_the_calls_and_touches_nothing(
    agent: str, out: Path, tmp_path: Path, capsys: Captured
) -> None:
    before = sorted(tmp_path.rglob("*"))
    assert run(options(agent, out, "--trials", "2", "--dry-run", "--scenarios", "relocating")) == ExitCode.OK
    shown = capsys.readouterr()
    assert [line.split("  ")[:2] for line in shown.out.splitlines()] == [[FLOW, "relocating"]] * 2
    assert "2 calls to make" in shown.err
    assert [path for path in sorted(tmp_path.rglob("*")) if "__pycache__" not in str(path)] == before


def covering(store: Store, *scenarios: str) -> None:
    """Let calls of the dentist touch all that the ways of these scenarios lead to."""
    for case in plan_cases([load_flow("dental_clinic")], scenarios=scenarios):
        items = sorted(touchable(case))
        names = [name for kind, name in items if kind in ("state", "terminal")]
        steps = [name.split(" > ") for kind, name in items if kind == "edge"]
        slots, guards, tools = ([name for kind, name in items if kind == each] for each in ("slot", "guard", "tool"))
        edges = [names.index(end) for step in steps for end in step]
        path = Touched(names, len(names), edges, slots, guards, tools)
        put(store, f"{case.scenario.name}.jsonl", [call(case.scenario.name, flow="dental_clinic", path=path)])


def test_only_calls_that_touch_what_no_call_has_are_made(agent: str, tmp_path: Path, capsys: Captured) -> None:
    """Of the dentist's callers check-ups lead to no page, and nobody's way leads to a human."""
    location = str(tmp_path / "calls.db")
    with fresh(tmp_path / "calls.db") as store:
        covering(store, "checkup")
    given = options(agent, tmp_path / "out", "--uncovered", location, flow="dental_clinic")
    assert run([*given, "--dry-run"]) == ExitCode.OK
    shown = capsys.readouterr()
    assert [line.split("  ")[1] for line in shown.out.splitlines()] == ["emergency"]
    assert "dental_clinic: no call here leads to edge book_visit > escalated, " in shown.err
    assert "Uncovered: 20 items, of which 1 of 3 calls can touch 6." in shown.err
    with open_store(tmp_path / "calls.db", write=True) as store:
        covering(store, "emergency")
    assert run(given) == ExitCode.OK
    assert "Uncovered: 14 items, of which 0 of 3 calls can touch 0." in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_a_store_that_is_not_there_covers_nothing(agent: str, out: Path, tmp_path: Path, capsys: Captured) -> None:
    assert run(options(agent, out, "--uncovered", str(tmp_path / "none.db"), "--dry-run")) == ExitCode.STORE
    assert "none.db" in capsys.readouterr().err


def test_a_run_that_is_there_is_not_written_over(agent: str, out: Path, capsys: Captured) -> None:
    run(options(agent, out))
    capsys.readouterr()
    assert run(options(agent, out)) == ExitCode.USAGE
    assert "--resume" in capsys.readouterr().err
    assert run(options(agent, out, "--resume")) == ExitCode.OK
    assert f"No call to make: all {calls_of(out)} are there." in capsys.readouterr().err
    assert set(times_kept(out).values()) == {1}


@pytest.mark.parametrize(
    ("target", "name"),
    [("python:mine.py:reply", "mine.py"), (f"command:{sys.executable} mine.py", "mine.py"), ("command:./mine", "mine")],
)
def test_an_agent_whose_file_has_changed_does_not_go_on_with_a_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured, target: str, name: str
) -> None:
    source = (
        f"#!{sys.executable}\nimport json\n"
        "def reply(call, text): return 'Fine.'\n"
        "if __name__ == '__main__':\n"
        "    input(); print(json.dumps({'type': 'ready'}), flush=True)\n"
        "    while json.loads(input())['type'] == 'user':\n"
        "        print(json.dumps({'type': 'say', 'text': 'Fine.'}), flush=True)\n"
    )
    monkeypatch.chdir(tmp_path)
    file = tmp_path / name
    file.write_text(source)
    file.chmod(0o700)
    out = tmp_path / "out"
    assert run(options(target, out, "--max-turns", "1")) == ExitCode.OK
    assert run(options(target, out, "--max-turns", "1", "--resume", "--trials", "2")) == ExitCode.OK
    file.write_text(source.replace("Fine.", "Sure."))
    kept = calls_in_whole_lines(out)
    capsys.readouterr()
    assert run(options(target, out, "--max-turns", "1", "--resume", "--trials", "3")) == ExitCode.USAGE
    assert "the agent is another one: its file has changed since this run began" in capsys.readouterr().err
    assert calls_in_whole_lines(out) == kept
    assert run(options(target, out, "--max-turns", "1", "--resume", "--trials", "3", "--force")) == ExitCode.OK
    assert "the agent differs from what this run was begun with" in capsys.readouterr().err
    assert calls_in_whole_lines(out) > kept


def test_other_tools_do_not_answer_the_rest_of_a_run(agent: str, out: Path, capsys: Captured) -> None:
    assert run(options(agent, out)) == ExitCode.OK
    capsys.readouterr()
    assert run(options(agent, out, "--resume", "--trials", "9", "--tools", "command:true")) == ExitCode.USAGE
    assert "what answers tools has changed from stubbed to command" in capsys.readouterr().err


def test_a_side_that_cannot_be_reached_is_a_usage_error_and_nothing_is_written(out: Path, capsys: Captured) -> None:
    assert run(options("command:/nowhere/agent", out)) == ExitCode.USAGE
    assert "/nowhere/agent" in capsys.readouterr().err
    assert not out.exists()


@pytest.mark.parametrize(
    ("mode", "code", "said"),
    [
        ("refuses", ExitCode.USAGE, "agent: 401 the key is wrong; 0 calls kept"),
        ("refuses later", ExitCode.UNEXPECTED, "3 calls kept, 3 left; fix it and run the same command with --resume"),
        ("fails", ExitCode.SKIPPED, "every call was errored (most of them: agent: 503 overloaded)"),
        ("says nothing", ExitCode.OK, f"{FLOW}  6 calls, 0 completed, 6 silence"),
        ("hands over", ExitCode.OK, f"{FLOW}  6 calls, 3 completed, 3 handed over"),
        (
            "fails first",
            ExitCode.OK,
            "3 calls errored, which no mean counts; --resume makes them again:\n  3  agent: 503 overloaded",
        ),
    ],
)
def test_a_run_ends_with_what_was_wrong(
    agent: str, out: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch, mode: str, code: ExitCode, said: str
) -> None:
    monkeypatch.setenv("TOY_MODE", mode)
    assert run(options(agent, out, "--trials", "2", "--concurrency", "1")) == code
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (["--flows", "moon"], "no built-in flow 'moon'"),
        (["--scenarios", "moon"], "no scenario 'moon'"),
        (["--personas", "moon"], "no persona 'moon'"),
        (["--agent", "mine"], "--agent: 'mine' is an unknown form"),
        (["--caller", "robot"], "--caller: 'robot' is an unknown form"),
        (["--tools", "command:/nowhere/tools"], "tools: /nowhere/tools cannot be started: no such file"),
        (["--caller", "command:caller", "--caller-env", "NOT_SET"], "--caller-env: there is no variable 'NOT_SET'"),
        (["--tools", "command:tools", "--tools-env", "NOT_SET"], "--tools-env: there is no variable 'NOT_SET'"),
        (["--clock", "tomorrow"], "--clock: 'tomorrow' is not a time"),
        (["--judge", "gemini", "--no-judge"], "contradict each other"),
        (["--judge", "moon"], "judge moon"),
        (["--ingest", "/dev/null/store.db"], "/dev/null"),
    ],
)
def test_what_makes_no_sense_is_refused_before_anything_is_written(
    agent: str, out: Path, capsys: Captured, wrong: list[str], said: str
) -> None:
    given = options(agent, out)
    if wrong[0] in given:
        given[given.index(wrong[0]) + 1] = wrong[1]
    else:
        given += wrong
    assert run(given) in (ExitCode.USAGE, ExitCode.STORE)
    assert said in capsys.readouterr().err
    assert not out.exists()


def test_without_flows_it_says_what_to_name(agent: str, out: Path, capsys: Captured) -> None:
    assert run(["run", "--agent", agent, "--out", str(out)]) == ExitCode.USAGE
    assert "--flows is missing; name a built-in flow, such as dental_clinic" in capsys.readouterr().err
    assert run(["run", "--agent", agent, "--out", str(out), "--scenarios", "broke.tml"]) == ExitCode.USAGE
    assert (
        "--flows is missing for the scenario 'broke.tml' (the file of a case ends in .toml)" in capsys.readouterr().err
    )


@pytest.mark.parametrize(
    "command",
    [["run", "--flows", FLOW, "--agent", "command:true"], ["simulate"], ["demo"], ["judge", ".", "--judge", "x"]],
)
def test_a_directory_without_a_name_is_not_the_working_directory(
    command: list[str], tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run([*command, "--out", ""]) == ExitCode.USAGE
    assert "'--out': it is empty; name a directory" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_what_keeps_calls_from_a_store_is_told_once(
    agent: str, out: Path, tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = tmp_path / "calls.db"
    store.write_text("no store")
    # as where something else takes the place of the store while the run is made
    monkeypatch.setattr("riff_tui.commands.calls.run_session.store_to_write", lambda *_, **__: nullcontext())
    assert run(options(agent, out, "--ingest", str(store))) == ExitCode.STORE
    said = capsys.readouterr().err
    assert f"not all are in the store ({store}: not a riff-tui store; nothing was changed)" in said


def test_calls_come_into_a_store(agent: str, out: Path, tmp_path: Path, capsys: Captured) -> None:
    store = tmp_path / "calls.db"
    assert run(options(agent, out, "--ingest", str(store))) == ExitCode.OK
    assert [row["n"] for row in ask(str(store), "flows")] == [calls_of(out)]
    assert capsys.readouterr().err.splitlines()[-1] == f"Next: riff-tui ui --store {store}"


def test_calls_are_judged_afterwards(
    agent: str, out: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    verdict = '{"score": 7, "evidence": [], "reason": "calm"}'
    judge = tmp_path / "judge.sh"
    judge.write_text(f"#!/bin/sh\ncat > /dev/null\necho '{verdict}'\n")
    judge.chmod(0o700)
    settings = tmp_path / "settings.toml"
    settings.write_text(f'[judges.mine]\nkind = "command"\nargv = ["{judge}"]\n')
    monkeypatch.setenv("RIFF_TUI_CONFIG", str(settings))
    store = str(tmp_path / "calls.db")
    assert run(options(agent, out, "--judge", "mine", "--ingest", store)) == ExitCode.OK
    assert "3 judged" in capsys.readouterr().err
    assert [(row["judge"], row["n"], row["mean"]) for row in ask(store, "judges")] == [("mine", 3, 7.0)]


def test_a_run_tells_its_cost_where_all_prices_are_known() -> None:
    tally = RunTally(planned=1)
    tally.spend({"requests": [{"prompt_tokens": 2_000_000, "completion_tokens": 500_000}]})
    prices = model_prices({"m": {"input": 1, "output": 2}})
    model = RunSide(kind="openai", name="m", model="m")
    free, program = RunSide(kind="scripted", name="scripted"), RunSide(kind="command", name="caller.sh")
    assert run_cost(tally, RunSettings(agent=model, caller=free), prices) == Cost(3.0, "USD")
    assert run_cost(tally, RunSettings(agent=model, caller=program), prices) is None
    assert run_cost(tally, RunSettings(agent=model, caller=free), {}) is None


def test_what_a_run_is_asked_to_do_holds_no_secret(agent: str, out: Path, tmp_path: Path) -> None:
    secret = "sk-very-secret"
    script = tmp_path / "agent.sh"
    script.write_text("#!/bin/sh\nexit 3\n")
    script.chmod(0o700)
    command = f"command:{script} --api-key {secret} --token={secret} --fast"
    run(options(command, out, "--scenarios", "relocating"))
    assert secret not in (out / "run.json").read_text()
    assert "--fast" in (out / "run.json").read_text()


def started(agent: str, out: Path, *more: str, seconds: float = 0.0, **environment: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [PROGRAM, *options(agent, out, *more)],
        env={**os.environ, "TOY_SECONDS": str(seconds), **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def until_some_are_kept(out: Path, process: subprocess.Popen[str], calls: int = 1) -> None:
    deadline = time.monotonic() + 120
    while process.poll() is None and time.monotonic() < deadline:
        if out.is_dir() and calls_in_whole_lines(out) >= calls:
            return
        time.sleep(0.005)
    raise AssertionError(f"no call was kept: {process.communicate()}")


def calls_in_whole_lines(out: Path) -> int:
    return sum(path.read_bytes().count(b"\n") for path in out.glob("flow-*"))


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGHUP, 129)])
def test_a_signal_lets_what_is_under_way_end_and_keeps_it(agent: str, out: Path, number: int, code: int) -> None:
    process = started(agent, out, "--trials", "200", seconds=0.01)
    until_some_are_kept(out, process)
    process.send_signal(number)
    _, said = process.communicate(timeout=120)
    assert process.returncode == code
    assert "still under way" in said
    document: dict[str, Any] = json.loads((out / "run.json").read_text())
    kept = calls_of(out)
    assert 0 < kept < document["planned"]
    assert (document["invocations"][0]["ended"], document["invocations"][0]["calls"]) == ("interrupted", kept)


def test_a_second_ctrl_c_drops_what_is_under_way(agent: str, out: Path) -> None:
    process = started(agent, out, "--trials", "50", "--concurrency", "2", seconds=60)
    deadline = time.monotonic() + 120
    progress = out / "progress.jsonl"
    while not (progress.exists() and progress.read_bytes()) and time.monotonic() < deadline:
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    assert process.stderr is not None
    while "still under way" not in process.stderr.readline():
        assert process.poll() is None
    began = time.monotonic()
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert process.returncode == ExitCode.INTERRUPTED
    assert time.monotonic() - began < 50


def test_calls_are_in_the_store_while_others_are_made(agent: str, out: Path, tmp_path: Path) -> None:
    store = tmp_path / "calls.db"
    process = started(agent, out, "--ingest", str(store), "--trials", "2000", seconds=0.02)
    deadline = time.monotonic() + 120
    while process.poll() is None and time.monotonic() < deadline:
        if store.exists() and ask(str(store), "flows"):
            break
        time.sleep(0.2)
    assert process.poll() is None
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=120)
    assert [row["n"] for row in ask(str(store), "flows")] == [calls_of(out)]


def test_no_call_is_lost_or_made_twice_where_the_process_is_killed(agent: str, out: Path) -> None:
    chance = random.Random(7)
    trials = ("--trials", "150")
    for _ in range(5):
        before = calls_in_whole_lines(out) if out.is_dir() else 0
        process = started(agent, out, "--resume", *trials, "--concurrency", "8", seconds=0.001)
        until_some_are_kept(out, process, before + 1)
        time.sleep(chance.random() * 0.05)
        process.kill()
        process.communicate()
    assert run(options(agent, out, "--resume", *trials)) == ExitCode.OK
    kept = times_kept(out)
    document: dict[str, Any] = json.loads((out / "run.json").read_text())
    assert len(kept) == document["planned"]
    assert set(kept.values()) == {1}
    assert all(line["completed"] for line in kept_lines(out))


def test_tools_that_cannot_be_started_are_a_usage_error(agent: str, out: Path, capsys: Captured) -> None:
    assert run(options(agent, out, "--tools", "command:/nowhere/tools")) == ExitCode.USAGE
    assert "tools: /nowhere/tools cannot be started" in capsys.readouterr().err
    assert not out.exists()


def test_a_run_by_a_scripted_caller_is_the_golden_one(agent: str, out: Path) -> None:
    run(options(agent, out, "--run-id", "golden", "--agent-name", "perfect", "--trials", "2"))
    [path] = out.glob("flow-*")
    assert_golden(path.read_text(), "runner/run-apartment_viewing.jsonl")
