"""Serve pages that each run an explorer, to the one who has the key and to nobody else."""

from __future__ import annotations

import asyncio
import atexit
import errno
import logging
import os
import secrets
import socket
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import cache
from html import escape
from importlib.resources import files
from string import Template
from typing import TypeAlias
from urllib.parse import quote, urlsplit

from aiohttp import WSCloseCode, WSMsgType, web
from textual_serve.server import Server

from riff_store.signals import ending_signals, exit_code_of, handlers_given_back
from riff_tui.browser import DRIVER, DRIVER_VARIABLE, LINK_PREFIX
from riff_tui.errors import ExitCode, UsageError
from riff_tui.serve.admission import (
    FONT_SIZE,
    HEIGHT,
    MESSAGE_BYTES,
    SOCKET_PATH,
    TOKEN,
    WIDTH,
    Admission,
    Asked,
    Keys,
    Limits,
    is_page,
)
from riff_tui.serve.place import Place, read_place
from riff_tui.serve.session import Downloads, Focused, Ping, Resized, Session, Typed, disposition, parse_frame
from riff_tui.text.safe_text import one_line

Handler: TypeAlias = Callable[[web.Request], Awaitable[web.StreamResponse]]

FULL = "This server runs {} explorers at once, and so many are open; close one and load this page again."
IDLE = "Session ended: nobody used it for {:g} hours."
_HEARTBEAT_S = 15
_LONGEST_REASON = 120


@dataclass(frozen=True, slots=True)
class Served:
    """Describe what is served: the `command` of an explorer, and where one begins that no link leads to.

    `named` is the store as a page may show it, `arguments` are of every explorer and `start` of those at `/`, which
    begin at a `view`.
    """

    named: str
    command: tuple[str, ...]
    arguments: tuple[str, ...] = ()
    start: tuple[str, ...] = ()
    view: str = ""
    environ: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))


class ExplorerServer(Server):  # type: ignore[misc]  # textual-serve has no types
    """Answer requests on a socket of this machine that is listening already.

    `public_origin` is where pages are reached if that is not the socket's own address.
    """

    def __init__(
        self, served: Served, listening: socket.socket, *, public_origin: str = "", limits: Limits | None = None
    ) -> None:
        host, port = listening.getsockname()[:2]
        origin = public_origin or f"http://{host}:{port}"
        super().__init__("", host, port, title=served.named, public_url=origin)
        self.keys = Keys()
        self.limits = limits or Limits()
        self.sessions: set[Session] = set()
        self._served = served
        self._listening = listening
        self._admission = Admission(origin, self.keys)
        self._cookie = f"riff_tui_{port}"
        self._open = 0
        self.download_manager = Downloads()

    @property
    def link(self) -> str:
        """Return the address that opens the explorer, once."""
        return f"{self.public_url}/?{TOKEN}={self.keys.token}"

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Answer requests; at the end every explorer has ended."""
        runner = web.AppRunner(await self._make_app(), access_log=None, shutdown_timeout=self.limits.patience_s)
        await runner.setup()
        site = web.SockSite(runner, self._listening)
        await site.start()
        try:
            yield
        finally:
            await site.stop()
            await self.stop_all()
            await runner.cleanup()

    async def stop_all(self) -> None:
        """End every explorer, each with time to save what it has."""
        await asyncio.gather(*(session.stop() for session in self.sessions))

    def kill_all(self) -> None:
        """End every explorer at once."""
        for session in self.sessions:
            session.kill()

    async def _make_app(self) -> web.Application:
        app = web.Application(middlewares=[self._admit])
        app.add_routes(
            [
                web.get("/", self.handle_index),
                web.get(LINK_PREFIX + "{view}", self.handle_index),
                web.get(SOCKET_PATH, self.handle_websocket),
                web.get("/download/{key}", self.handle_download, allow_head=False),
                web.static("/static", self.statics_path),
            ]
        )
        app.on_response_prepare.append(self._harden)
        return app

    @web.middleware  # type: ignore[untyped-decorator]  # it passes the handler by name
    async def _admit(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        headers = request.headers
        asked = Asked(
            request.method,
            request.path,
            headers.getall("Host", ()),
            headers.getall("Origin", ()),
            request.query.get(TOKEN),
            request.cookies.get(self._cookie),
        )
        refusal = self._admission.refusal(asked)
        if refusal is not None:
            again = _without_token(request) if refusal.status == 403 else ""
            return self._refuse(request, refusal.status, refusal.message, again=again)
        if asked.token is not None and is_page(request.path) and request.method == "GET":
            return self._let_in(request, asked.token)
        try:
            return await handler(request)
        except UsageError as error:
            return self._refuse(request, 400, str(error))
        except web.HTTPNotFound:
            return self._refuse(request, 404, "There is nothing at this address.")

    def _let_in(self, request: web.Request, token: str) -> web.Response:
        """Swap the token for a cookie, and lead on to the address without it."""
        response = web.Response(status=302, headers={"Location": _without_token(request)})
        cookie = self.keys.swap(token)
        if cookie is not None:
            secure = urlsplit(self.public_url).scheme == "https"
            response.set_cookie(self._cookie, cookie, path="/", httponly=True, samesite="Strict", secure=secure)
        return response

    def _refuse(self, request: web.Request, status: int, message: str, *, again: str = "") -> web.Response:
        if not is_page(request.path):
            return web.Response(status=status, text=f"{one_line(message)}\n")
        return _html(refusal_page(one_line(message), again=again), status=status)

    async def _harden(self, request: web.Request, response: web.StreamResponse) -> None:
        if POLICY not in response.headers:
            response.headers.update(security_headers(self.public_url))

    def _title(self, view: str) -> str:
        return " · ".join(filter(None, (one_line(view), one_line(self._served.named), "riff-tui")))

    async def handle_index(self, request: web.Request) -> web.Response:
        """Answer with a page, which opens a connection of its own."""
        place = read_place(request.match_info.get("view", ""), list(request.query.items()))
        if self._open >= self.limits.sessions:
            return self._refuse(request, 503, FULL.format(self.limits.sessions))
        nonce = secrets.token_urlsafe(16)
        page = explorer_page(
            title=self._title(place.view or self._served.view),
            query=place.query,
            font_size=FONT_SIZE.read(request.query.get("fontsize")),
            nonce=nonce,
        )
        return _html(page, headers=security_headers(self.public_url, nonce))

    async def handle_download(self, request: web.Request) -> web.StreamResponse:
        """Answer with a file that an explorer offered, once and as one to save."""
        download = self.download_manager.claim(request.match_info["key"])
        if download is None:
            raise web.HTTPNotFound
        response = web.StreamResponse(headers={"Content-Disposition": disposition(download.file_name)})
        response.content_type = "application/octet-stream"
        await response.prepare(request)
        try:
            async for piece in self.download_manager.read(download):
                await response.write(piece)
            await response.write_eof()
        except (ConnectionError, TimeoutError):
            # A file that ends early must not look whole.
            if request.transport is not None:
                request.transport.abort()
        return response

    async def handle_websocket(self, request: web.Request) -> web.StreamResponse:
        """Run an explorer for a page until one of them ends, if there is room for one more."""
        query = dict(request.query)
        place = read_place(query.pop("view", ""), list(query.items()))
        if self._open >= self.limits.sessions:
            full = FULL.format(self.limits.sessions)
            refused = web.WebSocketResponse()
            if not refused.can_prepare(request):
                return self._refuse(request, 503, full)
            # A page is shown why a connection ended, but never why it did not begin.
            await refused.prepare(request)
            await refused.close(code=WSCloseCode.TRY_AGAIN_LATER, message=_cut(full))
            return refused
        self._open += 1
        try:
            page = web.WebSocketResponse(
                heartbeat=_HEARTBEAT_S, max_msg_size=MESSAGE_BYTES, timeout=self.limits.patience_s
            )
            await page.prepare(request)
            await self._run(page, place, WIDTH.read(query.get("width")), HEIGHT.read(query.get("height")))
        finally:
            self._open -= 1
        return page

    async def _run(self, page: web.WebSocketResponse, place: Place, width: int, height: int) -> None:
        async def ended(reason: str) -> None:
            await page.close(message=_cut(reason))

        served = self._served
        session = Session(
            (*served.command, *served.arguments, *(place.arguments or served.start)),
            child_environment(served.environ, width=width, height=height),
            draw=page.send_bytes,
            tell=page.send_str,
            titled=self._title,
            ended=ended,
            downloads=self.download_manager,
            limits=self.limits,
        )
        self.sessions.add(session)
        try:
            await session.start()
            await self._listen(page, session)
        finally:
            await session.stop()
            self.sessions.discard(session)

    async def _listen(self, page: web.WebSocketResponse, session: Session) -> None:
        """Pass on what a page sends, until it is gone or nobody uses it any more."""
        ends = time.monotonic() + self.limits.idle_s
        while True:
            try:
                message = await page.receive(timeout=max(0.0, ends - time.monotonic()))
            except TimeoutError:
                await page.close(message=_cut(IDLE.format(self.limits.idle_s / 3600)))
                return
            if message.type in (WSMsgType.CLOSE, WSMsgType.CLOSING, WSMsgType.CLOSED, WSMsgType.ERROR):
                return
            frame = parse_frame(message.data) if message.type is WSMsgType.TEXT else None
            if isinstance(frame, Typed):
                ends = time.monotonic() + self.limits.idle_s
                await session.send_bytes(frame.keys)
            elif isinstance(frame, Resized):
                await session.set_terminal_size(*frame)
            elif isinstance(frame, Focused):
                await session.send_meta({"type": "focus" if frame.has else "blur"})
            elif isinstance(frame, Ping):
                await page.send_json(["pong", frame.text])


def _without_token(request: web.Request) -> str:
    """Return the address that was asked for as it may be shown and kept."""
    query = [(name, value) for name, value in request.query.items() if name != TOKEN]
    return str(request.rel_url.with_query(query))


def _html(page: str, *, status: int = 200, headers: Mapping[str, str] | None = None) -> web.Response:
    return web.Response(text=page, status=status, content_type="text/html", headers=headers)


def _cut(reason: str) -> bytes:
    """Return a reason as the end of a connection has room for it."""
    encoded = reason.encode("utf-8", "replace")
    if len(encoded) <= _LONGEST_REASON:
        return encoded
    return encoded[: _LONGEST_REASON - 3].decode("utf-8", "ignore").encode() + "…".encode()


POLICY = "Content-Security-Policy"


def security_headers(origin: str, nonce: str = "") -> dict[str, str]:
    """Return the headers of a response from an origin; of scripts in a page only those with the nonce run."""
    connection = origin.replace("http", "ws", 1)
    policy = (
        "default-src 'none'",
        f"script-src 'self' 'nonce-{nonce}'" if nonce else "script-src 'self'",
        "style-src 'self' 'unsafe-inline'",
        "font-src 'self'",
        "img-src 'self' data:",
        f"connect-src {connection}",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    )
    return {
        POLICY: "; ".join(policy),
        "X-Content-Type-Options": "nosniff",
        "X-Frame-Options": "DENY",
        "Referrer-Policy": "no-referrer",
        "Cache-Control": "no-store",
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
        "Server": "riff-tui",
    }


PASSED_ON = frozenset(
    (
        *("HOME", "LANG", "LANGUAGE", "LOGNAME", "PATH", "TMPDIR", "TZ", "USER"),
        *("CLICOLOR", "NO_COLOR"),
        *("PGDATABASE", "PGHOST", "PGPASSFILE", "PGPORT", "PGSSLMODE", "PGSSLROOTCERT", "PGUSER"),
        *("PYTHONPATH", "VIRTUAL_ENV"),
    )
)
PASSED_ON_PREFIXES = ("LC_", "PGSERVICE", "RIFF_TUI_", "XDG_")
"""Variables of these names and beginnings reach the explorer; keys of judges, passwords and SSH's are none of them."""

_SET = {
    DRIVER_VARIABLE: DRIVER,
    "TEXTUAL_COLOR_SYSTEM": "truecolor",
    "TEXTUAL_FPS": "60",
    "TERM": "xterm-256color",
    "PYTHONUTF8": "1",
}


def child_environment(environ: Mapping[str, str], *, width: int, height: int) -> dict[str, str]:
    """Return the environment of an explorer on a page of so many cells."""
    kept = {name: value for name, value in environ.items() if is_passed_on(name)}
    return {**kept, **_SET, "COLUMNS": str(width), "ROWS": str(height)}


def is_passed_on(name: str) -> bool:
    """Return whether an explorer gets the variable of that name."""
    return name in PASSED_ON or name.startswith(PASSED_ON_PREFIXES)


LOOPBACK = "127.0.0.1"


def serve_explorer(
    served: Served, *, port: int = 0, public_origin: str | None = None, announce: Callable[[str], None]
) -> ExitCode:
    """Serve pages until a signal comes, and return the exit code that shows which.

    `announce` gets the link once it can be opened. Raises `UsageError` for a port that cannot be had.
    """
    origin = parse_origin(public_origin) if public_origin else ""
    # What a request has is not for the terminal, and who asked for what is nobody's business.
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
    """Return scheme, host and port of an address; raise `UsageError` if it shows more, or less."""
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


_ICON = quote(
    "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'><path d='M0 0h16v16H0z'/>"
    "<path stroke='#5fd7af' stroke-width='2' d='M2 7v2M6 3v10M10 5v6M14 7v2'/></svg>"
)


def explorer_page(*, title: str, query: str, font_size: int, nonce: str) -> str:
    """Return the page that draws an explorer, whose connection asks for `query`."""
    values = {"title": title, "query": query, "font_size": str(font_size), "nonce": nonce, "icon": _ICON}
    return _filled("explorer.html", values, script=_read("explorer.js"))


def refusal_page(message: str, *, again: str = "") -> str:
    """Return the page that shows why there is none, with a way to ask `again` from the server's own page if given.

    A browser keeps the cookie back where a page of others led here.
    """
    return _filled("refused.html", {"message": message, "again": again, "hidden": "" if again else "hidden"})


def _filled(name: str, values: dict[str, str], *, script: str = "") -> str:
    return Template(_read(name)).substitute({key: escape(value) for key, value in values.items()}, script=script)


@cache
def _read(name: str) -> str:
    return (files(__package__) / "pages" / name).read_text(encoding="utf-8")
