"""Check the store and list what was skipped: the `doctor` command."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from riff_tui.commands.options import AsciiOption, DebugOption, StoreOption, settings_for, store_to_write

if TYPE_CHECKING:
    from riff_store.database import Store
    from riff_store.health import Health

EXAMPLES = (
    "riff-tui doctor",
    "riff-tui doctor --store nightly.db",
    "riff-tui doctor --migrate --store of-last-year.db",
)
LISTED = 200


def doctor(
    migrate: Annotated[
        bool,
        typer.Option("--migrate", help="First bring a store of an older version forward.", show_default=False),
    ] = False,
    ascii_only: AsciiOption = None,
    store: StoreOption = None,
    debug: DebugOption = False,
) -> None:
    """Check the store and say what was skipped and why.

    Exit 4 where something is wrong with the store.
    """
    from riff_store.health import examine
    from riff_tui.catalog import show
    from riff_tui.commands.reading import reading
    from riff_tui.errors import Unhealthy, writing
    from riff_tui.output.streams import standard_output
    from riff_tui.request import Request
    from riff_tui.settings import store_location
    from riff_tui.text.safe_text import one_line

    settings = settings_for(store, ascii=ascii_only)
    if migrate:
        with store_to_write(store_location(settings), create=False):
            pass
    with reading(store_location(settings)) as opened:
        health = examine(opened)
        advice = list(_advice(opened)) if health.readable else []
        skipped = show(opened, "skipped", Request(limit=LISTED)) if health.readable else None
    out = standard_output(ascii_only=bool(settings.ascii))
    with writing("stdout"):
        out.stream.writelines(f"{one_line(line)}\n" for line in report(health))
        if advice:
            out.stream.writelines(["\n", *(f"{one_line(line)}\n" for line in advice)])
        if skipped is not None and len(skipped.rows):
            out.stream.write("\n")
            out.print_table(skipped)
    if health.wrong:
        raise Unhealthy(f"{health.location}: {health.wrong[0]}; ingest again into a new store, or restore a copy")


def report(health: Health) -> Iterator[str]:
    """Yield what there is to say of a store, a line each."""
    yield f"store       {health.location}"
    yield f"size        {health.size} bytes, schema {health.schema}"
    for title, count in health.counts.items():
        yield f"{title:12}{count}"
    for check, problems in health.checks.items():
        yield f"{check:12}{'ok' if not problems else '; '.join(problems)}"


def _advice(store: Store) -> Iterator[str]:
    """Yield what to do about notes that count nowhere."""
    import shlex

    from riff_store.notes import notes_of_no_call
    from riff_tui.notes.kept_notes import lacking, read_kept
    from riff_tui.settings import kept_notes_file
    from riff_tui.text.words import counted

    waiting, ambiguous = notes_of_no_call(store)
    if waiting:
        yield f"{counted(waiting, 'note')} on calls that are not there: ingest the files that hold these calls."
    if ambiguous:
        yield (
            f"{counted(ambiguous, 'note')} that may be of several calls and so of none: note it anew on the one that is"
            " meant, riff-tui notes add --where 'run=R conversation=C'."
        )
    path = kept_notes_file()
    if path is not None and store.can_be_written() and (kept := lacking(store, read_kept(path))):
        where = f"{counted(len(kept), 'note')} that could not be written before, in {path}"
        yield f"{where}: riff-tui notes import {shlex.quote(str(path))}"
