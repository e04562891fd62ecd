"""Show the explorer in a browser: the `serve` command."""

from __future__ import annotations

import os
import sys
from functools import partial
from typing import TYPE_CHECKING, Annotated

import click

from riff_tui.commands import ui
from riff_tui.commands.options import AsciiOption, StoreOption, WhereOption, flag, option, settings_for, split_keys
from riff_tui.errors import UsageError, how_to_install, writing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from riff_tui.catalog import Request
    from riff_tui.serve.server import Served

EXAMPLES = (
    "riff-tui serve",
    "riff-tui serve states --where 'flow=apartment_viewing' --store nightly.db",
    "riff-tui serve --port 8123 --no-open --read-only",
    "riff-tui serve --port 8123 --public-origin http://127.0.0.1:9000",
)
MISSING = "serve needs packages that are not installed"

# If one of these is set a browser has a place to open; one that draws in this terminal is none.
_DESKTOP = ("BROWSER", "DISPLAY", "WAYLAND_DISPLAY")

OpenOption = Annotated[bool, flag("--open/--no-open", "Open the page in your browser, if there is a desktop.")]


def serve(
    view: ui.ViewArgument = None,
    sides: ui.SidesArgument = None,
    where: WhereOption = "",
    sort: ui.SortOption = None,
    aspect: ui.AspectOption = None,
    by: ui.ByOption = None,
    at: ui.AtOption = None,
    fresh: ui.FreshOption = False,
    theme: ui.ThemeOption = None,
    ascii_only: AsciiOption = None,
    mouse: ui.MouseOption = None,
    live: ui.LiveOption = None,
    read_only: ui.ReadOnlyOption = False,
    port: Annotated[int, option("--port", "P", "The port of this machine; 0 takes a free one.", min=0, max=65535)] = 0,
    open_browser: OpenOption = True,
    public_origin: Annotated[
        str | None, option("--public-origin", "URL", "Where you reach the page, if you forward another port to it.")
    ] = None,
    store: StoreOption = None,
) -> None:
    """Show the explorer in a browser on this machine.

    The link that is printed lets one browser in, once.
    """
    from riff_store.database import open_store
    from riff_tui.catalog import Request
    from riff_tui.filters.parser import parse
    from riff_tui.settings import store_location
    from riff_tui.view_registry import resolve

    settings = settings_for(store, theme=theme, ascii=ascii_only, mouse=mouse, live=live)
    request = Request(where=where, by=split_keys(by), sort=sort, sides=ui.two_sides(sides), aspect=aspect or None)
    chosen = resolve(view or "flows")
    ui.check_start(chosen, request, at or "")
    parse(where)
    with open_store(store_location(settings)):
        pass
    try:
        from riff_tui.serve.server import serve_explorer
    except ModuleNotFoundError as error:
        raise UsageError(MISSING, how_to_install("serve")) from error

    is_anywhere = view is None and request == Request()
    given = {"theme": theme, "ascii": ascii_only, "mouse": mouse, "live": live}
    given |= {"fresh": fresh or None, "read-only": read_only or None}
    shared = []
    for name, value in given.items():
        if isinstance(value, bool):
            shared.append(f"--{name}" if value else f"--no-{name}")
        elif value:
            shared.append(f"--{name}={value}")
    served = _served(store, store_location(settings), shared, None if is_anywhere else (chosen.name, request, at or ""))
    announce = partial(_announce, opens=open_browser, named=served.named)
    raise click.exceptions.Exit(serve_explorer(served, port=port, public_origin=public_origin, announce=announce))


def _served(given: str | None, location: str, shared: Sequence[str], start: tuple[str, Request, str] | None) -> Served:
    """Return what is served: the store at a location, as it was given, from a view with its options if there is one."""
    from riff_store.location import is_on_server, without_secrets
    from riff_tui.output.streams import say
    from riff_tui.serve.server import Served

    environ = dict(os.environ)
    if given is not None and without_secrets(given) != given:
        # Everybody on this machine can read the arguments of a process.
        environ["RIFF_TUI_STORE"] = location
    elif given is not None:
        shared = [*shared, f"--store={given}"]
    if is_on_server(location) and environ.get("PGPASSWORD"):
        say("PGPASSWORD reaches no page; put the password into ~/.pgpass.")
    return Served(
        named=without_secrets(location) if is_on_server(location) else os.path.basename(location),
        command=(sys.executable, "-P", "-m", "riff_tui", "ui"),
        arguments=tuple(shared),
        start=_start(*start) if start is not None else (),
        view=start[0] if start is not None else "",
        environ=environ,
    )


def _start(view: str, request: Request, at: str) -> tuple[str, ...]:
    """Return a view with its options as arguments."""
    from riff_tui.serve.place import Place

    given = (("where", request.where), ("sort", request.sort), ("aspect", request.aspect), ("at", at))
    options = (*given, *(("by", key) for key in request.by))
    return tuple(Place(view, tuple((name, text) for name, text in options if text), request.sides or ()).arguments)


def _announce(link: str, *, opens: bool, named: str) -> None:
    """Print the link, which scripts may read, and open it if there is somebody to look at it."""
    from riff_tui.output.streams import say

    with writing("stdout"):
        print(link, flush=True)
    say(f"The link opens {named}, once and in one browser. Ctrl-C ends the server and every explorer.")
    if not opens:
        return
    if os.environ.get("SSH_CONNECTION"):
        from urllib.parse import urlsplit

        port = urlsplit(link).port
        say(f"From where you are: ssh -L {port}:127.0.0.1:{port} HOST forwards the port, and the link opens there.")
    elif sys.platform == "darwin" or any(os.environ.get(name) for name in _DESKTOP):
        import threading
        import webbrowser

        # A browser that does not return must not keep pages waiting.
        threading.Thread(target=webbrowser.open, args=(link,), daemon=True).start()
