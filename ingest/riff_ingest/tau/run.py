"""Name a run of the benchmark by what it is, so that copies of its results are one run whatever they are called."""

from __future__ import annotations

import hashlib
from pathlib import Path

import msgspec

from riff_ingest.sources.coercion import parse_time
from riff_ingest.sources.source import run_of, text_of
from riff_ingest.tau.records import Info

UNKNOWN = "(unknown)"
RESULTS = "results"
TICK = 0.2
"""The seconds of a tick where a run does not say."""

UPDATED, REVIEWED = "updated_", "_reviewed"
_ORDINARY = frozenset({"llm_agent", "discrete_time_audio_native_agent"})


class Run(msgspec.Struct, frozen=True, gc=False):
    """Hold what the calls of a run have in common; `tick` is in seconds, `None` where the run does not say.

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
    """Return the model of the agent, with what else tells it from other agents of the same model."""
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


def label_of(path: Path) -> str:
    """Return the name of the file of a run without what marks a copy, else that of its folder."""
    stem = text_of(path.name).removesuffix(".gz").removesuffix(".json")
    stem = stem.removeprefix(UPDATED).removesuffix(REVIEWED)
    return run_of(path) if stem == RESULTS else stem


def _moment(timestamp: str | None) -> str | None:
    """Return when a run was created, to the minute."""
    if timestamp is None or parse_time(timestamp) is None:
        return None
    return timestamp[:16].replace("T", " ")
