"""Read what judges said about a tau run's calls: summaries with an entry for each verdict (docs/formats/tau.md)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from riff_ingest.lines import BrokenInput
from riff_ingest.source import FileHead, ReadContext, Source
from riff_store.facts import JudgedScore, Skipped


def read(path: Path, context: ReadContext) -> Iterator[JudgedScore | Skipped]:
    """Yield the verdicts of a summary, and what had to be left out; raise `BrokenInput` if it is none."""
    from riff_ingest.sources.tau.judged import read_verdicts

    return read_verdicts(path, context.runs)


def judged_calls(path: Path) -> set[str]:
    """Return the names of the calls that a summary judges, none if it is none."""
    from riff_ingest.sources.tau.judged import judged_calls

    return judged_calls(path)


def digest(path: Path) -> tuple[str, int]:
    """Return what represents a summary and the run that it is of, and its size in bytes; raise `BrokenInput`."""
    from riff_ingest.sources.tau.judged import digest_of_summary

    return digest_of_summary(path)


RAW = "raw answers of a judge; the verdicts are in …summary_….json"


def _is_raw_answer(record: Mapping[str, Any]) -> bool:
    """Return whether a line is what a judge answered on a simulation, before anything was made of it."""
    return "simulation_id" in record and any(key.startswith(("judge", "raw")) for key in record)


def _recognises(head: FileHead) -> str | None:
    start = head.start.lstrip()
    if head.is_lines and any(map(_is_raw_answer, head.records)):
        raise BrokenInput(RAW)
    if not start.startswith(b"{") or b'"entries"' not in start:
        return None
    if ".summary_" in head.path.name and head.document.get("entries") == []:
        return "it is a summary of judges without an entry"
    entries = head.document.get("entries") if b'"judge_verdict"' in start else None
    if isinstance(entries, list) and any(isinstance(entry, Mapping) and "simulation_id" in entry for entry in entries):
        return "its entries have simulation_id and judge_verdict"
    return None


SOURCE = Source(
    kind="tau-verdicts",
    version=2,
    read=read,
    title="Verdicts of judges on calls of tau2-bench and tau3-bench",
    known_by="JSON with entries that have simulation_id and judge_verdict",
    recognises=_recognises,
    digest_file=digest,
    judged_calls=judged_calls,
    keeps_text=False,
    rank=16,
)
