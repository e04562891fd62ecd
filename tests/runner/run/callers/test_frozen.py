"""A recorded caller says its lines where they were said, and says where the agent takes another way."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.support.toy_calls import ToyAgent, play, toy_case, walks
from tests.surface.runner import (
    AgentCall,
    AgentReply,
    CallCase,
    FrozenCaller,
    ScriptedLine,
    SpokenFact,
    refuse_unrecorded,
)
from tests.surface.store import UsageError


def recorded(*lines: tuple[str, str | None]) -> CallCase:
    case = toy_case()
    script = tuple(ScriptedLine(text, state) for text, state in lines)
    return replace(case, scenario=replace(case.scenario, script=script))


async def test_the_lines_are_said_in_order_where_the_agent_goes_the_recorded_way() -> None:
    case = recorded(("Hello.", None), ("I am Ana.", "ask"))
    made = (await play(ToyAgent(walks), FrozenCaller(), case=case)).conversation
    assert [turn.text for turn in made.turns if turn.role == "caller"] == ["Hello.", "I am Ana."]
    assert (made.completed, made.stop_reason, made.caller_ok) == (True, "terminal", True)


async def test_of_a_recorded_caller_nobody_says_what_it_had_to_say() -> None:
    case = replace(recorded(("Hello.", None), ("I am Ana.", "ask")), facts={"name": SpokenFact("Bob", "Bob")})
    assert (await play(ToyAgent(walks), FrozenCaller(), case=case)).conversation.facts == {}


async def test_another_way_of_the_agent_is_no_failure_of_it_and_says_where_it_began() -> None:
    case = recorded(("Hello.", "greet"), ("Hello?", "greet"))
    made = (await play(ToyAgent(walks), FrozenCaller(), case=case)).conversation
    assert made.error == "caller: diverged at turn 2: the agent is in ask where greet was recorded"
    assert (made.completed, made.errored, made.stop_reason, made.caller_ok) == (None, True, "diverged", False)


async def test_the_agent_answers_the_last_line_before_the_recording_hangs_up() -> None:
    async def repeats(call: AgentCall, text: str) -> AgentReply:
        return AgentReply(f"{call.machine.state}: {text}")

    case = recorded(("Hello.", "greet"), ("Hello.", "greet"), ("Hello.", "greet"), ("It is 555-0100-9999.", "greet"))
    made = (await play(ToyAgent(repeats), FrozenCaller(), case=case)).conversation
    assert made.turns[-1].text == "greet: It is 555-0100-9999."
    assert (made.stop_reason, made.completed) == ("hangup", False)
    assert made.caller_ok, "a recording may repeat itself, and knows what it knows"


async def test_a_scenario_without_a_recording_says_so() -> None:
    made = (await play(ToyAgent(walks), FrozenCaller(), case=toy_case())).conversation
    assert made.error == "caller: the scenario plain has no recorded lines; play it with another caller"


def test_scenarios_without_a_recording_are_refused_before_anybody_is_called() -> None:
    refuse_unrecorded([recorded(("Hello.", None))])
    with pytest.raises(UsageError, match="'plain' has no recorded lines"):
        refuse_unrecorded([recorded(("Hello.", None)), toy_case()])
