"""Open the explorer: the `ui` command."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from riff_tui.commands.options import AsciiOption, DebugOption, StoreOption, WhereOption, settings_for

if TYPE_CHECKING:
    from riff_tui.settings import Settings

EXAMPLES = (
    "riff-tui ui",
    "riff-tui ui states --where 'flow=apartment_viewing'",
    "riff-tui ui states --where 'stall>0.3' --sort -dwell_turns --fresh",
    "riff-tui ui worklist --store nightly.db --theme ansi",
)


ViewArgument = Annotated[
    str | None,
    typer.Argument(metavar="[VIEW]", help="The first screen; else where you were last.", show_default=False),
]
SortOption = Annotated[
    str | None,
    typer.Option("--sort", metavar="KEY|-KEY", help="Sort the first screen by a column.", show_default=False),
]
AspectOption = Annotated[
    str | None,
    typer.Option("--aspect", metavar="ASPECT", help="What effects explains instead of quality.", show_default=False),
]
FreshOption = Annotated[
    bool,
    typer.Option(
        "--fresh",
        help="Begin without what earlier sessions left; only what you change is kept.",
        show_default=False,
    ),
]
ThemeOption = Annotated[str | None, typer.Option("--theme", metavar="T", help="The colours.", show_default=False)]
MouseOption = Annotated[
    bool | None, typer.Option("--mouse/--no-mouse", help="Take the mouse, over SSH as well.", show_default=False)
]
LiveOption = Annotated[
    bool | None,
    typer.Option("--live/--no-live", help="Show what others write to the store, or offer it.", show_default=False),
]


def ui(
    view: ViewArgument = None,
    where: WhereOption = "",
    sort: SortOption = None,
    aspect: AspectOption = None,
    fresh: FreshOption = False,
    theme: ThemeOption = None,
    ascii_only: AsciiOption = None,
    mouse: MouseOption = None,
    live: LiveOption = None,
    store: StoreOption = None,
    debug: DebugOption = False,
) -> None:
    """Open the explorer: from a weak flow to the calls that prove it."""
    settings = settings_for(store, theme=theme, ascii=ascii_only, mouse=mouse, live=live)
    explore(settings, view=view, where=where, sort=sort, fresh=fresh, aspect=aspect)


def explore(
    settings: Settings,
    *,
    view: str | None = None,
    where: str = "",
    sort: str | None = None,
    fresh: bool = False,
    aspect: str | None = None,
) -> None:
    """Open the explorer on the store that the settings name, at a place, else where one was last.

    Raises `NoTerminal` with the command that prints the same where there is no terminal.
    """
    from riff_store.location import without_secrets
    from riff_tui.errors import NoTerminal, UsageError
    from riff_tui.request import Request, dump_command
    from riff_tui.settings import store_location
    from riff_tui.view_registry import resolve

    chosen = resolve(view or "flows")
    if chosen.sides:
        raise UsageError(
            f"{chosen.name} opens from two runs, or two agents of a flow: mark both with m, then = and Enter;"
            " riff-tui compare A B prints the same"
        )
    if aspect and not chosen.aspects:
        raise UsageError(
            f"--aspect: {chosen.name} is not about one aspect; riff-tui ui effects --aspect {_quoted(aspect)} is"
        )
    name = chosen.name
    if not has_terminal():
        request = Request(where=where, sort=sort, aspect=aspect or None)
        given = f" --store {_quoted(without_secrets(settings.store))}" if settings.store else ""
        raise NoTerminal(
            "the explorer needs a terminal on stdin and stderr, and TERM other than dumb;"
            f" this prints the same: {dump_command(name, request)}{given}"
        )
    from riff_tui.cases.query import case_text_at
    from riff_tui.tui import StartOptions, run_explorer

    start = StartOptions(name if view or where or sort else None, where, sort, fresh, aspect or "")
    location = store_location(settings)
    raise typer.Exit(run_explorer(location, start, settings, partial(case_text_at, location)))


def has_terminal() -> bool:
    """Return whether the explorer can be drawn and steered here; Textual draws on stderr."""
    import os
    import sys

    try:
        return sys.stdin.isatty() and sys.stderr.isatty() and os.environ.get("TERM", "") not in ("", "dumb")
    except (AttributeError, ValueError):
        return False


def _quoted(text: str) -> str:
    import shlex

    return shlex.quote(text)
