"""`dump`: print a view."""

from __future__ import annotations

import enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from riff_tui.commands.options import AsciiOption, DebugOption, StoreOption, WhereOption, settings_for

if TYPE_CHECKING:
    from riff_tui.table import Table

EXAMPLES = (
    "riff-tui dump worklist",
    "riff-tui dump flows --format markdown -o matrix.md",
    "riff-tui dump states --where 'flow=apartment_viewing stall>0.3' --sort -escalation --limit 10",
    "riff-tui dump flows --by run --format json",
    "riff-tui dump neighbors --where 'flow=apartment_viewing state=collect_details'",
    "riff-tui dump neighbors --where 'flow=apartment_viewing state=collect_details' -o around.svg",
)


class Format(enum.StrEnum):
    """The forms that a dump can have."""

    TEXT = "text"
    MARKDOWN = "markdown"
    JSON = "json"
    JSONL = "jsonl"
    CSV = "csv"
    SVG = "svg"
    DOT = "dot"
    MERMAID = "mermaid"


def dump(
    view: Annotated[
        str,
        typer.Argument(
            metavar="VIEW",
            help="flows, segments, states, neighbors, worklist, conversations, conversation, runs, judges,"
            " archetypes, timeline, flow-table or skipped.",
            show_default=False,
        ),
    ],
    where: WhereOption = "",
    by: Annotated[
        list[str] | None,
        typer.Option(
            "--by",
            metavar="agent|persona|run|scenario",
            help="A row for each of these as well (flows, segments, states).",
            show_default=False,
        ),
    ] = None,
    sort: Annotated[
        str | None,
        typer.Option("--sort", metavar="KEY|-KEY", help="Sort by a column, with - downwards.", show_default=False),
    ] = None,
    limit: Annotated[
        int | None, typer.Option("--limit", metavar="N", min=0, help="At most N rows.", show_default=False)
    ] = None,
    format: Annotated[
        Format | None,
        typer.Option(
            "--format",
            help="Else what the ending of FILE says, else text; dot and mermaid: the graph of neighbors.",
            show_default=False,
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="FILE", help="Write to a file instead of stdout.", show_default=False),
    ] = None,
    text: Annotated[
        bool,
        typer.Option(
            "--text", help="Put what was said into a Markdown or SVG dump of a conversation.", show_default=False
        ),
    ] = False,
    redact: Annotated[
        bool | None,
        typer.Option(
            "--redact/--no-redact",
            help="Replace e-mail addresses, numbers and the like in what was said;"
            " Markdown and SVG do unless told not to.",
            show_default=False,
        ),
    ] = None,
    csv_raw: Annotated[
        bool,
        typer.Option("--csv-raw", help="Leave CSV cells that a spreadsheet would take for a formula as they are."),
    ] = False,
    ascii_only: AsciiOption = None,
    store: StoreOption = None,
    debug: DebugOption = False,
) -> None:
    """Print a view of the store: the same table as the explorer's screen of that name."""
    from riff_store.database import open_store
    from riff_tui.catalog import Request, show
    from riff_tui.settings import store_location
    from riff_tui.sinks.endings import POSTED, format_of

    settings = settings_for(store, ascii=ascii_only)
    form = format or Format((format_of(output) if output is not None else None) or "text")
    posted = form in POSTED
    request = Request(
        where=where,
        by=tuple(name for part in by or () for name in part.split(",") if name),
        sort=sort,
        limit=limit,
        text=text or not posted,
        redact=posted if redact is None else redact,
        trend=form in (Format.JSON, Format.JSONL),
    )
    with open_store(store_location(settings)) as opened, opened.snapshot():
        table = show(opened, view, request)
        _print(table, form, output, csv_raw=csv_raw, ascii_only=bool(settings.ascii))


def _print(table: Table, form: Format, output: Path | None, *, csv_raw: bool, ascii_only: bool) -> None:
    if output is not None and str(output) != "-":
        from riff_tui.file_output import write_whole
        from riff_tui.sinks import render

        write_whole(output, lambda file: render(table, form.value, file, ascii_only=ascii_only, csv_raw=csv_raw))
    else:
        from riff_tui.streams import standard_output

        standard_output(ascii_only=ascii_only).print_table(table, form.value, csv_raw=csv_raw)
