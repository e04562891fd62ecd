"""Calls in flows of any form reach the goal when all goes well, with what the runner answers for their tools."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.pipecat_flows import OLDER, PIZZA
from tests.support.source_files import NATIVE
from tests.support.toy_calls import ToyAgent, play
from tests.surface.ingest import StateEntered
from tests.surface.runner import AgentCall, AgentReply, ScriptedCaller, plan_cases
from tests.surface.runner import flow_files_load_flow as load_flow


async def leads_on(call: AgentCall, text: str) -> AgentReply:
    """Take the way to the goal, by the tool that opens it where there is one."""
    state = call.flow.states[call.machine.state]
    for slot in state.required_slots:
        call.machine.collect(slot, call.case.facts[slot].value)
    edge = next(edge for edge in state.edges if edge.to_state == state.forward)
    if edge.tool is not None:
        result = await call.use_tool(edge.tool, {})
        assert edge.field is None or str(result[edge.field]).lower() in edge.cases
    call.machine.commit_transition(edge.to_state)
    return AgentReply(f"Let us see to {edge.to_state.replace('_', ' ')}. Is that all right?")


@pytest.mark.parametrize(
    ("name", "text", "path"),
    [
        ("pizza.yaml", PIZZA, ["greet", "pizza", "confirm", "thanks"]),
        ("booking.json", json.dumps(OLDER), ["start", "end"]),
        ("dental.toml", NATIVE, ["greet", "ask_date", "booked"]),
    ],
    ids=["FlowConfig", "older", "native"],
)
async def test_a_call_in_which_all_goes_well_reaches_the_goal(
    tmp_path: Path, name: str, text: str, path: list[str]
) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    (case,) = plan_cases([load_flow(str(tmp_path / name))])
    made = (await play(ToyAgent(leads_on), ScriptedCaller(), case=case)).conversation
    assert (made.completed, made.stop_reason, made.caller_ok) == (True, "terminal", True)
    assert [event.state for event in made.events or () if isinstance(event, StateEntered)] == path
    assert made.contract == case.flow.contract
