"""Be an agent that hears whatever callers say, to find out whether they say it."""

from __future__ import annotations

from collections.abc import Mapping

from tests.surface.ingest import EventBus
from tests.surface.runner import AgentCall, AgentReply, FlowState, Machine, StopReason, phrases, pools
from tests.surface.runner import flow_file_load_flow as load_flow


class HearingAgent:
    """Walk a built-in flow by what was said alone; without `tells_states` nobody sees how.

    It understands a fact once the caller has said it in the words of its case, and asks for what it is short of.
    """

    name = "hearing-agent"

    def __init__(self, *, tells_states: bool = True) -> None:
        self._tells_states = tells_states

    async def check(self) -> None:
        """Be there."""

    async def begin(self, call: AgentCall) -> HearingSession:
        """Begin a call."""
        flow = call.flow
        machine = call.machine if self._tells_states else Machine(EventBus(), flow.initial, flow.successors)
        return HearingSession(call, machine)

    async def close(self) -> None:
        """Hold nothing."""


class HearingSession:
    """Be the agent in one call."""

    def __init__(self, call: AgentCall, machine: Machine) -> None:
        self._call = call
        self._machine = machine
        self._said = ""
        self._say = load_flow(call.flow.name).simulate.states

    async def greet(self) -> AgentReply | None:
        """Let the caller begin."""
        return None

    async def reply(self, text: str) -> AgentReply:
        """Hear facts, go on if nothing is missing, and ask for what is."""
        self._said += f" {text}".casefold()
        state = self._hear()
        if self._missing(state) or text in phrases().mishears:
            return AgentReply(self._asks(state))
        self._machine.commit_transition(self._next(state, text))
        state = self._hear()
        if state.outcome is not None:
            return AgentReply("Goodbye!", ends=True)
        return AgentReply(self._asks(state))

    async def end(self, reason: StopReason) -> str | None:
        """Report the end state."""
        outcome = self._call.flow.outcome_of(self._machine.state)
        return self._machine.state if outcome == "success" else None

    def _hear(self) -> FlowState:
        state = self._call.flow.states[self._machine.state]
        for slot in state.required_slots:
            if self._call.case.facts[slot].say.casefold() in self._said:
                self._machine.collect(slot, self._call.case.facts[slot].value)
        return state

    def _missing(self, state: FlowState) -> list[str]:
        return [slot for slot in state.required_slots if slot not in self._machine.heard]

    def _next(self, state: FlowState, text: str) -> str:
        if isinstance(state.forward, str):
            return state.forward
        if not state.hub:
            return state.forward[self._call.case.scenario.tasks[0]]
        named = [task for task in state.forward if task in text.casefold()]
        return state.forward[named[0] if named else "done"]

    def _asks(self, state: FlowState) -> str:
        missing, words = self._missing(state), self._call.case.scenario.pools
        if missing and len(missing) < len(state.required_slots):
            return f"And {pools()[words[missing[0]]].question}?"
        notes: Mapping[str, str] = {slot: fact.say for slot, fact in self._call.case.facts.items()}
        return self._say[state.name].say[0].format_map(notes)
