"""Open the explorer: the `ui` command."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import click

from riff_tui.browser import is_in_browser
from riff_tui.commands import completion
from riff_tui.commands.options import (
    AsciiOption,
    StoreOption,
    WhereOption,
    argument,
    flag,
    option,
    settings_for,
    split_keys,
)

if TYPE_CHECKING:
    from riff_tui.catalog import Request
    from riff_tui.settings import Settings
    from riff_tui.views.spec import ViewSpec

EXAMPLES = (
    "riff-tui ui",
    "riff-tui ui states --where 'flow=apartment_viewing'",
    "riff-tui ui states --where 'stall>0.3' --sort -dwell_turns --fresh",
    "riff-tui ui conversation --where 'run=nightly conversation=c-12' --at turn:7",
    "riff-tui ui compare previous latest",
    "riff-tui ui worklist --store nightly.db --theme ansi",
)


ViewArgument = Annotated[
    str | None, argument("[VIEW]", "The first screen; else where you were last.", completion.view_names)
]
SidesArgument = Annotated[list[str] | None, argument("[A B]", "The two runs or agents that a comparison opens on.")]
ByOption = Annotated[
    list[str] | None, option("--by", "KEY[,KEY]", "Tell the rows apart as dump does.", completion.group_keys)
]
AtOption = Annotated[str | None, option("--at", "turn:N|state:NAME", "Where in a call to begin.")]
SortOption = Annotated[
    str | None, option("--sort", "KEY|-KEY", "Sort the first screen by a column.", completion.sort_keys)
]
AspectOption = Annotated[
    str | None, option("--aspect", "ASPECT", "What effects explains instead of quality.", completion.aspects)
]
FreshOption = Annotated[
    bool, flag("--fresh", "Begin without what earlier sessions left; only what you change is kept.")
]
ThemeOption = Annotated[str | None, option("--theme", "T", "The colours.")]
MouseOption = Annotated[bool | None, flag("--mouse/--no-mouse", "Take the mouse, over SSH as well.")]
ReadOnlyOption = Annotated[bool, flag("--read-only", "Take no notes; nothing of the store is written.")]
KeysOption = Annotated[bool, flag("--keys", "Print each action with its keys, as settings name them, and end.")]
LiveOption = Annotated[bool | None, flag("--live/--no-live", "Show what others write to the store, or offer it.")]


def ui(
    view: ViewArgument = None,
    sides: SidesArgument = None,
    where: WhereOption = "",
    sort: SortOption = None,
    aspect: AspectOption = None,
    by: ByOption = None,
    at: AtOption = None,
    fresh: FreshOption = False,
    theme: ThemeOption = None,
    ascii_only: AsciiOption = None,
    mouse: MouseOption = None,
    live: LiveOption = None,
    read_only: ReadOnlyOption = False,
    keys: KeysOption = False,
    store: StoreOption = None,
) -> None:
    """Open the explorer: from a weak flow to the calls that prove it."""
    from riff_tui.catalog import Request

    if keys:
        from riff_tui.tui import print_keys

        print_keys()
        return
    settings = settings_for(store, theme=theme, ascii=ascii_only, mouse=mouse, live=live)
    request = Request(where=where, by=split_keys(by), sort=sort, sides=two_sides(sides), aspect=aspect or None)
    explore(settings, view=view, request=request, at=at or "", fresh=fresh, read_only=read_only)


def explore(
    settings: Settings,
    *,
    view: str | None = None,
    request: Request | None = None,
    at: str = "",
    fresh: bool = False,
    read_only: bool = False,
) -> None:
    """Open the explorer on the store that the settings name, at a place, else where one was last.

    Raises `NoTerminal` with the command that prints the same if there is no terminal.
    """

    from riff_tui.catalog import Request, dump_command
    from riff_tui.errors import NoTerminal
    from riff_tui.settings import store_location
    from riff_tui.view_registry import resolve

    chosen, is_anywhere = resolve(view or "flows"), view is None and request in (None, Request())
    request = request or Request()
    check_start(chosen, request, at)
    name = chosen.name
    if not has_terminal():
        command = dump_command(name, request._replace(store=settings.store or ""))
        raise NoTerminal(
            "the explorer needs a terminal on stdin and stderr, and TERM other than dumb;"
            f" this prints the same: {command}"
        )
    # All that the explorer loads lasts as long as it does, and it looks for garbage once its first rows are shown.
    gc.disable()
    from riff_tui.tui import StartOptions, run_explorer

    start = StartOptions(
        None if is_anywhere else name,
        request.where,
        request.sort,
        fresh,
        request.aspect or "",
        request.sides or (),
        request.by,
        at,
        read_only,
    )
    location = store_location(settings)

    def case_text(where: str) -> str:
        # Few make cases, so what that takes is loaded by those alone.
        from riff_tui.cases import case_text_at

        return case_text_at(location, where)

    raise click.exceptions.Exit(run_explorer(location, start, settings, case_text))


def two_sides(sides: Sequence[str] | None) -> tuple[str, str] | None:
    """Return both sides of a comparison, `None` if none was named."""
    from riff_tui.errors import UsageError

    if not sides:
        return None
    if len(sides) != 2:
        raise UsageError("a comparison takes two sides: riff-tui ui compare A B, where A and B are runs or agent:NAME")
    return sides[0], sides[1]


def check_start(chosen: ViewSpec, request: Request, at: str) -> None:
    """Raise `UsageError` for what the screen of a view cannot begin with."""
    from shlex import quote

    from riff_tui.catalog import check_request
    from riff_tui.errors import UsageError

    name = chosen.name
    if chosen.sides and request.sides is None:
        raise UsageError(
            f"{name} opens from two runs, or two agents of a flow: riff-tui ui {name} A B, where A and B are runs or"
            " agent:NAME, or mark both with m, then = and Enter"
        )
    if request.sides and not chosen.sides:
        raise UsageError(f"{name} is not about two sides; riff-tui ui compare {' '.join(map(quote, request.sides))} is")
    if request.aspect and not chosen.aspects:
        raise UsageError(
            f"--aspect: {name} is not about one aspect; riff-tui ui effects --aspect {quote(request.aspect)} is"
        )
    if at and chosen.screen.kind != "conversation":
        raise UsageError(
            f"--at is a moment of one call: riff-tui ui conversation --where 'run=R conversation=C' --at {at}"
        )
    check_request(chosen, request)


def has_terminal() -> bool:
    """Return whether the explorer can be drawn and steered here: Textual draws on stderr, `serve` on a page."""
    if is_in_browser():
        return True
    try:
        return sys.stdin.isatty() and sys.stderr.isatty() and os.environ.get("TERM", "") not in ("", "dumb")
    except (AttributeError, ValueError):
        return False
