"""Read the flow files of the simulator: native ones with a part that shows how callers and agents talk.

Without the keys `simulate` and `planted` it is a plain flow file (docs/flow-file.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from importlib import resources

import msgspec

from riff_ingest.conversation import Contract, StateContract
from riff_ingest.sources.flow_files.forms import Simulation, ToolKinds, Weakness, WeaknessKind
from riff_store.errors import UsageError


class SimulatedFlow(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Describe a flow file as it is."""

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
    """Return a built-in flow; raise `UsageError` if there is none of that name."""
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
