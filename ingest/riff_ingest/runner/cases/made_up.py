"""Choose what callers know: a value for each slot of a flow, the same whenever a case is made."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from random import Random

from riff_ingest.runner.flows.flow import RunnableFlow, RunScenario, SpokenFact
from riff_ingest.simulate.lexicon import pools

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
    "person": {"name", "person", "caller", "customer", "owner", "patient", "contact", "who"},
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
    return next((pool for pool, meant in _MEANT.items() if words & meant), None)


def _words(name: str) -> set[str]:
    return {word.lower() for word in _WORDS.findall(name)}
