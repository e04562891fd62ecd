"""Read, score and store what evaluations left behind: the `ingest` command."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import click

from riff_tui.commands.options import (
    JsonOption,
    StoreOption,
    apply_limits,
    argument,
    flag,
    next_command,
    option,
    print_json,
    printed,
    settings_for,
    store_to_write,
)
from riff_tui.shapes import COUNT, TEXT, list_of, or_null, record

if TYPE_CHECKING:
    from riff_ingest.pipeline import IngestSummary
    from riff_store.facts import FileResult, Unjoined


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


FlowFileOption = Annotated[list[Path] | None, option("--flow-file", "F", "A file that describes a flow; repeatable.")]


_COUNTED = (
    "conversations", "scores", "flows", "annotations", "replaced", "skipped", "noted", "updated", "rerun", "superseded"
)  # fmt: skip
_OF_FILE = record(
    {**dict.fromkeys(("path", "kind", "status"), TEXT), **dict.fromkeys(_COUNTED, COUNT), "reason": or_null(TEXT)}
)
_SUMS = ("conversations", "scores", "annotations", "unchanged", "replaced", "skipped", "waiting_notes")
JSON = printed(
    {"store": TEXT, **dict.fromkeys(_SUMS, COUNT), "files": list_of(_OF_FILE), "not_looked_at": list_of(TEXT)}
)


def ingest(
    paths: Annotated[list[Path], argument("PATH...", "Files, or directories to walk.")],
    kind: Annotated[
        str | None,
        option(
            "--as",
            None,
            "The kind of all the files; else their content decides.",
            lambda: SourceKind().choices,
            click_type=SourceKind(),
        ),
    ] = None,
    flow_file: FlowFileOption = None,
    dataset: Annotated[Path | None, option("--dataset", "F", "The dataset that EVA's runs played.")] = None,
    agent: Annotated[Path | None, option("--agent", "F", "The file of the agent in EVA's runs.")] = None,
    jobs: Annotated[int | None, option("--jobs", "N", "Processes that read and score.", min=1)] = None,
    no_text: Annotated[bool, flag("--no-text", "Keep scores and their reasons, not what was said.")] = False,
    strict: Annotated[
        bool, flag("--strict", "Exit 5 if anything was skipped, a call came twice, or nothing was read.")
    ] = False,
    rebuild: Annotated[bool, flag("--rebuild", "Read files again that have not changed.")] = False,
    json: JsonOption = False,
    again: Annotated[bool, flag("--again", "Read all files again, and take back what was forgotten of them.")] = False,
    store: StoreOption = None,
) -> None:
    """Read, score and store calls, scores and flow files.

    What is unchanged is left alone, and calls that were forgotten stay out.
    """
    from riff_ingest.sources.registry import registry
    from riff_store.metrics import plugins
    from riff_tui.errors import InputSkipped, UsageError
    from riff_tui.output.streams import say
    from riff_tui.settings import store_location, store_to_name

    settings = settings_for(store, jobs=jobs)
    missing = [path for path in [*paths, *(flow_file or ()), *filter(None, (dataset, agent))] if not path.exists()]
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
        rebuild=rebuild or again,
        takes_back=again,
        writer=settings.writer,
    )
    named = store_to_name(store_location(settings))
    for line in (*registry().problems, *plugins().problems, *report(summary, kind, named)):
        say(line, fits=True)
    if json:
        print_json(_members(summary, store_location(settings)))
    if strict and (summary.skipped or summary.replaced or summary.dropped or summary.is_empty):
        raise InputSkipped(_dropped(summary, named))
    if not summary.is_empty:
        say(f"Next: {next_command(store=named)}")


def _members(summary: IngestSummary, location: str) -> dict[str, Any]:
    """Return what became of the input, as JSON has it: sums of what was stored, then each file."""
    from riff_store.location import without_secrets

    return {
        "store": without_secrets(location),
        "conversations": summary.conversations("taken", "changed"),
        "scores": summary.scores,
        "annotations": summary.annotations,
        "unchanged": summary.count("unchanged"),
        "replaced": summary.replaced,
        "skipped": summary.skipped,
        "waiting_notes": summary.waiting_notes,
        "files": [
            {
                "path": result.path,
                "kind": result.kind,
                "status": _became(result),
                **{key: getattr(result, key) for key in _COUNTED},
                "reason": result.reason or None,
            }
            for result in summary.results
        ],
        "not_looked_at": list(summary.not_looked_at),
    }


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
    takes_back: bool = False,
    writer: str | None = None,
) -> IngestSummary:
    """Ingest with progress on a terminal into the store at a location, made if it is missing and something is taken."""
    from riff_ingest.pipeline import ingest as read_and_store
    from riff_ingest.segments import ToolSegments
    from riff_store.write.writer import Writer
    from riff_tui.output.progress import terminal_progress
    from riff_tui.settings import segments

    run_inputs = None
    if dataset or agent:
        from riff_ingest.eva.run_inputs import RunInputs

        run_inputs = RunInputs(*(os.path.abspath(path) if path else None for path in (dataset, agent)))
    apply_limits()
    with store_to_write(location, create=True) as opened, terminal_progress() as progress:
        summary = read_and_store(
            paths,
            Writer(opened, written_by(writer), takes_back=takes_back),
            kind=kind,
            flow_files=flow_files,
            run_inputs=run_inputs,
            tool_segments=ToolSegments.of(segments()),
            jobs=jobs,
            with_text=with_text,
            rebuild=rebuild,
            progress=progress.reading if progress else None,
        )
        if opened.is_new and summary.is_empty:
            opened.discard_empty()
        return summary


def _dropped(summary: IngestSummary, store: str) -> str:
    from riff_tui.text.numbers import counted

    if summary.is_empty:
        return "nothing was taken"
    parts = [counted(summary.skipped, "input")] if summary.skipped else []
    parts = [f"{part} {'was' if summary.skipped == 1 else 'were'} skipped" for part in parts]
    if replaced := summary.replaced + summary.dropped.total():
        parts.append(f"{counted(replaced, 'conversation')} replaced by the same call elsewhere")
    return f"{' and '.join(parts)}; `{next_command('doctor', store=store)}` lists what and why"


LISTED_FILES = 24
"""As many inputs as are told one by one; of more the kinds are counted."""

LEFT_OUT = 12
UNKNOWN = "unknown"


def report(summary: IngestSummary, kind: str | None = None, store: str = "") -> Iterator[str]:
    """Yield what became of the input, a line each, the sum last; `kind` is what all of it was to be read as.

    Commands name the store by `store`, if that is not empty.

    Of many inputs the kinds are counted, and those follow of which not everything was taken, with why.
    """
    from riff_ingest.sources.registry import sources
    from riff_tui.text.numbers import counted

    if not summary.results:
        yield "Nothing to ingest was found there. What can be read, gzipped or not:"
        yield from (f"  {source.kind:12}  {source.known_by}" for source in sources())
        yield from _not_looked_at(summary)
        return
    if len(summary.results) <= LISTED_FILES:
        yield from _lines(summary.results)
    else:
        yield from _kinds(summary.results)
        left_out = sorted((each for each in summary.results if each.skipped), key=lambda each: each.kind == UNKNOWN)
        yield from _lines(left_out[:LEFT_OUT])
        if len(left_out) > LEFT_OUT:
            yield f"{'skipped':9}  {'…':11}  of {counted(len(left_out) - LEFT_OUT, 'other file')}"
    yield from _not_looked_at(summary)
    for path, inputs in sorted(summary.run_inputs.items()):
        yield f"{'used':9}  {'with eva':11}  {_shown(path)}: for {counted(inputs, 'conversation')}"
    yield from _replaced(summary, store)
    if summary.forgotten:
        are = "was" if summary.forgotten == 1 else "were"
        yield f"{counted(summary.forgotten, 'conversation')} left out that {are} forgotten (ingest --again takes them)."
    if not summary.is_empty:
        yield _sum(summary, store)
    else:
        forced = f" With --as {kind} all of it is read as that; without --as each file is read by its content."
        yield f"Nothing was read.{forced if kind else ''}"


def _lines(results: Sequence[FileResult]) -> Iterator[str]:
    """Yield what became of each input; of one that was taken in part why the first was left out follows below."""
    for result in results:
        held, below = ", ".join(_holds([result])), ""
        if result.kind == UNKNOWN:
            held = result.reason or held
        elif result.reason and _became(result) == "skipped":
            held = f"{held} ({result.reason})"
        else:
            below = result.reason
        yield f"{_became(result):9}  {result.kind:11}  {_shown(result.path)}{f': {held}' if held else ''}"
        if below:
            yield f"{'':9}  {'':11}  {below}"


def _shown(path: str) -> str:
    """Return a path from the working directory on, where it is below."""
    with suppress(OSError):
        return path.removeprefix(os.path.join(os.getcwd(), ""))
    return path


def _became(result: FileResult) -> str:
    """Return what became of an input: one of which only what was left out is known was skipped."""
    held = (result.conversations, result.scores, result.flows, result.annotations, result.replaced, result.superseded)
    return "skipped" if result.kind == UNKNOWN or (result.skipped and not any(held)) else result.status


def _kinds(results: Sequence[FileResult]) -> Iterator[str]:
    """Yield how many inputs of each kind were taken, and what they have; what is of no kind comes last."""
    from riff_tui.text.numbers import counted

    groups: dict[tuple[str, str], list[FileResult]] = {}
    for result in results:
        groups.setdefault((result.kind, _became(result)), []).append(result)
    for (kind, became), group in sorted(groups.items(), key=lambda each: (each[0][0] == UNKNOWN, each[0])):
        held = "" if kind == UNKNOWN else ", ".join(_holds(group))
        yield f"{became:9}  {kind:11}  {counted(len(group), 'file')}{f': {held}' if held else ''}"


def _not_looked_at(summary: IngestSummary) -> Iterator[str]:
    from riff_tui.text.numbers import listed

    if summary.not_looked_at:
        yield f"Not looked at (no input has such a name): {listed([_shown(path) for path in summary.not_looked_at])}."


def _sum(summary: IngestSummary, store: str) -> str:
    from riff_tui.text.numbers import counted

    stored = summary.conversations("taken", "changed")
    scores = counted(summary.scores, "score")
    rest = f", {scores} and {counted(summary.annotations, 'note')}" if summary.annotations else f" and {scores}"
    parts = [f"{counted(stored, 'conversation')}{rest} stored"]
    if summary.count("unchanged"):
        parts.append(f"{counted(summary.count('unchanged'), 'file')} unchanged")
    if summary.skipped:
        parts.append(f"{summary.skipped} skipped (why: {next_command('dump', 'skipped', store=store)})")
    return f"{', '.join(parts)}."


def _replaced(summary: IngestSummary, store: str) -> Iterator[str]:
    """Yield what does not count although it was read, a line each."""
    from riff_tui.text.numbers import counted, listed

    which = f"(which: {next_command('dump', 'skipped', store=store)})"
    if summary.replaced:
        places = listed([_shown(path) for path in summary.winners]) or "another file"
        calls = counted(summary.replaced, "conversation")
        yield f"{calls} replaced, because the same call is also in {places} {which}."
    if summary.dropped:
        calls = counted(summary.dropped.total(), "conversation")
        places = listed([_shown(path) for path in summary.dropped])
        yield f"{calls} of earlier files that still contain them ({places}) replaced by the same call in these {which}."
    elif summary.updated:
        yield f"{counted(summary.updated, 'conversation')} of earlier files replaced by the same call in these."
    if any(summary.unjoined):
        scores = counted(sum(summary.unjoined), "score")
        yield f"{scores} in the store joined to no call: {', '.join(_unjoined(summary.unjoined))} {which}."
    if summary.waiting_notes:
        wait = "waits for its call" if summary.waiting_notes == 1 else "wait for their calls"
        yield f"{counted(summary.waiting_notes, 'note')} in the store {wait} {which}."


def _unjoined(scores: Unjoined) -> Iterator[str]:
    if scores.waiting:
        yield f"{scores.waiting} {'waits for its call' if scores.waiting == 1 else 'wait for their calls'}"
    if scores.ambiguous:
        yield f"{scores.ambiguous} {'has an id' if scores.ambiguous == 1 else 'have ids'} that may be of several calls"


def _holds(results: Sequence[FileResult]) -> list[str]:
    from riff_tui.text.numbers import counted

    def total(key: str) -> int:
        return sum(getattr(result, key) for result in results)

    nouns = {"conversations": "conversation", "scores": "score", "flows": "flow", "annotations": "note"}
    words = {key: key for key in ("replaced", "rerun", "superseded", "skipped", "noted")} | {"rerun": "run again"}
    held = [counted(total(key), noun) for key, noun in nouns.items() if total(key)]
    return held + [f"{total(key)} {word}" for key, word in words.items() if total(key)]


# Find out who stores calls: whom the settings name, else the CI job, else the user of this machine.
LONGEST = 200
_JOBS = ("CI_JOB_URL", "BUILDKITE_BUILD_URL", "CIRCLE_BUILD_URL", "BUILD_URL")
"""The variables in which GitLab, Buildkite, CircleCI and Jenkins say where a job can be looked at."""
_GITHUB = ("GITHUB_SERVER_URL", "GITHUB_REPOSITORY", "GITHUB_RUN_ID")


def written_by(setting: str | None = None, environ: Mapping[str, str] | None = None) -> str:
    """Return who stores calls, in a line; `setting` is whom the environment or the settings file names, if anyone."""
    from socket import gethostname

    from riff_store.location import without_secrets
    from riff_tui.notes.author import clean, user

    environ = os.environ if environ is None else environ
    named = clean(setting or "", LONGEST)
    if named:
        return named
    job = next((environ[name] for name in _JOBS if environ.get(name)), "")
    if all(environ.get(name) for name in _GITHUB):
        server, repository, run = (environ[name] for name in _GITHUB)
        job = f"{server}/{repository}/actions/runs/{run}"
    return clean(without_secrets(job), LONGEST) or clean(f"{user()}@{gethostname().partition('.')[0]}", LONGEST)
