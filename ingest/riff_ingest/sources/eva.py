"""Read EVA's runs: the directory of a conversation is one input (docs/formats.md, section 5)."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from riff_ingest.conversation import Conversation
from riff_ingest.eva.directories import RECORDS, is_archived, run_of
from riff_ingest.eva.logs import find, read_object
from riff_ingest.lines import BrokenInput, unreadable
from riff_ingest.lines import digest as digest_of_file
from riff_ingest.source import DirectoryInput, ReadContext, Source
from riff_store.facts import JudgedScore, Skipped

if TYPE_CHECKING:
    from riff_ingest.eva.run_inputs import RunInputs

SET_ASIDE = "an attempt that EVA put aside, so it does not count"
NOTHING_LEFT = "conversation_empty: its directory holds nothing of it"
NO_DIRECTORY = "it is not the directory of a conversation of EVA"

_CONFIG = "config.json"
_RESULT = "result.json"
_NAMES_A_RECORD = (_RESULT, "metrics.json")
_LOGS = (
    "audit_log.json",
    "framework_logs.jsonl",
    "pipecat_logs.jsonl",
    "user_simulator_events.jsonl",
    "elevenlabs_events.jsonl",
)
_READ = (".json", ".jsonl", ".json.gz", ".jsonl.gz")
_NOT_READ = frozenset(
    {
        "transcript.jsonl",
        "response_latencies.json",
        "pipecat_metrics.jsonl",
        "elevenlabs_conversation_details.json",
        "scenario_db.json",
    }
)
_TRIAL = "trial_"


def accompanies(path: Path) -> bool:
    """Tell whether a file belongs to a run as a whole, or to a record that was played several times."""
    return (path.parent / RECORDS).is_dir() or path.parent.parent.name == RECORDS


def claims(directory: Path) -> bool:
    """Tell whether a directory is that of one conversation: it has logs of one, or lies where only those lie."""
    path = _absolute(directory)
    names = _names(path)
    if names is None or is_archived(path.name):
        return False
    if _looks_like_one(path, names):
        return not _has_trials(path, names)
    return _is_place_of_one(path, names)


def set_aside(directory: Path) -> str | None:
    """Return why a directory is no conversation that counts although it looks like one, `None` where that is not so."""
    path = _absolute(directory)
    if not is_archived(path.name):
        return None
    names = _names(path) or frozenset()
    return SET_ASIDE if _is_in_records(path) or _looks_like_one(path, names) or _has_trials(path, names) else None


def run_inputs_of(directory: Path, given: RunInputs | None = None) -> RunInputs:
    """Return the dataset and the agent's file of a conversation: those given, else those that its run names."""
    from riff_ingest.eva.history import Warnings
    from riff_ingest.eva.record import configuration_near
    from riff_ingest.eva.run_inputs import NONE_GIVEN

    path = _absolute(directory)
    return (given or NONE_GIVEN).or_near(run_of(path), configuration_near(path, Warnings()))


def digest(directory: Path) -> tuple[str, int]:
    """Return what stands for everything that is read of a conversation, and its size in bytes; raise `BrokenInput`."""
    path = _absolute(directory)
    try:
        names = sorted(os.listdir(path), key=os.fsencode)
    except OSError as error:
        raise unreadable(error) from error
    files = [path / name for name in names if name.endswith(_READ) and name.removesuffix(".gz") not in _NOT_READ]
    run = run_of(path)
    found, size = hashlib.sha256(), 0
    for file in [*files, *([run / _CONFIG] if run is not None else [])]:
        if file.is_symlink() or not file.is_file():
            continue
        try:
            content, length = digest_of_file(file)
        except BrokenInput as problem:
            content, length = problem.reason, 0
        found.update(b"%b\0%b\n" % (os.fsencode(file.name), content.encode()))
        size += length
    return found.hexdigest(), size


def read(directory: Path, context: ReadContext) -> Iterator[Conversation | JudgedScore | Skipped]:
    """Yield the conversation of a directory, what was wrong with its files, and the verdicts of judges on it.

    Never raises on what they hold: a conversation of which nothing else is known is one all the same.
    """
    path = _absolute(directory)
    if not path.is_dir():
        yield Skipped("skipped", None, NO_DIRECTORY)
        return
    from riff_ingest.eva.directories import identity_of
    from riff_ingest.eva.history import Warnings
    from riff_ingest.eva.metrics import compute_metrics, read_files
    from riff_ingest.eva.metrics.registry import registered
    from riff_ingest.eva.record import configuration_near, read_record
    from riff_ingest.eva.run_inputs import NONE_GIVEN, agent_at, played_record
    from riff_ingest.eva.stored_metrics import stored_scores, verdicts
    from riff_ingest.eva.to_conversation import conversation_of

    warnings, result, run_inputs = Warnings(), _result(path), context.run_inputs or NONE_GIVEN
    configuration = configuration_near(path, Warnings())
    identity = identity_of(path, result, configuration)
    played = played_record(run_inputs.dataset, identity.record, configuration.language, warnings)
    metrics = read_record(path, dataset_record=played, agent=agent_at(run_inputs.agent, warnings))
    scores = stored_scores(path, warnings)
    if _has(_names(path) or (), (*_LOGS, *_NAMES_A_RECORD)):
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


def _absolute(directory: Path) -> Path:
    return Path(os.path.abspath(directory))


def _names(path: Path) -> frozenset[str] | None:
    try:
        return frozenset(os.listdir(path))
    except (OSError, ValueError):
        return None


def _has(names: Collection[str], wanted: Iterable[str]) -> bool:
    return any(name in names or f"{name}.gz" in names for name in wanted)


def _looks_like_one(path: Path, names: Collection[str]) -> bool:
    named = (name for name in _NAMES_A_RECORD if _has(names, (name,)))
    return _has(names, _LOGS) or any(_names_a_record(path, name) for name in named)


def _names_a_record(path: Path, name: str) -> bool:
    file = find(path, name)
    try:
        return file is not None and isinstance(read_object(file).get("record_id"), str)
    except BrokenInput:
        return _is_in_records(path)


def _has_trials(path: Path, names: Iterable[str]) -> bool:
    return any(name.startswith(_TRIAL) and not is_archived(name) and _is_directory(path / name) for name in names)


def _is_directory(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink()


def _is_in_records(path: Path) -> bool:
    """Tell whether a directory lies where a run has its records or the trials of one."""
    return path.parent.name == RECORDS or (path.name.startswith(_TRIAL) and path.parent.parent.name == RECORDS)


def _is_place_of_one(path: Path, names: Iterable[str]) -> bool:
    """Tell whether a run left nothing to read in this directory: the conversation failed before its first word."""
    run = run_of(path) if _is_in_records(path) else None
    if run is None or not (run / _CONFIG).is_file():
        return False
    return not any(name.endswith(_READ) or _is_directory(path / name) for name in names)


def _result(path: Path) -> dict[str, Any] | None:
    file = find(path, _RESULT)
    try:
        return read_object(file) if file is not None else None
    except BrokenInput:  # reading the record says so
        return None


SOURCE = Source(
    kind="eva",
    version=3,
    read=read,
    title="Calls of an EVA run",
    known_by="directories with an audit_log.json or a result.json",
    directory=DirectoryInput(claims, digest, set_aside, accompanies),
    find_run_inputs=run_inputs_of,
    rank=40,
)
