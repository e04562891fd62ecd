"""Read the words of simulated calls: what a slot can contain and how it is said, and phrases that every flow shares."""

from __future__ import annotations

import re
from functools import lru_cache
from importlib import resources
from random import Random
from typing import Any

import msgspec

EXPANSIONS = 400


class SpokenValue(msgspec.Struct, frozen=True):
    """Describe a value of a slot, how a caller says it, and how an agent mentions it where the words differ."""

    value: Any
    say: str
    note: str | None = None


class Pool(msgspec.Struct, frozen=True):
    """Describe what a slot can contain, how callers say it in passing, and how an agent asks for it alone."""

    values: list[SpokenValue]
    clauses: list[str]
    question: str


class Phrases(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Describe what anybody says in any flow; `{}` represents what is asked or known."""

    greetings: list[str]
    yes: list[str]
    fine: list[str]
    goodbyes: list[str]
    mishears: list[str]
    impatient: list[str]
    frustrated: list[str]
    gives_up: list[str]
    wants_human: list[str]
    corrections: list[str]
    commands: list[str]
    follow_ups: list[str]
    recaps: list[str]
    repeats: list[str]
    again: list[str]
    waits: list[str]
    details: list[str]
    spells: list[str]
    handovers: list[str]
    silences: list[str]
    unsure: list[str]
    no_matter: list[str]
    byes: list[str]


class _PoolFile(msgspec.Struct, forbid_unknown_fields=True):
    clauses: list[str]
    question: str
    patterns: list[str] = []
    values: list[str | SpokenValue] = []


class _Pools(msgspec.Struct, forbid_unknown_fields=True):
    lists: dict[str, list[str]]
    pools: dict[str, _PoolFile]


@lru_cache(maxsize=1)
def pools() -> dict[str, Pool]:
    """Return the pools by name, their patterns filled in the same way in every process."""
    source = msgspec.toml.decode(_read("pools.toml"), type=_Pools)
    return {
        name: Pool(_values(name, pool, source.lists), pool.clauses, pool.question)
        for name, pool in source.pools.items()
    }


@lru_cache(maxsize=1)
def phrases() -> Phrases:
    """Return the shared phrases."""
    return msgspec.toml.decode(_read("phrases.toml"), type=Phrases)


def listed(parts: list[str]) -> str:
    """Join items as `a`, `a and b`, or `a, b, and c`."""
    if len(parts) < 3:
        return " and ".join(parts)
    return f"{', '.join(parts[:-1])}, and {parts[-1]}"


def sentence(text: str) -> str:
    """Begin a text with a capital and end it with a mark."""
    text = capital(text)
    return text if text[-1:] in ".!?…]" else f"{text}."


def capital(text: str) -> str:
    """Begin a text with a capital, but for addresses of mail."""
    return text if "@" in text.partition(" ")[0] else text[:1].upper() + text[1:]


def _read(name: str) -> bytes:
    return resources.files(__package__).joinpath("speech", name).read_bytes()


def _values(name: str, pool: _PoolFile, lists: dict[str, list[str]]) -> list[SpokenValue]:
    fixed = [value if isinstance(value, SpokenValue) else SpokenValue(value, value) for value in pool.values]
    rng = Random(name)
    filled = (_fill(rng.choice(pool.patterns), lists, rng) for _ in range(EXPANSIONS if pool.patterns else 0))
    return fixed + [SpokenValue(text, text) for text in filled]


def _fill(pattern: str, lists: dict[str, list[str]], rng: Random) -> str:
    text = re.sub(r"\{(\w+)\}", lambda match: rng.choice(lists[match[1]]), pattern)
    return re.sub("#", lambda _: str(rng.randrange(10)), text)
