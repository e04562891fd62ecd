"""Define what is read of a results file: only what is used, so that policies and raw data are never kept."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path, PurePath
from types import UnionType
from typing import Any, TypeVar, Union, get_args, get_origin

import msgspec

from riff_ingest.lenient_json import fields_of, fit, loads, parse_time
from riff_ingest.lines import BrokenInput
from riff_ingest.source import run_of, text_of
from riff_ingest.sources.transcripts import Count

_EPOCH = datetime(1970, 1, 1)
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


class AnswerCheck(msgspec.Struct, gc=False):
    """Represent whether the agent said what the task asks it to say."""

    info: str | None = None
    met: bool | None = None


class RewardInfo(msgspec.Struct, gc=False):
    """Represent how a simulation was scored."""

    reward: float | None = None
    action_checks: list[ActionCheck] | None = None
    communicate_checks: list[AnswerCheck] | None = None
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
    """Represent what the agent of a voice call used; `cost` in USD is null if it has no price."""

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
    communicate_info: list[str] | None = None


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
    """Represent where the tasks are."""

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

    Raises `BrokenInput` for what is not a JSON object.
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
    """Return a value as it is wanted, `None` if it does not fit."""
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


# Name a run of the benchmark by what it is, so that copies of its results are one run whatever they are called.
UNKNOWN = "(unknown)"
RESULTS = "results"

UPDATED, REVIEWED = "updated_", "_reviewed"
_ORDINARY = frozenset({"llm_agent", "discrete_time_audio_native_agent"})


class Run(msgspec.Struct, frozen=True, gc=False):
    """Describe what the calls of a run have in common; `tick` is in seconds, `None` if the run does not show it.

    `is_solo`: the agent has the caller's tools too, and nobody else takes part. `is_rescored`: these are its results
    after they were scored again.
    """

    id: str
    label: str
    domain: str = UNKNOWN
    agent: str = UNKNOWN
    caller: str | None = None
    commit: str | None = None
    tick: float | None = None
    provider: str | None = None
    is_solo: bool = False
    is_rescored: bool = False


def run_from(info: Info, timestamp: str | None, path: Path) -> Run:
    """Return the run that results at a path are of."""
    environment, config = info.environment_info, info.audio_native_config
    domain = (environment.domain_name if environment else None) or UNKNOWN
    caller, agent = info.user_info.llm if info.user_info else None, agent_name(info)
    identity = (info.git_commit, timestamp, agent, caller, domain, info.seed)
    mark = hashlib.sha256(msgspec.json.encode(identity)).hexdigest()[:6]
    tick = config.tick_duration_seconds if config else None
    return Run(
        id=" ".join(filter(None, (domain, _moment(timestamp), mark))),
        label=label_of(path),
        domain=domain,
        agent=agent,
        caller=caller,
        commit=info.git_commit if info.git_commit not in (None, "", "unknown") else None,
        tick=tick if tick and tick > 0 else None,
        provider=config.provider if config else None,
        is_solo=info.user_info is not None and info.user_info.implementation == "dummy_user",
        is_rescored=path.name.startswith(UPDATED),
    )


def agent_name(info: Info) -> str:
    """Return the model of the agent, with what else distinguishes it from other agents of the same model."""
    agent, config = info.agent_info, info.audio_native_config
    name = (agent.llm if agent else None) or UNKNOWN
    if agent and agent.implementation and agent.implementation not in _ORDINARY:
        name = f"{name}/{agent.implementation}"
    cascade = config.cascaded_config_name if config else None
    effort = config.reasoning_effort if config else None
    if not effort and agent and isinstance(agent.llm_args, dict):
        given = agent.llm_args.get("reasoning_effort")
        effort = given if isinstance(given, str) else None
    marks = ", ".join(filter(None, (cascade, effort)))
    return f"{name} ({marks})" if marks else name


def label_of(path: PurePath) -> str:
    """Return the name of the file of a run without what marks a copy, else that of its folder."""
    stem = text_of(path.name).removesuffix(".gz").removesuffix(".json")
    stem = stem.removeprefix(UPDATED).removesuffix(REVIEWED)
    if stem != RESULTS:
        return stem
    return run_of(path) if isinstance(path, Path) else text_of(path.parent.name)


def _moment(timestamp: str | None) -> str | None:
    """Return when a run was created, to the minute."""
    if timestamp is None or time_of(timestamp) is None:
        return None
    return timestamp[:16].replace("T", " ")


def time_of(text: str | None) -> int | None:
    """Return a time in microseconds since the epoch, `None` for what is none or was made up.

    Where nobody knew when, converters wrote the first midnight of a year, for runs, calls and messages alike.
    """
    found = parse_time(text) if text else None
    with suppress(OverflowError):  # a zone may lead beyond the calendar
        if found is not None and is_made_up(_EPOCH + timedelta(microseconds=found)):
            return None
    return found


def is_made_up(moment: datetime) -> bool:
    """Return whether a time is the first moment of a year."""
    return moment == moment.replace(month=1, day=1, hour=0, minute=0, second=0, microsecond=0)
