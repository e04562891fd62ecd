"""Make many calls at once, beside what the agents of these calls need by themselves."""

from __future__ import annotations

import asyncio
import multiprocessing
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from benchmarks.ratio import Goal, Ratio, in_turns, timed
from benchmarks.sizes import Sizes
from riff_ingest.endpoint import Endpoint
from riff_ingest.runner import AgentCall, AgentReply, run_flows
from riff_ingest.runner.agents.model import ModelAgent
from tests.support.chat_server import chat_server

FLOW = "dental_clinic"
AT_ONCE = 16
MODEL = "perfect"
THINKS_S = 0.02

Requests = Sequence[Any]


def rows(folder: Path, sizes: Sizes) -> Iterator[Ratio]:
    """Calls of a scripted caller with an agent that makes no mistake: a model behind HTTP, and an object of Python."""
    scenarios = len(run_flows([FLOW], Thinking(0.0)).conversations)
    trials = max(1, sizes.few // 10 // scenarios)
    said = f"{trials * scenarios:,} calls, {AT_ONCE} at once"
    goal = Goal("<=", 1.3)
    for how, stream in (("whole answers", False), ("word by word", True)):
        with _stub() as url:
            ours, bare = in_turns(
                partial(_run, folder, ModelAgent(_endpoint(url), stream=stream), trials),
                partial(_replay, url, _spoken(stream) * trials),
                rounds=min(3, sizes.rounds),
            )
        yield Ratio("run of a model ÷ the same requests by themselves", ours, bare, "s", goal, f"{said}, {how}")
    agent = Thinking(THINKS_S)
    ours, bare = in_turns(
        partial(_run, folder, agent, trials), partial(_think, trials, scenarios), rounds=min(3, sizes.rounds)
    )
    yield Ratio("run of an agent in Python ÷ its thinking", ours, bare, "s", goal, f"{said}, {THINKS_S * 1000:.0f} ms")


class Thinking:
    """An agent that thinks for some time and then goes on to the next state."""

    name = "thinking"

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.turns = 0

    async def check(self) -> None:
        """Be there."""

    async def begin(self, call: AgentCall) -> ThinkingSession:
        """Begin a call."""
        return ThinkingSession(self, call)

    async def close(self) -> None:
        """Hold nothing."""


class ThinkingSession:
    """The agent in one call."""

    def __init__(self, agent: Thinking, call: AgentCall) -> None:
        self._agent = agent
        self._call = call

    async def greet(self) -> None:
        """Let the caller begin."""

    async def reply(self, text: str) -> AgentReply:
        """Think, and go on."""
        await asyncio.sleep(self._agent.seconds)
        machine, case = self._call.machine, self._call.case
        state = case.flow.states[machine.state or ""]
        for slot in state.required_slots:
            machine.collect(slot, case.facts[slot].value if slot in case.facts else text)
        way = state.forward
        machine.commit_transition(way if isinstance(way, str) else next(iter(way.values())))
        return AgentReply(f"So much for {state.name}. And now?")

    async def end(self, reason: str) -> None:
        """Hold nothing."""


def _run(folder: Path, agent: Any, trials: int) -> float:
    out = folder / "run"
    shutil.rmtree(out, ignore_errors=True)
    with timed() as watch:
        end = run_flows([FLOW], agent, out=out, trials=trials, concurrency=AT_ONCE)
    total = end.tally.total
    assert (end.error, total.completed) == (None, total.calls), end.tally
    return watch.seconds


def _think(trials: int, scenarios: int) -> float:
    """Think as often as the agent does in so many calls, and do nothing else."""
    turns = [sum(turn.role == "agent" for turn in call.turns) for call in run_flows([FLOW], Thinking(0)).conversations]
    assert len(turns) == scenarios
    calls = iter(turns * trials)

    async def think() -> None:
        for count in calls:
            for _ in range(count):
                await asyncio.sleep(THINKS_S)

    with timed() as watch:
        asyncio.run(_at_once(think))
    return watch.seconds


def _replay(url: str, spoken: Sequence[Requests]) -> float:
    """Send the requests of calls as fast as the stub answers them, and look at nothing."""
    import aiohttp

    calls = iter(spoken)

    async def replay() -> None:
        async with aiohttp.ClientSession() as session:

            async def work() -> None:
                for requests in calls:
                    for body in requests:
                        async with session.post(f"{url}/chat/completions", json=body) as answer:
                            await answer.read()

            await _at_once(work)

    with timed() as watch:
        asyncio.run(replay())
    return watch.seconds


async def _at_once(work: Any) -> None:
    await asyncio.gather(*(work() for _ in range(AT_ONCE)))


def _spoken(stream: bool) -> list[Requests]:
    """Return the requests of each call that a run makes of every scenario."""
    with chat_server() as server:
        run_flows([FLOW], ModelAgent(_endpoint(server.url), stream=stream), concurrency=1)
        bodies = [asked.body or {} for asked in server.completions]
    calls: list[list[Any]] = []
    longest = 0
    for body in bodies:
        if not calls or len(body["messages"]) < longest:
            calls.append([])
        longest = len(body["messages"])
        calls[-1].append(body)
    return list(calls)


def _endpoint(url: str) -> Endpoint:
    return Endpoint(url, MODEL)


@contextmanager
def _stub() -> Iterator[str]:
    """Serve a model from a process of its own while the block runs."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(theirs,), daemon=True)
    process.start()
    try:
        yield ours.recv()
    finally:
        ours.send(None)
        process.join()


def _serve(end: Connection) -> None:
    with chat_server() as server:
        end.send(server.url)
        end.recv()
