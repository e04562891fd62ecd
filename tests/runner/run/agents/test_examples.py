"""The example agents are short, need nothing installed, and book what they are called for."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.toy_calls import toy_setting
from tests.surface.ingest import Conversation
from tests.surface.runner import (
    Agent,
    Call,
    CommandAgent,
    Program,
    ScriptedCaller,
    as_agent,
    environment_of,
    plan_cases,
)
from tests.surface.runner import flow_files_load_flow as load_flow

EXAMPLES = Path(__file__).parents[4] / "examples" / "agents"


def in_perl() -> tuple[str, ...]:
    try:
        found = subprocess.run(["perl", "-MJSON::PP", "-e", "1"], capture_output=True, check=False).returncode == 0
    except OSError:
        found = False
    if not found:
        pytest.skip("there is no Perl with JSON::PP here")
    return ("perl", str(EXAMPLES / "agent.pl"))


async def calls_of(agent: Agent, flow: str = "apartment_viewing") -> list[Conversation]:
    setting = toy_setting(agent, ScriptedCaller())
    return [(await Call(case, setting).play()).conversation for case in plan_cases([load_flow(flow)])]


async def reach_the_goal(argv: tuple[str, ...], model: str) -> None:
    calls = await calls_of(CommandAgent(Program(argv, environment_of((), os.environ, option="--agent-env"))))
    assert len(calls) == 3
    for call in calls:
        assert (call.completed, call.stop_reason, call.final_status) == (True, "terminal", "viewing_booked")
        assert (call.agent_model, call.errors, call.caller_ok) == (model, [], True)
        assert call.contract is not None
        assert set(call.contract.wanted_slots()) <= set(call.slots)
        assert [tool.name for tool in call.tool_calls if tool.error is None] == ["list_available_units"]


async def test_the_agents_that_the_page_shows_take_part_in_calls() -> None:
    page = (EXAMPLES.parents[1] / "docs" / "protocol.md").read_text(encoding="utf-8")
    code = page.partition("\n## An agent in Python\n")[2].partition("```python\n")[2].partition("```")[0]
    shown: dict[str, Any] = {}
    exec(code, shown)
    for call in await calls_of(as_agent(shown["Booking"])):
        assert (call.completed, call.stop_reason, call.agent_model) == (True, "terminal", "Booking")
        assert {tool.name for tool in call.tool_calls} == {"list_available_units", "create_viewing"}
    for call in await calls_of(as_agent(shown["Booking"]), "dental_clinic"):
        assert (call.completed, call.error) == (True, None), "its way depends on what the caller wants"
    for call in await calls_of(as_agent(shown["by_itself"])):
        assert (call.errored, call.agent_model, "name" in call.slots) == (False, "by_itself", True)


async def test_the_agent_in_python_reaches_the_goal_in_forty_lines() -> None:
    await reach_the_goal((sys.executable, str(EXAMPLES / "agent.py")), "example-python")
    assert len((EXAMPLES / "agent.py").read_text().splitlines()) <= 40


async def test_the_agent_in_perl_reaches_the_goal() -> None:
    await reach_the_goal(in_perl(), "example-perl")
