"""Scripted callers get through every flow, answer what they are asked, and hang up on agents that lead nowhere."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from random import Random

import pytest

from tests.support.golden import assert_golden
from tests.support.hearing_agent import HearingAgent
from tests.support.toy_calls import Reply, ToyAgent, play, toy_case
from tests.surface.ingest import Conversation, encode_line, transcript_document
from tests.surface.runner import (
    AgentCall,
    AgentReply,
    CallCase,
    CallLimits,
    ScriptedCaller,
    ScriptedLine,
    flow_names,
    phrases,
    plan_cases,
)
from tests.surface.runner import flow_files_load_flow as load_flow

ENDLESS = CallLimits(max_turns=200, state_turns=200, silences=200)


def cases(*names: str, trials: int = 1) -> list[CallCase]:
    return plan_cases([load_flow(name) for name in names or flow_names()], personas="all", trials=trials)


def call(case: CallCase, agent: object = None, limits: CallLimits | None = None) -> Conversation:
    made = asyncio.run(play(agent or HearingAgent(), ScriptedCaller(), case=case, limits=limits))
    return made.conversation


def lines(conversation: Conversation) -> list[str]:
    return [turn.text for turn in conversation.turns if turn.role == "caller"]


@pytest.mark.parametrize("tells_states", [True, False], ids=["states-told", "states-untold"])
def test_every_caller_of_every_flow_gets_what_it_calls_for_from_an_agent_that_listens(tells_states: bool) -> None:
    for case in cases(trials=2):
        made = call(case, HearingAgent(tells_states=tells_states))
        assert (made.completed, made.caller_ok) == (True, True), (made.conversation_id, made.stop_reason, made.error)


def test_calls_read_like_calls() -> None:
    chosen = cases("property_trouble_ticket")[:5] + cases("ceo_command_center")[5:7]
    told = [(case, call(case)) for case in chosen]
    untold = [(case, call(case, HearingAgent(tells_states=False))) for case in chosen[:2]]
    text = "\n".join(_as_text(case, made) for case, made in told + untold)
    assert_golden(text, "runner/scripted_callers.txt")


def test_the_same_case_gives_the_same_bytes_whatever_was_called_before() -> None:
    first, *others = cases("dental_clinic", "austin_plumbing")
    before = encode_line(transcript_document(call(first)))
    for other in others[:3]:
        call(other)
    assert encode_line(transcript_document(call(first))) == before


def test_trials_and_personas_sound_different() -> None:
    openings = {lines(call(case))[0] for case in cases("dog_grooming", trials=3)}
    assert len(openings) > 20


def test_a_caller_of_few_words_says_a_fact_alone_and_one_of_many_says_most_of_them_at_once() -> None:
    by_persona = {case.persona.name: case for case in cases("apartment_viewing")}
    hurried, eager = by_persona["hurried"], by_persona["front_loader"]
    assert f"{hurried.facts['phone'].say}." in " ".join(lines(call(hurried))).split(" ", 2)[2]
    said_first = lines(call(eager))[0]
    assert sum(fact.say in said_first for fact in eager.facts.values()) >= 4


@pytest.mark.parametrize("text", ["", "I'm sorry, could you give me your name and number?", "Please hold."])
@pytest.mark.parametrize("tells_states", [True, False], ids=["states-told", "states-untold"])
def test_a_caller_hangs_up_on_an_agent_that_says_the_same_for_ever(text: str, tells_states: bool) -> None:
    for case in cases("generic_inquiry", "apartment_viewing"):
        made = call(case, ToyAgent(_says(lambda _: text, tells_states=tells_states)), ENDLESS)
        assert (made.stop_reason, made.caller_ok) == ("hangup", True)
        said = lines(made)
        assert len(said) <= 2 * case.persona.patience + 8
        assert all(len({*three}) > 1 for three in zip(said, said[1:], said[2:], strict=False))
        if text:
            assert said[-1].endswith(tuple(phrases().gives_up + phrases().goodbyes + phrases().byes))


def test_a_caller_asks_whether_anybody_is_there_before_it_gives_up_on_silence() -> None:
    said = lines(call(cases("dog_grooming")[0], ToyAgent(_says(lambda _: ""))))
    assert len(said) > 1
    assert all(line in phrases().silences for line in said[1:])
    assert all(one != other for one, other in pairwise(said))


def test_the_impatient_bear_less_than_the_patient() -> None:
    agent = ToyAgent(_says(lambda _: "What was the unit again?"))
    turns = {case.persona.name: len(lines(call(case, agent, ENDLESS))) for case in cases("property_trouble_ticket")}
    assert turns["hurried"] < turns["storyteller"] < turns["patient"]


@pytest.mark.parametrize("tells_states", [True, False], ids=["states-told", "states-untold"])
def test_no_babble_keeps_a_caller_on_the_line_for_ever(tells_states: bool) -> None:
    words = [
        "what",
        "when",
        "bye",
        "else",
        "name",
        "please",
        "moment",
        "phone",
        "{}",
        "%",
        "?",
        "!",
        "…",
        "\u202e",
        "[end]",
    ]
    for seed in range(30):
        random = Random(seed)
        agent = ToyAgent(_says(lambda _: " ".join(random.choices(words, k=9)), tells_states=tells_states))  # noqa: B023
        made = call(cases("apartment_viewing", "ceo_command_center")[seed], agent, ENDLESS)
        assert (made.stop_reason, made.caller_ok) == ("hangup", True)
        assert len(lines(made)) < 60


def test_what_a_caller_does_not_know_it_does_not_make_up() -> None:
    planned = cases("apartment_viewing")[0]
    facts = {slot: fact for slot, fact in planned.facts.items() if slot != "phone"}
    case = CallCase(planned.flow, planned.scenario, planned.persona, 0, 300, facts)

    async def asks(call: AgentCall, text: str) -> AgentReply:
        if call.machine.state == "greeting":
            call.machine.commit_transition("collect_contact")
        call.machine.collect("name", "somebody")
        return AgentReply("What phone number can we call?")

    said = lines(call(case, ToyAgent(asks)))
    assert any(line in phrases().unsure for line in said)
    assert not any(planned.facts["phone"].say in line for line in said)


def test_a_flow_that_says_nothing_of_its_callers_still_has_one_that_can_be_talked_to() -> None:
    said = {
        "Welcome! What can I get you?": ["I'm calling about toy."],
        "And which size would you like?": phrases().no_matter,
        "Delivery or pickup?": phrases().no_matter,
        "What's your name?": phrases().unsure,
        "One moment, let me look that up.": phrases().fine,
        "Shall I place the order?": phrases().yes,
        "How does that sound?": phrases().yes,
        "Is there anything else?": phrases().goodbyes,
        "Thank you, goodbye!": phrases().byes,
    }
    made = call(toy_case(), ToyAgent(_says_in_turn(list(said))))
    for answer, fitting in zip(lines(made)[1:], said.values(), strict=True):
        assert answer.startswith(tuple(fitting)), (answer, fitting)
    assert (made.stop_reason, made.caller_ok) == ("hangup", True)


def test_a_caller_of_a_kept_call_opens_as_it_did_and_goes_on_with_its_facts() -> None:
    planned = cases("generic_inquiry")[0]
    opening = f"Good day. {planned.scenario.says[0]} It's about {planned.facts['topic'].say}."
    scenario = replace(planned.scenario, says=(opening,), script=(ScriptedLine(opening, "greeting"),))
    made = call(replace(planned, scenario=scenario))
    assert lines(made)[0] == opening
    assert made.completed


def _says(words: Callable[[str], str], *, tells_states: bool = True) -> Reply:
    async def reply(call: AgentCall, text: str) -> AgentReply:
        if tells_states and call.machine.state == call.flow.initial:
            call.machine.commit_transition(str(call.flow.states[call.flow.initial].forward))
        return AgentReply(words(text))

    return reply


def _says_in_turn(words: list[str]) -> Reply:
    left = [*words, "Goodbye."]

    async def reply(call: AgentCall, text: str) -> AgentReply:
        if call.machine.state == "greet":
            call.machine.commit_transition("ask")
        return AgentReply(left.pop(0))

    return reply


def _as_text(case: CallCase, conversation: Conversation) -> str:
    head = f"{case.flow.name}, {case.scenario.name}, {case.persona.name}: {conversation.stop_reason}\n"
    return head + "".join(f"  {turn.role}: {turn.text}\n" for turn in conversation.turns)
