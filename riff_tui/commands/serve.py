"""Show the explorer in a browser: the `serve` command."""

from __future__ import annotations

import os
import sys
from functools import partial
from typing import Annotated

import typer

from riff_tui.commands import ui
from riff_tui.commands.options import AsciiOption, DebugOption, StoreOption, WhereOption, settings_for, split_keys

EXAMPLES = (
    "riff-tui serve",
    "riff-tui serve states --where 'flow=apartment_viewing' --store nightly.db",
    "riff-tui serve --port 8123 --no-open --read-only",
    "riff-tui serve --port 8123 --public-origin http://127.0.0.1:9000",
)
MISSING = "serve needs packages that are not installed: pip install 'riff-tui[serve]'"

PortOption = Annotated[
    int, typer.Option("--port", metavar="P", min=0, max=65535, help="The port of this machine; 0 takes a free one.")
]
OpenOption = Annotated[
    bool, typer.Option("--open/--no-open", help="Open the page in your browser, where there is a desktop.")
]
OriginOption = Annotated[
    str | None,
    typer.Option(
        "--public-origin",
        metavar="URL",
        help="Where you reach the page, if you forward another port to it.",
        show_default=False,
    ),
]


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
    port: PortOption = 0,
    open_browser: OpenOption = True,
    public_origin: OriginOption = None,
    store: StoreOption = None,
    debug: DebugOption = False,
) -> None:
    """Show the explorer in a browser on this machine.

    The link that is printed lets one browser in, once.
    """
    from riff_store.database import open_store
    from riff_store.location import without_secrets
    from riff_tui.errors import UsageError
    from riff_tui.filters import parse
    from riff_tui.request import Request
    from riff_tui.settings import store_location
    from riff_tui.view_registry import resolve

    settings = settings_for(store, theme=theme, ascii=ascii_only, mouse=mouse, live=live)
    request = Request(where=where, by=split_keys(by), sort=sort, sides=ui.two_sides(sides), aspect=aspect or None)
    chosen = resolve(view or "flows")
    ui.check_start(chosen, request, at or "")
    parse(where)
    location = store_location(settings)
    with open_store(location):
        pass
    try:
        from riff_tui.serve.place import Place
        from riff_tui.serve.running import serve_explorer
        from riff_tui.serve.server import Served
    except ModuleNotFoundError as error:
        raise UsageError(MISSING) from error
    # Everybody on this machine can read the arguments of a process.
    is_secret = store is not None and without_secrets(store) != store
    is_anywhere = view is None and request == Request()
    given = (("where", where), ("sort", sort), ("aspect", aspect), ("at", at), *(("by", key) for key in request.by))
    start = Place(chosen.name, tuple((name, text) for name, text in given if text), tuple(request.sides or ()))
    served = Served(
        named=os.path.basename(without_secrets(location)),
        command=(sys.executable, "-P", "-m", "riff_tui", "ui"),
        arguments=_shared(
            theme=theme,
            ascii=ascii_only,
            mouse=mouse,
            live=live,
            fresh=fresh or None,
            read_only=read_only or None,
            store=None if is_secret else store,
        ),
        start=() if is_anywhere else tuple(start.arguments),
        view="" if is_anywhere else chosen.name,
        environ={**os.environ, **({"RIFF_TUI_STORE": location} if is_secret else {})},
    )
    announce = partial(_announce, opens=open_browser, named=served.named)
    raise typer.Exit(serve_explorer(served, port=port, public_origin=public_origin, announce=announce))


def _shared(**options: str | bool | None) -> tuple[str, ...]:
    """Return the options of every page's explorer as arguments, those that were not given left out."""
    return tuple(_argument(name.replace("_", "-"), value) for name, value in options.items() if value not in (None, ""))


def _argument(name: str, value: str | bool | None) -> str:
    if isinstance(value, bool):
        return f"--{name}" if value else f"--no-{name}"
    return f"--{name}={value}"


def _announce(link: str, *, opens: bool, named: str) -> None:
    """Print the link, which scripts may read, and open it where there is somebody to look at it."""
    from riff_tui.errors import writing
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
    elif _has_desktop():
        import threading
        import webbrowser

        # A browser that does not return must not keep pages waiting.
        threading.Thread(target=webbrowser.open, args=(link,), daemon=True).start()


def _has_desktop() -> bool:
    """Return whether a browser has a place to open; one that draws in this terminal is none."""
    return sys.platform == "darwin" or any(os.environ.get(name) for name in ("BROWSER", "DISPLAY", "WAYLAND_DISPLAY"))
