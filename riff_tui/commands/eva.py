"""Print what EVA's logs of a call show together, and its metrics, without a store: the `eva` command."""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from riff_tui.commands.options import OutputOption, apply_limits, argument, option
from riff_tui.errors import UsageError
from riff_tui.shapes import ANY, COUNT, FLAG, NUMBER, TEXT, Shape, by_name, list_of, or_null, record

if TYPE_CHECKING:
    from riff_ingest.eva.context import MetricContext
    from riff_ingest.eva.record import ConversationSet
    from riff_ingest.eva.turns import PipelineType

EXAMPLES = (
    "riff-tui eva context runs/nightly/records/1.1.2",
    "riff-tui eva metrics runs/nightly/records/1.1.2 --dataset data/airline_dataset.json",
)
_RECORD: Shape = {"type": "object"}
_ENTRY = {
    **dict.fromkeys(("role", "content"), or_null(TEXT)),
    **dict.fromkeys(("tool_name", "parameters", "tool_response"), ANY),
    "timestamp": COUNT,
    "type": TEXT,
    "turn_id": COUNT,
}
_CONTEXT: Shape = record(
    {
        **dict.fromkeys(("record_id", "pipeline_type", "language"), TEXT),
        **dict.fromkeys(
            (
                "transcribed_assistant_turns", "transcribed_user_turns", "intended_assistant_turns",
                "intended_user_turns",
            ),
            by_name(TEXT),
        ),
        **dict.fromkeys(
            (
                "audio_timestamps_assistant_turns", "audio_timestamps_user_turns", "audio_offsets_assistant_turns",
                "audio_offsets_user_turns",
            ),
            by_name(or_null(list_of(list_of(NUMBER)))),
        ),
        "latency_assistant_turns": by_name(NUMBER),
        **dict.fromkeys(("num_assistant_turns", "num_user_turns", "num_tool_calls"), COUNT),
        **dict.fromkeys(("tool_called", "warnings"), list_of(TEXT)),
        **dict.fromkeys(("tool_params", "tool_responses"), list_of(_RECORD)),
        "conversation_trace": list_of(record(_ENTRY, set(_ENTRY) - {"type", "turn_id"})),
        **dict.fromkeys(
            ("assistant_interrupted_turns", "user_interrupted_turns", "fallback_turn_ids"), list_of(COUNT)
        ),
        "conversation_finished": FLAG,
        **dict.fromkeys(("logs", "tools_called"), or_null(list_of(TEXT))),
        **dict.fromkeys(("num_turns", "started_ms"), or_null(COUNT)),
        "duration_seconds": or_null(NUMBER),
        **dict.fromkeys(
            (
                "llm_latency", "stt_latency", "tts_latency", "initial_scenario_db", "final_scenario_db",
                "expected_scenario_db",
            ),
            or_null(_RECORD),
        ),
        **dict.fromkeys(
            (
                "output_dir", "conversation_ended_reason", "audio_assistant_path", "audio_user_path",
                "audio_mixed_path", "initial_scenario_db_hash", "final_scenario_db_hash", "user_persona",
                "current_date_time", "agent_id", "agent_role", "agent_instructions",
            ),
            or_null(TEXT),
        ),
        "expected_trace": or_null(list_of(ANY)),
        "user_goal": ANY,
        "agent_tools": or_null(list_of(_RECORD)),
    }
)  # fmt: skip
_SCORES = by_name(
    record(
        {
            "name": TEXT,
            **dict.fromkeys(("score", "normalized_score"), or_null(NUMBER)),
            "details": _RECORD,
            **dict.fromkeys(("error", "version", "prompt_hash"), or_null(TEXT)),
            "skipped": FLAG,
            "sub_metrics": or_null(by_name(_RECORD)),
        }
    )
)
JSON = {part: {"anyOf": [one, by_name(one)]} for part, one in (("context", _CONTEXT), ("metrics", _SCORES))}
"""Of one conversation, or by output id: in either case names are the keys, or keys are EVA's, and no version."""


class Pipeline(enum.StrEnum):
    """Name the kinds of pipelines that an agent can have."""

    CASCADE = "cascade"
    AUDIO_LLM = "audio_llm"
    S2S = "s2s"


DirectoryArgument = Annotated[
    Path, argument("DIR", "A conversation's directory, a record's with its trials, or a run's.")
]
PipelineOption = Annotated[
    Pipeline | None, option("--pipeline", None, "The kind of pipeline; else that of the run's config.json.")
]
DatasetOption = Annotated[
    Path | None,
    option(
        "--dataset", "F", "The dataset that was played, an array or JSON lines; else the one that config.json names."
    ),
]
AgentOption = Annotated[
    Path | None, option("--agent", "F", "The agent's YAML file; else the one that config.json names.")
]
ExpectedOption = Annotated[
    Path | None,
    option(
        "--expected-db", "F", "What the database of one conversation should be in the end, as JSON; else the dataset's."
    ),
]


def eva() -> None:
    """Print the context or the metrics of EVA's voice logs as JSON.

    That takes no store; `riff-tui ingest` takes the same directories into the store.
    """


def context(
    directory: DirectoryArgument,
    pipeline: PipelineOption = None,
    dataset: DatasetOption = None,
    agent: AgentOption = None,
    output: OutputOption = None,
) -> None:
    """Print the context of a call, joined from its three logs.

    That is its turns, its trace and its timing. Of a record with trials or a run: an object of contexts by output id.
    What is wrong with the logs goes to stderr and into `warnings`.
    """
    _print(directory, output, _reader(pipeline, dataset, agent, None), lambda path, found: found.to_dict())


def metrics(
    directory: DirectoryArgument,
    pipeline: PipelineOption = None,
    expected_db: ExpectedOption = None,
    agent: AgentOption = None,
    dataset: DatasetOption = None,
    metric: Annotated[
        list[str] | None,
        option(
            "--metric",
            "MODULE:FUNCTION",
            "A function of your own, from a MetricContext to a number, as a metric too; repeatable.",
        ),
    ] = None,
    output: OutputOption = None,
) -> None:
    """Print the metrics of a call that need no judge.

    That is an object of scores by metric. Of a record with trials or a run: an object of these by output id. What is
    wrong with the logs goes to stderr. `--metric my_metrics:longest_wait` adds a metric of your own, from my_metrics.py
    in this directory or from what is installed (docs/eva.md).
    """
    if expected_db is not None and not _found(directory).single:
        raise UsageError(f"--expected-db is of one conversation, and {directory} contains several; use --dataset")
    _print(directory, output, _reader(pipeline, dataset, agent, expected_db), _scorer(metric or ()))


PARTS: Mapping[str, tuple[Callable[..., None], tuple[str, ...]]] = {
    "context": (
        context,
        (
            "riff-tui eva context runs/nightly/records/1.1.2",
            "riff-tui eva context runs/nightly/records/1.1.2/trial_0 --pipeline s2s | jq .conversation_trace",
            "riff-tui eva context runs/nightly -o contexts.json",
        ),
    ),
    "metrics": (
        metrics,
        (
            "riff-tui eva metrics runs/nightly/records/1.1.2 --expected-db expected.json",
            "riff-tui eva metrics runs/nightly --dataset data/airline_dataset.json --agent configs/airline_agent.yaml",
            "riff-tui eva metrics runs/nightly --metric my_metrics:longest_wait",
            "riff-tui eva metrics runs/nightly | jq 'map_values(.turn_taking.score)'",
        ),
    ),
}
"""The commands within this one, each with its examples."""


def _reader(
    pipeline: Pipeline | None, dataset: Path | None, agent: Path | None, expected_db: Path | None
) -> Callable[[Path], MetricContext]:
    """Return the reader of a directory; raise `UsageError` if a file that was named cannot be read."""
    from riff_ingest.eva.logs import read_object
    from riff_ingest.eva.record import inspect
    from riff_ingest.eva.run_inputs import RunInputs, records_of
    from riff_ingest.yaml_document import load_yaml

    apply_limits()
    _read("--dataset", dataset, records_of)
    _read("--agent", agent, load_yaml)
    expected = _read("--expected-db", expected_db, read_object)
    given = RunInputs(str(dataset) if dataset is not None else None, str(agent) if agent is not None else None)
    kind: PipelineType | None = pipeline.value if pipeline is not None else None
    return lambda directory: inspect(directory, pipeline_type=kind, given=given, expected=expected)


def _read(option: str, path: Path | None, reader: Callable[[Path], dict[str, Any]]) -> dict[str, Any] | None:
    from riff_ingest.lines import BrokenInput

    if path is None:
        return None
    try:
        return reader(path)
    except BrokenInput as problem:
        line = f", line {problem.line}" if problem.line else ""
        raise UsageError(f"{option}: {path}{line}: {problem.reason}") from problem


def _found(directory: Path) -> ConversationSet:
    from riff_ingest.eva.record import conversations_in

    if not directory.is_dir():
        raise UsageError(f"{directory} is not a directory; name that of a conversation, or that of a run")
    found = conversations_in(directory)
    if not found.directories:
        raise UsageError(
            f"{directory} contains no conversation of EVA; name a directory with a result.json and an audit_log.json,"
            " or a run's, with records in it"
        )
    return found


def _print(
    directory: Path,
    output: Path | None,
    look: Callable[[Path], MetricContext],
    show: Callable[[Path, MetricContext], dict[str, Any]],
) -> None:
    """Write what is shown of each conversation, one after the other; only one is in memory at a time."""
    from riff_tui.output.files import write_output
    from riff_tui.output.sinks.json import write_members
    from riff_tui.output.sinks.parts import Options

    found = _found(directory)
    if found.single:
        (path,) = found.directories.values()
        members: Iterator[tuple[str, Any]] = iter(show(path, _warned(look(path))).items())
    else:
        members = _each(found.directories, look, show)
    write_output(output, lambda file: write_members(members, file, Options()))


def _each(
    directories: Mapping[str, Path],
    look: Callable[[Path], MetricContext],
    show: Callable[[Path, MetricContext], dict[str, Any]],
) -> Iterator[tuple[str, Any]]:
    from riff_ingest.eva.record import was_finished
    from riff_tui.output.streams import say

    for name, path in directories.items():
        if was_finished(path):
            yield name, show(path, _warned(look(path), f"{name}: "))
        else:
            say(f"{name}: left out, for without a result.json it was never finished")


def _warned(found: MetricContext, name: str = "") -> MetricContext:
    from riff_tui.output.streams import say

    for line in found.warnings:
        say(f"{name}{line}")
    return found


def _scorer(own: Iterable[str]) -> Callable[[Path, MetricContext], dict[str, Any]]:
    """Return what computes the metrics of a call, one's `own` among them; raise `UsageError` if one is not there."""
    from riff_ingest.eva.metrics import compute_metrics, read_files
    from riff_ingest.eva.metrics.registry import METRICS, named, registered

    added = registered()
    functions = {**added, **named(own, (*METRICS, *added))}

    def scores(directory: Path, found: MetricContext) -> dict[str, Any]:
        computed = compute_metrics(found, read_files(directory), functions)
        return {name: score.to_dict() for name, score in computed.items()}

    return scores
