"""Listen, say where, and run until a signal ends it with everything that it started."""

from __future__ import annotations

import asyncio
import atexit
import errno
import logging
import socket
from collections.abc import Callable
from urllib.parse import urlsplit

from riff_store.signals import ending_signals, exit_code_of, handlers_given_back
from riff_tui.errors import ExitCode, UsageError
from riff_tui.serve.server import ExplorerServer, Served

LOOPBACK = "127.0.0.1"


def serve_explorer(
    served: Served, *, port: int = 0, public_origin: str | None = None, announce: Callable[[str], None]
) -> ExitCode:
    """Serve pages until a signal comes, and return the exit code that says which.

    `announce` gets the link once it can be opened. Raises `UsageError` for a port that cannot be had.
    """
    origin = parse_origin(public_origin) if public_origin else ""
    # What a request holds is not for the terminal, and who asked for what is nobody's business.
    logging.getLogger("aiohttp").addHandler(logging.NullHandler())
    logging.getLogger("textual-serve").addHandler(logging.NullHandler())
    with listen(port) as listening:
        server = ExplorerServer(served, listening, public_origin=origin)
        atexit.register(server.kill_all)
        return asyncio.run(_serve(server, announce))


def listen(port: int) -> socket.socket:
    """Return a socket that listens on a port of this machine alone, on a free one for 0."""
    try:
        return socket.create_server((LOOPBACK, port))
    except OSError as error:
        reason = "is taken" if error.errno == errno.EADDRINUSE else f"cannot be had ({error.strerror})"
        raise UsageError(f"port {port} {reason}; --port 0 takes a free one") from error


def parse_origin(url: str) -> str:
    """Return scheme, host and port of an address; raise `UsageError` where it says more, or less."""
    parts = urlsplit(url.strip().lower().rstrip("/"))
    if parts.scheme not in ("http", "https") or not parts.hostname or "@" in parts.netloc:
        raise UsageError(f"--public-origin {url}: it takes http://HOST:PORT or https://HOST")
    if parts.path or parts.query or parts.fragment:
        raise UsageError(f"--public-origin {url}: it takes no path, only {parts.scheme}://{parts.netloc}")
    return f"{parts.scheme}://{parts.netloc}"


async def _serve(server: ExplorerServer, announce: Callable[[str], None]) -> ExitCode:
    loop = asyncio.get_running_loop()
    ended: asyncio.Future[ExitCode] = loop.create_future()

    def end(code: ExitCode) -> None:
        if ended.done():
            server.kill_all()
        else:
            ended.set_result(code)

    with handlers_given_back():
        for number in ending_signals():
            loop.add_signal_handler(number, end, exit_code_of(number))
        async with server.running():
            announce(server.link)
            return await ended
