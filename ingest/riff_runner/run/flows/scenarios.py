"""Make the scenarios of a flow: why somebody calls, and where the facts come from."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from random import Random
from typing import Any

from riff_ingest.sources.flow_files.forms import CallScenario
from riff_runner.run.flows.flow import FlowProblem, RunnableFlow, RunScenario, SpokenFact, in_words, near_or_all
from riff_runner.simulate.cast import personas
from riff_runner.simulate.lexicon import pools

DEFAULT_SCENARIO = "default"


def with_scenarios(
    flow: RunnableFlow, scenarios: Sequence[CallScenario] = (), named_pools: Mapping[str, str] | None = None
) -> RunnableFlow:
    """Return the flow with these scenarios, one that only calls if there are none; raise `FlowProblem`."""
    given = scenarios or [CallScenario(DEFAULT_SCENARIO)]
    names = [scenario.name for scenario in given]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise FlowProblem(f"two scenarios are called {twice!r}; give one of them another name")
    return replace(flow, scenarios=tuple(_scenario(flow, scenario, named_pools or {}) for scenario in given))


def fact_of(given: Any) -> SpokenFact:
    """Return a fact from a flow file: a plain value, or a table of `value` and `say`, how it is said."""
    if isinstance(given, dict):
        value = given.get("value", given.get("say"))
        return SpokenFact(value, str(given.get("say", _said(value))))
    return SpokenFact(given, _said(given))


def _scenario(flow: RunnableFlow, given: CallScenario, named: Mapping[str, str]) -> RunScenario:
    place = f"the scenario {given.name!r}"
    if given.persona is not None and given.persona not in (known := [persona.name for persona in personas()]):
        raise FlowProblem(f"{place}: no persona {given.persona!r}; {near_or_all(given.persona, known)}")
    if unknown := next((slot for slot in given.facts if slot not in flow.slots), None):
        raise FlowProblem(
            f"{place}: no state has the slot {unknown!r} of its facts; {near_or_all(unknown, flow.slots)}"
        )
    if wrong := next((slot for slot, fact in given.facts.items() if not _is_fact(fact)), None):
        raise FlowProblem(f"{place}: the fact {wrong!r} is neither a value nor a table of value and say")
    pool_names = {**named, **given.slots}
    if missing := next((pool for pool in pool_names.values() if pool not in pools()), None):
        raise FlowProblem(f"{place}: no pool {missing!r}; {near_or_all(missing, pools())}")
    says = tuple(given.says) or (f"I'm calling about {in_words(flow.name) or flow.name}.",)
    return RunScenario(
        name=given.name,
        tasks=tuple(given.tasks),
        says=says,
        clarifies=tuple(given.clarifies),
        goal=given.goal or _goal(says[0], given.tasks),
        facts={slot: fact_of(fact) for slot, fact in given.facts.items()},
        pools=pools_of(flow.slots, pool_names),
        persona=given.persona,
    )


def _goal(opening: str, tasks: Sequence[str]) -> str:
    """Return what a caller wants: the reason it opens with, and its tasks if there are several."""
    in_order = f" You have this to get done, one after the other: {', '.join(tasks)}." if len(tasks) > 1 else ""
    return f"Get done what you call about: {opening}{in_order}"


def _is_fact(given: Any) -> bool:
    if isinstance(given, dict):
        return bool(given) and given.keys() <= {"value", "say"} and not isinstance(given.get("value"), dict | list)
    return given is not None and not isinstance(given, list)


def _said(value: Any) -> str:
    return ("yes" if value else "no") if isinstance(value, bool) else str(value)


_MEANT = {
    "birth_date": {"birth", "birthday", "birthdate", "dob", "born"},
    "email": {"email", "mail"},
    "phone": {"phone", "telephone", "mobile", "cell", "callback", "tel"},
    "address": {"address", "street", "location"},
    "member_id": {"member", "policy", "account", "passport", "license", "licence", "plate", "ssn", "iban"},
    "insurer": {"insurer", "insurance"},
    "pin": {"pin", "code", "passcode"},
    "unit": {"unit", "apartment", "flat", "suite"},
    "time": {"time", "hour"},
    "day": {"day", "date", "when"},
    "amount": {"amount", "price", "total", "budget"},
    "message": {"message"},
    "topic": {"topic", "question", "subject", "reason"},
    "person": {"name", "person", "caller", "customer", "owner", "patient", "contact", "who", "passenger", "tenant"},
}
"""Words in the name of a slot by the pool that is commonly meant by them; the first that fits counts."""
_COUNTED = {"size", "count", "number", "quantity", "guests", "people", "adults", "children", "nights"}
_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")


def pools_of(slots: Collection[str], named: Mapping[str, str]) -> dict[str, str]:
    """Return the pool of each slot that has one: the one that is named, that of its name, or the one commonly meant."""
    found = {slot: named.get(slot) or _pool_meant(slot) for slot in slots}
    return {slot: pool for slot, pool in found.items() if pool is not None}


def facts_of(flow: RunnableFlow, scenario: RunScenario, trial: int, seed: int) -> dict[str, SpokenFact]:
    """Return what the caller knows, by slot; it depends on nothing but the arguments."""
    random = Random(f"{seed}:{flow.name}:{scenario.name}:{trial}")
    drawn = {slot: _draw(slot, scenario.pools.get(slot), random) for slot in flow.slots}
    return drawn | dict(scenario.facts)


def _draw(slot: str, pool: str | None, random: Random) -> SpokenFact:
    if pool is not None:
        values = pools()[pool].values
        spoken = values[int(random.random() * len(values))]
        return SpokenFact(spoken.value, spoken.say)
    if _COUNTED & _words(slot):
        count = 1 + int(random.random() * 8)
        return SpokenFact(count, str(count))
    code = f"{'ABCDEFGHKLMNPRSTUVW'[int(random.random() * 19)]}{1000 + int(random.random() * 9000)}"
    return SpokenFact(code, code)


def _pool_meant(slot: str) -> str | None:
    if slot in pools():
        return slot
    words = _words(slot)
    found = next((pool for pool, meant in _MEANT.items() if words & meant), None)
    return "member_id" if found == "insurer" and words & {"id", "number"} else found


def _words(name: str) -> set[str]:
    return {word.lower() for word in _WORDS.findall(name)}
