"""Describe what a simulated call is made of, computed once for the many calls that share it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from random import Random
from typing import Any, TypeVar

from riff_ingest.conversation import Contract
from riff_ingest.sources.flow_files.forms import CallScenario, StateScript, Weakness, WeaknessKind
from riff_runner.simulate.cast import AgentProfile, CallerPersona, SimulatedRun
from riff_runner.simulate.flow_file import SimulatedFlow, load_flow
from riff_runner.simulate.lexicon import Pool, SpokenValue, capital, listed, phrases, pools, sentence
from riff_runner.simulate.machine import Guard


@dataclass(frozen=True, slots=True)
class Stage:
    """Describe a flow, ready to be played; `pools` by scenario and slot."""

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
    """Return a built-in flow's stage; raise `UsageError` if there is no such flow."""
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


T = TypeVar("T")


class Notes(dict[str, str]):
    """Format how an agent mentions what it heard; what it never heard is `that`."""

    def __missing__(self, slot: str) -> str:
        return "that"


class _Voice:
    def __init__(self, pools: Mapping[str, Pool], rng: Random) -> None:
        self._pools = pools
        self._random = rng.random
        self._phrases = phrases()

    def pick(self, options: Sequence[T]) -> T:
        """Pick one of these at random, the same on every version of Python."""
        return options[int(self._random() * len(options))]


class CallerVoice(_Voice):
    """Speak for a caller of one persona, who knows a value or thinks of one when its slot comes up.

    `openings` are ways to show why one calls, `pools` the words for each slot, `facts` the values that it said last.
    """

    def __init__(self, persona: CallerPersona, openings: Sequence[str], pools: Mapping[str, Pool], rng: Random) -> None:
        super().__init__(pools, rng)
        self.notes = Notes()
        self.facts: dict[str, Any] = {}
        self._persona = persona
        self._openings = openings
        self._said: dict[str, str] = {}
        self._habits: set[str] = set()

    def knows(self, slot: str, say: str) -> None:
        """Take up how a slot's value is said."""
        self._said[slot] = say

    def value(self, slot: str) -> SpokenValue:
        """Think of a value for a slot and return it."""
        value = self.pick(self._pools[slot].values)
        self._said[slot] = value.say
        self.notes[slot] = value.note or value.say
        self.facts[slot] = value.value
        return value

    def opens(self, early: Sequence[str]) -> str:
        """Return the reason for the call, with the slots that are said before anybody asked."""
        text = f"{self.pick(self._phrases.greetings)} {self.pick(self._openings)}"
        if early:
            text += " " + sentence(listed([self._clause(slot) for slot in early]))
        return text + self._habit(self._persona.after)

    def answers(self, slots: Sequence[str]) -> str:
        """Return words for what these slots have."""
        before = self._habit(self._persona.before)
        if self._persona.brief:
            first, *others = (self._said[slot] for slot in slots)
            body = ". ".join((first, *(capital(other) for other in others)))
        else:
            body = listed([self._clause(slot) for slot in slots])
        if before[-2:] in {". ", "? ", "! "}:
            body = capital(body)
        return sentence(before + body) + self._habit(self._persona.after)

    def replies(self, options: Sequence[str]) -> str:
        """Return one of these, now and then with something on top."""
        text = self.pick(options)
        return text + self._habit(self._persona.after) if self._random() < 0.3 else text

    def commands(self, task: str) -> str:
        """Name the next task."""
        return sentence(self.pick(self._phrases.commands).replace("{}", task))

    def _clause(self, slot: str) -> str:
        return self.pick(self._pools[slot].clauses).replace("{}", self._said[slot])

    def _habit(self, options: Sequence[str]) -> str:
        habit = self.pick(options)
        if habit in self._habits:
            return ""
        self._habits.add(habit)
        return habit


class AgentVoice(_Voice):
    """Speak for an agent, who fills what the caller said into the lines of the flow."""

    def __init__(self, case: Case, rng: Random, notes: Mapping[str, str]) -> None:
        super().__init__(case.stage.pools[case.scenario.name], rng)
        self._case = case
        self._notes = notes

    def line(self, state: str) -> str:
        """Return what the flow has the agent say in a state."""
        text = self.pick(self._case.stage.scripts[state].say)
        return text.format_map(self._notes) if "{" in text else text

    def asks(self, slots: Sequence[str]) -> str:
        """Ask for single slots."""
        return self.says(self._phrases.follow_ups, listed([self._pools[slot].question for slot in slots]))

    def recaps(self, slots: Sequence[str]) -> str:
        """Read back what was said before."""
        return self.says(self._phrases.recaps, listed([self._notes[slot] for slot in slots]))

    def says(self, options: Sequence[str], about: str = "") -> str:
        """Return one of these, about what is in its gap."""
        return self.pick(options).replace("{}", about)
