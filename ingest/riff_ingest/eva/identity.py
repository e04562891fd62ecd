"""Which conversation of which run a directory holds."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from riff_ingest.eva.config import Configuration
from riff_ingest.eva.directories import RECORDS, record_and_trial, run_name
from riff_ingest.sources.source import ROOT, text_of

_TRIAL = re.compile(r"trial_\d+", re.ASCII)


@dataclass(frozen=True, slots=True)
class Identity:
    """The names of a conversation and of its run; `record` is the dataset's, the conversation's is the output id."""

    run: str
    conversation: str
    record: str
    trial: int | None = None
    run_label: str | None = None


def identity_of(directory: Path, result: Mapping[str, Any] | None, configuration: Configuration) -> Identity:
    """Names by where an absolute directory lies; which record was played says result.json, if anything.

    A directory that lies in no run's records belongs to the run that the directory around it is named after.
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
    """How many of the last names of a directory are the conversation's own."""
    parents = [parent.name for parent in list(directory.parents)[:2]]
    if RECORDS in parents:
        return parents.index(RECORDS) + 1
    return 2 if _TRIAL.fullmatch(directory.name) and len(directory.parts) > 2 else 1


def _parts(output: str) -> tuple[str, int | None]:
    try:
        record, trial = record_and_trial(output)
    except ValueError:  # more digits than any number of a trial has
        return output, None
    return record, trial if trial is not None and trial < 2**31 else None
