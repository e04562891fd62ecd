"""Read, score and store what evaluations left behind: the `ingest` command."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import click
import typer

from riff_tui.commands.options import DebugOption, StoreOption, settings_for, store_to_write
from riff_tui.text.words import counted, listed

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from riff_ingest.pipeline import IngestSummary
    from riff_store.facts import FileResult, Unjoined

EXAMPLES = (
    "riff-tui ingest runs/nightly-2026-06-22",
    "riff-tui ingest flow-transcripts-*.jsonl humanness-*.jsonl.gz --flow-file flows/dental.toml",
    "riff-tui ingest output/2026-06-22_02-00-00.000000_airline --dataset data/airline_dataset.json",
    "riff-tui ingest big/ --jobs 4 --no-text --strict --store nightly.db",
)
LISTED_FILES = 12
UNKNOWN = "unknown"


class SourceKind(click.ParamType):  # type: ignore[type-arg]  # no generic in click 8.2
    """Take the kind of a source; which there are is looked up only when help or a value asks for it."""

    name = "kind"

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str:
        """Return the kinds as help shows a choice."""
        return f"[{'|'.join(self._kinds())}]"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return a kind that there is, or fail with those that there are."""
        if value not in (kinds := self._kinds()):
            self.fail(f"{value!r} is not one of {', '.join(map(repr, kinds))}.", param, ctx)
        return value

    def _kinds(self) -> list[str]:
        from riff_ingest.sources.registry import sources

        return [source.kind for source in sources()]


PathsArgument = Annotated[
    list[Path], typer.Argument(metavar="PATH...", help="Files, or directories to walk.", show_default=False)
]
KindOption = Annotated[
    str | None,
    typer.Option(
        "--as",
        click_type=SourceKind(),
        help="The kind of all the files; else their content decides.",
        show_default=False,
    ),
]
FlowFileOption = Annotated[
    list[Path] | None,
    typer.Option("--flow-file", metavar="F", help="A file that describes a flow; repeatable.", show_default=False),
]
DatasetOption = Annotated[
    Path | None,
    typer.Option("--dataset", metavar="F", help="The dataset that EVA's runs played.", show_default=False),
]
AgentOption = Annotated[
    Path | None,
    typer.Option("--agent", metavar="F", help="The file of the agent in EVA's runs.", show_default=False),
]
JobsOption = Annotated[
    int | None,
    typer.Option("--jobs", metavar="N", min=1, help="Processes that read and score.", show_default=False),
]
NoTextOption = Annotated[
    bool, typer.Option("--no-text", help="Keep scores only, not what was said.", show_default=False)
]
StrictOption = Annotated[
    bool,
    typer.Option(
        "--strict",
        help="Exit 5 where anything was skipped, a call stands twice, or nothing was taken.",
        show_default=False,
    ),
]
RebuildOption = Annotated[
    bool, typer.Option("--rebuild", help="Read files again that have not changed.", show_default=False)
]


def ingest(
    paths: PathsArgument,
    kind: KindOption = None,
    flow_file: FlowFileOption = None,
    dataset: DatasetOption = None,
    agent: AgentOption = None,
    jobs: JobsOption = None,
    no_text: NoTextOption = False,
    strict: StrictOption = False,
    rebuild: RebuildOption = False,
    store: StoreOption = None,
    debug: DebugOption = False,
) -> None:
    """Read, score and store calls, scores and flow files.

    What is unchanged is left alone.
    """
    from riff_ingest.sources.registry import registry
    from riff_store.metrics import plugins
    from riff_tui.errors import InputSkipped, UsageError
    from riff_tui.output.streams import say
    from riff_tui.settings import store_location

    settings = settings_for(store, jobs=jobs)
    missing = [path for path in [*paths, *(flow_file or ()), *_given(dataset, agent)] if not path.exists()]
    if missing:
        raise UsageError(f"{missing[0]}: there is no such file or directory")
    summary = run(
        store_location(settings),
        paths,
        kind=kind,
        flow_files=flow_file or (),
        dataset=dataset,
        agent=agent,
        jobs=settings.jobs or 1,
        with_text=not no_text,
        rebuild=rebuild,
    )
    for line in (*registry().problems, *plugins().problems, *report(summary)):
        say(line)
    if strict and (summary.skipped or summary.replaced or summary.dropped or summary.is_empty):
        raise InputSkipped(_dropped(summary))


def run(
    location: str,
    paths: list[Path],
    *,
    kind: str | None = None,
    flow_files: list[Path] | tuple[Path, ...] = (),
    dataset: Path | None = None,
    agent: Path | None = None,
    jobs: int = 1,
    with_text: bool = True,
    rebuild: bool = False,
) -> IngestSummary:
    """Ingest with progress on a terminal into the store at a location, made if it is missing and something is taken."""
    from riff_ingest.eva.run_inputs import RunInputs
    from riff_ingest.pipeline import ingest as read_and_store
    from riff_ingest.tool_segments import ToolSegments
    from riff_store.writer import Writer
    from riff_tui.output.progress import terminal_progress
    from riff_tui.settings import segments

    with store_to_write(location, create=True) as opened, terminal_progress() as progress:
        summary = read_and_store(
            paths,
            Writer(opened),
            kind=kind,
            flow_files=flow_files,
            run_inputs=RunInputs(*(os.path.abspath(path) if path else None for path in (dataset, agent))),
            tool_segments=ToolSegments.of(segments()),
            jobs=jobs,
            with_text=with_text,
            rebuild=rebuild,
            progress=progress.reading if progress else None,
        )
        if opened.is_new and summary.is_empty:
            opened.discard_empty()
        return summary


def report(summary: IngestSummary) -> Iterator[str]:
    """Yield what became of the input, a line each, the sum last."""
    if not summary.results:
        yield _nothing_found()
        return
    if len(summary.results) <= LISTED_FILES:
        yield from map(_line, summary.results)
    elif summary.is_empty:
        yield from map(_line, summary.results[:LISTED_FILES])
        yield f"{'skipped':9}  and {counted(len(summary.results) - LISTED_FILES, 'other')}"
    else:
        for kind in sorted({result.kind for result in summary.results}):
            of_kind = [result for result in summary.results if result.kind == kind]
            yield f"{kind}: {_files(of_kind)}"
    for path, inputs in sorted(summary.run_inputs.items()):
        yield f"{'used':9}  {'with eva':11}  {path}: for {counted(inputs, 'conversation')}"
    yield from _replaced(summary)
    yield "Nothing was taken." if summary.is_empty else _sum(summary)


def _nothing_found() -> str:
    from riff_ingest.sources.registry import sources

    known = "; ".join(f"{source.kind} ({source.known_by})" for source in sources())
    return f"Nothing to ingest was found there. What can be read, gzipped or not: {known}."


def _given(*paths: Path | None) -> list[Path]:
    return [path for path in paths if path is not None]


def _line(result: FileResult) -> str:
    became = "skipped" if result.kind == UNKNOWN else result.status
    held = ", ".join(_holds([result]))
    if result.reason and (result.kind == UNKNOWN or held == f"{result.skipped} skipped"):
        held = result.reason if result.kind == UNKNOWN else f"{held} ({result.reason})"
    return f"{became:9}  {result.kind:11}  {result.path}{f': {held}' if held else ''}"


def _sum(summary: IngestSummary) -> str:
    stored = summary.conversations("taken", "changed")
    scores = counted(summary.scores, "score")
    rest = f", {scores} and {counted(summary.annotations, 'note')}" if summary.annotations else f" and {scores}"
    parts = [f"{counted(stored, 'conversation')}{rest} stored"]
    if summary.count("unchanged"):
        parts.append(f"{counted(summary.count('unchanged'), 'file')} unchanged")
    if summary.skipped:
        parts.append(f"{summary.skipped} skipped (why: riff-tui dump skipped)")
    return f"{', '.join(parts)}."


def _replaced(summary: IngestSummary) -> Iterator[str]:
    """Yield what does not count although it was read, a line each."""
    which = "(which: riff-tui dump skipped)"
    if summary.replaced:
        places = listed(summary.winners) or "another file"
        calls = counted(summary.replaced, "conversation")
        yield f"{calls} replaced, because the same call stands again in {places} {which}."
    if summary.dropped:
        calls = counted(summary.dropped.total(), "conversation")
        places = listed(list(summary.dropped))
        yield f"{calls} of earlier files that still hold them ({places}) replaced by the same call in these {which}."
    elif summary.updated:
        yield f"{counted(summary.updated, 'conversation')} of earlier files replaced by the same call in these."
    if any(summary.unjoined):
        scores = counted(sum(summary.unjoined), "score")
        yield f"{scores} in the store joined to no call: {', '.join(_unjoined(summary.unjoined))} {which}."


def _unjoined(scores: Unjoined) -> Iterator[str]:
    if scores.waiting:
        yield f"{scores.waiting} {'waits for its call' if scores.waiting == 1 else 'wait for their calls'}"
    if scores.ambiguous:
        yield f"{scores.ambiguous} {'has an id' if scores.ambiguous == 1 else 'have ids'} that may be of several calls"


def _dropped(summary: IngestSummary) -> str:
    if summary.is_empty:
        return "nothing was taken"
    parts = [counted(summary.skipped, "input")] if summary.skipped else []
    parts = [f"{part} {'was' if summary.skipped == 1 else 'were'} skipped" for part in parts]
    if replaced := summary.replaced + summary.dropped.total():
        parts.append(f"{counted(replaced, 'conversation')} replaced by the same call elsewhere")
    return f"{' and '.join(parts)}; `riff-tui doctor` lists what and why"


def _holds(results: Sequence[FileResult]) -> list[str]:
    nouns = ("conversation", "score", "flow", "note")
    counts = (
        sum(result.conversations for result in results),
        sum(result.scores for result in results),
        sum(result.flows for result in results),
        sum(result.annotations for result in results),
    )
    held = [counted(count, noun) for count, noun in zip(counts, nouns, strict=True) if count]
    for key, word in (("replaced", "replaced"), ("rerun", "run again"), ("skipped", "skipped"), ("noted", "noted")):
        count = sum(getattr(result, key) for result in results)
        held += [f"{count} {word}"] if count else []
    return held


def _files(results: list[FileResult]) -> str:
    parts: list[str] = []
    for status in ("taken", "changed", "unchanged"):
        of_status = [result for result in results if result.status == status]
        if of_status:
            parts.append(f"{counted(len(of_status), 'file')} {status}")
    return ", ".join([*parts, *_holds(results)])
