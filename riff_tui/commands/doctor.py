"""Check the store and list what was skipped: the `doctor` command."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Annotated

import typer

from riff_tui.commands.options import AsciiOption, DebugOption, StoreOption, settings_for, store_to_write

if TYPE_CHECKING:
    from riff_tui.commands.doctor_report import Report

EXAMPLES = (
    "riff-tui doctor",
    "riff-tui doctor --store nightly.db",
    "riff-tui doctor --json | jq -r '.checks[] | select(.problems != []) | .advice'",
    "riff-tui doctor --migrate --store of-last-year.db",
)
LISTED = 200


def doctor(
    migrate: Annotated[
        bool,
        typer.Option("--migrate", help="First bring a store of an older version forward.", show_default=False),
    ] = False,
    json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object for programs.", show_default=False)
    ] = False,
    ascii_only: AsciiOption = None,
    store: StoreOption = None,
    debug: DebugOption = False,
) -> None:
    """Check the store, say what was skipped and why, and what to do.

    Exit 4 where something is wrong with the store.
    """
    from riff_store.errors import StoreError
    from riff_tui.commands.doctor_report import members, of_refused, print_report
    from riff_tui.errors import Unhealthy, writing
    from riff_tui.output.sinks.json import write_members
    from riff_tui.output.sinks.options import Options
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
        report = _report(location)
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


def _report(location: str) -> Report:
    from riff_store.database import OF_DAMAGE
    from riff_store.errors import StoreError
    from riff_store.health import examine
    from riff_tui.catalog import show
    from riff_tui.commands.doctor_report import Report, hints
    from riff_tui.commands.reading import reading
    from riff_tui.request import Request

    with reading(location) as opened:
        report = Report(examine(opened))
        # What is damaged may have neither; what is wrong was found before.
        with suppress(*(() if report.health.is_whole else (StoreError, *OF_DAMAGE))):
            report.hints = list(hints(opened))
            report.skipped = show(opened, "skipped", Request(limit=LISTED))
    return report
