"""Ingest paths: find, recognise, read, score and hand to the writer.

Files go in sorted order whatever the order of arguments and the number of jobs, so that the
store comes out the same.
"""

from __future__ import annotations

import gc
import hashlib
import os
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeAlias

import msgspec

from riff_ingest.conversation import Contract
from riff_ingest.loader import InputPlan, Item, is_unchanged, loaded, plan_inputs, plan_left_out, plan_retries
from riff_ingest.segments import NO_SEGMENTS, ToolSegments
from riff_ingest.sources.registry import find_inputs, sources
from riff_store.facts import ConversationFacts, FileResult, HeldInput, RunOfCall, SourceFile, SupersededFile, Unjoined

if TYPE_CHECKING:
    from riff_ingest.eva.run_inputs import RunInputs

BATCH_CONVERSATIONS = 1000
BATCH_SECONDS = 0.5
REPORT_EVERY = 250
BATCH_ITEMS = 4 * BATCH_CONVERSATIONS
"""How many calls and verdicts go into a batch: most verdicts lie beside their calls, and are settled with them."""
READ_AHEAD = 1000
"""How many items of a file are read before a batch begins."""
READ_AHEAD_BYTES = 16 * 1024 * 1024
"""How many bytes of texts these hold at most, and those of a batch together."""

_Read: TypeAlias = tuple[InputPlan, Iterable[Item]]


class FactsWriter(Protocol):
    """Describe what ingest needs of the store's writer."""

    def order(self, paths: Iterable[str]) -> None: ...
    def contracts(self) -> dict[str, str]: ...
    def inputs(self) -> list[tuple[str, str]]: ...
    def runs_of(self, calls: Iterable[str]) -> dict[str, list[RunOfCall]]: ...
    def dictionary(self) -> bytes | None: ...
    def known(self, file: SourceFile) -> FileResult | None: ...
    def batch(self, files: Iterable[SourceFile] = ..., *, rebuild: bool = ...) -> AbstractContextManager[None]: ...
    def put_file(self, file: SourceFile, items: Iterable[Item], *, rebuild: bool = False) -> FileResult: ...
    def orphaned(self) -> list[str]: ...
    def held(self, paths: Iterable[str]) -> dict[str, HeldInput]: ...
    def settle_unended(self) -> None: ...
    def superseded(self) -> list[SupersededFile]: ...
    def unjoined(self) -> Unjoined: ...
    def waiting_notes(self) -> int: ...
    def pack(self, report: Callable[[int, int], None] | None = None) -> None: ...


@dataclass(slots=True)
class Progress:
    """Count how far an ingest is; bytes are those of the files that are done.

    Once all files are, `packed` of `to_pack` groups of calls are packed by column, of a store of many calls.
    """

    files: int
    bytes: int
    path: str = ""
    done_files: int = 0
    done_bytes: int = 0
    conversations: int = 0
    packed: int = 0
    to_pack: int = 0


@dataclass(slots=True)
class IngestSummary:
    """Describe what became of every input, and how many inputs used each dataset and agent's file.

    `run_inputs` counts the inputs by the path of such a file, `dropped` by path the calls of files that were not read
    along and still have them, in whose place those of these files count, `unjoined` the verdicts in the store that are
    joined to no call. `not_looked_at` are files below the paths whose names are of nothing that is read.
    """

    results: list[FileResult] = field(default_factory=list)
    run_inputs: Counter[str] = field(default_factory=Counter)
    dropped: Counter[str] = field(default_factory=Counter)
    unjoined: Unjoined = field(default_factory=Unjoined)
    waiting_notes: int = 0
    not_looked_at: list[str] = field(default_factory=list)

    def count(self, status: str) -> int:
        """Count the files of one status: `taken`, `changed` or `unchanged`."""
        return sum(result.status == status for result in self.results)

    def conversations(self, *statuses: str) -> int:
        """Count the conversations of the files of these statuses."""
        return sum(result.conversations for result in self.results if result.status in statuses)

    @property
    def scores(self) -> int:
        """Count the verdicts of judges that were taken."""
        return sum(result.scores for result in self.results if result.status != "unchanged")

    @property
    def annotations(self) -> int:
        """Count the notes of people that were taken."""
        return sum(result.annotations for result in self.results if result.status != "unchanged")

    @property
    def replaced(self) -> int:
        """Count the conversations of these files that are again further down or in another file, and count there."""
        return sum(result.replaced for result in self.results)

    @property
    def updated(self) -> int:
        """Count the conversations of files that were not read along, whose place those of these files took."""
        return sum(result.updated for result in self.results)

    @property
    def forgotten(self) -> int:
        """Count the conversations of these files that were taken out of the store, and stay out."""
        return sum(result.forgotten for result in self.results)

    @property
    def winners(self) -> list[str]:
        """Return the files with conversations that count instead of others."""
        return sorted({path for result in self.results for path in result.winners})

    @property
    def is_empty(self) -> bool:
        """Return whether nothing was taken from any file, nor had been before."""
        return not any(
            result.conversations
            or result.scores
            or result.flows
            or result.annotations
            or result.superseded
            or result.forgotten
            or (result.status == "unchanged" and not result.skipped)
            for result in self.results
        )

    @property
    def skipped(self) -> int:
        """Count the lines and files that could not be read, those of unchanged files included."""
        return sum(result.skipped for result in self.results)


Reporter = Callable[[Progress], None]


def ingest(
    paths: Sequence[str | os.PathLike[str]],
    writer: FactsWriter,
    *,
    kind: str | None = None,
    flow_files: Sequence[str | os.PathLike[str]] = (),
    run_inputs: RunInputs | None = None,
    tool_segments: ToolSegments = NO_SEGMENTS,
    jobs: int = 1,
    with_text: bool = True,
    rebuild: bool = False,
    progress: Reporter | None = None,
) -> IngestSummary:
    """Read files and directories into the store; what is unchanged is left alone unless `rebuild`.

    `kind` takes every file for that kind instead of looking at its content. Broken input is
    recorded and never raises; an unusable store does. `run_inputs` are files for all runs, `tool_segments` the phases
    of tools as users set them.
    """
    found = find_inputs([*paths, *flow_files])
    summary = IngestSummary(not_looked_at=found.not_looked_at)
    known = {flow: msgspec.json.decode(body, type=Contract) for flow, body in writer.contracts().items()}
    plan = partial(
        plan_inputs, with_text=with_text, contracts=known, run_inputs=run_inputs, tool_segments=tool_segments
    )
    plans = plan(found.files, kind, kinds=found.kinds, described=flow_files)
    plans += [each for each in plan_retries(plans, writer.inputs(), plan) if writer.known(each.file) is None]
    summary.run_inputs = Counter(path for plan in plans for path in plan.context.run_inputs or () if path)
    plans += [plan_left_out(path, reason) for path, reason in found.passed_over]
    plans += [plan_left_out(path, reason, note="defect") for path, reason in found.set_aside]
    writer.order(plan.file.path for plan in plans)
    run = _IngestRun(writer, summary, rebuild, progress, Progress(len(plans), sum(plan.file.size for plan in plans)))
    with _collector_paused():
        run.take([each for each in plans if not _judges_by_name(each)], jobs)
        run.take(_with_runs([each for each in plans if _judges_by_name(each)], writer, plan), jobs)
    if any(result.status == "changed" for result in summary.results):
        again = [Path(path) for path in writer.orphaned() if os.path.exists(path)]
        if again:
            run.rebuild = True
            plans = plan(again)
            plan_retries(plans, writer.inputs(), plan)
            run.take(plans, jobs)
    _settle(summary, writer)
    with _collector_paused():
        writer.pack(run.show_packing)
    return summary


def _judges_by_name(plan: InputPlan) -> bool:
    return plan.source is not None and plan.source.judged_calls is not None


def _with_runs(plans: list[InputPlan], writer: FactsWriter, plan: Callable[..., list[InputPlan]]) -> list[InputPlan]:
    """Let inputs that judge calls without their run know which runs have these, also those that the store has."""
    given = {os.path.abspath(each.file.path) for each in plans}
    kinds = {each.kind for each in sources() if each.judged_calls is not None}
    stored = [(path, kind) for path, kind in writer.inputs() if kind in kinds and path not in given]
    added = [each for path, kind in stored if os.path.exists(path) for each in plan([Path(path)], kind)]
    for each in (*plans, *added):
        if each.source is not None and each.source.judged_calls is not None:
            runs = writer.runs_of(each.source.judged_calls(Path(each.file.path)))
            each.context = replace(each.context, runs=runs)
            each.file.context += hashlib.sha256(msgspec.json.encode(runs, order="sorted")).hexdigest()
    return plans + [each for each in added if each.source is not None and writer.known(each.file) is None]


def _settle(summary: IngestSummary, writer: FactsWriter) -> None:
    """Let the summary show what the store has in the end, since files take calls from each other."""
    last = {result.path: result for result in summary.results}
    writer.settle_unended()
    for path, held in writer.held(last).items():
        result = last[path]
        result.conversations, result.replaced, result.superseded = held.conversations, held.replaced, held.superseded
        result.skipped, result.reason = held.skipped, held.reason or ""
    summary.results = list(last.values())
    for file, winner, calls in writer.superseded():
        if winner in last and file.path not in last and is_unchanged(file):
            summary.dropped[file.path] += calls
    if any(result.scores or result.status != "unchanged" for result in summary.results):
        summary.unjoined = writer.unjoined()
    if summary.annotations:
        summary.waiting_notes = writer.waiting_notes()


@contextmanager
def _collector_paused() -> Iterator[None]:
    """Pause the garbage collector: what is read, scored or packed has no cycles; looking for some costs a fifth."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


class _IngestRun:
    """Run one ingest: what is due goes in batches, each of them one transaction."""

    def __init__(
        self, writer: FactsWriter, summary: IngestSummary, rebuild: bool, report: Reporter | None, progress: Progress
    ) -> None:
        self.writer = writer
        self.summary = summary
        self.rebuild = rebuild
        self._report = report
        self._progress = progress
        self._stored = 0

    def take(self, plans: Sequence[InputPlan], jobs: int) -> None:
        due = []
        for plan in plans:
            known = None if self.rebuild else self.writer.known(plan.file)
            if known is None:
                due.append(plan)
            else:
                self._done(plan, known)
        with ExitStack() as pool:
            stream = loaded(due, jobs, pool, self.writer.dictionary)
            pending = next(stream, None)
            while pending is not None:
                pending = self._batch(pending, stream)

    def show_packing(self, packed: int, to_pack: int) -> None:
        """Report how many groups of calls are packed by column."""
        self._progress.packed, self._progress.to_pack = packed, to_pack
        if self._report is not None:
            self._report(self._progress)

    def _batch(self, pending: _Read | None, stream: Iterator[_Read]) -> _Read | None:
        ahead, pending = self._read_ahead(pending, stream)
        with self.writer.batch([plan.file for plan, _ in ahead], rebuild=self.rebuild):
            results = [(plan, self.writer.put_file(plan.file, items, rebuild=self.rebuild)) for plan, items in ahead]
        for plan, result in results:
            self._done(plan, result)
        return pending

    def _read_ahead(self, pending: _Read | None, stream: Iterator[_Read]) -> tuple[list[_Read], _Read | None]:
        """Read what goes into the next batch, so that others can write meanwhile; and return the file behind it.

        Of a file with more items than `READ_AHEAD`, or longer ones, the rest is read while it is written.
        """
        ahead: list[_Read] = []
        started, before, held, texts = time.monotonic(), self._stored, 0, 0
        while pending is not None:
            plan, items = pending
            rest = self._counted(plan, items)
            first: list[Item] = []
            for item in islice(rest, READ_AHEAD):
                first.append(item)
                texts += len(item.transcript or b"") if isinstance(item, ConversationFacts) else 0
                if texts >= READ_AHEAD_BYTES:
                    break
            ahead.append((plan, chain(first, rest)))
            held += len(first)
            pending = next(stream, None)
            has_verdicts_next = _has_verdicts_only(pending)
            if held >= BATCH_ITEMS or texts >= READ_AHEAD_BYTES or time.monotonic() - started >= BATCH_SECONDS:
                # Verdicts that come right behind calls are settled with them, which later takes far longer.
                if not has_verdicts_next or _has_verdicts_only((plan, items)):
                    break
            elif self._stored - before >= BATCH_CONVERSATIONS and not has_verdicts_next:
                break
        return ahead, pending

    def _counted(self, plan: InputPlan, items: Iterable[Item]) -> Iterator[Item]:
        self._progress.path = plan.file.path
        for item in items:
            if isinstance(item, ConversationFacts):
                self._stored += 1
                self._progress.conversations += 1
                if self._report is not None and self._stored % REPORT_EVERY == 0:
                    self._report(self._progress)
            yield item

    def _done(self, plan: InputPlan, result: FileResult) -> None:
        self.summary.results.append(result)
        self._progress.done_files += 1
        self._progress.done_bytes += plan.file.size
        if self._report is not None:
            self._report(self._progress)


def _has_verdicts_only(pending: _Read | None) -> bool:
    """Return whether a file may go in with the calls before it, since it has none of its own."""
    source = None if pending is None else pending[0].source
    return source is not None and not source.keeps_text
