"""Fail a build whose candidate is worse than its baseline: the `gate` command."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from riff_tui.commands import completion
from riff_tui.commands.options import (
    AsciiOption,
    CsvRawOption,
    Diverged,
    OutputOption,
    StoreOption,
    WhereOption,
    flag,
    option,
    settings_for,
)
from riff_tui.commands.reading import form_of, print_table, reading
from riff_tui.errors import GateFailed, OutputError, UsageError
from riff_tui.output.formats import FORMATS, Format

if TYPE_CHECKING:
    from riff_tui.gate.decision import Decision
    from riff_tui.table import Table

EXAMPLES = (
    "riff-tui gate --baseline nightly-1 --candidate nightly-2",
    "riff-tui gate --baseline previous --candidate latest --max-drop completion=5% --max-drop latency_p95=0.5",
    "riff-tui gate --baseline main --candidate branch --max-drop humanness:codex=0.5 --min-n 10",
    "riff-tui gate --baseline previous --candidate latest --min-coverage edges=90% --min-coverage terminals=1",
    "riff-tui gate --baseline main --candidate branch --github --junit gate.xml",
    "riff-tui gate --baseline main --candidate branch --json | jq -r '.because[].command'",
    "riff-tui gate --baseline main --candidate branch --summary-md message.md || ./notify.sh message.md",
    "riff-tui gate --baseline main --candidate branch --quarantine flaky.toml --comment comment.md",
    "riff-tui gate --baseline main --candidate branch --where 'agent:gemini' -o gate.md",
)
SUMMARY_VARIABLE = "GITHUB_STEP_SUMMARY"


MinNOption = Annotated[int | None, option("--min-n", "N", "Calls that a check takes on both sides, else 5.", min=1)]
JSON = ("gate",)
"""The view that it prints."""
DayOption = Annotated[str | None, option("--day", "DAY", "The day on which the quarantine is read, else today (UTC).")]
CommentOption = Annotated[
    Path | None,
    option("--comment", "F", "Write the table as Markdown as well, below a line by which its comment is found again."),
]


def gate(
    baseline: Annotated[
        str, option("--baseline", "A", "The run to compare with: its id, or previous.", completion.runs)
    ],
    candidate: Annotated[str, option("--candidate", "B", "The run to decide on: its id, or latest.", completion.runs)],
    max_drop: Annotated[
        list[str] | None,
        option(
            "--max-drop",
            "ASPECT=X",
            "How far an aspect may fall, in its own unit or, of shares, in percent: success_rate, correctness,"
            " completion, errors, latency_p95, latency_mean, latency_tail (seconds up), slow, humanness,"
            " humanness:JUDGE, of voice calls yield_rate and the like; repeatable.",
            completion.tolerances,
        ),
    ] = None,
    max_errored: Annotated[
        str | None, option("--max-errored", "X", "How much the share of errored calls may rise, else 5%.")
    ] = None,
    min_coverage: Annotated[
        list[str] | None,
        option(
            "--min-coverage",
            "KIND=X",
            "How much of each flow the candidate's calls have to touch: states, edges, slots, guards, terminals or"
            " tools; repeatable.",
            completion.coverage_kinds,
        ),
    ] = None,
    min_n: MinNOption = None,
    strict: Annotated[
        bool, flag("--strict", "Fail as well where a flow was not called, and where nothing could be decided.")
    ] = False,
    where: WhereOption = "",
    junit: Annotated[Path | None, option("--junit", "F", "Write the checks as JUnit XML as well.")] = None,
    github: Annotated[
        bool, flag("--github", f"Print annotations for GitHub; the table goes into ${SUMMARY_VARIABLE}.")
    ] = False,
    summary_md: Annotated[
        Path | None,
        option(
            "--summary-md",
            "F",
            "Write one message of at most 3,000 characters as well, with commands; the file that"
            f" ${SUMMARY_VARIABLE} names is added to.",
        ),
    ] = None,
    quarantine: Annotated[
        Path | None,
        option(
            "--quarantine",
            "F",
            "Have the flows and scenarios of this file (TOML) decide nothing until their day, and fail after it.",
        ),
    ] = None,
    day: DayOption = None,
    diverged: Annotated[
        Diverged,
        option(
            "--diverged",
            None,
            "Whether frozen calls in which the agent went another way than recorded are errored as others are (fail),"
            " or in no check (ok).",
        ),
    ] = Diverged.FAIL,
    comment: CommentOption = None,
    json: Annotated[
        bool, flag("--json", "As --format json: because, for each check that failed, with a command to open it.")
    ] = False,
    format: Annotated[
        Format | None, option("--format", f"[{'|'.join(FORMATS)}]", "Else by the ending of FILE, else text.")
    ] = None,
    output: OutputOption = None,
    csv_raw: CsvRawOption = False,
    ascii_only: AsciiOption = None,
    store: StoreOption = None,
) -> None:
    """Compare two runs and exit 3 where a flow got worse.

    It got worse by more than it may and by more than chance. Checked are success_rate, completion and errors of each
    flow, what --max-drop names, how many calls errored, and of how many each aspect was measured. The flows that fail
    are named on stderr.
    """
    from riff_store.filters.predicates import Not, Term, both
    from riff_tui.filters import split
    from riff_tui.filters.parser import parse
    from riff_tui.gate import messages, reports
    from riff_tui.gate.quarantine import read as read_quarantine
    from riff_tui.gate.query import decision_with_commands
    from riff_tui.gate.rules import configured
    from riff_tui.output.files import names_file, write_whole
    from riff_tui.output.streams import say
    from riff_tui.settings import store_location, store_to_name
    from riff_tui.views.gate import gate as table_of

    settings = settings_for(store, ascii=ascii_only)
    if json and format not in (None, Format.JSON):
        raise UsageError(f"--json and --format {format} are two formats; leave one of them out")
    if github and (json or format is not None) and not names_file(output):
        named = "--json" if json else "--format"
        raise UsageError(f"{named} needs -o FILE with --github: stdout is for the annotations then")
    form = _form(Format.JSON if json else format, output)
    rules = configured(max_drop or (), min_n, strict=strict, max_errored=max_errored, min_coverage=min_coverage or ())
    if quarantine is not None:
        rules = replace(rules, quarantine=read_quarantine(quarantine, day))
    elif day is not None:
        raise UsageError("--day needs --quarantine", "give its file with --quarantine")
    calls, _ = split(parse(where), ())
    if diverged is Diverged.OK:
        calls = both(calls, Not(Term("stop_reason", "=", "diverged")))
    location = store_location(settings)
    with reading(location) as opened:
        decision = decision_with_commands(opened, baseline, candidate, calls, rules, store_to_name(location))
    line = messages.unarmed(messages.outcome(decision))
    try:
        if junit is not None:
            write_whole(junit, lambda file: reports.write(decision, file))
        if summary_md is not None:
            _write_message(decision, summary_md)
        if comment is not None:
            text = reports.comment(table_of(decision), where, ascii_only=bool(settings.ascii))
            write_whole(comment, lambda file: file.write(text))
        _report(decision, form, output, github=github, ascii_only=bool(settings.ascii), csv_raw=csv_raw)
    except OutputError as error:
        if decision.passed:
            raise
        say(f"riff-tui: error: {error}")  # that the gate failed shows more, and ends the command
    if not decision.passed:
        raise GateFailed(line)
    say(line)


def _report(
    decision: Decision, form: Format, output: Path | None, *, github: bool, ascii_only: bool, csv_raw: bool
) -> None:
    """Write the table into a file, the summary of a step, or to stdout."""
    from riff_tui.output.files import names_file
    from riff_tui.views.gate import gate as table_of

    table = table_of(decision)
    if names_file(output) or not github:
        _write(table, form, output, ascii_only=ascii_only, csv_raw=csv_raw)
    if github:
        _annotate(decision, table, ascii_only=ascii_only)


def _form(chosen: Format | None, output: Path | None) -> Format:
    """Return the format of the table; raise `UsageError` for one that it does not have."""
    form = form_of(chosen, output)
    if form not in FORMATS:
        named = f"--format {chosen}" if chosen else output
        raise UsageError(f"{named}: a gate has no {'graph' if form.is_graph else form}; it has {', '.join(FORMATS)}")
    return form


def _write(table: Table, form: Format, path: Path | None, *, ascii_only: bool, csv_raw: bool) -> None:
    """Print the table to a file or to stdout; Markdown only as long as a pull request takes it."""
    from riff_tui.gate.reports import summary
    from riff_tui.output.files import write_output

    if form is Format.MARKDOWN:
        text = summary(table, ascii_only=ascii_only)
        write_output(path, lambda file: file.write(text))
    else:
        print_table(table, form, path, ascii_only=ascii_only, csv_raw=csv_raw)


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
    from riff_tui.gate.reports import append_summary, commands, summary
    from riff_tui.output.files import write_output
    from riff_tui.output.streams import say

    write_output(None, lambda stream: stream.writelines(f"{line}\n" for line in commands(decision)))
    place = os.environ.get(SUMMARY_VARIABLE)
    if place:
        append_summary(Path(place), summary(table, ascii_only=ascii_only))
    else:
        say(f"${SUMMARY_VARIABLE} is not set, so the table was written nowhere; -o FILE writes it to a file")
