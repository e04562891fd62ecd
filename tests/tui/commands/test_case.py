"""From a call of a store to a scenario in a file."""

from __future__ import annotations

import stat
from pathlib import Path
from typing import Any

import pytest

from riff_ingest import Conversation, store_conversations
from tests.surface.ingest import Contract, Event, SlotFilled, StateEntered, StateExited, Turn
from tests.surface.runner import CaseFact, CaseFailure, CaseLine, CaseOrigin, read_case
from tests.surface.runner import flow_files_load_flow as load_flow
from tests.surface.tui import ExitCode, run

Captured = pytest.CaptureFixture[str]


def stuck(name: str, **given: Any) -> Conversation:
    """A call to the maintenance line that ends while the caller still waits for a ticket."""
    turns = [
        Turn("agent", "Maintenance, hello.", 1.0),
        Turn("caller", "Hi, I'm in 132B.", 3.0),
        Turn("caller", "The fridge stopped cooling.", 5.0),
        Turn("agent", "What's your code?", 7.0),
        Turn("caller", "My PIN's 4112.", 9.0),
        Turn("agent", "What's your code?", 11.0),
        Turn("caller", "I told you. 4112!", 13.0),
    ]
    events: list[Event] = [
        StateEntered("greeting", 0.0),
        SlotFilled("unit", "132B", "greeting", 6.0),
        StateExited("greeting", "verify_resident", None, 6.0),
        StateEntered("verify_resident", 6.0),
    ]
    facts: dict[str, Any] = {
        "flow": "property_trouble_ticket",
        "run_id": "night-1",
        "agent_model": "acme",
        "persona": "hurried",
        "scenario": "repair",
        "completed": False,
        "stop_reason": "hangup",
        "contract": Contract(success_terminals=["ticket_created"]),
        "slots": {"unit": "132B"},
        "turns": turns,
        "events": events,
    }
    return Conversation(conversation_id=name, **(facts | given))


@pytest.fixture
def store(tmp_path: Path) -> Path:
    path = tmp_path / "calls.db"
    silent = stuck("c-3", turns=[Turn("agent", "Hello?", 1.0)])
    store_conversations(path, [stuck("c-1"), stuck("c-2"), silent])
    return path


def made(store: Path, *options: str, where: str = "conversation=c-1") -> Path:
    file = store.parent / "case.toml"
    assert run(["case", "--store", str(store), "--where", where, "-o", str(file), *options]) == ExitCode.OK
    return file


def refused(capsys: Captured, store: Path, *options: str) -> str:
    assert run(["case", "--store", str(store), *options]) == ExitCode.USAGE
    return capsys.readouterr().err


def test_a_case_has_what_the_caller_knew_and_said_and_where_it_broke(store: Path) -> None:
    case = read_case(made(store, "--no-redact"))
    assert (case.flow, case.name, case.persona, case.path) == (
        "property_trouble_ticket",
        "c-1",
        "hurried",
        ["greeting"],
    )
    assert case.origin == CaseOrigin("night-1", "c-1", "acme", "repair")
    assert case.broke == CaseFailure("verify_resident", "dead end", "greeting", "hangup")
    assert case.lines == [
        CaseLine("Hi, I'm in 132B. The fridge stopped cooling.", "greeting"),
        CaseLine("My PIN's 4112.", "verify_resident"),
        CaseLine("I told you. 4112!", "verify_resident"),
    ]


def test_what_the_agent_never_took_down_is_a_fact_where_the_caller_said_it(store: Path) -> None:
    facts = read_case(made(store, "--no-redact")).facts
    assert facts["resident_code"] == CaseFact("4112")
    assert facts["unit"] == CaseFact("132B")
    assert facts["issue"] == CaseFact("the fridge stopped cooling")
    assert "since" not in facts


def test_stand_ins_take_the_place_of_what_points_at_the_caller(store: Path) -> None:
    file = made(store)
    case = read_case(file)
    assert case.redacted
    assert "132B" not in file.read_text(encoding="utf-8")
    assert f"I'm in {case.facts['unit'].value}." in case.lines[0].text


def test_a_case_is_played_in_its_flow(store: Path) -> None:
    scenario = read_case(made(store, "--name", "cold-fridge")).scenario(load_flow("property_trouble_ticket"))
    assert (scenario.name, scenario.flow, scenario.tasks) == (
        "cold-fridge",
        "property_trouble_ticket",
        ("ticket",),
    )
    assert scenario.pools["resident_code"] == "pin"
    assert [line.state for line in scenario.script] == ["greeting", "verify_resident", "verify_resident"]


def test_a_case_can_end_at_a_turn(store: Path, capsys: Captured) -> None:
    assert [line.text for line in read_case(made(store, "--until", "5", "--no-redact")).lines][-1] == "My PIN's 4112."
    assert "--until 8: the call has turns 1 to 7" in refused(
        capsys, store, "--where", "conversation=c-1", "--until", "8"
    )


def test_without_a_file_the_case_goes_to_stdout(store: Path, capsys: Captured) -> None:
    assert run(["case", "--store", str(store), "--where", "conversation=c-1"]) == ExitCode.OK
    assert 'schema = "riff.case/1"' in capsys.readouterr().out


def test_a_case_is_the_owners_alone_and_says_how_to_play_it(store: Path, capsys: Captured) -> None:
    file = made(store)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert f"riff-tui run --scenarios {file} --agent AGENT --out DIR" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ((), "a case is made of one call: riff-tui case --where 'run=R conversation=C'"),
        (("--where", "agent=acme"), "3 calls match this filter; name one of them, such as"),
        (("--where", "conversation=c-9"), "no call matches this filter"),
        (("--where", "conversation=c-3"), "the caller of c-3 says nothing"),
        (("--where", "conversation=c-1", "--until", "1"), "the caller of c-1 says nothing until there"),
        (("--where", "conversation=c-1", "--name", " "), "--name needs a name"),
        (("--where", "conversation=c-1", "--flows", "dog_grooming"), "is of the flow dog_grooming, and the call is of"),
    ],
)
def test_what_is_no_case_says_what_to_do(store: Path, capsys: Captured, options: tuple[str, ...], told: str) -> None:
    assert told in refused(capsys, store, *options)


def test_a_call_whose_words_were_not_kept_makes_no_case(tmp_path: Path, capsys: Captured) -> None:
    store = tmp_path / "calls.db"
    store_conversations(store, [stuck("c-1")], with_text=False)
    assert "ingest its file without --no-text" in refused(capsys, store, "--where", "conversation=c-1")
