"""A server of pages as a browser sees it: what it answers, and what an explorer behind it draws."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import pyte

from tests.support.screen import Screen
from tests.surface.tui import ExplorerServer, Limits, Served

ROOT = Path(__file__).resolve().parents[2]
PATIENCE_S = 60.0
EXPLORER = (sys.executable, "-P", "-m", "riff_tui", "ui")

ECHO = """
import json, os, signal, sys, time
def send(kind, payload): os.write(1, kind + len(payload).to_bytes(4, "big") + payload)
def read(size): return sys.stdin.buffer.read(size) or sys.exit()
os.write(1, b"__GANGLION__\\n")
send(b"D", json.dumps([sys.argv[1:], os.environ["COLUMNS"], os.environ["ROWS"]]).encode())
while True:
    kind = read(1)
    payload = read(int.from_bytes(read(4), "big"))
    if payload == b"complain":
        os.write(2, b"x" * 200_000 + b"\\nriff-tui: error: \\x1b]52;c;aGk=\\x07 no store\\n")
        sys.exit(4)
    if payload == b"be deaf":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        send(b"D", b"deaf")
        time.sleep(600)
    if b"quit" in payload: sys.exit()
    send(b"D", kind + payload)
"""
"""A program that speaks as explorers do: it tells its arguments and size, and says again what it is sent."""


def surroundings() -> dict[str, str]:
    """Return the environment of a server that finds this source."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join(str(ROOT / part) for part in (".", "store", "ingest"))}


@asynccontextmanager
async def serving(
    named: str = "store.db", *, command: tuple[str, ...] = (sys.executable, "-c", ECHO), **more: Any
) -> AsyncIterator[ExplorerServer]:
    """Run a server of echoing programs, or of what the command names."""
    limits, origin = more.pop("limits", Limits()), more.pop("public_origin", "")
    served = Served(named, command, environ=surroundings(), **more)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        server = ExplorerServer(served, listening, limits=limits, public_origin=origin)
        async with server.running():
            yield server


@asynccontextmanager
async def let_in(link: str) -> AsyncIterator[aiohttp.ClientSession]:
    """Open the link as a browser does; the client has the cookie then."""
    async with aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True)) as browser:
        async with browser.get(link) as answer:
            assert answer.status == 200
        yield browser


class Page:
    """Keep the connection of a page: what was sent to it, and what one would see."""

    def __init__(self, connection: aiohttp.ClientWebSocketResponse, width: int, height: int) -> None:
        self.connection = connection
        self.screen = Screen(width, height)
        self.sent = bytearray()
        self.told: list[Any] = []
        self._stream = pyte.ByteStream(self.screen)

    @property
    def text(self) -> str:
        return "\n".join(line.rstrip() for line in self.screen.display)

    async def type(self, keys: str) -> None:
        await self.say("stdin", keys)

    async def say(self, *frame: object) -> None:
        await self.connection.send_str(json.dumps(frame))

    async def resize(self, width: int, height: int) -> None:
        self.screen.resize(height, width)
        await self.say("resize", {"width": width, "height": height})

    async def wait(self, seen: Callable[[], object], what: str) -> None:
        """Read until a condition is true."""
        try:
            async with asyncio.timeout(PATIENCE_S):
                while not seen():
                    await self._read()
        except TimeoutError:
            raise AssertionError(f"{what} never came; the screen is\n{self.text}") from None

    async def wait_for(self, text: str) -> None:
        """Read until a text is on the screen."""
        await self.wait(lambda: text in self.text, repr(text))

    async def echo(self) -> bytes:
        """Return what is sent next."""
        message = await self.connection.receive(timeout=PATIENCE_S)
        assert message.type is aiohttp.WSMsgType.BINARY, message
        data: bytes = message.data
        return data

    async def end(self) -> str:
        """Read until the connection is closed, and return why it was."""
        async with asyncio.timeout(PATIENCE_S):
            while True:
                message = await self.connection.receive()
                if message.type in (aiohttp.WSMsgType.CLOSE, aiohttp.WSMsgType.CLOSED):
                    return str(message.extra or "")

    async def _read(self) -> None:
        message = await self.connection.receive()
        if message.type is aiohttp.WSMsgType.BINARY:
            self.sent += message.data
            self._stream.feed(message.data)
        elif message.type is aiohttp.WSMsgType.TEXT:
            self.told.append(json.loads(message.data))
        else:
            raise AssertionError(f"the connection ended: {message}; the screen is\n{self.text}")


@asynccontextmanager
async def page_of(
    browser: aiohttp.ClientSession, origin: str, *, width: int = 100, height: int = 30, query: str = ""
) -> AsyncIterator[Page]:
    """Open the connection of a page of so many cells."""
    address = f"{origin}/ws?width={width}&height={height}{query}"
    async with browser.ws_connect(address, origin=origin, max_msg_size=0) as connection:
        yield Page(connection, width, height)


@asynccontextmanager
async def opened(server: ExplorerServer, **options: Any) -> AsyncIterator[Page]:
    """Open the link of a server and the connection of one page."""
    async with let_in(server.link) as browser, page_of(browser, server.public_url, **options) as page:
        yield page


def pids(server: ExplorerServer) -> list[int]:
    """Return the processes of the explorers that run."""
    return [session.pid for session in server.sessions if session.pid is not None]


async def raw_answer(server: ExplorerServer, request: str) -> tuple[int, str]:
    """Send a request as it is, which no client would, and return the status and the rest."""
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    writer.write(request.replace("\n", "\r\n").encode())
    async with asyncio.timeout(PATIENCE_S):
        head = (await reader.readuntil(b"\r\n\r\n")).decode("utf-8", "replace")
    writer.close()
    return int(head.split()[1]), head
