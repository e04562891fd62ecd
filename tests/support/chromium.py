"""Pages in a real browser: what is drawn there, what it asks for, and what its console says."""

from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pyte

from tests.support.screen import Screen

if TYPE_CHECKING:
    from playwright.async_api import Browser, WebSocket

PATIENCE_S = 60.0
NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
FLAGS = ("--no-sandbox", "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1")
"""It may run as root in a container, and finds nothing but this machine."""


def chromium() -> str | None:
    """Return where a Chromium is: `$RIFF_CHROMIUM`, else one on the path."""
    return os.environ.get("RIFF_CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)


@asynccontextmanager
async def browsing() -> AsyncIterator[Browser]:
    """Run a browser without a window."""
    from playwright.async_api import async_playwright

    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=chromium(), args=list(FLAGS))
        yield browser
        await browser.close()


class Tab:
    """Keep a page: the cells that its terminal shows, what it sent, whom it asked and what it complained about."""

    def __init__(self, page: Any) -> None:
        self.page = page
        self.screen = Screen(80, 24)
        self.sent: list[str] = []
        self.asked: list[str] = []
        self.complaints: list[str] = []
        self._stream = pyte.ByteStream(self.screen)
        page.set_default_timeout(PATIENCE_S * 1000)
        page.on("websocket", self._connected)
        page.on("request", lambda request: self.asked.append(request.url))
        page.on("console", self._said)
        page.on("pageerror", lambda error: self.complaints.append(str(error)))

    @property
    def text(self) -> str:
        return "\n".join(line.rstrip() for line in self.screen.display)

    async def open(self, address: str) -> None:
        await self.page.goto(address)
        await self.page.wait_for_selector("body.-first-byte")

    async def reload(self) -> None:
        self.screen.reset()
        await self.page.reload()
        await self.page.wait_for_selector("body.-first-byte")

    async def press(self, *keys: str) -> None:
        for key in keys:
            await self.page.keyboard.press(key)

    async def wait(self, seen: Callable[[], object], what: str) -> None:
        """Wait until a condition is true."""
        try:
            async with asyncio.timeout(PATIENCE_S):
                while not seen():
                    await asyncio.sleep(0.02)
        except TimeoutError:
            complaints = "\n".join(self.complaints)
            raise AssertionError(f"{what} never came; the screen is\n{self.text}\n{complaints}") from None

    async def wait_for(self, text: str) -> None:
        """Wait until a text is on the screen."""
        await self.wait(lambda: text in self.text, repr(text))

    async def wait_for_view(self, view: str) -> None:
        """Wait until the address of the page shows that the explorer is at a view."""
        await self.wait(lambda: f"/v/{view}" in self.page.url, f"the view {view}")

    async def click(self, text: str) -> None:
        """Click on the first cell of a text on the screen."""
        line = next(number for number, shown in enumerate(self.screen.display) if text in shown)
        column = self.screen.display[line].index(text)
        box = await self.page.locator(".xterm-screen").bounding_box()
        x = box["x"] + (column + 0.5) * box["width"] / self.screen.columns
        y = box["y"] + (line + 0.5) * box["height"] / self.screen.lines
        await self.page.mouse.click(x, y)

    def _connected(self, connection: WebSocket) -> None:
        sizes = dict(part.split("=") for part in connection.url.partition("?")[2].split("&")[:2])
        self._resize(int(sizes["width"]), int(sizes["height"]))
        connection.on("framereceived", self._drawn)
        connection.on("framesent", self._typed)

    def _drawn(self, frame: str | bytes) -> None:
        if isinstance(frame, bytes):
            self._stream.feed(frame)

    def _typed(self, frame: str | bytes) -> None:
        import json

        self.sent.append(str(frame))
        kind, *more = json.loads(frame)
        if kind == "resize":
            self._resize(more[0]["width"], more[0]["height"])

    def _resize(self, width: int, height: int) -> None:
        if (self.screen.columns, self.screen.lines) != (width, height):
            self.screen.resize(height, width)

    def _said(self, message: Any) -> None:
        # What breaks the page's policy is an error; a browser on a busy machine warns of its own slowness.
        if message.type == "error":
            self.complaints.append(message.text)


@asynccontextmanager
async def tab_of(browser: Browser, *, width: int = 1000, height: int = 600) -> AsyncIterator[Tab]:
    """Open a tab with cookies of its own; all it asked for is on this machine, and it complained of nothing."""
    context = await browser.new_context(viewport={"width": width, "height": height})
    tab = Tab(await context.new_page())
    yield tab
    assert [url for url in tab.asked if not url.startswith(("http://127.0.0.1:", "data:"))] == []
    assert not tab.complaints, tab.complaints
    await context.close()
