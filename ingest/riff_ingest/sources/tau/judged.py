"""Read what people and judges said about the calls of a run in files of their own: notes, and summaries of verdicts."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any, NamedTuple, TypeAlias

import msgspec

from riff_ingest.lenient_json import fitting, load_document, parse_time
from riff_ingest.lines import BrokenInput
from riff_ingest.lines import digest as digest_of_file
from riff_ingest.source import run_of, text_of
from riff_ingest.sources.humanness import COMPUTED
from riff_ingest.sources.tau.records import label_of
from riff_ingest.sources.tau.results import run_at
from riff_ingest.sources.transcripts import Name, Whole
from riff_store.facts import Annotation, JudgedScore, RunOfCall, Skipped

NOBODY = "(unknown)"
"""The author of a note that names none."""


class _Note(msgspec.Struct):
    id: Name
    simulation_id: Name
    note: str | None = None
    author_email: str | None = None
    created_at: str | None = None
    trial: Whole | None = None
    error_source: str | None = None
    error_type: str | None = None


def read_note(path: Path) -> Iterator[Annotation | Skipped]:
    """Yield the note of a file, and what of it had to be left out; raise `BrokenInput` if it has none."""
    document = load_document(path)
    if not isinstance(document, Mapping):
        raise BrokenInput("file is not a note: it is not a JSON object")
    misfits: list[str] = []
    try:
        found = fitting(document, _Note, misfits.append)
    except KeyError as missing:
        raise BrokenInput(f"{missing.args[0]} is missing") from None
    written_at = parse_time(found.created_at) if found.created_at else None
    if found.created_at and written_at is None:
        misfits.append("created_at")
    for name in misfits:
        yield Skipped("defect", None, f"{name} is not what it should be and is left out", found.simulation_id)
    yield Annotation(
        id=found.id,
        conversation=found.simulation_id,
        author=found.author_email or NOBODY,
        trial=found.trial,
        code=found.error_type or None,
        note=found.note or None,
        labels=[label for label in (found.error_source, found.error_type) if label],
        at=written_at,
    )


ASPECT = "verdict"
"""What is judged by a prompt without a name."""

_MARK = ".summary_"
_ENDS = ("", ".gz")
_WORDS = {
    10.0: ("pass", "satisfied", "satisfactory", "compliant", "correct"),
    5.0: ("partially satisfied",),
    0.0: ("fail", "failure", "unsatisfied", "unsatisfactory", "incorrect"),
}
_SCORES = {word: score for score, words in _WORDS.items() for word in words}
_BETWEEN = re.compile(r"[\W_]+")


Runs: TypeAlias = Mapping[str, Sequence[RunOfCall]]
"""The runs that have a call of a name, by these names."""


class _Entry(msgspec.Struct):
    simulation_id: Name
    label: str | None = None
    file: str | None = None
    judge_verdict: str | None = None
    judge_model: str | None = None
    judge_prompt_name: str | None = None
    judge_justification: str | None = None


def read_verdicts(path: Path, runs: Runs) -> Iterator[JudgedScore | Skipped]:
    """Yield the verdicts of a summary, and what had to be left out; raise `BrokenInput` if it is none.

    `runs` are those that have a call of a name.
    """
    beside = run_judged(path)
    for place, entry in enumerate(_entries(path), start=1):
        yield from _taken(entry, beside, runs, place)


def judged_calls(path: Path) -> set[str]:
    """Return the names of the calls that a summary judges, none if it is none."""
    try:
        entries = _entries(path)
    except BrokenInput:
        return set()
    found = (entry.get("simulation_id") for entry in entries if isinstance(entry, Mapping))
    return {name for name in found if isinstance(name, str)}


def _entries(path: Path) -> list[Any]:
    document = load_document(path)
    entries = document.get("entries") if isinstance(document, Mapping) else None
    if not isinstance(entries, list):
        raise BrokenInput("file is not a summary of judges: it has no list of entries")
    return entries


class Judged(NamedTuple):
    """Describe the run that a verdict is of, as far as that is known, and in how many its call is otherwise."""

    run: str
    several: int = 0


def run_of_entry(call: str, label: str | None, file: str | None, beside: str, runs: Runs) -> Judged:
    """Return the run of a verdict: the one beside the summary, the one that the entry names, else the only one.

    Each of these has the call. Without any the verdict waits in the run that is named.
    """
    having = runs.get(call, ())
    if any(each.run == beside for each in having):
        return Judged(beside)
    path = PureWindowsPath(file) if file and "\\" in file else PurePosixPath(file or "")
    names = [name for name in (label, label_of(path) if path.name else None) if name]
    named = [each for each in having if each.label in names]
    for found in (named, having):
        if len(found) == 1:
            return Judged(found[0].run)
        if found:
            return Judged(names[0] if names else beside, len(found))
    return Judged(beside)


def run_judged(path: Path) -> str:
    """Return the run whose results are beside a summary under the same name, else that name."""
    name = text_of(path.name).removesuffix(".gz").removesuffix(".json")
    stem, mark, _ = name.partition(_MARK)
    beside = [path.with_name(f"{stem}.json"), path.parent / stem / "results.json"] if mark else []
    for results in (each.with_name(each.name + end) for each in beside for end in _ENDS):
        run = run_at(results) if results.is_file() else None
        if run is not None:
            return run.id
    return stem if mark else run_of(path)


def digest_of_summary(path: Path) -> tuple[str, int]:
    """Return what represents a summary and the run that it is of, and its size in bytes; raise `BrokenInput`."""
    content, size = digest_of_file(path)
    return hashlib.sha256(f"{content} {run_judged(path)}".encode(errors="replace")).hexdigest(), size


def score_of(verdict: str) -> float | None:
    """Return the score that a word of a judge represents, `None` for one that is not known."""
    return _SCORES.get(_BETWEEN.sub(" ", verdict).strip().casefold())


def _taken(entry: Any, beside: str, runs: Runs, place: int) -> Iterator[JudgedScore | Skipped]:
    misfits: list[str] = []
    try:
        found = fitting(entry if isinstance(entry, Mapping) else {}, _Entry, misfits.append)
    except KeyError as missing:
        yield Skipped("skipped", place, f"entry {place}: {missing.args[0]} is missing")
        return
    judge = " ".join(filter(None, (found.judge_model, found.judge_prompt_name)))
    if not judge or judge == COMPUTED:
        yield Skipped("skipped", place, f"entry {place}: it names no judge", found.simulation_id)
        return
    for name in misfits:
        yield Skipped("defect", place, f"entry {place}: {name} is not text and is left out", found.simulation_id)
    run, several = run_of_entry(found.simulation_id, found.label, found.file, beside, runs)
    if several:
        reason = f"entry {place}: its call is in {several} runs, so its verdict counts for none"
        yield Skipped("defect", place, reason, found.simulation_id)
    said = (found.judge_verdict or "").strip()
    score = score_of(said)
    yield JudgedScore(
        run=run,
        conversation=found.simulation_id,
        judge=judge,
        aspect=found.judge_prompt_name or ASPECT,
        score=score,
        judged_at=None,
        rationale=_rationale(said if score is None else "", found.judge_justification),
        model=found.judge_model or None,
        line=place,
    )


def _rationale(said: str, why: str | None) -> str | None:
    return ": ".join(filter(None, (said, (why or "").strip()))) or None
