"""Describe what a simulated call is made of, computed once for the many calls that share it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

from riff_ingest.contract import Contract
from riff_ingest.simulate.cast import AgentProfile, CallerPersona, SimulatedRun
from riff_ingest.simulate.flow_file import CallScenario, SimulatedFlow, StateScript, Weakness, WeaknessKind, load_flow
from riff_ingest.simulate.lexicon import Pool, pools
from riff_ingest.simulate.machine import Guard


@dataclass(frozen=True, slots=True)
class Stage:
    """Hold a flow, ready to be played; `pools` by scenario and slot."""

    flow: SimulatedFlow
    contract: Contract
    successors: Mapping[str, frozenset[str]]
    scripts: Mapping[str, StateScript]
    required: Mapping[str, tuple[str, ...]]
    guards: Mapping[str, Guard]
    pools: Mapping[str, Mapping[str, Pool]]
    successes: frozenset[str]
    escalations: frozenset[str]


@dataclass(frozen=True, slots=True)
class Case:
    """Describe one call to be played: who calls whom, why, in which run; `weak` is the strength by (state, kind)."""

    number: int
    seed: int
    stage: Stage
    scenario: CallScenario
    agent: AgentProfile
    persona: CallerPersona
    run: SimulatedRun
    trial: int
    started_at: str
    weak: Mapping[tuple[str, WeaknessKind], float]

    @property
    def conversation_id(self) -> str:
        """Return a name that is unique among all runs of one simulation."""
        return f"c-{self.number:06d}"


@lru_cache(maxsize=64)
def stage_of(name: str) -> Stage:
    """Return a built-in flow's stage; raise `UsageError` where there is no such flow."""
    flow = load_flow(name)
    words = pools()
    required = {state: tuple(promise.required_slots) for state, promise in flow.states.items()}
    return Stage(
        flow=flow,
        contract=flow.contract(),
        successors=flow.successors(),
        scripts=flow.simulate.states,
        required=required,
        guards={state: partial(_all_heard, slots) for state, slots in required.items()},
        pools={
            scenario.name: {slot: words[pool] for slot, pool in {**flow.simulate.slots, **scenario.slots}.items()}
            for scenario in flow.simulate.scenarios
        },
        successes=frozenset(flow.success_terminals),
        escalations=frozenset(flow.escalation_terminals),
    )


def weak_points(flow: SimulatedFlow, run: SimulatedRun, agent: AgentProfile) -> dict[tuple[str, WeaknessKind], float]:
    """Return the strength by (state, kind) of what was planted for this agent, with what the run puts on top."""
    overrides: list[Weakness] = [override for override in run.overrides if override.flow == flow.flow]
    return {
        (weakness.state, weakness.kind): weakness.strength
        for weakness in (*flow.planted, *overrides)
        if not weakness.agents or agent.name in weakness.agents
    }


def route(stage: Stage, scenario: CallScenario) -> list[str]:
    """Return the states of a call that goes well, in order, without its outcome."""
    state, path, tasks = stage.flow.simulate.initial, [], list(scenario.tasks)
    while state not in stage.successes:
        path.append(state)
        state = next_state(stage.scripts[state], tasks)
    return path


def next_state(script: StateScript, tasks: list[str]) -> str:
    """Return where a state leads for the tasks that a caller still has; a hub takes the first of them off."""
    if isinstance(script.next, str):
        return script.next
    if script.hub:
        return script.next[tasks.pop(0) if tasks else "done"]
    return script.next[tasks[0]]


def _all_heard(slots: tuple[str, ...], heard: Mapping[str, Any]) -> bool:
    return all(slot in heard for slot in slots)
