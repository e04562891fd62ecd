"""Calls of a salon that books in eight states: those of a sound agent, and those of agents with one planted fault.

They are what an agent of one's own leaves behind: a contract, what the caller had to say, and what happened. The number
of a call decides whether it is hit, so that every share is exact and the hits are spread evenly.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from riff_ingest import (
    Contract,
    Conversation,
    Event,
    SlotFilled,
    StateContract,
    StateEntered,
    StateExited,
    ToolCall,
    Turn,
    TurnComplete,
)

STATES = ("greet", "route", "identify", "collect_details", "check_slots", "offer", "book", "close")
SLOTS = {"identify": ("name",), "collect_details": ("date", "phone")}
TOOLS = {"identify": "find_customer", "check_slots": "get_slots", "book": "create_booking"}
TOLD_BY = ("contract", "state", "order")
"""How a transcript tells in which state a tool was called: its time alone is that of leaving the state before."""
_FACTS = {"name": "Ana Lund", "date": "2026-05-01", "phone": "555-0101"}
_TURN_S, _ANSWER_S = 1.1, 2.0


def contract(told_by: str = "contract") -> Contract:
    """Return what the flow promises."""
    states = {
        state: StateContract(
            required_slots=list(SLOTS.get(state, ())), tool=TOOLS.get(state) if told_by == "contract" else None
        )
        for state in STATES
    }
    return Contract(["done"], ["escalated"], required_slots=list(_FACTS), states=states)


@dataclass(frozen=True)
class Fault:
    """Describe what is wrong in so many `hits` among `of` calls, and in no other.

    A slot that is `unfilled` is never asked for, and one that is `misheard` is noted with another value. A tool `fails`
    with an error, or its arguments do `misfit`, and then the call goes on unless it is `handed_over`. A state is `slow`
    by seconds. The caller hangs up in the state that `loses` it, the program `dies` in one. `told_by` is what tells the
    state of a tool.
    """

    hits: int = 0
    of: int = 80
    unfilled: str = ""
    misheard: Mapping[str, str] = field(default_factory=dict)
    fails: Mapping[str, str] = field(default_factory=dict)
    misfit: bool = False
    handed_over: bool = False
    slow: Mapping[str, float] = field(default_factory=dict)
    loses: str = ""
    dies: str = ""
    told_by: str = "contract"

    def calls(self, flow: str = "salon", run: str = "night") -> list[Conversation]:
        """Return the calls of one run."""
        promised, sound = contract(self.told_by), Fault(told_by=self.told_by)
        return [
            _Call(self if number * self.hits % self.of < self.hits else sound).conversation(number, flow, run, promised)
            for number in range(self.of)
        ]


class _Call:
    """Play one call through the states, with all that is wrong in it."""

    def __init__(self, fault: Fault) -> None:
        self._fault = fault
        self._t = 0.0
        self._events: list[Event] = []
        self._turns: list[Turn] = []
        self._tools: list[ToolCall] = []
        self._slots: dict[str, str] = {}

    def conversation(self, number: int, flow: str, run: str, promised: Contract) -> Conversation:
        end = self._play()
        if end.get("completed") is not None:
            self._events.append(StateEntered(end["final_state"], self._t))
        return Conversation(
            conversation_id=f"{run}-{number:05}",
            flow=flow,
            run_id=run,
            agent_model="own",
            scenario=f"s-{number:05}",
            started_at=f"2026-06-{1 + number % 28:02}T10:00:00Z",
            contract=promised,
            facts=_FACTS,
            slots=self._slots,
            turns=self._turns,
            events=self._events,
            tool_calls=self._tools,
            **end,
        )

    def _play(self) -> dict[str, Any]:
        """Go through the states as far as the call comes, and return how it ends."""
        fault = self._fault
        for state, following in zip(STATES, (*STATES[1:], "done"), strict=True):
            self._events.append(StateEntered(state, self._t))
            error = self._call_tool(state)
            self._speak(state)
            if state == fault.dies:
                return {"errored": True, "error": "agent: the program ended with code 1", "stop_reason": "error"}
            if state == fault.loses:
                return {"completed": False, "stop_reason": "hangup", "final_state": state}
            self._note(state)
            if error and fault.handed_over:
                self._events.append(StateExited(state, "escalated", t=self._t))
                return {"completed": False, "stop_reason": "terminal", "final_state": "escalated"}
            self._events.append(StateExited(state, following, t=self._t))
        return {"completed": True, "stop_reason": "terminal", "final_state": "done"}

    def _call_tool(self, state: str) -> str | None:
        """Call the tool of a state in the moment in which that is entered."""
        if (name := TOOLS.get(state)) is None:
            return None
        fault = self._fault
        error = fault.fails.get(name)
        told_by, seq = fault.told_by, len(self._events) + len(self._turns)
        self._tools.append(
            ToolCall(
                name,
                self._t,
                dict(self._slots),
                error,
                state=state if told_by == "state" else None,
                seq=seq if told_by == "order" else None,
                fits=False if error and fault.misfit else None,
            )
        )
        return error

    def _speak(self, state: str) -> None:
        seconds = self._fault.slow.get(state, _TURN_S)
        self._turns.append(Turn("agent", f"About {state}.", self._t, state, seconds * 1000))
        self._t += seconds
        self._events.append(TurnComplete(seconds * 1000, self._t))
        self._t += _ANSWER_S
        self._turns.append(Turn("caller", "Yes.", self._t))

    def _note(self, state: str) -> None:
        for slot in SLOTS.get(state, ()):
            if slot != self._fault.unfilled:
                self._slots[slot] = self._fault.misheard.get(slot, _FACTS[slot])
                self._events.append(SlotFilled(slot, self._slots[slot], state, self._t))
