"""Plan how an input is read, and read it into scored facts, whatever kind it is."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeAlias

import msgspec

from riff_ingest.contract import Contract
from riff_ingest.conversation import Conversation
from riff_ingest.eva.run_inputs import RunInputs
from riff_ingest.facts import facts_of
from riff_ingest.limits import limits
from riff_ingest.sources.detection import claimed_kind, detect
from riff_ingest.sources.flow_files import SOURCE as FLOW_FILES
from riff_ingest.sources.lines import BrokenInput, digest
from riff_ingest.sources.registry import UNKNOWN, source_of
from riff_ingest.sources.source import ReadContext, ReadItem, Source, run_of
from riff_ingest.tool_segments import NO_SEGMENTS, ToolSegments
from riff_store.facts import Annotation, ConversationFacts, DescribedFlow, JudgedScore, Skipped, SourceFile
from riff_store.metrics import to_compute

Item: TypeAlias = ConversationFacts | JudgedScore | Annotation | DescribedFlow | Skipped


@dataclass(slots=True)
class InputPlan:
    """Hold an input, what it is taken for, and why it cannot be read, if so: as a `note` of which kind."""

    file: SourceFile
    reason: str = ""
    context: ReadContext = field(default_factory=ReadContext)
    note: str = "skipped"

    @property
    def source(self) -> Source | None:
        """Return the source that reads the input, `None` where nothing does."""
        return source_of(self.file.kind)


def plan_inputs(
    paths: Sequence[Path],
    kind: str | None = None,
    *,
    kinds: Mapping[Path, str] | None = None,
    described: Iterable[str | os.PathLike[str]] = (),
    with_text: bool = True,
    contracts: Mapping[str, Contract] | None = None,
    run_inputs: RunInputs | None = None,
    tool_segments: ToolSegments = NO_SEGMENTS,
) -> list[InputPlan]:
    """Decide what each input is, and which contracts the conversations have that bring none.

    `kinds` are those that are known already. `described` are the paths of flow files, `contracts` those that are known
    by flow; files among the inputs add to them. `run_inputs` are a dataset and an agent's file for all runs,
    `tool_segments` the phases of tools as users set them.
    """
    flow_files = {os.path.abspath(path) for path in described}
    known_kinds = kinds or {}

    def kind_of(path: Path) -> str | None:
        return FLOW_FILES.kind if os.path.abspath(path) in flow_files else kind or known_kinds.get(path)

    plans = [plan_of(path, kind_of(path), with_text, run_inputs) for path in paths]
    added = "".join(f"{metric.key}={metric.compute}@{metric.version};" for metric in to_compute())
    for plan in plans:
        plan.file.context += limits().digest()
        if plan.source is not None and plan.source.keeps_text:
            plan.file.context += added
    if tool_segments:
        for plan in plans:
            if plan.source is not None and plan.source.derives_states:
                plan.file.context += tool_segments.digest()
                plan.context = replace(plan.context, tool_segments=tool_segments)
    known = dict(contracts or {})
    for plan in plans:
        if plan.source is not None:
            with suppress(BrokenInput):  # recorded when the file itself is taken
                known |= plan.source.contracts(Path(plan.file.path))
    if known:
        digest = hashlib.sha256(msgspec.json.encode(known, order="sorted")).hexdigest()
        for plan in plans:
            if plan.source is not None and plan.source.takes_contracts:
                plan.file.context += digest
                plan.context = replace(plan.context, contracts=known)
    return plans


def plan_of(path: Path, kind: str | None, with_text: bool, given: RunInputs | None = None) -> InputPlan:
    """Decide what an input is; one that nothing recognises or that cannot be opened is `unknown`.

    `given` are a dataset and an agent's file for all runs, which otherwise are looked for near each.
    """
    is_directory = path.is_dir()
    try:
        reason = ""
        if kind is None:
            kind, reason = (claimed_kind(path), "") if is_directory else detect(path)
        source = source_of(kind) if kind is not None else None
        if is_directory and (source is None or source.directory is None):
            return left_out(str(path), "a directory is no input of this kind")
        sha256, size = (source.digest if source else digest)(path)
    except BrokenInput as problem:
        return left_out(str(path), problem.reason)
    if source is None:
        return InputPlan(SourceFile(str(path), UNKNOWN, sha256, size, 1, with_text=False), reason)
    file = SourceFile(
        str(path), source.kind, sha256, size, source.version, with_text and source.keeps_text,
        notes_stay=source.notes_stay,
    )  # fmt: skip
    if source.find_run_inputs is None:
        return InputPlan(file)
    run_inputs = source.find_run_inputs(path, given)
    file.context = run_inputs.digest()
    return InputPlan(file, context=ReadContext(run_inputs=run_inputs))


def is_unchanged(file: SourceFile) -> bool:
    """Say whether an input is still there as it was read."""
    source = source_of(file.kind)
    try:
        return (source.digest if source else digest)(Path(file.path)) == (file.sha256, file.size)
    except BrokenInput:
        return False


def left_out(path: str, reason: str, note: str = "skipped") -> InputPlan:
    """Return the plan of something that was found and cannot be read, so that it can be listed."""
    return InputPlan(SourceFile(path, UNKNOWN, "", 0, 1, with_text=False), reason, note=note)


def load(plan: InputPlan) -> Iterator[Item]:
    """Yield everything that an input holds, scored; what is broken comes as `Skipped`."""
    return scored(plan, read_input(plan))


def scored(plan: InputPlan, items: Iterable[ReadItem]) -> Iterator[Item]:
    """Yield what was read of an input, its calls scored."""
    run = run_of(Path(plan.file.path))
    for item in items:
        line, found = item if isinstance(item, tuple) else (0, item)
        if isinstance(found, Conversation):
            facts, notes = facts_of(found, default_run=run, line=line, with_text=plan.file.with_text)
            yield facts
            yield from notes
        else:
            yield found


def read_input(plan: InputPlan) -> Iterator[ReadItem]:
    """Yield what the source of an input reads in it; what is broken comes as `Skipped`."""
    if plan.source is None:
        yield Skipped(plan.note, None, plan.reason)
    else:
        yield from plan.source.items(Path(plan.file.path), plan.context)
