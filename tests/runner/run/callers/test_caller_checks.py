"""Callers that leave their part are found out, and those that say their facts in other words are not."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.hearing_agent import HearingAgent
from tests.support.toy_calls import ToyAgent, ToyCaller, play, toy_case
from tests.surface.ingest import Conversation
from tests.surface.runner import (
    AgentCall,
    AgentReply,
    CallerTurn,
    ScriptedCaller,
    SpokenFact,
    flow_names,
    plan_cases,
    spoken_numbers,
)
from tests.surface.runner import flow_files_load_flow as load_flow

FACTS = {
    "name": SpokenFact("Maya Okafor", "Maya Okafor"),
    "phone": SpokenFact("512-555-0123", "512-555-0123"),
    "email": SpokenFact("maya.o@mail.example", "maya.o@mail.example"),
    "birth_date": SpokenFact("March 3 1985", "March 3 1985"),
    "member_id": SpokenFact("K7954-818", "K7954-818"),
    "amount": SpokenFact(12500, "twelve and a half thousand"),
    "day": SpokenFact("next Tuesday", "next Tuesday"),
    "time": SpokenFact("two thirty in the afternoon", "two thirty in the afternoon"),
}
WORDS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]


def said(*lines: str, collects: dict[str, Any] | None = None, agent: str = "Go on.") -> Conversation:
    async def takes(call: AgentCall, text: str) -> AgentReply:
        for slot, value in (collects or {}).items():
            call.machine.collect(slot, value)
        return AgentReply(agent)

    turns = [*map(CallerTurn, lines), CallerTurn("Bye.", ends=True)]
    case = replace(toy_case(), facts=FACTS)
    return asyncio.run(play(ToyAgent(takes), ToyCaller(turns), case=case)).conversation


@pytest.mark.parametrize(
    "line",
    [
        "My number is (512) 555-0123.",
        "It's +1 512.555.0123, and I have two cats.",
        "five one two, five five five, oh one two three",
        "Sure: five twelve, triple five, zero one twenty-three.",
        "512 555 0123. 2 people. 2:30 pm on 11/24/2026.",
        "The last four digits are 0123.",
        "I was born on 03/03/1985, that is March 3rd, 1985.",
        "Member number K 7 9 5 4 8 1 8, phone 512-555-0123",
        "My e-mail is Maya.O@mail.example.",
        "It's maya dot o at mail dot example.",
        "The 12,500 dollar one, or $12500.",
        "I have been at 10, 11 and 12 of them since 2019.",
        "As an aside, I'm a big fan. Are you an AI? Can I talk to an assistant?",
        "As an assistant manager I call often; I'm an assistant.",
    ],
)
def test_facts_may_be_said_in_any_form(line: str) -> None:
    made = said(line)
    assert made.caller_ok, made.error


@pytest.mark.parametrize(
    ("line", "error"),
    [
        ("Call me at 512-555-0199.", "caller: gives the number 512-555-0199, which is not in its case"),
        ("five one two five five five nine nine nine nine", "caller: gives the number 5-1-2-5-5-5-9-9-9-9, which"),
        ("My zip is 78704.", "caller: gives the number 78704, which is not in its case"),
        ("Write to maya@work.example!", "caller: gives the address maya@work.example, which is not in its case"),
    ],
)
def test_facts_of_its_own_are_the_callers_fault(line: str, error: str) -> None:
    made = said("Hello.", line)
    assert str(made.error).startswith(error)
    assert (made.errored, made.caller_ok, made.stop_reason) == (True, False, "hangup")


def test_what_the_agent_said_before_may_be_repeated_and_what_it_said_after_was_not_heard() -> None:
    assert said("Hello.", "Ticket 4821977, got it.", agent="Your ticket is 48 21 977.").caller_ok
    assert not said("Ticket 4821977?", "Hm.", agent="Your ticket is 4821977.").caller_ok


@pytest.mark.parametrize(
    ("line", "slot", "value", "kept"),
    [
        ("I'm Maya Okafor.", "name", "Maya Okafor", True),
        ("Okafor, Maya.", "name", "Okafor", True),
        ("It's Máya.", "name", "maya", True),
        ("My name is John Smith.", "name", "John Smith", False),
        ("Yes.", "name", "John Smith", True),  # the agent's invention
        ("Great, talk soon. Bye.", "name", "Great, talk soon. Bye.", True),  # the agent's way of taking names down
        ("The number is 7954-811.", "member_id", "7954-811", False),
        ("K7954-818", "member_id", "k7954818", True),
        ("2:30 works.", "time", "14:30", True),
        ("Tuesday works.", "day", "Tuesday", True),
        ("Let's say half past two.", "time", "half past two", True),
        ("It's me.", "name", True, True),
    ],
)
def test_what_the_agent_took_down_is_compared_with_what_the_caller_should_have_said(
    line: str, slot: str, value: Any, kept: bool
) -> None:
    made = said(line, collects={slot: value})
    assert made.caller_ok is kept, made.error


@pytest.mark.parametrize(
    "line",
    [
        "Agent: How many bedrooms?",
        "Sure.\n**Assistant:** And your name?",
        "As an AI, I have no phone.",
        "Well, I'm just an AI language model.",
        "Hello! How can I help you today?",
    ],
)
def test_a_caller_that_speaks_as_the_agent_is_asked_once_more_and_then_given_up(line: str) -> None:
    twice = asyncio.run(play(ToyAgent(_goes_on), ToyCaller([CallerTurn(line), CallerTurn(line)]))).conversation
    assert (twice.error, twice.stop_reason, twice.completed) == ("caller: speaks as the agent", "caller", None)
    once = asyncio.run(play(ToyAgent(_goes_on), ToyCaller([CallerTurn(line), CallerTurn("Bye.", True)]))).conversation
    assert once.caller_ok
    assert [turn.text for turn in once.turns if turn.role == "caller"] == ["Bye."]


def test_the_callers_own_opinion_is_kept_beside_the_call() -> None:
    caller = ToyCaller([CallerTurn("Bye.", ends=True, success=False, reason="nobody listens")])
    made = asyncio.run(play(ToyAgent(_goes_on), caller))
    assert made.extra["caller_opinion"] == {"success": False, "reason": "nobody listens"}


@pytest.mark.parametrize("flow", flow_names())
def test_a_scripted_caller_never_leaves_its_part(flow: str) -> None:
    for case in plan_cases([load_flow(flow)], personas="all", trials=4, seed=7):
        made = asyncio.run(play(HearingAgent(), ScriptedCaller(), case=case)).conversation
        assert made.caller_ok, made.error


@given(st.text("0123456789", min_size=7, max_size=12), st.data())
def test_a_number_is_the_same_however_it_is_grouped_and_pronounced(digits: str, data: st.DataObject) -> None:
    spoken = [
        data.draw(st.sampled_from([digit, WORDS[int(digit)]])) + data.draw(st.sampled_from([" ", "-", ", "]))
        for digit in digits
    ]
    assert ["".join(groups) for groups in spoken_numbers("".join(spoken).strip(" ,-"))] == [digits]


@given(st.text())
def test_any_text_has_numbers_or_none(text: str) -> None:
    assert all(group.isdecimal() for groups in spoken_numbers(text) for group in groups)


async def _goes_on(call: AgentCall, text: str) -> AgentReply:
    return AgentReply("Go on.")
