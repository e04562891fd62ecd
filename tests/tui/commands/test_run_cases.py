"""Calls that were kept are made again: one, or all of a directory."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.toy_runs import kept_lines
from tests.surface.tui import ExitCode, run

Captured = pytest.CaptureFixture[str]
CASE = """\
schema = "riff.case/1"
flow = "{flow}"
name = "{name}"

[facts]
unit = {{ value = "132B" }}

[[lines]]
text = "I'm in 132B."
state = "{state}"

[[lines]]
text = "You there?"
state = "{state}"
"""
AGENT = "def parrots(call, text):\n    return f'You say: {text}'\n"
FLOW = "property_trouble_ticket"


@pytest.fixture
def agent(tmp_path: Path) -> str:
    path = tmp_path / "toy_agent.py"
    path.write_text(AGENT)
    return f"python:{path}:parrots"


def kept(path: Path, *, flow: str = FLOW, state: str = "greeting") -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_text(CASE.format(flow=flow, name=path.stem, state=state))
    return path


def options(agent: str, out: Path, *more: str) -> list[str]:
    return ["run", "--agent", agent, "--out", str(out), "--clock", "2026-06-22T09:00:00Z", *more]


def test_all_cases_of_a_directory_are_played(agent: str, tmp_path: Path) -> None:
    for name in ("ticket", "fridge"):
        kept(tmp_path / "cases" / f"{name}.toml")
    (tmp_path / "cases" / "README.md").write_text("Calls that broke.")
    assert run(options(agent, tmp_path / "out", "--scenarios", str(tmp_path / "cases"))) == ExitCode.OK
    assert {line["scenario"] for line in kept_lines(tmp_path / "out")} == {"ticket", "fridge"}


@pytest.mark.parametrize(
    ("flow", "given", "said"),
    [
        (FLOW, "{cases}/none", "there is no case in this directory; riff-tui case -o FILE makes one"),
        (FLOW, "all,{cases}/c-1.toml", "all are meant, or those that are named"),
        (
            "taps",
            "{cases}/c-1.toml",
            "the case c-1 is of the flow taps, which is not built in; add its file with --flows",
        ),
    ],
)
def test_cases_that_cannot_be_played_say_what_to_do(
    agent: str, tmp_path: Path, capsys: Captured, flow: str, given: str, said: str
) -> None:
    cases = kept(tmp_path / "cases" / "c-1.toml", flow=flow).parent
    (cases / "none").mkdir()
    assert run(options(agent, tmp_path / "out", "--scenarios", given.format(cases=cases))) == ExitCode.USAGE
    assert said in capsys.readouterr().err


@pytest.fixture
def mended(tmp_path: Path) -> str:
    machine = tmp_path / "machine.py"
    machine.write_text(
        "from riff_ingest.events import StateEntered\n\n\n"
        "def parrots(call, text):\n    call.emit(StateEntered('greeting'))\n    return 'Which unit?'\n"
    )
    return f"python:{machine}:parrots"


def test_of_a_call_that_goes_another_way_nobody_is_told_to_make_it_again(
    mended: str, tmp_path: Path, capsys: Captured
) -> None:
    case = kept(tmp_path / "cases" / "c-1.toml", state="verify_resident")
    given = ("--scenarios", str(case), "--caller", "frozen")
    assert run(options(mended, tmp_path / "out", *given)) == ExitCode.SKIPPED
    said = capsys.readouterr().err
    assert "1 call errored, which no mean counts; the agent went another way than the recorded one:" in said
    assert "--caller scripted goes along with an agent" in said
    assert "--resume" not in said


@pytest.mark.parametrize(
    ("given", "states", "code"),
    [
        (["--diverged", "ok"], ["verify_resident"], ExitCode.OK),
        (["--diverged", "ok"], ["verify_resident", "greeting"], ExitCode.OK),
        (["--diverged", "fail"], ["verify_resident"], ExitCode.GATE_FAILED),
        (["--diverged", "fail"], ["verify_resident", "greeting"], ExitCode.GATE_FAILED),
        (["--diverged", "fail"], ["greeting"], ExitCode.OK),
        ([], ["verify_resident", "greeting"], ExitCode.OK),
    ],
)
def test_who_runs_a_kept_call_says_whether_another_way_is_good_news(
    mended: str, tmp_path: Path, capsys: Captured, given: list[str], states: list[str], code: ExitCode
) -> None:
    for state in states:
        kept(tmp_path / "cases" / f"{state}.toml", state=state)
    cases = ("--scenarios", str(tmp_path / "cases"), "--caller", "frozen", "--json")
    assert run(options(mended, tmp_path / "out", *cases, *given)) == code
    told = capsys.readouterr()
    done, diverged = json.loads(told.out.splitlines()[-1]), states.count("verify_resident")
    assert (done["calls"], done["diverged"], done["errored"]) == (len(states), diverged, diverged)
    if code:
        calls = "1 call" if len(states) == 1 else f"{len(states)} calls"
        assert f"{diverged} of {calls} went another way than the recorded one" in told.err


def test_nobody_else_than_a_frozen_caller_diverges(agent: str, tmp_path: Path, capsys: Captured) -> None:
    case = kept(tmp_path / "cases" / "c-1.toml")
    given = ("--scenarios", str(case), "--diverged", "ok")
    assert run(options(agent, tmp_path / "out", *given)) == ExitCode.USAGE
    assert "--diverged is for recorded calls; add --caller frozen, or leave it out" in capsys.readouterr().err


def test_what_a_flow_does_not_have_any_more_is_told(agent: str, tmp_path: Path, capsys: Captured) -> None:
    case = kept(tmp_path / "cases" / "c-1.toml", state="which_unit")
    case.write_text(case.read_text().replace("unit = ", "flat = "))
    given = ("--scenarios", str(case), "--dry-run")
    assert run(options(agent, tmp_path / "out", *given)) == ExitCode.OK
    told = capsys.readouterr().err
    assert f"The flow {FLOW} has no slot flat, named in the case c-1." in told
    assert f"The flow {FLOW} has no state which_unit, named in the case c-1." in told
    kept(case)
    assert run(options(agent, tmp_path / "out", *given)) == ExitCode.OK
    assert "of which the case" not in capsys.readouterr().err
