"""Fail a build whose candidate is worse than its baseline: the `gate` command."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from riff_tui.commands import completion
from riff_tui.commands.options import (
    AsciiOption,
    CsvRawOption,
    DebugOption,
    OutputOption,
    StoreOption,
    WhereOption,
    settings_for,
)
from riff_tui.commands.reading import form_of
from riff_tui.output.formats import FORMATS, Format

if TYPE_CHECKING:
    from typing import TextIO

    from riff_tui.gate.decision import Decision
    from riff_tui.table import Table

EXAMPLES = (
    "riff-tui gate --baseline nightly-1 --candidate nightly-2",
    "riff-tui gate --baseline previous --candidate latest --max-drop completion=5% --max-drop latency_p95=0.5",
    "riff-tui gate --baseline main --candidate branch --max-drop humanness:codex=0.5 --min-n 10",
    "riff-tui gate --baseline main --candidate branch --github --junit gate.xml",
    "riff-tui gate --baseline main --candidate branch --json | jq -r '.because[].command'",
    "riff-tui gate --baseline main --candidate branch --summary-md message.md || ./notify.sh message.md",
    "riff-tui gate --baseline main --candidate branch --where 'agent:gemini' -o gate.md",
)
SUMMARY_VARIABLE = "GITHUB_STEP_SUMMARY"


BaselineOption = Annotated[
    str,
    typer.Option(
        "--baseline",
        metavar="A",
        autocompletion=completion.runs,
        help="The run to compare with: its id, or previous.",
        show_default=False,
    ),
]
CandidateOption = Annotated[
    str,
    typer.Option(
        "--candidate",
        metavar="B",
        autocompletion=completion.runs,
        help="The run to decide on: its id, or latest.",
        show_default=False,
    ),
]
MaxDropOption = Annotated[
    list[str] | None,
    typer.Option(
        "--max-drop",
        metavar="ASPECT=X",
        autocompletion=completion.tolerances,
        help="How far an aspect may fall, in its own unit or, of rates, in percent: success_rate, correctness,"
        " completion, errors, latency_p95, latency_mean (seconds up), humanness, humanness:JUDGE, of voice calls"
        " yield_rate and the like; repeatable.",
        show_default=False,
    ),
]
MinNOption = Annotated[
    int | None,
    typer.Option(
        "--min-n", metavar="N", min=1, help="Calls that a check takes on both sides, else 5.", show_default=False
    ),
]
StrictOption = Annotated[
    bool,
    typer.Option("--strict", help="Fail as well where a flow was not called, and where nothing could be decided."),
]
JunitOption = Annotated[
    Path | None,
    typer.Option("--junit", metavar="F", help="Write the checks as JUnit XML as well.", show_default=False),
]
GithubOption = Annotated[
    bool,
    typer.Option("--github", help=f"Print annotations for GitHub; the table goes into ${SUMMARY_VARIABLE}."),
]
JsonOption = Annotated[
    bool,
    typer.Option("--json", help="As --format json: because, for each check that failed, with a command to open it."),
]
SummaryOption = Annotated[
    Path | None,
    typer.Option(
        "--summary-md",
        metavar="F",
        help="Write one message of at most 3,000 characters as well, with commands; the file that"
        f" ${SUMMARY_VARIABLE} names is added to.",
        show_default=False,
    ),
]
FormatOption = Annotated[
    Format | None,
    typer.Option(
        "--format",
        metavar=f"[{'|'.join(FORMATS)}]",
        help="Else what the ending of FILE says, else text.",
        show_default=False,
    ),
]


def gate(
    baseline: BaselineOption,
    candidate: CandidateOption,
    max_drop: MaxDropOption = None,
    min_n: MinNOption = None,
    strict: StrictOption = False,
    where: WhereOption = "",
    junit: JunitOption = None,
    github: GithubOption = False,
    summary_md: SummaryOption = None,
    json: JsonOption = False,
    format: FormatOption = None,
    output: OutputOption = None,
    csv_raw: CsvRawOption = False,
    ascii_only: AsciiOption = None,
    store: StoreOption = None,
    debug: DebugOption = False,
) -> None:
    """Compare two runs and exit 3 where a flow got worse.

    It got worse by more than it may and by more than chance. Checked are success_rate, completion and errors of each
    flow, and what --max-drop names. The flows that fail are named on stderr.
    """
    from riff_tui.commands.reading import reading
    from riff_tui.errors import GateFailed, OutputError
    from riff_tui.filters import split
    from riff_tui.filters.parser import parse
    from riff_tui.gate import messages
    from riff_tui.gate.query import told_decision_on
    from riff_tui.gate.rules import configured
    from riff_tui.output.streams import say
    from riff_tui.settings import store_location, store_to_name

    settings = settings_for(store, ascii=ascii_only)
    form = _form(_chosen(format, json=json), output, github=github)
    rules = configured(max_drop or (), min_n, strict=strict)
    calls, _ = split(parse(where), ())
    location = store_location(settings)
    with reading(location) as opened:
        decision = told_decision_on(opened, baseline, candidate, calls, rules, store_to_name(location))
    line = messages.unarmed(messages.outcome(decision))
    try:
        if junit is not None:
            _write_junit(decision, junit)
        if summary_md is not None:
            _write_message(decision, summary_md)
        _report(decision, form, output, github=github, ascii_only=bool(settings.ascii), csv_raw=csv_raw)
    except OutputError as error:
        if decision.passed:
            raise
        say(f"riff-tui: error: {error}")  # that the gate failed says more, and ends the command
    if not decision.passed:
        raise GateFailed(line)
    say(line)


def _report(
    decision: Decision, form: Format, output: Path | None, *, github: bool, ascii_only: bool, csv_raw: bool
) -> None:
    """Write the table into a file, the summary of a step, or to stdout."""
    from riff_tui.views.gate import gate as table_of

    table = table_of(decision)
    if _names_file(output):
        _write(table, form, output, ascii_only=ascii_only, csv_raw=csv_raw)
    if github:
        _annotate(decision, table, ascii_only=ascii_only)
    elif not _names_file(output):
        _write(table, form, None, ascii_only=ascii_only, csv_raw=csv_raw)


def _chosen(format: Format | None, *, json: bool) -> Format | None:
    """Return the format that was chosen by either option; raise `UsageError` where they differ."""
    from riff_tui.errors import UsageError

    if json and format not in (None, Format.JSON):
        raise UsageError(f"--json and --format {format} are two formats; leave one of them out")
    return Format.JSON if json else format


def _form(chosen: Format | None, output: Path | None, *, github: bool) -> Format:
    """Return the format of the table; raise `UsageError` for one that it does not have, or that has nowhere to go."""
    from riff_tui.errors import UsageError

    if github and chosen is not None and not _names_file(output):
        raise UsageError("--format needs -o FILE where --github is given: stdout is for the annotations then")
    form = form_of(chosen, output)
    if form.is_graph:
        named = f"--format {chosen}" if chosen else output
        raise UsageError(f"{named}: a gate is no graph; it has {', '.join(FORMATS)}")
    return form


def _names_file(output: Path | None) -> bool:
    return output is not None and str(output) != "-"


def _write(table: Table, form: Format, path: Path | None, *, ascii_only: bool, csv_raw: bool) -> None:
    """Print the table to a file or to stdout; Markdown only as long as a pull request takes it."""
    from riff_tui.errors import writing
    from riff_tui.gate.reports import summary
    from riff_tui.output.files import write_whole
    from riff_tui.output.sinks import render
    from riff_tui.output.streams import standard_output

    text = summary(table, ascii_only=ascii_only) if form is Format.MARKDOWN else None

    def fill(file: TextIO) -> None:
        if text is not None:
            file.write(text)
        else:
            render(table, form, file, ascii_only=ascii_only, csv_raw=csv_raw)

    if path is not None:
        write_whole(path, fill)
    elif text is None:
        standard_output(ascii_only=ascii_only).print_table(table, form, csv_raw=csv_raw)
    else:
        with writing("stdout"):
            stream = standard_output(ascii_only=ascii_only).stream
            stream.write(text)
            stream.flush()


def _write_junit(decision: Decision, path: Path) -> None:
    from riff_tui.gate import reports
    from riff_tui.output.files import write_whole

    write_whole(path, lambda file: reports.write(decision, file))


def _write_message(decision: Decision, path: Path) -> None:
    """Write the message into a file, whole; what other steps and commands put into the summary of a step stays."""
    from riff_tui.gate.reports import append_summary, short_summary
    from riff_tui.output.files import write_whole

    text = short_summary(decision)
    place = os.environ.get(SUMMARY_VARIABLE)
    if place and os.path.abspath(path) == os.path.abspath(place):
        append_summary(path, text)
    else:
        write_whole(path, lambda file: file.writelines([text]))


def _annotate(decision: Decision, table: Table, *, ascii_only: bool) -> None:
    """Print the annotations, and add the table to the summary of the job's step."""
    from riff_tui.errors import writing
    from riff_tui.gate.reports import append_summary, commands, summary
    from riff_tui.output.streams import say, standard_output

    with writing("stdout"):
        stream = standard_output().stream
        stream.writelines(f"{line}\n" for line in commands(decision))
        stream.flush()
    place = os.environ.get(SUMMARY_VARIABLE)
    if place:
        append_summary(Path(place), summary(table, ascii_only=ascii_only))
    else:
        say(f"${SUMMARY_VARIABLE} is not set, so the table was written nowhere; -o FILE writes it to a file")
