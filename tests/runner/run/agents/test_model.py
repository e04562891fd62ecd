"""A model behind an endpoint plays a whole call: what it and its endpoint do wrong stands where it belongs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from tests.support.chat_server import ChatServer, Said, always, chat_server, first, saying
from tests.support.judge_endpoint import error
from tests.support.toy_calls import play, toy_case
from tests.surface.ingest import (
    Contract,
    Conversation,
    GuardEvaluated,
    SlotFilled,
    StateContract,
    StateEntered,
    encode_line,
    transcript_document,
)
from tests.surface.runner import (
    CallCase,
    CallLimits,
    Endpoint,
    EndpointRefused,
    FlowEdge,
    FlowState,
    MadeCall,
    ModelAgent,
    RunnableFlow,
    RunScenario,
    StubbedTool,
    SystemClock,
    Unavailable,
)
from tests.surface.runner import RetriesRetryPolicy as RetryPolicy

pytest.importorskip("aiohttp")

QUICK = RetryPolicy(pause_s=0.001)
FLOW = RunnableFlow(
    "viewing",
    Contract(
        success_terminals=["booked"],
        escalation_terminals=["escalated"],
        final_statuses=["booked"],
        required_slots=["name"],
        states={"contact": StateContract("collect", ["name", "phone"])},
    ),
    "greeting",
    {
        "greeting": FlowState("greeting", edges=(FlowEdge("contact"), FlowEdge("escalated"))),
        "contact": FlowState(
            "contact",
            instruction="In substance say: Who is calling, and what is your number?",
            required_slots=("name", "phone"),
            guard="has_contact",
            edges=(FlowEdge("search"), FlowEdge("escalated")),
        ),
        "search": FlowState(
            "search",
            instruction="In substance say: I will look what there is, {name}.",
            tools=("list_units",),
            edges=(FlowEdge("booked"),),
        ),
        "booked": FlowState("booked", outcome="success"),
        "escalated": FlowState("escalated", outcome="escalation"),
    },
    {"list_units": StubbedTool("list_units", "List the units.", returns=({"units": 2},))},
    (RunScenario("plain"),),
)


@pytest.fixture(scope="module")
def server() -> Iterator[ChatServer]:
    with chat_server() as found:
        yield found


async def made_at(
    url: str,
    model: str,
    *,
    flow: RunnableFlow = FLOW,
    limits: CallLimits | None = None,
    timeout: float = 5.0,
    measured: bool = False,
    **options: Any,
) -> MadeCall:
    """Play a call with a model of the server."""
    agent = ModelAgent(Endpoint(url, model), timeout=timeout, retries=QUICK, **options)
    try:
        clock = SystemClock() if measured else None
        return await play(agent, case=toy_case(flow), limits=limits, clock=clock)
    finally:
        await agent.close()


async def called(model: str, **options: Any) -> tuple[Conversation, ChatServer]:
    """Play a call with a model that behaves so from its first request on."""
    with chat_server() as server:
        return (await made_at(server.url, model, **options)).conversation, server


def errors(call: Conversation) -> list[dict[str, Any]]:
    assert isinstance(call.errors, list)
    return call.errors


def noted(call: Conversation) -> list[str]:
    return [each["kind"] for each in errors(call)]


def mistakes(call: Conversation) -> list[tuple[str, Any, str]]:
    return [(made.name, made.arguments, str(made.error)) for made in call.tool_calls if made.error]


def told(server: ChatServer) -> list[Any]:
    """Return what the model was told of the tools that it called, in its last request."""
    messages = server.completions[-1].body["messages"]
    return [json.loads(message["content"]) for message in messages if message["role"] == "tool"]


def visited(call: Conversation) -> list[str]:
    return [event.state for event in call.events if isinstance(event, StateEntered)]


@pytest.mark.parametrize("stream", [True, False], ids=["streamed", "whole"])
@pytest.mark.parametrize(
    "model",
    [
        "perfect", "index-0", "empty-id", "empty-id-index-0", "object-arguments", "thinks", "reasons", "finish-stop",
        "no-done",
    ],
)  # fmt: skip
async def test_however_servers_spell_it_the_call_is_the_same(model: str, stream: bool, server: ChatServer) -> None:
    call = (await made_at(server.url, model, stream=stream)).conversation
    assert (call.completed, call.stop_reason, call.final_status, call.errored) == (True, "terminal", "booked", False)
    assert visited(call) == ["greeting", "contact", "search", "booked"]
    assert [(event.slot, event.state) for event in call.events if isinstance(event, SlotFilled)] == [
        ("name", "contact"), ("phone", "contact"),
    ]  # fmt: skip
    assert [(event.guard, event.result) for event in call.events if isinstance(event, GuardEvaluated)] == [
        ("has_contact", True)
    ]
    assert [(turn.state, turn.text) for turn in call.turns if turn.role == "agent"] == [
        ("contact", "Who is calling, and what is your number?"),
        ("search", "I will look what there is, line 2."),
        ("booked", "What else can I do for you?"),
    ]
    assert [(made.name, made.result) for made in call.tool_calls] == [("list_units", {"units": 2})]
    assert not call.errors


@pytest.mark.parametrize(
    ("model", "reason"),
    [("429", "429: slow down"), ("500-twice", "500: oh"), ("html-once", "a page (HTML)"), ("cut", "mid-response"),
     ("error-in-stream", "500: The server had an error")],
)  # fmt: skip
async def test_what_passes_is_noted_and_is_nobodys_fault(model: str, reason: str) -> None:
    call, _ = await called(model, measured=True)
    assert (call.completed, call.stop_reason, call.errored) == (True, "terminal", False)
    assert set(noted(call)) == {"retried"}
    assert all(reason in each["message"] for each in errors(call))
    assert len(errors(call)) == (2 if model == "500-twice" else 1)


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        ("503", "agent: 503: overloaded, 3 times"),
        ("not-again", "agent: 503: overloaded"),
        ("429-for-long", "agent: 429: come back tomorrow; it asks to wait 86400 s"),
        ("html", "agent: the endpoint answered with a page (HTML) instead of JSON, 3 times"),
        ("always-cut", "agent: connection closed mid-response, 3 times"),
    ],
)
async def test_what_does_not_pass_is_the_endpoints_fault(model: str, reason: str, server: ChatServer) -> None:
    with pytest.raises(Unavailable) as caught:
        await made_at(server.url, model)
    assert (str(caught.value), caught.value.side) == (reason, "agent")


@pytest.mark.parametrize("model", ["slow", "never-ends"])
async def test_an_answer_that_does_not_end_is_given_up(model: str, server: ChatServer) -> None:
    with pytest.raises(Unavailable, match=r"agent: no answer within 0\.1 s, 3 times"):
        await made_at(server.url, model, timeout=0.1)


@pytest.mark.parametrize(
    ("model", "reason"),
    [
        ("quota", "agent: the account has no credit left (429: You exceeded your current quota.)"),
        ("no-key", "agent: the endpoint does not take the key (401: Incorrect API key provided.)"),
        ("forbidden", "agent: the endpoint does not take the key (403: Not in your country.)"),
        ("no-model", "agent: the endpoint knows no such address or model (404: The model does not exist.)"),
    ],
)
async def test_an_endpoint_that_will_never_answer_ends_the_run(model: str, reason: str) -> None:
    with chat_server() as server:
        with pytest.raises(EndpointRefused) as caught:
            await made_at(server.url, model)
        assert str(caught.value) == reason
        assert len(server.completions) == 1


async def test_a_chat_that_grows_too_long_is_the_agents_limit() -> None:
    call, server = await called("context")
    assert (call.completed, call.stop_reason, call.errored) == (False, "context", False)
    assert len(server.completions) == 1


async def test_a_request_that_the_endpoint_takes_for_wrong_is_nobodys_score() -> None:
    call, server = await called("wrong")
    assert (call.completed, call.stop_reason, call.errored) == (None, "error", True)
    assert call.error == "agent: 400: messages must not be empty"
    assert len(server.completions) == 1


@pytest.mark.parametrize(
    ("model", "name", "arguments", "reason"),
    [
        ("not-json", "fill", '{"name": "An', "arguments are not JSON"),
        ("not-an-object", "fill", '["Ana"]', "arguments are not an object"),
        ("no-such-slot", "fill", '{"shoe_size": "9"}', "arguments do not fit: shoe_size is not known; there are name"),
        ("no-such-tool", "book_flight", '{"to": "Rome"}', "no such tool in state greeting"),
        ("no-such-way", "go_booked", "{}", "no edge from greeting to booked"),
    ],
)
async def test_a_call_of_a_tool_that_makes_no_sense_is_the_agents(
    model: str, name: str, arguments: str, reason: str
) -> None:
    call, server = await called(model)
    (found,) = mistakes(call)
    assert found[:2] == (name, arguments)
    assert call.tool_calls[0].fits is (False if name == "fill" else None)
    assert found[2].startswith(reason)
    assert told(server)[0]["error"].startswith(reason)
    assert (call.completed, call.stop_reason, call.errored) == (True, "terminal", False)
    assert visited(call) == ["greeting", "contact", "search", "booked"]


async def test_a_tool_of_the_runner_that_made_no_sense_and_then_did_is_made_good() -> None:
    call, _ = await called("no-such-slot")
    assert [(made.name, made.fits) for made in call.tool_calls if made.name == "fill"] == [
        ("fill", False),
        ("fill", True),
    ]
    assert [made.error for made in call.tool_calls][1] is None


async def test_the_model_is_told_which_tools_there_are() -> None:
    _, server = await called("no-such-tool")
    assert told(server)[0]["error"] == ("no such tool in state greeting; there are fill, go_contact, go_escalated")


async def test_states_of_the_same_name_offer_what_there_is_in_their_own_flow(server: ChatServer) -> None:
    greeting = replace(FLOW.states["greeting"], edges=(FlowEdge("booked"),))
    short = replace(FLOW, name="short", states={**FLOW.states, "greeting": greeting})
    agent = ModelAgent(Endpoint(server.url, "perfect"), retries=QUICK)
    for flow in (FLOW, short, FLOW):
        await play(agent, case=toy_case(flow))
    await agent.close()
    first_of = [asked.body for asked in server.completions if len(asked.body["messages"]) == 2][-3:]
    offered = [[tool["function"]["name"] for tool in body["tools"]] for body in first_of]
    ways = [[name for name in names if name.startswith("go_")] for names in offered]
    assert ways == [["go_contact", "go_escalated"], ["go_booked"], ["go_contact", "go_escalated"]]


async def test_every_call_of_a_tool_gets_its_message_and_arguments_that_servers_can_read() -> None:
    _, server = await called("not-json")
    messages = server.completions[-1].body["messages"]
    asked = [made for message in messages for made in message.get("tool_calls", ())]
    answered = [message["tool_call_id"] for message in messages if message["role"] == "tool"]
    assert [made["id"] for made in asked] == answered
    assert len(answered) == len({*answered})
    assert all(isinstance(json.loads(made["function"]["arguments"]), dict) for made in asked)


async def test_too_many_mistakes_end_the_call() -> None:
    call, server = await called("always-wrong")
    assert (call.completed, call.stop_reason, call.errored) == (False, "too_many_errors", False)
    assert len(mistakes(call)) == 11
    assert len(server.completions) == 3


async def test_tools_without_end_are_a_loop() -> None:
    call, server = await called("loops")
    assert (call.completed, call.stop_reason, call.errored) == (False, "loop", False)
    assert noted(call) == ["tool_loop"]
    assert len(server.completions) == 9


async def test_an_empty_answer_is_asked_for_once_more() -> None:
    call, server = await called("empty-once")
    assert (call.completed, call.errors) == (True, [])
    one, other = server.completions[:2]
    assert one.body == other.body


async def test_three_silent_turns_end_the_call_and_roles_still_alternate() -> None:
    call, server = await called("empty")
    assert (call.completed, call.stop_reason, call.errored) == (False, "silence", False)
    assert len(server.completions) == 6
    roles = [message["role"] for message in server.completions[-1].body["messages"]]
    assert roles == ["system", "user"]
    assert server.completions[-1].body["messages"][-1]["content"] == "line 1\nline 2\nline 3"


@pytest.mark.parametrize(
    ("model", "kind", "says"),
    [
        ("length", "length", "Let me"),
        ("refuses", "refusal", "I cannot help with that."),
        ("text-as-call", "tool_call_as_text", '{"name": "fill", "arguments": {"name": "Ana"}}'),
        ("tagged-call", "tool_call_as_text", '<tool_call>{"name": "fill"}</tool_call>'),
    ],
)
async def test_what_is_odd_about_an_answer_is_noted_and_it_is_spoken(model: str, kind: str, says: str) -> None:
    call, _ = await called(model)
    assert noted(call)[0] == kind
    assert next(turn.text for turn in call.turns if turn.role == "agent") == says
    assert (call.turns[1].state, call.slots.get("name")) != ("contact", "Ana")


async def test_an_answer_that_a_filter_withheld_is_noted_and_asked_for_again() -> None:
    call, _ = await called("filter")
    assert noted(call) == ["content_filter"]
    assert call.completed


async def test_text_beside_tools_is_spoken_and_the_tools_run() -> None:
    call, _ = await called("speaks-and-calls")
    assert next(turn.text for turn in call.turns if turn.role == "agent") == "One moment. One moment."
    assert visited(call) == ["greeting", "contact", "search", "booked"]


async def test_parameters_that_the_endpoint_refuses_are_left_out_and_said() -> None:
    with chat_server() as server:
        made = await made_at(server.url, "no-seed")
        last = server.completions[-1].body
    call = made.conversation
    dropped = ["seed", "parallel_tool_calls", "stream_options", "temperature", "max_completion_tokens"]
    assert (call.completed, noted(call)) == (True, ["retried"] * 5)
    assert not {*dropped} & {*last}
    assert last["max_tokens"] == 500
    assert made.extra["requests"][-1]["dropped"] == dropped


async def test_a_request_says_what_the_state_wants_and_what_is_known() -> None:
    _, server = await called("perfect")
    first_body, last = server.completions[0].body, server.completions[-1].body
    assert first_body["seed"] == 300
    assert first_body["temperature"] == 0
    assert first_body["messages"][1] == {"role": "user", "content": "line 1"}
    contact = server.completions[1].body
    assert "To be learned from the caller in this state: name, phone." in contact["messages"][0]["content"]
    names = [tool["function"]["name"] for tool in contact["tools"]]
    assert names == ["fill", "go_search", "go_escalated"]
    assert [*contact["tools"][0]["function"]["parameters"]["properties"]] == ["name", "phone"]
    assert "- name: line 2" in last["messages"][0]["content"]
    assert [tool["function"]["name"] for tool in last["tools"]] == ["fill", "end_call"]


async def test_a_guard_keeps_the_call_in_its_state_and_says_what_is_missing() -> None:
    moves = first(saying(Said(calls=(("go_contact", {}),))), saying(Said(calls=(("go_search", {}),))))
    with chat_server({"hasty": moves}) as server:
        call = (await made_at(server.url, "hasty")).conversation
    assert visited(call)[:2] == ["greeting", "contact"]
    assert next(event.result for event in call.events if isinstance(event, GuardEvaluated)) is False
    (blocked,) = [each for each in told(server) if "guard" in each.get("error", "")]
    assert blocked == {"ok": False, "error": "guard has_contact is false: missing name, phone"}
    assert not mistakes(call)


async def test_no_guard_keeps_a_caller_from_a_person() -> None:
    moves = first(saying(Said(calls=(("go_contact", {}),))), saying(Said(calls=(("go_escalated", {}),))))
    with chat_server({"gives-up": moves}) as server:
        call = (await made_at(server.url, "gives-up")).conversation
    assert (call.final_state, call.stop_reason, call.completed) == ("escalated", "terminal", False)
    assert not any(isinstance(event, GuardEvaluated) for event in call.events)


async def test_what_a_model_says_of_states_moves_nothing() -> None:
    claims = always(saying(Said("I am in the state booked. Your viewing is booked. ###STOP###")))
    with chat_server({"liar": claims}) as server:
        call = (await made_at(server.url, "liar", limits=CallLimits(state_turns=2))).conversation
    assert visited(call) == ["greeting"]
    assert (call.completed, call.stop_reason) == (False, "loop")


async def test_hanging_up_with_a_status_that_is_none_is_a_mistake() -> None:
    hangs_up = saying(Said("Bye.", (("end_call", {"status": "flown"}),)))
    flow = replace(FLOW, states={"greeting": FlowState("greeting", may_end=True)})
    with chat_server({"odd": first(hangs_up, saying(Said("Bye.", (("end_call", {"status": "booked"}),))))}) as server:
        call = (await made_at(server.url, "odd", flow=flow)).conversation
    assert [wrong for _, _, wrong in mistakes(call)] == ['arguments do not fit: status must be one of "booked"']
    assert (call.stop_reason, call.final_status, call.completed) == ("agent_hangup", "booked", False)


async def test_one_tool_may_lead_to_all_states() -> None:
    advances = first(saying(Said(calls=(("advance", {"to": "nowhere"}), ("advance", {"to": "escalated"})))))
    with chat_server({"small": advances}) as server:
        call = (await made_at(server.url, "small", advance=True)).conversation
    tools = server.completions[0].body["tools"]
    assert [tool["function"]["name"] for tool in tools] == ["fill", "advance"]
    assert visited(call) == ["greeting", "escalated"]
    assert [wrong for _, _, wrong in mistakes(call)] == [
        'arguments do not fit: to must be one of "contact", "escalated"'
    ]


@pytest.mark.parametrize(
    ("result", "state"),
    [
        ({"status": "free"}, "contact"),
        ({"status": True}, "search"),
        ({"status": "gone"}, "escalated"),
        ({}, "escalated"),
    ],
)
async def test_the_result_of_a_tool_may_lead_on(result: Any, state: str) -> None:
    edges = (
        FlowEdge("escalated", tool="look_up", field="status"),
        FlowEdge("contact", tool="look_up", field="status", cases=("free",)),
        FlowEdge("search", tool="look_up", field="status", cases=("true",)),
    )
    greeting = FlowState("greeting", tools=("look_up",), edges=edges)
    flow = replace(
        FLOW, states={**FLOW.states, "greeting": greeting}, tools={"look_up": StubbedTool("look_up", returns=(result,))}
    )
    looks_up = first(saying(Said(calls=(("look_up", {}),))))
    with chat_server({"looks-up": looks_up}) as server:
        call = (await made_at(server.url, "looks-up", flow=flow, limits=CallLimits(max_turns=1))).conversation
    assert visited(call)[:2] == ["greeting", state]
    assert [tool["function"]["name"] for tool in server.completions[0].body["tools"]] == ["fill", "look_up"]


async def test_retries_and_their_pauses_are_in_no_latency() -> None:
    busy = replace(error(429, "slow down", {"retry-after-ms": "200"}), delay=0.2)
    with chat_server({"busy": first(busy)}) as server:
        made = await made_at(server.url, "busy", measured=True)
    call = made.conversation
    assert noted(call) == ["retried"]
    latency = next(turn.latency_ms for turn in call.turns if turn.role == "agent")
    assert latency is not None
    assert 0 < latency < sum(request["ms"] for request in made.extra["requests"][:2]) + 200
    times = [event.t for event in call.events if event.t is not None]
    assert times == sorted(times)


async def test_a_call_of_a_tool_without_arguments_has_none() -> None:
    call, server = await called("no-arguments")
    assert told(server)[0] == {"ok": True}
    assert not mistakes(call)


async def test_the_same_answers_make_the_same_bytes(server: ChatServer) -> None:
    one, other = [await made_at(server.url, "perfect") for _ in range(2)]
    assert encode_line(transcript_document(one.conversation)) == encode_line(transcript_document(other.conversation))
    assert one.extra == other.extra


async def test_the_seed_is_that_of_the_run_and_the_trial() -> None:
    case: CallCase = replace(toy_case(FLOW), trial=2)
    with chat_server() as server:
        agent = ModelAgent(Endpoint(server.url, "perfect"), name="ours")
        made = await play(agent, case=case)
        await agent.close()
    assert {asked.body["seed"] for asked in server.completions} == {302}
    assert made.conversation.agent_model == "ours"
