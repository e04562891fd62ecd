"""Make many calls at once, beside what the agents of these calls need by themselves."""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import re
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from itertools import product
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from benchmarks.ratio import Goal, Ratio, in_turns, timed
from benchmarks.sizes import Sizes
from riff_ingest.runner import AgentCall, AgentReply, run_flows
from riff_runner.chat.endpoint import Endpoint
from riff_runner.run.agents.model import ModelAgent
from tests.support.chat_server import chat_server, well
from tests.support.judge_endpoint import Asked, Reply

FLOW = "dental_clinic"
AT_ONCE = 16
MODEL = "perfect"
THINKS_S = 0.02

Requests = Sequence[bytes]

_LENGTH = re.compile(rb"Content-Length: (\d+)")


def rows(folder: Path, sizes: Sizes) -> Iterator[Ratio]:
    """Calls of a scripted caller with an agent that makes no mistake: a model behind HTTP, and an object of Python.

    The goal is for a model that thinks at all, if only as long as the quickest ones; one that does not shows what the
    run itself does.
    """
    scenarios = len(run_flows([FLOW], Thinking(0.0)).conversations)
    trials = max(1, sizes.few // 10 // scenarios)
    said = f"{trials * scenarios:,} calls, {AT_ONCE} at once"
    goal = Goal("<=", 1.3)
    for thinks_s, (how, stream) in product((THINKS_S, 0.0), (("whole answers", False), ("word by word", True))):
        with _stub(thinks_s) as url:
            ours, bare = in_turns(
                partial(_run, folder, ModelAgent(_endpoint(url), stream=stream), trials),
                partial(_replay, url, _spoken(url, stream) * trials),
                rounds=min(3, sizes.rounds),
            )
        note = f"{said}, {how}, {_thinking(thinks_s)}"
        what = "run of a model ÷ the same requests by themselves"
        yield Ratio(what, ours, bare, "s", goal if thinks_s else None, note)
    agent = Thinking(THINKS_S)
    ours, bare = in_turns(
        partial(_run, folder, agent, trials), partial(_think, trials, scenarios), rounds=min(3, sizes.rounds)
    )
    yield Ratio("run of an agent in Python ÷ its thinking", ours, bare, "s", goal, f"{said}, {_thinking(THINKS_S)}")


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
    """Send the requests of calls, spelled beforehand, as fast as the stub answers them, and look at nothing."""
    calls = iter(spoken)
    address = urlsplit(url)

    async def replay() -> None:
        reader, writer = await asyncio.open_connection(address.hostname, address.port)
        for requests in calls:
            for request in requests:
                writer.write(request)
                head = await reader.readuntil(b"\r\n\r\n")
                await reader.readexactly(int(_LENGTH.findall(head)[0]))
        writer.close()
        await writer.wait_closed()

    with timed() as watch:
        asyncio.run(_at_once(replay))
    return watch.seconds


async def _at_once(work: Any) -> None:
    await asyncio.gather(*(work() for _ in range(AT_ONCE)))


def _spoken(url: str, stream: bool) -> list[Requests]:
    """Return the requests of each call that a run makes of every scenario, as they are sent to the address."""
    with chat_server() as server:
        run_flows([FLOW], ModelAgent(_endpoint(server.url), stream=stream), concurrency=1)
        bodies = [asked.body or {} for asked in server.completions]
    calls: list[list[bytes]] = []
    longest = 0
    for body in bodies:
        if not calls or len(body["messages"]) < longest:
            calls.append([])
        longest = len(body["messages"])
        calls[-1].append(_spelled(url, body))
    return list(calls)


def _spelled(url: str, body: Any) -> bytes:
    address, content = urlsplit(url), json.dumps(body).encode()
    head = f"POST {address.path}/chat/completions HTTP/1.1\r\nHost: {address.netloc}\r\n"
    return f"{head}Content-Type: application/json\r\nContent-Length: {len(content)}\r\n\r\n".encode() + content


def _thinking(seconds: float) -> str:
    return f"thinking {seconds * 1000:.0f} ms for each answer" if seconds else "thinking not at all"


def _endpoint(url: str) -> Endpoint:
    return Endpoint(url, MODEL)


@contextmanager
def _stub(thinks_s: float) -> Iterator[str]:
    """Serve a model, which thinks so many seconds for each answer, from a process of its own while the block runs."""
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(theirs, thinks_s), daemon=True)
    process.start()
    try:
        yield ours.recv()
    finally:
        ours.send(None)
        process.join()


def _serve(end: Connection, thinks_s: float) -> None:
    def answer(asked: Asked, before: int) -> Reply:
        server.endpoint.asked.clear()  # or what is kept of a million requests would be in the way of the next ones
        return replace(well(asked, before), delay=thinks_s)

    with chat_server({MODEL: answer}) as server:
        end.send(server.url)
        end.recv()
