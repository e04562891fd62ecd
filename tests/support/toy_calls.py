"""Make calls of the runner with agents and callers that are a few lines of a test."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from tests.surface.ingest import Contract, StateContract
from tests.surface.runner import (
    AgentCall,
    AgentReply,
    Call,
    CallCase,
    CallerNotes,
    CallerTurn,
    CallLimits,
    CallProgress,
    CallSetting,
    CallView,
    FixedClock,
    FlowEdge,
    FlowState,
    MadeCall,
    RunClock,
    RunnableFlow,
    RunScenario,
    StopReason,
    StubbedTool,
    StubbedTools,
    personas,
)

MOMENT = "2026-06-22T02:00:00Z"

FLOW = RunnableFlow(
    "toy",
    Contract(
        success_terminals=["booked"],
        final_statuses=["booked"],
        required_slots=["name"],
        states={"ask": StateContract("collect", ["name"])},
    ),
    "greet",
    {
        "greet": FlowState("greet", edges=(FlowEdge("ask"), FlowEdge("escalated")), forward="ask"),
        "ask": FlowState("ask", required_slots=("name",), edges=(FlowEdge("booked"),), forward="booked"),
        "booked": FlowState("booked", outcome="success"),
        "escalated": FlowState("escalated", outcome="escalation"),
    },
    {"look_up": StubbedTool("look_up", returns=({"free": True},))},
    (RunScenario("plain"),),
)

Reply = Callable[[AgentCall, str], Awaitable[AgentReply]]


class ToyAgent:
    """Answer with a function; `greeting` is said before the caller speaks."""

    name = "toy-agent"

    def __init__(self, reply: Reply, greeting: str | None = None, status: str | None = None) -> None:
        self._reply = reply
        self.greeting = greeting
        self.status = status
        self.ended: list[StopReason] = []

    async def check(self) -> str | None:
        """Be there."""
        return None

    async def begin(self, call: AgentCall) -> ToyAgentSession:
        """Begin a call."""
        return ToyAgentSession(self, call, self._reply)

    async def close(self) -> None:
        """Hold nothing."""


class ToyAgentSession:
    """Be a toy agent in one call."""

    def __init__(self, agent: ToyAgent, call: AgentCall, reply: Reply) -> None:
        self._agent = agent
        self._call = call
        self._answer = reply

    async def greet(self) -> AgentReply | None:
        """Say the greeting, if there is one."""
        return AgentReply(self._agent.greeting) if self._agent.greeting else None

    async def reply(self, text: str) -> AgentReply:
        """Answer with the function."""
        return await self._answer(self._call, text)

    async def end(self, reason: StopReason) -> str | None:
        """Remember how the call ended."""
        self._agent.ended.append(reason)
        return self._agent.status


class ToyCaller:
    """Say the given turns, then line after line."""

    name = "toy-caller"

    def __init__(self, turns: Sequence[CallerTurn | Exception] = ()) -> None:
        self.turns = list(turns)
        self.heard: list[str] = []

    async def check(self) -> None:
        """Be there."""

    async def begin(self, case: CallCase, notes: CallerNotes) -> ToyCaller:
        """Be the caller of the only call."""
        return self

    async def say(self, heard: str, view: CallView) -> CallerTurn:
        """Say the next turn."""
        self.heard.append(heard)
        turn = self.turns.pop(0) if self.turns else CallerTurn(f"line {len(self.heard)}")
        if isinstance(turn, Exception):
            raise turn
        return turn

    async def end(self, reason: StopReason) -> None:
        """Hold nothing."""

    async def close(self) -> None:
        """Hold nothing."""


async def walks(call: AgentCall, text: str) -> AgentReply:
    """Go one state forward, with whatever it takes."""
    machine = call.machine
    state = call.flow.states[machine.state]
    for slot in state.required_slots:
        machine.collect(slot, text)
    machine.commit_transition(str(state.forward))
    return AgentReply(f"That brings us to {machine.state}.")


async def stays(call: AgentCall, text: str) -> AgentReply:
    """Say something and stay where it is."""
    assert call.machine.state
    return AgentReply("And then?")


def toy_case(flow: RunnableFlow = FLOW) -> CallCase:
    """Return the first case of a flow."""
    return CallCase(flow, flow.scenarios[0], personas()[0], 0, 300, {})


def toy_setting(
    agent: Any,
    caller: Any = None,
    *,
    limits: CallLimits | None = None,
    clock: RunClock | None = None,
    report: Callable[[CallProgress], None] = lambda _: None,
) -> CallSetting:
    """Return what calls of an agent with a toy caller share."""
    return CallSetting(
        agent, caller or ToyCaller(), StubbedTools(), limits or CallLimits(), clock or FixedClock(MOMENT), report
    )


async def play(
    agent: Any,
    caller: Any = None,
    *,
    case: CallCase | None = None,
    limits: CallLimits | None = None,
    clock: RunClock | None = None,
    report: Callable[[CallProgress], None] = lambda _: None,
) -> MadeCall:
    """Play one call."""
    setting = toy_setting(agent, caller, limits=limits, clock=clock, report=report)
    return await Call(case or toy_case(), setting).play()
