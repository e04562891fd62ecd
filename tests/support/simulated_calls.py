"""Calls as `demo` and `simulate` make them, one by one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tests.surface.ingest import Conversation
from tests.surface.runner import DEFAULT_CONVERSATIONS, SimulatedCall, SimulatedRun, plan


def generate(
    *,
    flows: Sequence[str] | None = None,
    conversations: int = DEFAULT_CONVERSATIONS,
    seed: int = 0,
    run: SimulatedRun | None = None,
) -> Iterator[Conversation]:
    """Simulated conversations, run by run and flow by flow; raises `UsageError` as `plan` does."""
    suite = plan(flows, conversations, seed, run)
    return (SimulatedCall(case).play() for run in suite.runs for flow in suite.flows for case in suite.cases(run, flow))
