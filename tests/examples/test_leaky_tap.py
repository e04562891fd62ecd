"""The example agents speak the protocol, and differ in what was planted."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "leaky_tap"
HOURS = {"type": "tool_result", "id": "1", "result": {"from": 8, "to": 18}}


def said(text: str) -> dict[str, Any]:
    return {"type": "user", "text": text}


def answers(program: str, *messages: dict[str, Any]) -> list[dict[str, Any]]:
    told = "".join(f"{json.dumps(message)}\n" for message in ({"type": "start"}, *messages, {"type": "end"}))
    done = subprocess.run(
        [sys.executable, EXAMPLE / program], input=told, capture_output=True, encoding="utf-8", check=True
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


def states(answered: list[dict[str, Any]]) -> list[str]:
    events = (message["event"] for message in answered if message["type"] == "event")
    return [event["state"] for event in events if event["type"] == "state_entered"]


@pytest.mark.parametrize("program", ["agent.py", "fixed.py"])
def test_a_caller_who_is_understood_gets_a_visit(program: str) -> None:
    everything = "The one in the kitchen, I'm in 214, it's 512-555-0134, next Monday at ten thirty in the morning."
    answered = answers(program, said("A tap drips."), said(everything), HOURS, said("Yes, please."))
    slots = [message["event"] for message in answered if message.get("event", {}).get("type") == "slot_filled"]
    assert {slot["slot"]: slot["value"] for slot in slots} == {
        "tap": "kitchen",
        "unit": "214",
        "phone": "512-555-0134",
        "day": "next Monday",
        "time": "ten thirty in the morning",
    }
    assert states(answered)[-2:] == ["read_back", "visit_booked"]
    assert answered[-1] == {"type": "bye", "status": "visit_booked"}


def test_the_hasty_agent_asks_for_no_number_and_turns_one_that_it_hears() -> None:
    asked = answers("hasty.py", said("A tap drips."), said("The shower."), said("I'm in 132B."), HOURS)
    assert states(asked)[-2:] == ["call_back", "offer_visit"]
    told = answers("hasty.py", said("The shower, and my number is 512-555-0134."))
    slots = [message["event"] for message in told if message.get("event", {}).get("type") == "slot_filled"]
    assert {slot["slot"]: slot["value"] for slot in slots} == {"tap": "shower", "phone": "512-555-4310"}


@pytest.mark.parametrize(("program", "state"), [("agent.py", "which_unit"), ("fixed.py", "call_back")])
def test_only_the_fixed_agent_understands_a_unit_with_a_letter(program: str, state: str) -> None:
    answered = answers(program, said("Something drips."), said("The shower."), said("I'm in 132B."))
    assert states(answered)[-1] == state


@pytest.mark.parametrize("program", ["agent.py", "fixed.py"])
@pytest.mark.parametrize("time", ["around two thirty", "Quarter to five in the afternoon"])
def test_only_the_fixed_agent_comes_in_the_afternoon(program: str, time: str) -> None:
    everything = f"The shower, I'm in 214, it's 512-555-0134, Monday. {time}."
    answered = answers(program, said("A tap drips."), said(everything), HOURS, said("That's correct."), HOURS)
    assert states(answered)[-1] == {"agent.py": "read_back", "fixed.py": "visit_booked"}[program]
