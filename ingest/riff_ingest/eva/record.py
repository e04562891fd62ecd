"""Find one conversation, or all of a run, and read a directory's files into its context, whatever is wrong there."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import lru_cache
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

from riff_ingest.eva.context import MetricContext
from riff_ingest.eva.directories import (
    CONFIG,
    RECORDS,
    RESULT,
    claims,
    conversations,
    identity_of,
    is_archived,
    is_run,
    natural,
    run_of,
)
from riff_ingest.eva.history import Warnings, seconds
from riff_ingest.eva.history_pipeline import context_of
from riff_ingest.eva.logs import (
    FRAMEWORK_LOGS,
    absent,
    find,
    has_log,
    last_event,
    last_line,
    merged_history,
    read_object,
    says_goodbye,
    simulator_log,
    stored_file,
    stored_name,
)
from riff_ingest.eva.run_inputs import (
    NONE_GIVEN,
    Configuration,
    RunInputs,
    agent_at,
    configuration,
    filled,
    played_record,
)
from riff_ingest.eva.scenario_db import database_hash
from riff_ingest.eva.turns import PipelineType
from riff_ingest.lines import BrokenInput


def run_inputs_of(directory: Path, given: RunInputs | None = None) -> RunInputs:
    """Return the dataset and the agent's file of a conversation: those given, else those that its run names."""
    path = Path(os.path.abspath(directory))
    return (given or NONE_GIVEN).or_near(run_of(path), configuration_near(path, Warnings()))


def result_of(path: Path) -> dict[str, Any] | None:
    """Return what a conversation's result.json has, `None` if there is none that can be read."""
    file = find(path, RESULT)
    try:
        return read_object(file) if file is not None else None
    except BrokenInput:  # reading the record reports it
        return None


def read_record(
    directory: str | PathLike[str],
    *,
    pipeline_type: PipelineType | None = None,
    dataset_record: Mapping[str, Any] | None = None,
    agent: Mapping[str, Any] | None = None,
) -> MetricContext:
    """Return the context of the conversation in a directory.

    Without a `pipeline_type` the config.json of the run that the directory is in decides, else it is a cascade.
    `dataset_record` is the record that was played, as the dataset has it, `agent` the agent's file. What EVA gives a
    context for comes out the same; what it gives up on gets one too, with `warnings`. Raises `NotADirectoryError` if
    there is no such directory, and nothing else.
    """
    path = Path(directory)
    if not path.is_dir():
        raise NotADirectoryError(f"{path} is not a directory")
    warnings = Warnings()
    found = configuration_near(path, warnings)
    if pipeline_type is None:
        pipeline_type = found.pipeline_type
        if found.from_old_key and pipeline_type != "cascade":
            warnings.add("old_model_key", f"it names {pipeline_type}, which EVA reads as a cascade")
    result = _object(path, RESULT, warnings)
    if result is None:  # without it nothing shows which log is the right one, and what is there has to do
        result = {"pipecat_logs_path": next((name for name in FRAMEWORK_LOGS if find(path, name)), FRAMEWORK_LOGS[0])}
    stored_log = result.get("pipecat_logs_path")
    check_spoken = pipeline_type == "s2s" or stored_log is None or has_log(path, stored_log)
    history = merged_history(path, result, pipeline_type, warnings)
    context = context_of(history, pipeline_type, warnings, check_spoken=check_spoken)
    context.language, context.output_dir = found.language, str(path)
    context.conversation_finished = _finished(path)
    _take_result(context, path, result)
    _take_databases(context, path, result, warnings)
    if dataset_record is not None:
        _take_dataset(context, dataset_record, warnings)
    if agent is not None:
        _take_agent(context, agent)
    context.warnings = warnings.lines()
    return context


def configuration_near(directory: Path, warnings: Warnings) -> Configuration:
    """Return the configuration of the run that a directory is in, EVA's defaults if there is none."""
    run = run_of(directory)
    path = run / CONFIG if run is not None else None
    if path is None or not path.is_file():
        return configuration({})
    try:
        status = path.stat()
        return _configuration(path, status.st_mtime_ns, status.st_size)
    except (BrokenInput, OSError) as problem:
        warnings.add("config_unreadable", getattr(problem, "reason", None) or "config.json cannot be read")
        return configuration({})


@lru_cache(maxsize=64)
def _configuration(path: Path, mtime: int, size: int) -> Configuration:
    return configuration(read_object(path))


def _object(directory: Path, name: str, warnings: Warnings) -> dict[str, Any] | None:
    path = find(directory, name)
    kind = name.split(".")[0]
    if path is None:
        warnings.add(f"{kind}_missing", absent(directory, name))
        return None
    try:
        return read_object(path)
    except BrokenInput as problem:
        warnings.add(f"{kind}_unreadable", problem.reason)
        return None


def _take_result(context: MetricContext, directory: Path, result: Mapping[str, Any]) -> None:
    context.record_id = (
        _text(result.get("record_id")) or identity_of(Path(os.path.abspath(directory)), None, configuration({})).record
    )
    context.conversation_ended_reason = _text(result.get("conversation_ended_reason"))
    context.num_turns = num_turns if type(num_turns := result.get("num_turns")) is int else None
    context.duration_seconds = seconds(result.get("duration_seconds"))
    called = result.get("tools_called")
    context.tools_called = [str(name) for name in called] if isinstance(called, list) else None
    for name in ("llm_latency", "stt_latency", "tts_latency"):
        value = result.get(name)
        setattr(context, name, value if isinstance(value, dict) else None)
    for name in ("audio_assistant_path", "audio_user_path", "audio_mixed_path"):
        setattr(context, name, _audio_path(directory, result.get(name)))


def _finished(directory: Path) -> bool:
    """Return whether the simulator's log ends with a goodbye on its last physical line (9.3)."""
    log = simulator_log(directory)
    event, _ = last_event(last_line(log) if log is not None else None)
    return event is not None and says_goodbye(event.get("type"), event)


def _audio_path(directory: Path, stored: Any) -> str | None:
    name = stored_name(stored)
    if name is None:
        return None
    file = stored_file(stored)
    return str(file if file is not None else directory / name)


def _take_databases(context: MetricContext, directory: Path, result: Mapping[str, Any], warnings: Warnings) -> None:
    for name in ("initial_scenario_db", "final_scenario_db"):
        found = _object(directory, f"{name}.json", warnings)
        stored = _text(result.get(f"{name}_hash"))
        setattr(context, name, found)
        setattr(context, f"{name}_hash", stored or (database_hash(found) if found is not None else None))


def _take_dataset(context: MetricContext, record: Mapping[str, Any], warnings: Warnings) -> None:
    try:
        record = filled(record, context.language)
    except BrokenInput as problem:
        # Compared with placeholders, every database would differ.
        warnings.add("dataset_record_unfilled", problem.reason)
        return
    truth = record.get("ground_truth")
    truth = truth if isinstance(truth, Mapping) else {}
    expected, trace = truth.get("expected_scenario_db"), truth.get("expected_trace")
    user = record.get("user_config")
    context.expected_scenario_db = expected if isinstance(expected, dict) else None
    context.expected_trace = trace if isinstance(trace, list) else None
    context.user_goal = record.get("user_goal")
    context.user_persona = _text(user.get("user_persona")) if isinstance(user, Mapping) else None
    context.current_date_time = _text(record.get("current_date_time"))


def _take_agent(context: MetricContext, agent: Mapping[str, Any]) -> None:
    tools = agent.get("tools")
    context.agent_id = _text(agent.get("id"))
    context.agent_role = _text(agent.get("role"))
    context.agent_instructions = _text(agent.get("instructions"))
    context.agent_tools = [tool for tool in tools if isinstance(tool, dict)] if isinstance(tools, list) else None


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


# Find one conversation, or all of a run, in a directory and read their contexts.
_OF_A_CALL = (RESULT, "audit_log.json", "metrics.json")


class ConversationSet(NamedTuple):
    """Describe the conversations of a directory by output id; `single` if it is one itself."""

    directories: dict[str, Path]
    single: bool


def conversations_in(directory: Path) -> ConversationSet:
    """Find the conversations of a directory: a run, a record with trials, or one conversation, archived ones included.

    In a run, and in its directory of records, archived attempts do not count. Nothing is found if it is none of these.
    """
    path = Path(os.path.abspath(directory))
    if path.name == RECORDS and is_run(path.parent) and not claims(path):
        directory = directory.parent if directory.name == RECORDS else path.parent
    if (directory / RECORDS).is_dir():
        return ConversationSet({each.output_id: each.path for each in conversations(directory)}, single=False)
    trials = _trials(directory)
    if trials:
        return ConversationSet({f"{path.name}/{each.name}": each for each in trials}, single=False)
    if claims(directory) or any(find(directory, file) is not None for file in _OF_A_CALL):
        return ConversationSet({path.name: directory}, single=True)
    return ConversationSet({}, single=False)


def was_finished(directory: Path) -> bool:
    """Return whether a conversation came to its end; EVA measures no other ones."""
    return find(directory, RESULT) is not None


def inspect(
    directory: Path,
    *,
    pipeline_type: PipelineType | None = None,
    given: RunInputs | None = None,
    expected: Mapping[str, Any] | None = None,
) -> MetricContext:
    """Return the context of a conversation with the dataset and the agent's file that are given, else those of its run.

    `expected` takes the place of the dataset's expected database. Never raises on what files have.
    """
    warnings = Warnings()
    run_inputs = run_inputs_of(directory, given)
    configuration = configuration_near(directory, Warnings())
    identity = identity_of(Path(os.path.abspath(directory)), result_of(directory), configuration)
    played = played_record(run_inputs.dataset, identity.record, configuration.language, warnings)
    agent = agent_at(run_inputs.agent, warnings)
    context = read_record(directory, pipeline_type=pipeline_type, dataset_record=played, agent=agent)
    if expected is not None:
        context.expected_scenario_db = dict(expected)
    context.warnings += warnings.lines()
    return context


def _trials(path: Path) -> list[Path]:
    found = [child for child in path.glob("trial_*") if child.is_dir() and not child.is_symlink()]
    counted = [child for child in found if not is_archived(child.name)]
    return sorted(counted, key=lambda child: natural(child.name))
