"""Read EVA's runs: the directory of a conversation is one input (docs/formats/eva.md)."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from riff_ingest.conversation import Conversation
from riff_ingest.eva.directories import CONFIG, READ, accompanies, claims, holds_a_record, run_of, set_aside
from riff_ingest.lines import digest_of_all, unreadable
from riff_ingest.source import DirectoryInput, ReadContext, Source
from riff_store.facts import JudgedScore, Skipped

if TYPE_CHECKING:
    from riff_ingest.eva.run_inputs import RunInputs

NOTHING_LEFT = "conversation_empty: its directory has nothing of it"
NO_DIRECTORY = "it is not the directory of a conversation of EVA"

_NOT_READ = frozenset(
    {
        "transcript.jsonl",
        "response_latencies.json",
        "pipecat_metrics.jsonl",
        "elevenlabs_conversation_details.json",
        "scenario_db.json",
    }
)


def find_run_inputs(directory: Path, given: RunInputs | None) -> RunInputs:
    """Return the dataset and the agent's file of a conversation: those given, else those that its run names."""
    from riff_ingest.eva.record import run_inputs_of

    return run_inputs_of(directory, given)


def digest(directory: Path) -> tuple[str, int]:
    """Return what represents everything that is read of a conversation, and its size in bytes; raise `BrokenInput`."""
    path = Path(os.path.abspath(directory))
    try:
        names = sorted(os.listdir(path), key=os.fsencode)
    except OSError as error:
        raise unreadable(error) from error
    files = [path / name for name in names if name.endswith(READ) and name.removesuffix(".gz") not in _NOT_READ]
    run = run_of(path)
    files += [run / CONFIG] if run is not None else []
    return digest_of_all(file for file in files if file.is_file() and not file.is_symlink())


def read(directory: Path, context: ReadContext) -> Iterator[Conversation | JudgedScore | Skipped]:
    """Yield the conversation of a directory, what was wrong with its files, and the verdicts of judges on it.

    Never raises on what they have: a conversation of which nothing else is known is one all the same.
    """
    path = Path(os.path.abspath(directory))
    if not path.is_dir():
        yield Skipped("skipped", None, NO_DIRECTORY)
        return
    from riff_ingest.eva.directories import identity_of
    from riff_ingest.eva.history import Warnings
    from riff_ingest.eva.metrics import compute_metrics, read_files
    from riff_ingest.eva.metrics.registry import registered
    from riff_ingest.eva.record import configuration_near, read_record, result_of
    from riff_ingest.eva.run_inputs import NONE_GIVEN, agent_at, played_record
    from riff_ingest.eva.stored_metrics import stored_metrics, stored_scores, take_stored_context, verdicts
    from riff_ingest.eva.to_conversation import conversation_of

    warnings, result, run_inputs = Warnings(), result_of(path), context.run_inputs or NONE_GIVEN
    configuration = configuration_near(path, Warnings())
    identity = identity_of(path, result, configuration)
    played = played_record(run_inputs.dataset, identity.record, configuration.language, warnings)
    metrics = read_record(path, dataset_record=played, agent=agent_at(run_inputs.agent, warnings))
    stored = stored_metrics(path, warnings)
    scores = stored_scores(stored, warnings)
    take_stored_context(metrics, stored.get("context"), warnings)
    if holds_a_record(path):
        metrics.warnings += warnings.lines()
    else:
        metrics.warnings = [NOTHING_LEFT]
    computed = compute_metrics(metrics, read_files(path), registered())
    taken = conversation_of(identity, configuration, metrics, result, scores, computed, played)
    yield taken.conversation
    for kind, reasons in (("defect", metrics.warnings), ("mismatch", taken.mismatches)):
        for reason in reasons:
            yield Skipped(kind, None, reason, identity.conversation)
    yield from verdicts(scores, identity, taken.places, audio_native=metrics.is_audio_native)


SOURCE = Source(
    kind="eva",
    version=5,
    read=read,
    title="Calls of an EVA run",
    known_by="directories with an audit_log.json or a result.json",
    directory=DirectoryInput(claims, digest, set_aside, accompanies),
    find_run_inputs=find_run_inputs,
    rank=40,
)
