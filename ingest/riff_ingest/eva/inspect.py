"""Find one conversation, or all of a run, in a directory and read their contexts."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from riff_ingest.eva.context import MetricContext
from riff_ingest.eva.directories import (
    RECORDS,
    RESULT,
    claims,
    conversations,
    identity_of,
    is_archived,
    is_run,
    natural,
)
from riff_ingest.eva.history import Warnings
from riff_ingest.eva.logs import find
from riff_ingest.eva.record import configuration_near, read_record, result_of, run_inputs_of
from riff_ingest.eva.run_inputs import RunInputs, agent_at, played_record
from riff_ingest.eva.turns import PipelineType

_OF_A_CALL = (RESULT, "audit_log.json", "metrics.json")


class ConversationSet(NamedTuple):
    """Hold the conversations of a directory by output id; `single` where it is one itself."""

    directories: dict[str, Path]
    single: bool


def conversations_in(directory: Path) -> ConversationSet:
    """Find the conversations of a directory: a run, a record with trials, or one conversation, archived ones included.

    In a run, and in its directory of records, archived attempts do not count. Nothing is found where it is none of
    these.
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
    """Tell whether a conversation came to its end; EVA measures no other ones."""
    return find(directory, RESULT) is not None


def inspect(
    directory: Path,
    *,
    pipeline_type: PipelineType | None = None,
    given: RunInputs | None = None,
    expected: Mapping[str, Any] | None = None,
) -> MetricContext:
    """Return the context of a conversation with the dataset and the agent's file that are given, else those of its run.

    `expected` takes the place of the dataset's expected database. Never raises on what files hold.
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
