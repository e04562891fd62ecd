"""Read the flow files of the simulator: native ones with a part that says how callers and agents talk.

Whoever leaves out the keys `simulate` and `planted` has a plain flow file (docs/formats.md, section 3).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from importlib import resources
from typing import Any, Literal, TypeAlias

import msgspec

from riff_ingest.conversation import Contract, StateContract
from riff_store.errors import UsageError

WeaknessKind: TypeAlias = Literal["stall", "escalation", "dwell", "latency", "guard_error"]


class Weakness(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Describe a weakness that was put into a state on purpose.

    `strength` is the share of visits for `stall` and `escalation`, extra turns for `dwell`, extra
    seconds a turn for `latency`, errors a visit for `guard_error`. Without `agents` it hits all of
    them; of several for the same state and kind the last that applies to an agent counts.
    """

    state: str
    kind: WeaknessKind
    strength: float
    agents: list[str] = []


class CallScenario(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Describe why a caller calls: the tasks that routing states turn on, how the call opens, pools of its own.

    For calls of a real agent: `goal` is for a caller that is a model, `facts` fixes what slots get (a value, or a table
    of `value` and `say`), `persona` who calls.
    """

    name: str
    tasks: list[str] = []
    says: list[str] = []
    clarifies: list[str] = []
    slots: dict[str, str] = {}
    goal: str = ""
    facts: dict[str, Any] = {}
    persona: str | None = None


class StateScript(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Describe what happens in a state.

    `next` is a state or a table of task → state; `hub` takes the caller's next task on every
    entry, with `done` once none is left. `back` is where a correction leads. `mishap` is the share
    of visits that lead to the dead end `mishap_to`. `prompt` tells a real agent what to do here.
    """

    say: list[str] = []
    prompt: str = ""
    next: str | dict[str, str] = ""
    replies: list[str] = []
    guard: str | None = None
    tool: str | None = None
    back: str | None = None
    hub: bool = False
    mishap: float = 0.0
    mishap_to: str | None = None


class ToolScript(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Describe a tool to a real agent: what it does, the JSON schema of its arguments, and results to pick from."""

    description: str = ""
    parameters: dict[str, Any] | None = None
    returns: list[Any] | None = None


class Simulation(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Describe the simulator's part of a flow file: where a call starts, the pool of each slot, the scripts.

    The simulator needs these four; `role` and `tools` are for calls of a real agent.
    """

    initial: str = ""
    slots: dict[str, str] = {}
    scenarios: list[CallScenario] = []
    states: dict[str, StateScript] = {}
    role: str = ""
    tools: dict[str, ToolScript] = {}


class ToolKinds(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Name the tools that change something, and those that only read."""

    changing: list[str] | None = None
    reading: list[str] | None = None


class SimulatedFlow(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Describe a flow file as it stands."""

    flow: str
    archetype: str
    success_terminals: list[str]
    escalation_terminals: list[str]
    final_statuses: list[str]
    edges: list[tuple[str, str]]
    states: dict[str, StateContract]
    simulate: Simulation
    required_slots: list[str] = []
    completion_slots: list[str] = []
    required_tools: list[str] | None = None
    tools: ToolKinds = ToolKinds()
    planted: list[Weakness] = []

    def contract(self) -> Contract:
        """Return the contract that transcripts of this flow carry."""
        contract = Contract(
            success_terminals=self.success_terminals,
            escalation_terminals=self.escalation_terminals,
            final_statuses=self.final_statuses,
            required_slots=self.required_slots,
            completion_slots=self.completion_slots,
            required_tools=self.required_tools,
            changing_tools=self.tools.changing,
            reading_tools=self.tools.reading,
            archetype=self.archetype,
            states=self.states,
        )
        return contract.with_tools({name: script.tool for name, script in self.simulate.states.items()})

    def successors(self) -> dict[str, frozenset[str]]:
        """Return each state with the states that it may lead to."""
        found: dict[str, set[str]] = {}
        for source, target in self.edges:
            found.setdefault(source, set()).add(target)
        return {state: frozenset(targets) for state, targets in found.items()}


class Planted(msgspec.Struct, frozen=True):
    """Name a (flow, state) that the worklist has to name, and for what."""

    flow: str
    state: str
    kind: WeaknessKind


@lru_cache(maxsize=1)
def flow_names() -> tuple[str, ...]:
    """Return the built-in flows, in order of their names."""
    folder = resources.files(__package__).joinpath("flows")
    return tuple(sorted(entry.name.removesuffix(".toml") for entry in folder.iterdir() if entry.name.endswith(".toml")))


@lru_cache(maxsize=64)
def load_flow(name: str) -> SimulatedFlow:
    """Return a built-in flow; raise `UsageError` where there is none of that name."""
    if name not in flow_names():
        raise UsageError(f"no built-in flow {name!r}; there are {', '.join(flow_names())}")
    return read_flow(resources.files(__package__).joinpath("flows", f"{name}.toml").read_bytes())


def read_flow(text: bytes) -> SimulatedFlow:
    """Return a flow from the bytes of its file; raise `UsageError` with the place where it is wrong."""
    return msgspec.toml.decode(text, type=SimulatedFlow)


def planted(flows: Sequence[str] | None = None) -> list[Planted]:
    """Return what was planted in these built-in flows, or in all of them, each (flow, state, kind) once."""
    found = (
        Planted(name, weakness.state, weakness.kind)
        for name in (flow_names() if flows is None else flows)
        for weakness in load_flow(name).planted
    )
    return list(dict.fromkeys(found))
