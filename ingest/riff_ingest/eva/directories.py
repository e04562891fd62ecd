"""Find the conversations of a run's directory, and what its names mean."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from riff_ingest.lines import BrokenInput
from riff_ingest.source import ROOT, text_of

if TYPE_CHECKING:
    from riff_ingest.eva.run_inputs import Configuration

RECORDS = "records"
_ARCHIVED = re.compile(r"_(?:failed_attempt|extra|unvalidated|attempt)_\d+\Z", re.ASCII)
_TRIAL = re.compile(r"^(?P<record>.*)(?:/|_)trial_(?P<trial>\d+)\Z", re.DOTALL | re.ASCII)
_RUN = re.compile(r"^(?P<time>\d{4}-\d\d-\d\d_\d\d-\d\d-\d\d\.\d+)(?:_(?P<system>.+))?\Z", re.DOTALL | re.ASCII)
_DIGITS = re.compile(r"(\d+)")
_TRIAL_NAME = re.compile(r"trial_\d+", re.ASCII)


class ConversationDirectory(NamedTuple):
    """Name the directory of one conversation: the record that was played, and which trial of it."""

    path: Path
    record: str
    trial: int | None

    @property
    def output_id(self) -> str:
        """Return the conversation's name in its run."""
        return self.record if self.trial is None else f"{self.record}/trial_{self.trial}"


class RunName(NamedTuple):
    """Describe what a run's directory name reports: when it began (UTC, as written) and which system was tested."""

    time: str | None
    system: str | None


def is_run(directory: Path) -> bool:
    """Return whether a directory is a run: it has a directory of records with a call in it."""
    records = directory / RECORDS
    if not records.is_dir():
        return False
    return any(has_call(each.path) for each in conversations(directory))


def has_call(directory: Path) -> bool:
    """Return whether a directory has anything of a conversation."""
    return any((directory / name).is_file() for name in ("result.json", "audit_log.json", "metrics.json"))


def record_and_trial(output_id: str) -> tuple[str, int | None]:
    """Return the record and the trial that a conversation's name represents, archived attempts included."""
    name = _ARCHIVED.sub("", output_id)
    found = _TRIAL.match(name)
    return (found["record"], int(found["trial"])) if found else (name, None)


def is_archived(name: str) -> bool:
    """Return whether a directory is an attempt that was put aside."""
    return _ARCHIVED.search(name) is not None


def conversations(run: Path) -> list[ConversationDirectory]:
    """Return the conversations of a run that count, in natural order of their records; archived attempts do not."""
    found = []
    for record in _directories(run / RECORDS):
        trials = [each for each in _directories(record) if each.name.startswith("trial_")]
        for path in trials or [record]:
            name = f"{record.name}/{path.name}" if trials else record.name
            found.append(ConversationDirectory(path, *record_and_trial(name)))
    return sorted(found, key=lambda each: (natural(each.record), -1 if each.trial is None else each.trial))


def run_of(conversation: Path) -> Path | None:
    """Return the run that a conversation's directory is in, `None` if it is in none."""
    for parent in list(Path(os.path.abspath(conversation)).parents)[:2]:
        if parent.name == RECORDS:
            return parent.parent
    return None


def run_name(name: str) -> RunName:
    """Return the time and the system in a run's name; neither in a name that somebody chose."""
    found = _RUN.match(name)
    return RunName(found["time"], found["system"]) if found else RunName(None, None)


def natural(name: str) -> list[tuple[int, int, str]]:
    """Return a key by which 1.10.2 comes after 1.9.1."""
    return [(0, int(part), "") if part.isdecimal() else (1, 0, part) for part in _DIGITS.split(name) if part]


def _directories(parent: Path) -> list[Path]:
    try:
        children = sorted(parent.iterdir())
    except OSError:
        return []
    return [child for child in children if child.is_dir() and not child.is_symlink() and not is_archived(child.name)]


@dataclass(frozen=True, slots=True)
class Identity:
    """Name a conversation and its run; `record` is the dataset's, the conversation's is the output id."""

    run: str
    conversation: str
    record: str
    trial: int | None = None
    run_label: str | None = None


def identity_of(directory: Path, result: Mapping[str, Any] | None, configuration: Configuration) -> Identity:
    """Return the names by the place of an absolute directory; result.json names the record that was played.

    A directory that is in no run's records belongs to the run that the directory around it is named after.
    """
    levels = _levels(directory)
    output = "/".join(text_of(part) for part in directory.parts[-levels:])
    around = directory.parents[levels - 1]
    run = text_of((around.parent if around.name == RECORDS else around).name) or ROOT
    record, trial = _parts(output)
    stored = (result or {}).get("record_id")
    if isinstance(stored, str) and stored:
        record, stored_trial = _parts(stored)
        trial = stored_trial if trial is None else trial
    label = run_name(run).system or configuration.run_id
    return Identity(run, output, record, trial, label if label != run else None)


def _levels(directory: Path) -> int:
    """Count the last names of a directory that are the conversation's own."""
    parents = [parent.name for parent in list(directory.parents)[:2]]
    if RECORDS in parents:
        return parents.index(RECORDS) + 1
    return 2 if _TRIAL_NAME.fullmatch(directory.name) and len(directory.parts) > 2 else 1


def _parts(output: str) -> tuple[str, int | None]:
    try:
        record, trial = record_and_trial(output)
    except ValueError:  # more digits than any number of a trial has
        return output, None
    return record, trial if trial is not None and trial < 2**31 else None


# Tell whether a directory is that of a conversation, by what is in it and where it is itself.
SET_ASIDE = "an attempt that EVA put aside, so it does not count"
CONFIG, RESULT = "config.json", "result.json"
READ = (".json", ".jsonl", ".json.gz", ".jsonl.gz")

_NAMES_A_RECORD = (RESULT, "metrics.json")
_LOGS = (
    "audit_log.json",
    "framework_logs.jsonl",
    "pipecat_logs.jsonl",
    "user_simulator_events.jsonl",
    "elevenlabs_events.jsonl",
)


def accompanies(path: Path) -> bool:
    """Return whether a file belongs to a run as a whole, or to a record that was played several times."""
    return (path.parent / RECORDS).is_dir() or path.parent.parent.name == RECORDS


def claims(directory: Path) -> bool:
    """Return whether a directory is that of one conversation: it has logs of one, or is where only those are."""
    path = Path(os.path.abspath(directory))
    names = _names(path)
    if names is None or is_archived(path.name):
        return False
    if _looks_like_one(path, names):
        return not _has_trials(path, names)
    return _is_place_of_one(path, names)


def set_aside(directory: Path) -> str | None:
    """Return why a directory is not a conversation that counts although it looks like one, `None` if that is not so."""
    path = Path(os.path.abspath(directory))
    if not is_archived(path.name):
        return None
    names = _names(path) or frozenset()
    return SET_ASIDE if _is_in_records(path) or _looks_like_one(path, names) or _has_trials(path, names) else None


def holds_a_record(path: Path) -> bool:
    """Return whether anything of a conversation is in a directory."""
    return _has(_names(path) or (), (*_LOGS, *_NAMES_A_RECORD))


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
    from riff_ingest.eva.logs import find, read_object

    file = find(path, name)
    try:
        return file is not None and isinstance(read_object(file).get("record_id"), str)
    except BrokenInput:
        return _is_in_records(path)


def _has_trials(path: Path, names: Iterable[str]) -> bool:
    return any(name.startswith("trial_") and not is_archived(name) and _is_directory(path / name) for name in names)


def _is_directory(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink()


def _is_in_records(path: Path) -> bool:
    """Return whether a directory is where a run keeps its records or the trials of one."""
    return path.parent.name == RECORDS or (path.name.startswith("trial_") and path.parent.parent.name == RECORDS)


def _is_place_of_one(path: Path, names: Iterable[str]) -> bool:
    """Return whether a run left nothing to read in this directory: the conversation failed before its first word."""
    run = run_of(path) if _is_in_records(path) else None
    if run is None or not (run / CONFIG).is_file():
        return False
    return not any(name.endswith(READ) or _is_directory(path / name) for name in names)
