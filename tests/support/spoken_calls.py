"""Voice calls of which it is known how their sides shared the line: two agents, two runs, the same tasks."""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import reduce
from operator import add
from pathlib import Path

from tests.support.facts import call, fresh, put
from tests.surface.store import ConversationFacts, Interaction, Store

RUNS = ("night-1", "night-2")
TASKS = 12


def heard(seed: int) -> Interaction:
    """One call's sums, drawn from the seed; latencies are no round numbers."""
    draw = random.Random(seed)
    answered, gave_way = draw.randint(0, 4), draw.randint(0, 3)
    return Interaction(
        calls=1,
        response=answered,
        no_response=draw.randint(0, 2),
        response_latency=sum(draw.uniform(0.2, 3.0) for _ in range(answered)),
        yielded=gave_way,
        no_yield=draw.randint(0, 2),
        yield_latency=sum(draw.uniform(0.2, 1.8) for _ in range(gave_way)),
        backchannel_correct=draw.randint(0, 3),
        backchannel_error=draw.randint(0, 2),
        agent_interruptions=draw.randint(0, 2),
    )


def spoken(run: str, agent: str, task: int, **given: object) -> ConversationFacts:
    """A call of a task; every fourth one is errored, every fifth is text alone."""
    seed = RUNS.index(run) * 1000 + len(agent) * 100 + task
    settings: dict[str, object] = {
        "run": run,
        "flow": "retail" if task % 2 else "airline",
        "agent": agent,
        "scenario": f"task-{task}",
        "errored": task % 4 == 3,
        "interaction": None if task % 5 == 4 else heard(seed),
    }
    return call(f"{run}-{agent}-{task}", **(settings | given))


def calls() -> Iterator[ConversationFacts]:
    for run in RUNS:
        for agent in ("swift", "hasty-one"):
            yield from (spoken(run, agent, task) for task in range(TASKS))


def made(path: Path) -> Store:
    store = fresh(path)
    put(store, "/in/calls.json", calls())
    return store


def together(found: list[ConversationFacts]) -> Interaction | None:
    """The sums of some calls, `None` if there is no record of who spoke when in any."""
    there = [facts.interaction for facts in found if facts.interaction is not None]
    return reduce(add, there) if there else None
