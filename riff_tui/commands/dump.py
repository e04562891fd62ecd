"""Print a view: the `dump` command."""

from typing import Annotated, Any

from riff_tui.commands import completion
from riff_tui.commands.options import (
    AsciiOption,
    Command,
    CsvRawOption,
    LimitOption,
    OutputOption,
    SortOption,
    StoreOption,
    WhereOption,
    argument,
    flag,
    option,
    settings_for,
    split_keys,
)
from riff_tui.commands.reading import form_of, print_table, reading
from riff_tui.output.formats import Format
from riff_tui.views.spec import BY

EXAMPLES = (
    "riff-tui dump worklist",
    "riff-tui dump flows --format markdown -o matrix.md",
    "riff-tui dump states --where 'flow=apartment_viewing stall>0.3' --sort -escalation --limit 10",
    "riff-tui dump flows --by run --format json",
    "riff-tui dump effects --aspect humanness",
    "riff-tui dump repeats --format quarantine -o flaky.toml",
    "riff-tui dump neighbors --where 'flow=apartment_viewing state=collect_details'",
    "riff-tui dump neighbors --where 'flow=apartment_viewing state=collect_details' -o around.svg",
)


class COMMAND(Command):
    """Name the views in the help of the options once it is printed: finding them loads every view."""

    def get_help(self, ctx: Any) -> str:
        """Return the help with the names of the views filled in."""
        from riff_tui.view_registry import views

        *names, last = (spec.name for spec in views() if not spec.sides)
        known = {
            "{views}": f"{', '.join(names)} or {last}",
            "{splits}": ", ".join(spec.name for spec in views() if spec.splits),
            "{regroups}": ", ".join(spec.name for spec in views() if spec.regroups),
            "{draws}": ", ".join(spec.name for spec in views() if spec.draws),
            "{aspects}": " or ".join(spec.name for spec in views() if spec.aspects),
        }
        for parameter in self.params:
            for place, said in known.items():
                told = getattr(parameter, "help", None) or ""
                if place in told:
                    vars(parameter)["help"] = told.replace(place, said)
        return super().get_help(ctx)


AspectOption = Annotated[
    str | None,
    option(
        "--aspect", "ASPECT", "What {aspects} explains: an aspect such as humanness, else quality.", completion.aspects
    ),
]


def dump(
    view: Annotated[str, argument("VIEW", "{views}.", completion.view_names)],
    where: WhereOption = "",
    by: Annotated[
        list[str] | None,
        option(
            "--by",
            "KEY[,KEY]",
            f"Rows by {', '.join(BY[:-1])} or {BY[-1]}: {{regroups}} by these alone, {{splits}} by these as well.",
            completion.group_keys,
        ),
    ] = None,
    sort: SortOption = None,
    limit: LimitOption = None,
    aspect: AspectOption = None,
    k: Annotated[int | None, option("--k", "N", "Ask for N passes in a row ({draws}); else 3.", min=1)] = None,
    format: Annotated[
        Format | None,
        option(
            "--format",
            None,
            "Else by the ending of FILE, else text; dot and mermaid: the graph of neighbors; quarantine: a file"
            " for the gate, of repeats.",
        ),
    ] = None,
    output: OutputOption = None,
    text: Annotated[
        bool | None,
        flag(
            "--text/--no-text",
            "Put what was said into a Markdown or SVG dump of a conversation; or leave it, and messages, out of any"
            " dump.",
        ),
    ] = None,
    around: Annotated[
        int | None, option("--around", "N", "Of a conversation, N moments before and after what is blamed.", min=0)
    ] = None,
    redact: Annotated[
        bool | None,
        flag(
            "--redact/--no-redact",
            "Replace e-mail addresses, numbers and the like in what was said; Markdown and SVG do by default.",
        ),
    ] = None,
    csv_raw: CsvRawOption = False,
    ascii_only: AsciiOption = None,
    store: StoreOption = None,
) -> None:
    """Print a view of the store, as the explorer's screen shows it."""
    from riff_tui.catalog import Request, show
    from riff_tui.settings import store_location

    settings = settings_for(store, ascii=ascii_only)
    form = form_of(format, output)
    posted = form.is_posted
    request = Request(
        store=store or "",
        where=where,
        by=split_keys(by),
        sort=sort,
        limit=limit,
        text=not posted if text is None else text,
        wordless=text is False,
        around=around,
        redact=posted if redact is None else redact,
        trend=form in (Format.JSON, Format.JSONL),
        aspect=aspect,
        k=k,
        outline=posted or form is Format.TEXT,
        proposal=form.is_of_one_view,
        bare=form is Format.CSV,
    )
    with reading(store_location(settings)) as opened:
        table = show(opened, view, request)
        print_table(table, form, output, csv_raw=csv_raw, ascii_only=bool(settings.ascii))
