"""Describe a flow in the form in which the runner drives it, whatever kind of file it came from."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, TypeAlias

from riff_ingest.conversation import Contract
from riff_ingest.slot_values import contradicts
from riff_ingest.sources.flow_files.forms import nearest
from riff_store.errors import RiffError
from riff_store.facts import DescribedFlow

StateOutcome: TypeAlias = Literal["success", "escalation", "end"]


@dataclass(frozen=True, slots=True)
class SpokenFact:
    """Describe a fact of a caller: the value that a slot should get, and how the caller says it."""

    value: Any
    say: str

    @property
    def told(self) -> Any:
        """Return what a call is to note: the value, beside how it is said if that does not read as the value."""
        return {"value": self.value, "say": self.say} if contradicts(self.say, self.value) else self.value


@dataclass(frozen=True, slots=True)
class StubbedTool:
    """Describe a tool of which the runner itself gives the result.

    `parameters` is the JSON schema of its arguments, `returns` the results of which the call's seed picks one.
    """

    name: str
    description: str = ""
    parameters: Mapping[str, Any] = field(default_factory=lambda: {"type": "object", "properties": {}})
    returns: tuple[Any, ...] = ({"ok": True},)


@dataclass(frozen=True, slots=True)
class FlowEdge:
    """Describe a way out of a state.

    It is taken by the agent's choice, or by the result of `tool` where one is named: always where `field` is `None`,
    else where the result's `field` reads like one of `cases` (`()` represents every other value).
    """

    to_state: str
    description: str = ""
    tool: str | None = None
    field: str | None = None
    cases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FlowState:
    """Describe a state: what the agent is to do in it, what it has to learn, and where it may go.

    `instruction` is for the agent, `replies` and `hub` for a scripted caller: what is said if nothing is asked for, and
    whether the caller names the next task here. `guard` names the condition that every required slot is known, which is
    evaluated before the state is left. `tools` are those of the state alone. `forward` is the way of a call that goes
    well, by task where it depends on one.
    """

    name: str
    instruction: str = ""
    required_slots: tuple[str, ...] = ()
    guard: str | None = None
    tools: tuple[str, ...] = ()
    edges: tuple[FlowEdge, ...] = ()
    outcome: StateOutcome | None = None
    may_end: bool = False
    replies: tuple[str, ...] = ()
    hub: bool = False
    forward: Mapping[str, str] | str = ""


@dataclass(frozen=True, slots=True)
class RunScenario:
    """Describe why somebody calls.

    `facts` gives slots fixed values; those of other slots are drawn from `pools` (slot → pool of the simulator).
    `script` is set in a scenario that was made of a call: what its caller said, line by line; `flow` as well, the one
    flow that it is of.
    """

    name: str
    tasks: tuple[str, ...] = ()
    says: tuple[str, ...] = ()
    clarifies: tuple[str, ...] = ()
    goal: str = ""
    facts: Mapping[str, SpokenFact] = field(default_factory=dict)
    pools: Mapping[str, str] = field(default_factory=dict)
    persona: str | None = None
    script: tuple[ScriptedLine, ...] = ()
    flow: str | None = None


@dataclass(frozen=True, slots=True)
class ScriptedLine:
    """Describe a line that a caller said, and the state that the agent was in when it was said."""

    text: str
    state: str | None = None


@dataclass(frozen=True)
class RunnableFlow:
    """Describe a flow, ready to be run; `digest` is the SHA-256 of its file, `source` where it came from.

    `described` is the flow as its file describes it, apart from how it is run; `unread` has a sentence for each key
    that nobody reads.
    """

    name: str
    contract: Contract
    initial: str
    states: Mapping[str, FlowState]
    tools: Mapping[str, StubbedTool]
    scenarios: tuple[RunScenario, ...]
    role: str = ""
    global_tools: tuple[str, ...] = ()
    source: str = ""
    digest: str = ""
    described: DescribedFlow | None = None
    unread: tuple[str, ...] = ()

    @cached_property
    def successors(self) -> dict[str, frozenset[str]]:
        """Return each state with the states that it may lead to."""
        return {name: frozenset(edge.to_state for edge in state.edges) for name, state in self.states.items()}

    @cached_property
    def slots(self) -> tuple[str, ...]:
        """Return every slot that a state requires or the flow wants, in the order of the states."""
        named = [slot for state in self.states.values() for slot in state.required_slots]
        return tuple(dict.fromkeys([*named, *sorted(self.contract.wanted_slots())]))

    def scenario_like(self, name: str | None) -> RunScenario:
        """Return the scenario that a call of that name had, an empty one if none is known.

        Simulated calls add to its name that of the persona.
        """
        fitting = [each for each in self.scenarios if name == each.name or (name or "").startswith(f"{each.name}-")]
        return max(fitting, key=lambda each: len(each.name), default=RunScenario(""))

    def outcome_of(self, state: str | None) -> StateOutcome | None:
        """Return how a call that reached this state ended, `None` for a working state or one that is not known."""
        if state is None:
            return None
        if state in self.states:
            return self.states[state].outcome
        return "success" if state in self.contract.successes() else None


LONGEST = 500
"""The characters of a sentence about a flow, in whose file names may be of any length."""


class FlowProblem(RiffError):
    """Report that a flow cannot be run, with the place in its file and what to do."""

    def __init__(self, message: str) -> None:
        super().__init__(message if len(message) <= LONGEST else f"{message[:LONGEST]}…")


def near_or_all(name: str, known: Iterable[str]) -> str:
    """Return which known name was meant, or which names there are."""
    names = list(known)
    if near := nearest(name, names):
        return f"did you mean {near}?"
    return f"there are {', '.join(names)}" if names else "there are none"


def in_words(name: str) -> str:
    """Return the name of a slot or a flow as words."""
    return " ".join(name.replace("_", " ").replace("-", " ").split())


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
    """Return the next state on the shortest way to a success, if there is none to an end that is not an escalation."""
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
    """Yield what is wrong with a flow that can be run: states that no call can come to, no goal, or an unnamed one.

    First come the keys of its file that nobody reads.
    """
    yield from (f"{flow.name}: {sentence}" for sentence in flow.unread)
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
            " and that state for one with work to do; name successes as docs/flow-file.md shows"
        )
    else:
        yield f"{flow.name}: no edges lead from {flow.initial} to a success, so no call can reach its goal"


def _some(names: list[str]) -> str:
    more = f" and {len(names) - LISTED} more" if len(names) > LISTED else ""
    return f"{', '.join(names[:LISTED])}{more}"
