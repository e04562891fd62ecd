"""Describe a flow in the form in which the runner drives it, whatever kind of file it came from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, TypeAlias

from riff_ingest.contract import Contract

StateOutcome: TypeAlias = Literal["success", "escalation", "end"]


@dataclass(frozen=True, slots=True)
class SpokenFact:
    """Hold a fact of a caller: the value that a slot should get, and how the caller says it."""

    value: Any
    say: str


@dataclass(frozen=True, slots=True)
class StubbedTool:
    """Describe a tool of which the runner itself gives the result.

    `parameters` is the JSON schema of its arguments, `returns` the results of which the call's seed picks one.
    """

    name: str
    description: str = ""
    parameters: Mapping[str, Any] = field(default_factory=lambda: {"type": "object", "properties": {}})
    returns: tuple[Any, ...] = ({"ok": True},)


@dataclass(frozen=True, slots=True)
class FlowEdge:
    """Describe a way out of a state.

    It is taken by the agent's choice, or by the result of `tool` where one is named: always where `field` is `None`,
    else where the result's `field` reads like one of `cases` (`()` stands for every other value).
    """

    to_state: str
    description: str = ""
    tool: str | None = None
    field: str | None = None
    cases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FlowState:
    """Describe a state: what the agent is to do in it, what it has to learn, and where it may go.

    `instruction` is for the agent, `replies` and `hub` for a scripted caller: what is said where nothing is asked for,
    and whether the caller names the next task here. `guard` names the condition that every required slot is known,
    which is evaluated before the state is left. `tools` are those of the state alone. `forward` is the way of a call
    that goes well, by task where it depends on one.
    """

    name: str
    instruction: str = ""
    required_slots: tuple[str, ...] = ()
    guard: str | None = None
    tools: tuple[str, ...] = ()
    edges: tuple[FlowEdge, ...] = ()
    outcome: StateOutcome | None = None
    may_end: bool = False
    replies: tuple[str, ...] = ()
    hub: bool = False
    forward: Mapping[str, str] | str = ""


@dataclass(frozen=True, slots=True)
class RunScenario:
    """Describe why somebody calls.

    `facts` gives slots fixed values; those of other slots are drawn from `pools` (slot → pool of the simulator).
    `script` is set in a scenario that was made of a call: what its caller said, line by line; `flow` as well, the one
    flow that it is of.
    """

    name: str
    tasks: tuple[str, ...] = ()
    says: tuple[str, ...] = ()
    clarifies: tuple[str, ...] = ()
    goal: str = ""
    facts: Mapping[str, SpokenFact] = field(default_factory=dict)
    pools: Mapping[str, str] = field(default_factory=dict)
    persona: str | None = None
    script: tuple[ScriptedLine, ...] = ()
    flow: str | None = None


@dataclass(frozen=True, slots=True)
class ScriptedLine:
    """Hold a line that a caller said, and the state that the agent was in when it was said."""

    text: str
    state: str | None = None


@dataclass(frozen=True)
class RunnableFlow:
    """Hold a flow, ready to be run; `digest` is the SHA-256 of its file, `source` where it came from."""

    name: str
    contract: Contract
    initial: str
    states: Mapping[str, FlowState]
    tools: Mapping[str, StubbedTool]
    scenarios: tuple[RunScenario, ...]
    role: str = ""
    global_tools: tuple[str, ...] = ()
    source: str = ""
    digest: str = ""

    @cached_property
    def successors(self) -> dict[str, frozenset[str]]:
        """Return each state with the states that it may lead to."""
        return {name: frozenset(edge.to_state for edge in state.edges) for name, state in self.states.items()}

    @cached_property
    def slots(self) -> tuple[str, ...]:
        """Return every slot that a state requires or the flow wants, in the order of the states."""
        named = [slot for state in self.states.values() for slot in state.required_slots]
        return tuple(dict.fromkeys([*named, *sorted(self.contract.wanted_slots())]))

    def scenario_like(self, name: str | None) -> RunScenario:
        """Return the scenario that a call of that name had, an empty one where none is known.

        Simulated calls add to its name that of the persona.
        """
        fitting = [each for each in self.scenarios if name == each.name or (name or "").startswith(f"{each.name}-")]
        return max(fitting, key=lambda each: len(each.name), default=RunScenario(""))

    def outcome_of(self, state: str | None) -> StateOutcome | None:
        """Return how a call that reached this state ended, `None` for a working state or one that is not known."""
        if state is None:
            return None
        if state in self.states:
            return self.states[state].outcome
        return "success" if state in self.contract.successes() else None
