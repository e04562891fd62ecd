"""Describe one call that is to be made: which flow, who calls, why, and what the caller knows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from random import Random
from typing import NamedTuple

from riff_runner.run.flows.flow import RunnableFlow, RunScenario, SpokenFact
from riff_runner.simulate.cast import CallerPersona


class CaseKey(NamedTuple):
    """Identify a call of a run, whatever became of it."""

    flow: str
    scenario: str
    persona: str
    trial: int
    agent: str
    caller: str


@dataclass(frozen=True, slots=True)
class CallCase:
    """Describe one call; `seed` is that of the run, `facts` what the caller knows, by slot."""

    flow: RunnableFlow
    scenario: RunScenario
    persona: CallerPersona
    trial: int
    seed: int
    facts: Mapping[str, SpokenFact]

    @property
    def conversation_id(self) -> str:
        """Return a name that shows which call of the run it is, the same for every agent and caller."""
        return f"{self.flow.name}-{self.scenario.name}-{self.persona.name}-{self.trial}"

    def random(self, purpose: str) -> Random:
        """Return a source of chance that depends on the case and the purpose alone, never on the order of calls."""
        return Random(f"{self.seed}:{self.flow.name}:{self.scenario.name}:{self.trial}:{purpose}")

    def key(self, agent: str, caller: str) -> CaseKey:
        """Return what identifies the call with this agent and this caller."""
        return CaseKey(self.flow.name, self.scenario.name, self.persona.name, self.trial, agent, caller)
