"""Plan and play the simulated calls of a suite's runs, or of a run with chosen weaknesses."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import chain
from pathlib import Path
from random import Random
from typing import TypedDict

from riff_ingest.conversation import Conversation
from riff_ingest.transcript_writer import LineFile, transcript_document
from riff_runner.simulate.call import SimulatedCall
from riff_runner.simulate.case import Case, route, stage_of, weak_points
from riff_runner.simulate.cast import Override, SimulatedRun, agents, personas, runs
from riff_runner.simulate.flow_file import Planted, flow_names, planted
from riff_store.errors import OutputError, UsageError

DEFAULT_CONVERSATIONS = 3200
CALLING_HOURS = 4
NIGHTS = 365
_PLAIN_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}")


@dataclass(frozen=True, slots=True)
class Suite:
    """Describe a simulation: `conversations` calls over these flows, the same for the same seed.

    The calls are dealt out so that any number of them is spread evenly, and so that every run has the same scenarios of
    the same trial, to be compared pair by pair.
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


def _rfc3339(run: SimulatedRun, later: timedelta) -> str:
    return (run.start + later).isoformat(timespec="seconds").replace("+00:00", "Z")


def custom_run(name: str, seed: int = 0, weaken: Mapping[str, float] | None = None) -> SimulatedRun:
    """Return one run, as many nights after the ten of the demo as its seed says.

    `weaken` gives, by flow, the share of its calls that get stuck on top of what the flow loses anyway. Calls are dealt
    out as in every other run, so two runs with the same number of calls have the same pairs of agent, persona, scenario
    and trial. Raises `UsageError` for an id that is not a plain file name, an unknown flow, or a share that is none.
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


REPORT_EVERY = 100


@dataclass(frozen=True, slots=True)
class SimulationSummary:
    """Describe what a simulation wrote, and the weaknesses of its flows that are to be found in it."""

    files: tuple[Path, ...]
    conversations: int
    planted: tuple[Planted, ...]


def simulate(
    out: Path,
    *,
    flows: Sequence[str] | None = None,
    conversations: int = DEFAULT_CONVERSATIONS,
    seed: int = 0,
    run: SimulatedRun | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> SimulationSummary:
    """Write `RUN/flow-transcripts-FLOW.jsonl` and `RUN/humanness-JUDGE.jsonl` below `out`.

    The same arguments give the same bytes. With `run` there is that one instead of the ten of the demo. `progress` is
    shown how many conversations are done, and of how many. Raises `UsageError` for an unknown flow, `OSError` where a
    file cannot be written, `OutputError` where a run's directory is a link.
    """
    suite = plan(flows, conversations, seed, run)
    done = 0

    def step() -> None:
        nonlocal done
        done += 1
        if progress is not None and done % REPORT_EVERY == 0:
            progress(done, conversations)

    files: list[Path] = []
    for night in suite.runs:
        files += _write_run(out, suite, night, step)
    if progress is not None and done % REPORT_EVERY:
        progress(done, conversations)
    return SimulationSummary(tuple(files), done, tuple(planted(suite.flows)))


def _write_run(out: Path, suite: Suite, run: SimulatedRun, step: Callable[[], None]) -> list[Path]:
    written: list[Path] = []
    judged_at = suite.judged_at(run)
    with ExitStack() as judging:
        scores: list[LineFile] = []
        for flow in suite.flows:
            cases = suite.cases(run, flow)
            first = next(cases, None)
            if first is None:
                continue
            if not scores:
                folder = out / run.id
                if folder.is_symlink():
                    raise OutputError(f"{folder} is a link, which is never written through")
                folder.mkdir(parents=True, exist_ok=True)
                scores += [
                    judging.enter_context(LineFile(folder / f"humanness-{judge.name}.jsonl")) for judge in JUDGES
                ]
            with LineFile(folder / f"flow-transcripts-{flow}.jsonl") as lines:
                for case in chain((first,), cases):
                    conversation = SimulatedCall(case).play()
                    lines.write(transcript_document(conversation))
                    for file, verdict in zip(scores, verdicts(conversation, suite.seed, judged_at), strict=True):
                        file.write(verdict)
                    step()
            written.append(lines.path)
    return [*written, *(file.path for file in scores)]


# Simulate judges: named as such, and blunt about it in their `model`.
MODEL = "simulated"


class VerdictLine(TypedDict):
    """Describe a line of a humanness file (docs/formats/humanness.md)."""

    run_id: str | None
    conversation_id: str
    judge: str
    score: float | None
    judged_at: str
    rationale: str
    prompt_hash: str
    model: str


@dataclass(frozen=True, slots=True)
class SimulatedJudge:
    """Describe a judge who leans `bias` points one way, wavers by `spread`, and leaves a share `unscored`."""

    name: str
    prompt: str
    bias: float
    spread: float
    unscored: float
    prompt_hash: str = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "prompt_hash", hashlib.sha256(self.prompt.encode()).hexdigest()[:12])


JUDGES = (
    SimulatedJudge("sim-warm", "Would you have enjoyed this call?", 0.8, 0.5, 0.02),
    SimulatedJudge("sim-strict", "List what a careful person would have said differently.", -1.3, 0.6, 0.03),
    SimulatedJudge("sim-wavering", "Rate from 0 to 10 how human the agent sounds.", -0.1, 1.5, 0.06),
)


def verdicts(conversation: Conversation, seed: int, judged_at: str) -> list[VerdictLine]:
    """Yield what each simulated judge says about a call, from what was said and how long it took."""
    rng = Random(f"{seed}/judges/{conversation.run_id}/{conversation.conversation_id}")
    merit, remark = _impression(conversation)
    return [_verdict(judge, conversation, rng, merit, remark, judged_at) for judge in JUDGES]


def _verdict(
    judge: SimulatedJudge, conversation: Conversation, rng: Random, merit: float, remark: str, judged_at: str
) -> VerdictLine:
    waver, silent = rng.gauss(0.0, judge.spread), rng.random() < judge.unscored
    score = None
    if conversation.errored:
        remark = "The call broke off before there was anything to judge."
    elif silent:
        remark = "The answer was not in the expected form."
    else:
        score = round(min(10.0, max(0.0, merit + judge.bias + waver)), 1)
    return {
        "run_id": conversation.run_id,
        "conversation_id": conversation.conversation_id,
        "judge": judge.name,
        "score": score,
        "judged_at": judged_at,
        "rationale": remark,
        "prompt_hash": judge.prompt_hash,
        "model": MODEL,
    }


def _impression(conversation: Conversation) -> tuple[float, str]:
    said = [turn for turn in conversation.turns if turn.role == "agent"]
    repeats = len(said) - len({turn.text for turn in said})
    slowest = max((turn.latency_ms or 0.0 for turn in said), default=0.0) / 1000
    stalled = not conversation.completed and conversation.final_status is None
    losses = {
        "Leaves the caller without help and does not notice.": 2.4 if stalled else 0.0,
        "Says the same sentence again instead of listening.": 1.2 * min(repeats, 4),
        "Long silences before it answers.": min(2.5, 0.3 * max(0.0, slowest - 2.0)),
        "Hands over politely, but gives up early.": 0.9 if conversation.final_status == "transferred" else 0.0,
    }
    worst = max(losses, key=lambda remark: losses[remark])
    return 8.0 - sum(losses.values()), worst if losses[worst] >= 0.5 else "Friendly, clear and to the point."
