"""Read, score and store what evaluations left behind: the `ingest` command."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import click
import typer

from riff_tui.commands.ingest_report import report
from riff_tui.commands.options import DebugOption, StoreOption, apply_limits, settings_for, store_to_write
from riff_tui.text.words import counted

if TYPE_CHECKING:
    from riff_ingest.pipeline import IngestSummary

EXAMPLES = (
    "riff-tui ingest runs/nightly-2026-06-22",
    "riff-tui ingest flow-transcripts-*.jsonl humanness-*.jsonl.gz --flow-file flows/dental.toml",
    "riff-tui ingest output/2026-06-22_02-00-00.000000_airline --dataset data/airline_dataset.json",
    "riff-tui ingest big/ --jobs 4 --no-text --strict --store nightly.db",
)


class SourceKind(click.ParamType):  # type: ignore[type-arg]  # no generic in click 8.2
    """Take the kind of a source; which there are is looked up only when help or a value asks for it."""

    name = "kind"

    def get_metavar(self, param: click.Parameter, ctx: click.Context) -> str:
        """Return the kinds as help shows a choice."""
        return f"[{'|'.join(self.choices)}]"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return a kind that there is, or fail with those that there are."""
        if value not in (kinds := self.choices):
            self.fail(f"{value!r} is not one of {', '.join(map(repr, kinds))}.", param, ctx)
        return value

    @property
    def choices(self) -> list[str]:
        """Return the kinds that there are."""
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
        autocompletion=lambda: SourceKind().choices,
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
    bool, typer.Option("--no-text", help="Keep scores and their reasons, not what was said.", show_default=False)
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
        writer=settings.writer,
    )
    for line in (*registry().problems, *plugins().problems, *report(summary, kind)):
        say(line, fits=True)
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
    writer: str | None = None,
) -> IngestSummary:
    """Ingest with progress on a terminal into the store at a location, made if it is missing and something is taken."""
    from riff_ingest.eva.run_inputs import RunInputs
    from riff_ingest.pipeline import ingest as read_and_store
    from riff_ingest.tool_segments import ToolSegments
    from riff_store.writer import Writer
    from riff_tui.commands.written_by import written_by
    from riff_tui.output.progress import terminal_progress
    from riff_tui.settings import segments

    apply_limits()
    with store_to_write(location, create=True) as opened, terminal_progress() as progress:
        summary = read_and_store(
            paths,
            Writer(opened, written_by(writer)),
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


def _given(*paths: Path | None) -> list[Path]:
    return [path for path in paths if path is not None]


def _dropped(summary: IngestSummary) -> str:
    if summary.is_empty:
        return "nothing was taken"
    parts = [counted(summary.skipped, "input")] if summary.skipped else []
    parts = [f"{part} {'was' if summary.skipped == 1 else 'were'} skipped" for part in parts]
    if replaced := summary.replaced + summary.dropped.total():
        parts.append(f"{counted(replaced, 'conversation')} replaced by the same call elsewhere")
    return f"{' and '.join(parts)}; `riff-tui doctor` lists what and why"
