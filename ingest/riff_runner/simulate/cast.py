"""Describe simulated agents, callers' personas, and the nights on which they meet."""

from __future__ import annotations

from datetime import datetime
from functools import lru_cache
from importlib import resources
from typing import TypeVar

import msgspec

from riff_ingest.sources.flow_files.forms import Weakness

T = TypeVar("T")


class AgentProfile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Describe how an agent behaves; the fields are explained in speech/agents.toml."""

    name: str
    median_ms: float
    spread: float
    tail_share: float
    tail: float
    errors: float
    repetition: float
    competence: float
    lead_ins: list[str]


class CallerPersona(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Describe how a caller talks; the fields are explained in speech/personas.toml."""

    name: str
    before: list[str]
    after: list[str]
    full_answer: float
    early: float
    mishears: float
    corrects: float
    pause_s: float
    brief: bool = False
    patience: int = 5


class Override(Weakness, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Describe a weakness that a flow has in one run only."""

    flow: str


class SimulatedRun(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Describe one night of calls, the commit that was tried, and what that commit made worse or better."""

    id: str
    label: str
    commit: str
    branch: str
    start: datetime
    overrides: list[Override] = []


def _load(name: str, shape: type[T]) -> tuple[T, ...]:
    """Return the one list that a file has."""
    content = resources.files(__package__).joinpath(name).read_bytes()
    (found,) = msgspec.toml.decode(content, type=dict[str, list[shape]]).values()  # type: ignore[valid-type]
    return tuple(found)


@lru_cache(maxsize=1)
def agents() -> tuple[AgentProfile, ...]:
    """Return the four agents."""
    return _load("speech/agents.toml", AgentProfile)


@lru_cache(maxsize=1)
def personas() -> tuple[CallerPersona, ...]:
    """Return the five personas; `front_loader` says most of its slots before it is asked."""
    return _load("speech/personas.toml", CallerPersona)


@lru_cache(maxsize=1)
def runs() -> tuple[SimulatedRun, ...]:
    """Return the ten runs, in order of time."""
    return _load("runs.toml", SimulatedRun)
