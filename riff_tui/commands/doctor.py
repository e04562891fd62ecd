"""Check the store and list what was skipped: the `doctor` command."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from riff_store.errors import OF_DAMAGE, StoreError
from riff_tui.commands.options import (
    AsciiOption,
    StoreOption,
    flag,
    next_command,
    printed,
    settings_for,
    store_to_write,
)
from riff_tui.shapes import ANY, COUNT, COUNTS, FLAG, TEXT, list_of, or_null, record

if TYPE_CHECKING:
    from riff_store.database import Store
    from riff_store.health import Health
    from riff_tui.output.streams import Output
    from riff_tui.table import Table


EXAMPLES = (
    "riff-tui doctor",
    "riff-tui doctor --store nightly.db",
    "riff-tui doctor --quick",
    "riff-tui doctor --json | jq -r '.checks[] | select(.problems != []) | .advice'",
    "riff-tui doctor --migrate --store of-last-year.db",
)
LISTED = 200


_CHECK = record({"check": TEXT, "problems": list_of(TEXT), "advice": or_null(TEXT)})
JSON = printed(
    {
        "store": TEXT,
        **dict.fromkeys(("size", "schema"), or_null(COUNT)),
        **dict.fromkeys(("whole", "readable"), FLAG),
        "counts": COUNTS,
        "checks": list_of(_CHECK),
        "unchecked": list_of(TEXT),
        "hints": list_of(record({"found": TEXT, "advice": TEXT})),
        "skipped": or_null(record({"total": COUNT, "rows": list_of(ANY)})),
    }
)


def doctor(
    migrate: Annotated[bool, flag("--migrate", "First bring a store of an older version forward.")] = False,
    quick: Annotated[bool, flag("--quick", "Look at what does not grow with the calls alone.")] = False,
    json: Annotated[bool, flag("--json", "Print one JSON object for programs.")] = False,
    ascii_only: AsciiOption = None,
    store: StoreOption = None,
) -> None:
    """Check the store, list what was skipped and why, and what to do.

    A quick look shows what it left out. Exit 4 where something is wrong with the store.
    """
    from riff_tui.errors import Unhealthy, writing
    from riff_tui.output.sinks.json import write_members
    from riff_tui.output.sinks.parts import Options
    from riff_tui.output.streams import standard_output
    from riff_tui.settings import store_location

    settings = settings_for(store, ascii=ascii_only)
    location = store_location(settings)
    out = standard_output(ascii_only=bool(settings.ascii))
    refused: StoreError | None = None
    try:
        if migrate:
            with store_to_write(location, create=False):
                pass
        report = _report(location, quick=quick)
    except StoreError as error:
        if not json:
            raise
        report, refused = of_refused(location, error), error
    with writing("stdout"):
        if json:
            write_members(members(report), out.stream, Options(ascii_only=bool(settings.ascii)))
        else:
            print_report(report, out)
    if refused is not None:
        raise refused
    health = report.health
    if not health.is_whole:
        raise Unhealthy(f"{health.location}: {health.wrong[0]}; ingest again into a new store, or restore a copy")


def _report(location: str, *, quick: bool) -> Report:
    from riff_store.health import UNCHECKED_QUICKLY, examine
    from riff_tui.catalog import Request, show
    from riff_tui.commands.reading import reading
    from riff_tui.settings import store_to_name

    with reading(location) as opened:
        with _told() as telling:
            report = Report(examine(opened, telling, quick=quick), unchecked=UNCHECKED_QUICKLY if quick else ())
        # What is damaged may have neither; what is wrong was found before.
        with suppress(*(() if report.health.is_whole else (StoreError, *OF_DAMAGE))):
            report.hints = list(hints(opened, store_to_name(location)))
            report.skipped = show(opened, "skipped", Request(limit=LISTED))
    return report


@contextmanager
def _told() -> Iterator[Callable[[str], None]]:
    """Show on a terminal what is being done and for how long; one statement may take many seconds."""
    from riff_tui.output.progress import terminal_progress

    doing, ended = [""], threading.Event()
    with terminal_progress() as line:

        def tick() -> None:
            while line is not None and not ended.wait(_TICK_S):
                line.telling(doing[0])

        ticking = threading.Thread(target=tick, name="riff-tui-progress", daemon=True)
        ticking.start()
        try:
            yield lambda text: doing.__setitem__(0, text)
        finally:
            ended.set()
            ticking.join()


OPENING = "opening"
_TICK_S = 0.25


@dataclass
class Report:
    """Keep what was found: health, hints as (what there is, what to do), and what was skipped if that is known."""

    health: Health
    hints: Sequence[tuple[str, str]] = ()
    skipped: Table | None = None
    unchecked: Sequence[str] = ()
    """The checks that were left out."""
    refused: str = ""
    """What to do about a store that could not be opened."""

    def advice(self, check: str) -> str | None:
        """Return what to do about what a check found, `None` if it found nothing."""
        if not self.health.checks[check]:
            return None
        from riff_store.health import advice_on

        return self.refused if check == OPENING else advice_on(check)


def of_refused(location: str, error: StoreError) -> Report:
    """Return the report on a store that could not be opened."""
    from riff_store.health import Health
    from riff_store.location import without_secrets

    health = Health(without_secrets(location), None, None, checks={OPENING: [error.message]}, readable=False)
    return Report(health, refused=error.hint)


def print_report(report: Report, out: Output) -> None:
    """Print what there is to report about a store, a line each, and the list of what was skipped."""
    from riff_tui.text.safe_text import one_line

    health = report.health
    out.stream.writelines(f"{one_line(line)}\n" for line in _lines(health))
    if report.unchecked:
        out.stream.write(f"unchecked   {', '.join(report.unchecked)}: leave out --quick for these\n")
    advice = [f"{check}: {told}." for check in health.checks if (told := report.advice(check))]
    advice += [f"{found}: {told}" for found, told in report.hints]
    if advice:
        out.stream.writelines(["\n", *(f"{one_line(line)}\n" for line in advice)])
    if report.skipped is not None and len(report.skipped.rows):
        out.stream.write("\n")
        out.print_table(report.skipped)


def _lines(health: Health) -> Iterator[str]:
    yield f"store       {health.location}"
    yield f"size        {health.size} bytes, schema {health.schema}"
    for title, count in health.counts.items():
        yield f"{title:12}{count}"
    for check, problems in health.checks.items():
        yield f"{check:12}{'ok' if not problems else '; '.join(problems)}"


def members(report: Report) -> Iterator[tuple[str, Any]]:
    """Yield the members of the JSON object."""
    from riff_tui.output.sinks.json import SCHEMA_VERSION

    health, skipped = report.health, report.skipped
    yield "schema_version", SCHEMA_VERSION
    yield "store", health.location
    yield "size", health.size
    yield "schema", health.schema
    yield "whole", health.is_whole
    yield "readable", health.readable
    yield "counts", dict(health.counts)
    yield (
        "checks",
        [
            {"check": check, "problems": list(problems), "advice": report.advice(check)}
            for check, problems in health.checks.items()
        ],
    )
    yield "unchecked", list(report.unchecked)
    yield "hints", [{"found": found, "advice": advice} for found, advice in report.hints]
    yield (
        "skipped",
        None
        if skipped is None
        else {"total": skipped.counts.total, "rows": [dict(row.record) for row in skipped.rows]},
    )


def hints(store: Store, named: str) -> Iterator[tuple[str, str]]:
    """Yield what there is that counts nowhere, and what to do about it."""
    from riff_store.write.notes import notes_of_no_call
    from riff_tui.notes.kept_notes import lacking, read_kept
    from riff_tui.settings import kept_notes_file
    from riff_tui.text.numbers import counted

    waiting, ambiguous = notes_of_no_call(store)
    if waiting:
        yield f"{counted(waiting, 'note')} on calls that are not there", "ingest the files with these calls."
    if ambiguous:
        noting = next_command("notes", "add", "--where", "run=R conversation=C", store=named)
        yield (
            f"{counted(ambiguous, 'note')} that may be of several calls and so of none",
            f"note it on the one that is meant, {noting}.",
        )
    path = kept_notes_file()
    if path is not None and store.can_be_written() and (kept := lacking(store, read_kept(path))):
        where = f"{counted(len(kept), 'note')} that could not be written before, in {path}"
        yield where, next_command("notes", "import", str(path), store=named)
