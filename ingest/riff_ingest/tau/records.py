"""Hold what is read of a results file: only what is used, so that policies, guidelines and raw data are never held."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from types import UnionType
from typing import Any, TypeVar, Union, get_args, get_origin

import msgspec

from riff_ingest.sources.coercion import fields_of, fit
from riff_ingest.sources.lenient_json import loads
from riff_ingest.sources.lines import BrokenInput
from riff_ingest.sources.transcript_line import Count

_Record = TypeVar("_Record", bound=msgspec.Struct)


class Action(msgspec.Struct, gc=False):
    """Represent a reference action of a task; `compare_args` name the arguments that count."""

    name: str | None = None
    requestor: str | None = None
    arguments: Any = None
    compare_args: list[str] | None = None


class ActionCheck(msgspec.Struct, gc=False):
    """Represent whether a reference action was matched by some call."""

    action: Action | None = None
    action_match: bool | None = None
    tool_type: str | None = None


class RewardInfo(msgspec.Struct, gc=False):
    """Represent how a simulation was scored."""

    reward: float | None = None
    action_checks: list[ActionCheck] | None = None
    nl_assertions: Any = None


class Call(msgspec.Struct, gc=False):
    """Represent a request of a tool by one side."""

    id: str | int | None = None
    name: str | None = None
    arguments: Any = None
    requestor: str | None = None


class Message(msgspec.Struct, gc=False):
    """Represent what one side said or called, or what tools answered."""

    role: str | None = None
    content: str | None = None
    tool_calls: list[Call] | None = None
    tool_messages: list[Message] | None = None
    id: str | int | None = None
    error: bool | None = None
    requestor: str | None = None
    timestamp: datetime | None = None
    cost: float | None = None


class AgentUsage(msgspec.Struct, gc=False):
    """Represent what the agent of a voice call used; `cost` in USD is null where it has no price."""

    cost: float | None = None


class Simulation(msgspec.Struct, gc=False):
    """Represent one call as it was simulated: `messages` in text, `ticks` (still JSON) in voice."""

    id: str | int | None = None
    task_id: str | int | None = None
    start_time: str | None = None
    duration: float | None = None
    termination_reason: str | None = None
    agent_cost: float | None = None
    agent_usage: AgentUsage | None = None
    reward_info: RewardInfo | None = None
    messages: list[Message] | None = None
    ticks: msgspec.Raw = msgspec.Raw(b"null")
    trial: Count | None = None
    mode: str | None = None
    info: Any = None
    speech_environment: Any = None
    effect_timeline: Any = None
    review: Any = None
    user_only_review: Any = None
    auth_classification: Any = None
    hallucination_check: Any = None


class Criteria(msgspec.Struct, gc=False):
    """Represent what a task is scored by."""

    actions: list[Action] | None = None


class Task(msgspec.Struct, gc=False):
    """Represent a task, which is a scenario here."""

    id: str | int | None = None
    evaluation_criteria: Criteria | None = None


class AgentInfo(msgspec.Struct, gc=False):
    """Represent what played the agent, or the caller."""

    implementation: str | None = None
    llm: str | None = None
    llm_args: Any = None


class EnvironmentInfo(msgspec.Struct, gc=False):
    """Represent where the tasks lie."""

    domain_name: str | None = None


class AudioConfig(msgspec.Struct, gc=False):
    """Represent how voice was set up; a tick is a slice of a call, in seconds."""

    provider: str | None = None
    cascaded_config_name: str | None = None
    model: str | None = None
    reasoning_effort: str | None = None
    tick_duration_seconds: float | None = None


class Info(msgspec.Struct, gc=False):
    """Represent how a run was set up."""

    git_commit: str | None = None
    seed: int | None = None
    agent_info: AgentInfo | None = None
    user_info: AgentInfo | None = None
    environment_info: EnvironmentInfo | None = None
    audio_native_config: AudioConfig | None = None


class IndexEntry(msgspec.Struct, gc=False):
    """Represent a simulation in the list of those that a run has in files of their own."""

    id: str | int | None = None


def record_of(data: bytes, kind: type[_Record], misfit: Callable[[str], object]) -> _Record:
    """Return a record from JSON, without the parts that do not fit, whose names go to `misfit`.

    Raises `BrokenInput` for what is no JSON object.
    """
    try:
        return msgspec.json.decode(data, type=kind)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        value = loads(data, what="it")
    if not isinstance(value, dict):
        raise BrokenInput("it is not an object")
    return fitting_struct(value, kind, misfit, "")


def fitting_struct(given: dict[str, Any], kind: type[_Record], misfit: Callable[[str], object], path: str) -> _Record:
    """Return a record from the parts that fit."""
    named = [(info.name, info.type) for info in fields_of(kind) if given.get(info.name) is not None]
    taken = {name: _fitting(given[name], wanted, misfit, f"{path}{name}") for name, wanted in named}
    return kind(**{name: value for name, value in taken.items() if value is not None})


def _fitting(value: Any, wanted: Any, misfit: Callable[[str], object], path: str) -> Any:
    """Return a value as it is wanted, `None` where it does not fit."""
    if wanted is msgspec.Raw:
        return msgspec.Raw(msgspec.json.encode(value))
    for kind in get_args(wanted) if get_origin(wanted) in (Union, UnionType) else (wanted,):
        if isinstance(value, dict) and isinstance(kind, type) and issubclass(kind, msgspec.Struct):
            return fitting_struct(value, kind, misfit, f"{path}.")
        if isinstance(value, list) and get_origin(kind) is list:
            parts = [_fitting(each, get_args(kind)[0], misfit, path) for each in value]
            return [part for part in parts if part is not None]
    try:
        return fit(value, wanted)
    except msgspec.ValidationError:
        misfit(path)
        return None
