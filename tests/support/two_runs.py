"""A store of two runs written by hand: B fails twelve more calls of one flow, is quicker in another, else the same."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from tests.support.facts import call, put, verdict
from tests.surface.store import ConversationFacts, open_store

TASKS = 20


def build(path: Path) -> Path:
    """The store of both runs, `night-1` (A) and `night-2` (B), which were scored by a judge in part."""
    with open_store(path, write=True, create=True) as store:
        for run in ("night-1", "night-2"):
            put(store, f"{run}.jsonl", calls(run))
            scores = [
                verdict(f"{run}-dental-{task:02}", 8.0 if run == "night-1" else 7.5, run=run, line=task)
                for task in range(6)
            ]
            put(store, f"humanness-{run}.jsonl", scores)
    return path


def calls(run: str) -> Iterator[ConversationFacts]:
    """Of `dental` B fails tasks 2 to 13 and A task 13 and 14; of `weather` B is quicker; `gone` is A's alone."""
    later = run == "night-2"
    for task in range(TASKS):
        failed = 2 <= task <= 13 if later else task in (13, 14)
        yield made(run, "dental", task, failed=failed, seconds=1.25, errored=task == 19 and later)
        yield made(run, "weather", task, failed=False, seconds=0.5 if later else 0.75)
        if not later and task < 3:
            yield made(run, "gone", task, failed=False, seconds=1.0)
    # Without a scenario nothing shows which call of the other run it goes with.
    yield made(run, "dental", 99, failed=True, seconds=1.25, scenario=None)


def made(
    run: str, flow: str, task: int, *, failed: bool, seconds: float, errored: bool = False, scenario: str | None = ""
) -> ConversationFacts:
    return call(
        f"{run}-{flow}-{task:02}",
        run=run,
        flow=flow,
        agent="gemini",
        scenario=f"task-{task:02}" if scenario == "" else scenario,
        started_at=1_782_000_000_000_000 + (86_400_000_000 if run == "night-2" else 0),
        stop_reason="max_turns" if failed else "terminal",
        final_state="collect" if failed else "booked",
        errored=errored,
        aspects={
            "correctness": 0.0 if failed else 10.0,
            "completion": 0.0 if failed else 10.0,
            "errors": 10.0,
            "latency_p95": seconds + task / 100,
            "turn_count": 5.0,
        },
    )
