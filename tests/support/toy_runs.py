"""Make runs with agents and callers that are a few lines of a test."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.support.toy_calls import FLOW, MOMENT, ToyCaller, toy_case
from tests.surface.runner import CallCase, CallerNotes, FixedClock, RunRequest, RunSettings, RunSide


class ToyCallers(ToyCaller):
    """Play many calls at once, each with lines of its own."""

    async def begin(self, case: CallCase, notes: CallerNotes) -> ToyCaller:
        """Begin a call."""
        return ToyCaller(self.turns)


def toy_cases(trials: int, flows: int = 1) -> list[CallCase]:
    """Return cases of so many flows, the first try of all before the second of any."""
    names = ["toy", *(f"toy-{number}" for number in range(2, flows + 1))]
    first = [toy_case(replace(FLOW, name=name, source=f"{name}.toml", digest="ab" * 32)) for name in names]
    return [replace(case, trial=trial) for trial in range(trials) for case in first]


def toy_settings(agent: str = "toy-agent", concurrency: int = 4, **changes: Any) -> RunSettings:
    """Return what a toy run was asked to do."""
    sides = {"agent": RunSide(kind="python", name=agent), "caller": RunSide(kind="python", name="toy-caller")}
    return RunSettings(**{**sides, "seed": 300, "concurrency": concurrency, **changes})


def toy_request(agent: Any, out: Path | None = None, *, trials: int = 4, **changes: Any) -> RunRequest:
    """Return what a toy run is made of, its clock standing still."""
    request = RunRequest(
        agent,
        ToyCallers(),
        toy_cases(trials, changes.pop("flows", 1)),
        toy_settings(agent.name, changes.pop("concurrency", 4)),
        clock=FixedClock(MOMENT),
        out=out,
    )
    return replace(request, **changes)


def kept_lines(out: Path) -> list[dict[str, Any]]:
    """Return every call in the files of a run, in the order of files and lines."""
    paths = sorted(out.glob("flow-transcripts-*.jsonl"))
    return [json.loads(line) for path in paths for line in path.read_bytes().splitlines()]


def times_kept(out: Path) -> Counter[str]:
    """Return how often each call is in the files of a run."""
    return Counter(line["conversation_id"] for line in kept_lines(out))
