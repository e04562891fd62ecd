"""One input from its bytes to scored facts, whatever kind it is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from riff_ingest.contract import Contract
from riff_ingest.conversation import Conversation
from riff_ingest.eva.run_inputs import NONE_GIVEN, RunInputs
from riff_ingest.facts import facts_of
from riff_ingest.sources import flow_files, humanness, transcripts
from riff_ingest.sources.detect import claimed, detect
from riff_ingest.sources.lines import BrokenInput, digest
from riff_ingest.sources.run_names import run_of
from riff_store.facts import ConversationFacts, DescribedFlow, JudgedScore, Skipped, SourceFile

READERS: Mapping[str, int] = {"transcripts": 1, "humanness": 2, "flow-file": 1, "eva": 1, "unknown": 1}
"""Kinds that can be read, with the version of what is made of them: raising it reads files anew."""

Item: TypeAlias = ConversationFacts | JudgedScore | DescribedFlow | Skipped


@dataclass(slots=True)
class Plan:
    """An input, what it is taken for, and why it cannot be read, if so: a `note` of which kind says it."""

    file: SourceFile
    reason: str = ""
    contracts: Mapping[str, Contract] = field(default_factory=dict)
    supplies: RunInputs = NONE_GIVEN
    note: str = "skipped"


def plan_of(path: Path, kind: str | None, with_text: bool, given: RunInputs | None = None) -> Plan:
    """Decide what an input is; one that nothing recognises or that cannot be opened is `unknown`.

    `given` are a dataset and an agent's file for all runs of EVA, which else are looked for beside each.
    """
    if path.is_dir():
        return _plan_of_directory(path, kind, with_text, given or NONE_GIVEN)
    try:
        sha256, size = digest(path)
        reason = ""
        if kind is None:
            kind, reason = detect(path)
    except BrokenInput as error:
        sha256, size, kind, reason = "", 0, None, error.reason
    known = kind or "unknown"
    keeps = with_text and known == "transcripts"
    return Plan(SourceFile(str(path), known, sha256, size, READERS[known], keeps), "" if kind else reason)


def _plan_of_directory(path: Path, kind: str | None, with_text: bool, given: RunInputs) -> Plan:
    from riff_ingest.sources import eva

    kind = kind or claimed(path)
    if kind != eva.KIND:
        return left_out(str(path), "a directory is no input of this kind")
    try:
        sha256, size = eva.digest(path)
    except BrokenInput as error:
        return left_out(str(path), error.reason)
    supplies = eva.supplies_of(path, given)
    file = SourceFile(str(path), kind, sha256, size, READERS[kind], with_text, supplies.digest())
    return Plan(file, supplies=supplies)


def load(plan: Plan) -> Iterator[Item]:
    """Everything that an input holds, scored; what is broken comes as `Skipped`."""
    path, kind = Path(plan.file.path), plan.file.kind
    if kind == "transcripts":
        yield from _calls(path, plan)
    elif kind == "humanness":
        yield from humanness.read(path)
    elif kind == "flow-file":
        yield from _flow(path)
    elif kind == "eva":
        yield from _recorded_call(path, plan)
    else:
        yield Skipped(plan.note, None, plan.reason)


def left_out(path: str, reason: str, note: str = "skipped") -> Plan:
    """Something that was found and is no file to read, so that it can be listed."""
    return Plan(SourceFile(path, "unknown", "", 0, READERS["unknown"], with_text=False), reason, note=note)


def _flow(path: Path) -> Iterator[Item]:
    try:
        found = flow_files.read(path)
    except BrokenInput as error:
        yield Skipped("skipped", error.line, error.reason)
        return
    yield found.described
    yield from found.left_out


def _recorded_call(path: Path, plan: Plan) -> Iterator[Item]:
    from riff_ingest.sources import eva

    for found in eva.read(path, plan.supplies):
        if not isinstance(found, Conversation):
            yield found
            continue
        facts, notes = facts_of(found, default_run=found.run_id or "", with_text=plan.file.with_text)
        yield facts
        yield from notes


def _calls(path: Path, plan: Plan) -> Iterator[Item]:
    run = run_of(path)
    with_text = plan.file.with_text
    for found in transcripts.read(path, plan.contracts):
        if isinstance(found, Skipped):
            yield found
            continue
        line, call = found
        facts, notes = facts_of(call, default_run=run, line=line, with_text=with_text)
        yield facts
        yield from notes
