"""Plan the calls of a run: which flow, which scenario, who calls, which try."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

from riff_runner.run.cases.case import CallCase
from riff_runner.run.flows.flow import RunnableFlow, RunScenario, near_or_all
from riff_runner.run.flows.scenarios import facts_of
from riff_runner.simulate.cast import CallerPersona, personas
from riff_store.errors import UsageError

ScenarioChoice: TypeAlias = Literal["all"] | Sequence[str | RunScenario]
PersonaChoice: TypeAlias = Literal["all"] | Sequence[str] | None


def plan_cases(
    flows: Sequence[RunnableFlow],
    *,
    scenarios: ScenarioChoice = "all",
    personas: PersonaChoice = None,
    trials: int = 1,
    seed: int = 300,
) -> list[CallCase]:
    """Return the calls of a run, the first try of all of them before the second of any.

    A name of a scenario represents those of every flow that has it; a `RunScenario` is played in its flow, in every one
    where it names none. Without `personas` each scenario has one, dealt in order over those of its flow, so that every
    try repeats the same case; a scenario's own counts before both. Raises `UsageError` for a name that is unknown, and
    if nothing is left.
    """
    if trials < 1:
        raise UsageError("there has to be at least one trial")
    chosen = [(flow, _scenarios(flow, scenarios)) for flow in flows]
    _refuse_unknown(scenarios, flows)
    cast = _cast(personas)
    callers = [
        (flow, scenario, persona)
        for flow, played in chosen
        for place, scenario in enumerate(played)
        for persona in _callers(flow, scenario, place, cast)
    ]
    if not callers:
        raise UsageError("no flow has any of these scenarios, so there is no call to make")
    return [
        CallCase(flow, scenario, persona, trial, seed, facts_of(flow, scenario, trial, seed))
        for trial in range(trials)
        for flow, scenario, persona in callers
    ]


def _scenarios(flow: RunnableFlow, choice: ScenarioChoice) -> list[RunScenario]:
    """Return the scenarios of a flow that were chosen, its own in its order before those of files."""
    if choice == "all":
        return list(flow.scenarios)
    own = [scenario for scenario in flow.scenarios if scenario.name in choice]
    given = [scenario for scenario in choice if isinstance(scenario, RunScenario)]
    found = own + [scenario for scenario in given if scenario.flow in (None, flow.name)]
    names = [scenario.name for scenario in found]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise UsageError(f"two scenarios are called {twice!r}; give one of them another name")
    return found


def _refuse_unknown(choice: ScenarioChoice, flows: Sequence[RunnableFlow]) -> None:
    known = dict.fromkeys(scenario.name for flow in flows for scenario in flow.scenarios)
    for name in choice if choice != "all" else ():
        if isinstance(name, str) and name not in known:
            raise UsageError(f"no scenario {name!r} in these flows; {near_or_all(name, known)}")


def _cast(choice: PersonaChoice) -> tuple[CallerPersona, ...] | None:
    if choice is None or choice == "all":
        return None if choice is None else personas()
    known = {persona.name: persona for persona in personas()}
    for name in choice:
        if name not in known:
            raise UsageError(f"no persona {name!r}; {near_or_all(name, known)}")
    return tuple(known[name] for name in dict.fromkeys(choice))


def _callers(
    flow: RunnableFlow, scenario: RunScenario, place: int, cast: tuple[CallerPersona, ...] | None
) -> Sequence[CallerPersona]:
    everybody = personas()
    if scenario.persona is not None:
        return _cast([scenario.persona]) or ()
    if cast is not None:
        return cast
    dealt = flow.scenarios.index(scenario) if scenario in flow.scenarios else place
    return (everybody[dealt % len(everybody)],)
