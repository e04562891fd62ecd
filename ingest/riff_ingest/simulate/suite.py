"""Plan and play the simulated calls of a suite's runs, or of a run with chosen weaknesses."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta

from riff_ingest.conversation import Conversation
from riff_ingest.simulate.call import SimulatedCall
from riff_ingest.simulate.case import Case, route, stage_of, weak_points
from riff_ingest.simulate.cast import Override, SimulatedRun, agents, personas, runs
from riff_ingest.simulate.flow_file import flow_names
from riff_store.errors import UsageError

DEFAULT_CONVERSATIONS = 3200
CALLING_HOURS = 4
NIGHTS = 365
_PLAIN_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}")


@dataclass(frozen=True, slots=True)
class Suite:
    """Describe a simulation: `conversations` calls over these flows, the same for the same seed.

    The calls are dealt out so that any number of them is spread evenly, and so that every run
    holds the same scenarios of the same trial, to be compared pair by pair.
    """

    flows: tuple[str, ...]
    conversations: int
    seed: int
    runs: tuple[SimulatedRun, ...] = field(default_factory=runs)

    def cases(self, run: SimulatedRun, flow: str) -> Iterator[Case]:
        """Yield the calls of one flow in one run."""
        cast, voices = agents(), personas()
        stage, night, place = stage_of(flow), self.runs.index(run), self.flows.index(flow)
        weak = [weak_points(stage.flow, run, agent) for agent in cast]
        scenarios = stage.flow.simulate.scenarios
        for number in self._numbers(night, place, len(cast)):
            turn, which = divmod(number // len(self.flows), len(cast))
            trial, round_ = divmod(turn // len(self.runs), len(voices))
            who = (round_ + night + which) % len(voices)
            scenario = scenarios[who % len(scenarios)]
            started_at = _rfc3339(run, timedelta(hours=CALLING_HOURS * number / self.conversations))
            yield Case(
                number, self.seed, stage, scenario, cast[which], voices[who], run, trial, started_at, weak[which]
            )

    def judged_at(self, run: SimulatedRun) -> str:
        """Return when the judges went over a run."""
        return _rfc3339(run, timedelta(hours=CALLING_HOURS + 2))

    def _numbers(self, night: int, place: int, agent_count: int) -> Iterator[int]:
        block = len(self.flows) * agent_count
        first = block * night + place
        for start in range(first, self.conversations, block * len(self.runs)):
            yield from range(start, min(start + block, self.conversations), len(self.flows))


def plan(flows: Sequence[str] | None, conversations: int, seed: int, run: SimulatedRun | None = None) -> Suite:
    """Return a simulation of these built-in flows, or of all, in the ten runs of the demo or in one of one's own.

    Raises `UsageError` for what cannot be simulated.
    """
    names = flow_names() if flows is None else tuple(sorted(set(flows)))
    if not names:
        raise UsageError("no flow to simulate")
    if conversations < 1:
        raise UsageError(f"cannot simulate {conversations} conversations")
    for name in names:
        stage_of(name)
    idle = [override.flow for override in run.overrides if override.flow not in names] if run else []
    if idle:
        raise UsageError(f"cannot weaken {idle[0]}, which is not simulated; there are {', '.join(names)}")
    return Suite(names, conversations, seed) if run is None else Suite(names, conversations, seed, (run,))


def generate(
    *,
    flows: Sequence[str] | None = None,
    conversations: int = DEFAULT_CONVERSATIONS,
    seed: int = 0,
    run: SimulatedRun | None = None,
) -> Iterator[Conversation]:
    """Yield simulated conversations, run by run and flow by flow; raises `UsageError` as `plan` does."""
    suite = plan(flows, conversations, seed, run)
    return (SimulatedCall(case).play() for run in suite.runs for flow in suite.flows for case in suite.cases(run, flow))


def _rfc3339(run: SimulatedRun, later: timedelta) -> str:
    return (run.start + later).isoformat(timespec="seconds").replace("+00:00", "Z")


def custom_run(name: str, seed: int = 0, weaken: Mapping[str, float] | None = None) -> SimulatedRun:
    """Return one run, as many nights after the ten of the demo as its seed says.

    `weaken` gives, by flow, the share of its calls that get stuck on top of what the flow loses
    anyway. Calls are dealt out as in every other run, so two runs with the same number of calls
    hold the same pairs of agent, persona, scenario and trial. Raises `UsageError` for an id that
    is no plain file name, an unknown flow, or a share that is none.
    """
    if not _PLAIN_NAME.fullmatch(name):
        raise UsageError(f"run {name!r}: an id has up to 80 letters, digits, dots, dashes and underscores")
    overrides = [weakened(flow, share) for flow, share in sorted((weaken or {}).items())]
    commit = hashlib.sha256(name.encode()).hexdigest()[:7]
    start = runs()[-1].start + timedelta(days=1 + seed % NIGHTS)
    return SimulatedRun(name, name, commit, "main", start, overrides)


def weakened(flow: str, share: float) -> Override:
    """Return a regression of a built-in flow: this share of its calls stalls in a state that all of them come to."""
    if not (math.isfinite(share) and 0 <= share <= 1):
        raise UsageError(f"cannot weaken {flow} by {share:g}; it takes a share from 0 to 1")
    return Override(flow=flow, state=_early_state(flow), kind="stall", strength=share)


def _early_state(flow: str) -> str:
    """Return the state after the greeting, or the greeting where that one is weak already."""
    stage = stage_of(flow)
    sick = {weakness.state for weakness in stage.flow.planted}
    first, second = route(stage, stage.flow.simulate.scenarios[0])[:2]
    return first if second in sick else second
