"""A model plays the caller: it reads the call from the caller's side, and hangs up by a tool or by what it prints."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, cast

import pytest

from tests.support.toy_calls import ToyAgent, play, stays, toy_case, walks
from tests.surface.runner import (
    END_CALL,
    AgentCall,
    AgentReply,
    CallCase,
    CallerTurn,
    ChatClient,
    ChatReply,
    ChatToolCall,
    ChatUsage,
    ContextFull,
    EndpointDown,
    EndpointGone,
    EndpointRefused,
    MadeCall,
    Message,
    ModelCaller,
    RequestWrong,
    Tool,
    Unavailable,
    plan_cases,
    system_prompt,
    turn_of,
)
from tests.surface.runner import flow_files_load_flow as load_flow

Answer = ChatReply | Exception | str


class FakeChat:
    """Answer with what a test gives, and keep what was asked."""

    def __init__(self, *answers: Answer) -> None:
        self.answers = list(answers)
        self.asked: list[list[Message]] = []
        self.tools: list[Sequence[Tool]] = []
        self.seeds: list[int | None] = []
        self.is_closed = False

    async def check(self) -> str | None:
        """Fail as the first answer does."""
        if self.answers and isinstance(self.answers[0], Exception):
            raise self.answers[0]
        return None

    async def complete(
        self,
        messages: Sequence[Message],
        tools: Sequence[Tool] = (),
        *,
        seed: int | None = None,
        on_retry: Callable[[str, float], None] | None = None,
        on_wait: Callable[[str], None] | None = None,
        waiting: Any = None,
    ) -> ChatReply:
        """Return the next answer."""
        self.asked.append([dict(message) for message in messages])
        self.tools.append(tools)
        self.seeds.append(seed)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        if on_retry is not None and answer == "retried":
            on_retry("503", 1.5)
        return ChatReply(answer, usage=ChatUsage(7, 3), ms=12.5) if isinstance(answer, str) else answer

    async def close(self) -> None:
        """Remember it."""
        self.is_closed = True


def ends(text: str, arguments: str = '{"success": true, "reason": "it is booked"}') -> ChatReply:
    return ChatReply(text, (ChatToolCall("call_0", "end_call", arguments),))


async def call(chat: FakeChat, agent: ToyAgent | None = None, case: CallCase | None = None) -> MadeCall:
    return await play(agent or ToyAgent(stays), ModelCaller(cast(ChatClient, chat), "some-model"), case=case)


def caller_lines(made: MadeCall) -> list[str]:
    return [turn.text for turn in made.conversation.turns if turn.role == "caller"]


async def test_the_call_is_read_from_the_callers_side_with_its_own_opening_in_it() -> None:
    chat = FakeChat("Hi, a flat please.", "Ana.", ends("Bye."))
    await call(chat)
    assert [message["role"] for message in chat.asked[-1]] == [
        "system", "user", "assistant", "user", "assistant", "user",
    ]  # fmt: skip
    assert chat.asked[-1][2]["content"] == "Hi, a flat please."
    assert chat.asked[-1][3]["content"] == "And then?"
    assert chat.tools == [[END_CALL]] * 3


async def test_the_agents_greeting_is_the_first_thing_that_it_hears() -> None:
    chat = FakeChat(ends("Wrong number."))
    await call(chat, ToyAgent(stays, greeting="Barton Creek, hello!"))
    assert chat.asked[0][1] == {"role": "user", "content": "Barton Creek, hello!"}


async def test_hanging_up_lets_the_agent_act_once_more_and_keeps_the_opinion_as_a_note() -> None:
    made = await call(FakeChat("Hello.", ends("Yes, please book it.")), ToyAgent(walks))
    assert (made.conversation.stop_reason, made.conversation.completed) == ("terminal", True)
    assert made.extra["caller_opinion"] == {"success": True, "reason": "it is booked"}
    assert made.extra["caller_requests"][0]["completion_tokens"] == 3
    assert made.conversation.caller == "some-model"


@pytest.mark.parametrize(
    ("reply", "turn"),
    [
        (ChatReply("Hello."), CallerTurn("Hello.")),
        (ChatReply('Caller: "Hello."'), CallerTurn("Hello.")),
        (ChatReply("**Customer:** Hello."), CallerTurn("Hello.")),
        (ChatReply("Thanks, bye. ###STOP###"), CallerTurn("Thanks, bye.", True, None, "stop")),
        (ChatReply("### OUT-OF-SCOPE ###"), CallerTurn("Goodbye.", True, None, "out-of-scope")),
        (ends("Bye."), CallerTurn("Bye.", True, True, "it is booked")),
        (ends("", '{"success": "yes"}'), CallerTurn("Goodbye.", True)),
        (ends("Bye.", "not JSON"), CallerTurn("Bye.", True)),
        (ends("Bye.", "[1]"), CallerTurn("Bye.", True)),
        (ChatReply('Bye. <tool_call>{"name": "end_call", "arguments": {}}</tool_call>'), CallerTurn("Bye.", True)),
        (ChatReply('{"name": "end_call", "arguments": {"success": true}}'), CallerTurn("Goodbye.", True)),
        (ChatReply("Bye! end_call(success=true)"), CallerTurn("Bye!", True)),
        (ChatReply("", (ChatToolCall("call_0", "book", "{}"),)), CallerTurn("")),
        (ChatReply('He said "yes" and "no"'), CallerTurn('He said "yes" and "no"')),
    ],
)
def test_what_models_print_becomes_what_a_caller_says(reply: ChatReply, turn: CallerTurn) -> None:
    assert turn_of(reply) == turn


@pytest.mark.parametrize("broken", ["", "As an AI, I cannot call.", "Agent: Hello!"])
async def test_an_answer_that_makes_no_sense_is_asked_for_again_in_another_way_and_forgotten(broken: str) -> None:
    chat = FakeChat(broken, "Hello.", ends("Bye."))
    made = await call(chat)
    assert caller_lines(made) == ["Hello.", "Bye."]
    assert made.conversation.caller_ok
    assert chat.seeds[0] != chat.seeds[1]
    assert chat.asked[1][-1]["role"] == "system"
    assert [message["content"] for message in chat.asked[2][2:]] == ["Hello.", "And then?"]


async def test_a_caller_that_stays_empty_is_at_fault_itself() -> None:
    made = await call(FakeChat("Hello.", "", ""))
    assert (made.conversation.stop_reason, made.conversation.error) == ("caller", "caller: says nothing")


async def test_a_silent_agent_is_heard_as_silence() -> None:
    chat = FakeChat("Hello.", "Hello?", "Hello??", "unused")
    made = await call(chat, ToyAgent(_silent))
    assert made.conversation.stop_reason == "silence"
    assert chat.asked[0][1]["content"] != chat.asked[1][3]["content"] == "[Nobody says anything.]"


async def test_what_was_tried_again_is_noted_as_the_callers() -> None:
    made = await call(FakeChat("retried", ends("Bye.")))
    assert isinstance(made.conversation.errors, list)
    assert [(error["kind"], error["message"]) for error in made.conversation.errors] == [("retried", "caller: 503")]


@pytest.mark.parametrize(
    ("failure", "problem"),
    [(EndpointDown("503, 3 times"), Unavailable), (EndpointGone("the account has no credit left"), EndpointRefused)],
)
async def test_an_endpoint_that_fails_is_named_as_the_callers(failure: Exception, problem: type[Exception]) -> None:
    with pytest.raises(problem, match=r"^caller: "):
        await call(FakeChat("Hello.", failure))


@pytest.mark.parametrize("failure", [RequestWrong("400: bad tool"), ContextFull("400: too long")])
async def test_a_request_that_is_taken_for_wrong_is_no_fault_of_the_agent(failure: Exception) -> None:
    made = (await call(FakeChat("Hello.", failure))).conversation
    assert (made.errored, made.error, made.caller_ok) == (True, f"caller: {failure}", False)


async def test_the_endpoint_is_looked_for_before_the_run_and_left_after_it() -> None:
    chat = FakeChat(EndpointGone("refused"))
    caller = ModelCaller(cast(ChatClient, chat), "m")
    with pytest.raises(EndpointRefused, match="caller: refused"):
        await caller.check()
    await caller.close()
    assert chat.is_closed


@pytest.mark.parametrize(("trial", "seed"), [(0, 300), (1, 301)])
async def test_every_trial_has_a_seed_of_its_own(trial: int, seed: int) -> None:
    chat = FakeChat(ends("Bye."))
    await call(chat, case=replace(toy_case(), trial=trial))
    assert chat.seeds == [seed]


def test_the_prompt_says_who_calls_why_and_what_is_known_and_nothing_of_the_flow() -> None:
    for case in plan_cases([load_flow("dental_clinic")], personas="all"):
        prompt = system_prompt(case)
        assert case.scenario.goal in prompt
        assert all(f"- {slot.replace('_', ' ')}: {fact.say}" in prompt for slot, fact in case.facts.items())
        assert "[" not in prompt, "noises are no words"
        assert not any(state in prompt for state in case.flow.states if "_" in state)
    assert len({system_prompt(case) for case in plan_cases([load_flow("dental_clinic")], personas="all")[:5]}) == 5


def test_a_caller_without_facts_is_told_that_it_has_none() -> None:
    assert "- nothing but why you call" in system_prompt(toy_case())


async def _silent(call: AgentCall, text: str) -> AgentReply:
    return AgentReply("")
