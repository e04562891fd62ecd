"""Real results of tau2-bench and made ones of tau3-bench, which lie beside the project: read as the benchmark does."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from riff_ingest import Conversation, read_source
from tests.surface.ingest import Action, StateEntered, ToolCall, matches


@pytest.fixture(scope="module")
def voice(shared_data: Path) -> Path:
    """The made voice run, in both layouts."""
    return shared_data / "tau3" / "voice"


@pytest.mark.parametrize("place", ["retail_voice", "retail_voice.json"])
def test_calls_of_the_made_voice_run_are_as_expected_in_both_layouts(voice: Path, place: str) -> None:
    told = json.loads((voice.parent / "expected.json").read_text("utf-8"))
    expected = told["sets"]["dev/retail_voice"]["calls"]
    found = {call.conversation_id: _told(call) for call in read_source(voice / place)}
    assert found == {id: {key: call["riff"][key] for key in found[id]} for id, call in expected.items()}


def _told(call: Conversation) -> dict[str, object]:
    """Return a call in the words of expected.json."""
    sides = Counter(each.by for each in call.tool_calls if each.error is not None)
    return {
        "flow": call.flow,
        "scenario": call.scenario,
        "trial": call.trial,
        "completed": call.completed,
        "errored": call.errored,
        "correctness": None if call.passed is None else 10.0 * call.passed,
        "states": [event.state for event in call.events if isinstance(event, StateEntered)],
        "escalated": bool(call.contract and call.contract.escalation_terminals),
        "tool_errors": {side: sides[side] for side in ("agent", "caller")},
        "expected_steps": [
            {"name": step.name, "by": step.by, "called": step.called, "matched": step.matched}
            for step in call.expected_steps or ()
        ],
    }


def test_every_check_of_real_files_comes_out_again_when_it_is_compared_anew(shared_data: Path) -> None:
    differing = compared = 0
    for path in [*(shared_data / "tau2").glob("*.json"), *(shared_data / "tau3" / "text").glob("*.json")]:
        for simulation in json.loads(path.read_bytes())["simulations"]:
            calls = [
                ToolCall(call["name"], arguments=call["arguments"])
                for message in simulation["messages"]
                for call in message.get("tool_calls") or ()
            ]
            for check in simulation["reward_info"]["action_checks"] or ():
                given = check["action"]
                reference = Action(given["name"], None, given["arguments"], given["compare_args"])
                compared += 1
                differing += any(matches(reference, call) for call in calls) is not check["action_match"]
    assert differing == 0
    assert compared > 1000


def test_calls_of_callers_are_seen_also_where_the_agent_made_them(shared_data: Path) -> None:
    """In runs without a caller the agent takes the steps that tasks ask of callers."""
    (path,) = (shared_data / "tau2").glob("gpt-4.1_telecom_no-user*")
    steps = [step for call in read_source(path) for step in call.expected_steps or ()]
    assert {step.by for step in steps} == {"agent"}
    matched = [step.called for step in steps if step.matched]
    assert all(matched)
    assert len(matched) > len(steps) / 2
