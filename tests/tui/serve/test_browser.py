"""The explorer in a real browser: it draws, is walked, filtered, resized, copied from and left there."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import pytest_asyncio

from tests.support import hostile_store
from tests.support.chromium import PATIENCE_S, Tab, browsing, chromium, tab_of
from tests.support.programs import is_alive, is_gone
from tests.support.served_pages import EXPLORER, pids, serving
from tests.surface.tui import ExplorerServer

READ = "navigator.clipboard.readText()"

if TYPE_CHECKING:
    from playwright.async_api import Browser

pytestmark = [
    pytest.mark.browser,
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.skipif(chromium() is None, reason="needs a Chromium: chromium-headless-shell, or $RIFF_CHROMIUM"),
]


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def browser() -> AsyncIterator[Browser]:
    """A browser for all of these."""
    async with browsing() as running:
        yield running


@asynccontextmanager
async def explorer(store: Path, browser: Browser, *arguments: str) -> AsyncIterator[tuple[ExplorerServer, Tab]]:
    """Serve a store, and have it open in a tab."""
    running = serving(store.name, command=EXPLORER, arguments=(f"--store={store}", "--fresh", *arguments))
    async with running as server, tab_of(browser) as tab:
        await tab.open(server.link)
        await tab.wait(lambda: "/v/" in tab.page.url, "the first screen")
        yield server, tab


async def test_it_opens_and_draws_in_its_own_font(tiny: Path, browser: Browser) -> None:
    async with explorer(tiny, browser) as (server, tab):
        await tab.wait_for("viewing")
        assert tab.page.url == f"{server.public_url}/v/flows"
        assert await tab.page.title() == "flows · tiny.db · riff-tui"
        loaded = "[...document.fonts].map(font => [font.family, font.style, font.status].join())"
        assert set(await tab.page.evaluate(loaded)) == {"Roboto Mono,normal,loaded", "Roboto Mono,italic,loaded"}
        (cookie,) = await tab.page.context.cookies()
        assert (cookie["httpOnly"], cookie["sameSite"]) == (True, "Strict")
        assert await tab.page.evaluate("document.cookie") == ""
        fits = "document.querySelector('.xterm-screen').getBoundingClientRect().bottom < innerHeight"
        assert await tab.page.evaluate(fits)


async def test_it_is_walked_to_a_call_and_back(tiny: Path, browser: Browser) -> None:
    async with explorer(tiny, browser) as (_, tab):
        for view in ("segments", "states", "neighbors", "conversation"):
            await tab.press("Enter")
            await tab.wait_for_view(view)
        await tab.wait_for("which day suits you?")
        address = tab.page.url
        await tab.reload()
        await tab.wait_for("which day suits you?")
        assert tab.page.url == address
        await tab.press("q")
        await tab.wait_for_view("flows")
        await tab.wait_for("weather")
        await tab.click("weather")
        await tab.wait(lambda: any("\\u001b[<0;" in frame for frame in tab.sent), "a click")
        await tab.press("Enter")
        await tab.wait_for_view("segments?where=flow=weather")


async def test_a_filter_is_typed(tiny: Path, browser: Browser) -> None:
    async with explorer(tiny, browser) as (_, tab):
        await tab.wait_for("viewing")
        await tab.press("/")
        await tab.page.keyboard.type("flow:weather")
        await tab.press("Enter")
        await tab.wait_for_view("flows?where=flow:weather")
        await tab.wait(lambda: "viewing" not in tab.text and "weather" in tab.text, "the rows that are left")


async def test_it_is_drawn_anew_when_the_window_is_another_size(tiny: Path, browser: Browser) -> None:
    async with explorer(tiny, browser) as (_, tab):
        await tab.wait_for("viewing")
        before = tab.screen.lines
        await tab.page.set_viewport_size({"width": 700, "height": 400})
        await tab.wait(lambda: tab.screen.lines < before, "the new size")
        await tab.wait(lambda: "? help" in tab.screen.display[tab.screen.lines - 1], "the keys in the last line")


async def test_what_is_copied_is_in_the_clipboard_where_the_browser_lets_it(tiny: Path, browser: Browser) -> None:
    async with explorer(tiny, browser) as (server, tab):
        context = tab.page.context
        await tab.press("y")
        await tab.wait_for("copy:")
        await tab.press("l")
        await tab.page.get_by_text("Your browser did not let riff-tui copy this.").wait_for()
        await context.grant_permissions(["clipboard-read", "clipboard-write"], origin=server.public_url)
        await tab.press("y")
        await tab.wait_for("copy:")
        await tab.press("l")
        async with asyncio.timeout(PATIENCE_S):
            while await tab.page.evaluate(READ) != f"riff-tui ui flows --store '{tiny}'":
                await asyncio.sleep(0.02)


async def test_a_file_is_downloaded(tiny: Path, browser: Browser) -> None:
    async with explorer(tiny, browser) as (_, tab):
        await tab.press("o")
        await tab.wait_for("write to:")
        await tab.press("Control+u")
        await tab.page.keyboard.type("flows.json")
        async with tab.page.expect_download() as begun:
            await tab.press("Enter")
        download = await begun.value
        assert download.suggested_filename == "flows.json"
        assert json.loads(Path(await download.path()).read_text(encoding="utf-8"))["view"] == "flows"


async def test_the_page_says_that_it_was_left_and_opens_again(tiny: Path, browser: Browser) -> None:
    async with explorer(tiny, browser) as (server, tab):
        (process,) = pids(server)
        await tab.press("q")
        await tab.page.wait_for_selector("body.-closed")
        await tab.page.get_by_text("Session ended").wait_for()
        assert await is_gone(process)
        await tab.press("Enter")
        await tab.wait(lambda: server.sessions and pids(server) and pids(server) != [process], "another explorer")
        await tab.page.wait_for_selector("body.-first-byte:not(.-closed)")


async def test_nothing_that_a_caller_said_opens_copies_or_speaks(tmp_path: Path, browser: Browser) -> None:
    words = ["see https://evil.example/x \x1b]52;c;aGFja2Vk\x07", "\x1b]8;;https://evil.example\x07link\x1b]8;;\x07"]
    async with explorer(hostile_store.build(tmp_path, words), browser) as (server, tab):
        context = tab.page.context
        await context.grant_permissions(["clipboard-read", "clipboard-write"], origin=server.public_url)
        await tab.page.evaluate("navigator.clipboard.writeText('as before')")
        await tab.press("7")
        await tab.wait_for_view("runs")
        for view in ("flows", "segments", "states", "neighbors", "conversation"):
            await tab.press("Enter")
            await tab.wait_for_view(view)
        await tab.wait_for("evil.example")
        await tab.click("https://evil.example")
        await tab.wait(lambda: any("\\u001b[<0;" in frame for frame in tab.sent), "a click")
        await tab.press("Escape")
        await tab.wait_for_view("neighbors")
        assert len(context.pages) == 1
        assert await tab.page.evaluate(READ) == "as before"


EVIL = """<!DOCTYPE html><title>evil</title><script>
const socket = new WebSocket("ws://%s/ws?width=80&height=24");
socket.onopen = () => document.title = "open";
socket.onclose = () => document.title = "closed";
</script>"""


async def test_a_page_of_another_server_on_this_machine_gets_nowhere(tiny: Path, browser: Browser) -> None:
    """Ports are one site to a browser, so the cookie is sent along; that the page is another one is what refuses it."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        body = (EVIL % server.public_url.removeprefix("http://")).encode()
        head = f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
        writer.write(head.encode() + body)
        await writer.drain()
        writer.close()

    async with explorer(tiny, browser) as (server, tab):
        before = pids(server)
        other = await asyncio.start_server(answer, "127.0.0.1", 0)
        async with other:
            evil = await tab.page.context.new_page()
            await evil.goto(f"http://127.0.0.1:{other.sockets[0].getsockname()[1]}/")
            await evil.wait_for_function("document.title !== 'evil'")
            assert await evil.title() == "closed"
        assert pids(server) == before
        assert all(map(is_alive, before))
