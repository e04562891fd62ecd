"""Work out what follows from the states and the edges of a flow: where it ends, and which way leads to its goal."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Iterator, Mapping

from riff_ingest.contract import Contract
from riff_ingest.runner.flows.flow import RunnableFlow, StateOutcome

LISTED = 5
"""States that a sentence names."""


def outcomes_of(states: Iterable[str], contract: Contract, ends: Collection[str]) -> dict[str, StateOutcome]:
    """Return how a call ends in each state in which it does: by the contract, else in one of `ends`."""
    found: dict[str, StateOutcome] = {}
    for state in states:
        if state in contract.successes():
            found[state] = "success"
        elif state in contract.escalations():
            found[state] = "escalation"
        elif state in ends:
            found[state] = "end"
    return found


def ways_to_the_goal(edges: Collection[tuple[str, str]], outcomes: Mapping[str, StateOutcome]) -> dict[str, str]:
    """Return the next state on the shortest way to a success, where there is none to an end that is no escalation."""
    into: dict[str, list[str]] = {}
    for source, target in edges:
        into.setdefault(target, []).append(source)
    goals = [state for state, outcome in outcomes.items() if outcome == "success"]
    waiting = deque(goals or [state for state, outcome in outcomes.items() if outcome == "end"])
    reached, ways = set(waiting), dict[str, str]()
    while waiting:
        target = waiting.popleft()
        for source in into.get(target, ()):
            if source not in reached and source not in outcomes:
                reached.add(source)
                ways[source] = target
                waiting.append(source)
    return ways


def astray(flow: RunnableFlow) -> Iterator[str]:
    """Yield what is wrong with a flow that can be run: states that no call can come to, no goal, or an unnamed one."""
    waiting, reached = deque([flow.initial]), {flow.initial}
    while waiting:
        nexts = flow.successors[waiting.popleft()] - reached
        reached |= nexts
        waiting += nexts
    if unreached := [name for name in flow.states if name not in reached]:
        yield f"{flow.name}: no edges lead from {flow.initial} to {_some(unreached)}"
    outcomes = {name: flow.states[name].outcome for name in flow.states if name in reached}
    ends = [name for name, outcome in outcomes.items() if outcome == "end"]
    if "success" in outcomes.values():
        return
    if ends:
        yield (
            f"{flow.name}: it names no success, so a call that ends in {_some(ends)} is taken to have reached its goal,"
            " and that state for one with work to do; name successes as docs/formats.md, section 3, has it"
        )
    else:
        yield f"{flow.name}: no edges lead from {flow.initial} to a success, so no call can reach its goal"


def _some(names: list[str]) -> str:
    more = f" and {len(names) - LISTED} more" if len(names) > LISTED else ""
    return f"{', '.join(names[:LISTED])}{more}"
