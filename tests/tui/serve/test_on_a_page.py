"""The explorer itself behind a page: what it draws there, where it says it is, and what it leaves behind."""

from __future__ import annotations

import json
import re
from pathlib import Path
from urllib.parse import parse_qsl, unquote, urlsplit

import pytest

from tests.support.programs import is_gone
from tests.support.pty_terminal import foreign_controls
from tests.support.served_pages import EXPLORER, Page, let_in, page_of, pids, serving

ENTER, ESCAPE = "\r", "\x1b"


def address(page: Page) -> tuple[str, dict[str, str]]:
    """Where the explorer said last that it is: the view, and what the address says of it."""
    told = [frame[1]["address"] for frame in page.told if frame[0] == "place"]
    parts = urlsplit(told[-1])
    return unquote(parts.path.removeprefix("/v/")), dict(parse_qsl(parts.query))


async def go(page: Page, keys: str, view: str) -> None:
    """Send keys and wait until the explorer is at a view."""
    page.told.clear()
    await page.type(keys)
    await page.wait(lambda: page.told and address(page)[0] == view, f"the view {view}")


async def test_a_page_is_walked_as_a_terminal_is_and_its_address_follows(tiny: Path) -> None:
    async with (
        serving("tiny.db", command=EXPLORER, arguments=(f"--store={tiny}", "--fresh")) as server,
        let_in(server.link) as browser,
        page_of(browser, server.public_url, width=90, height=24) as page,
    ):
        await page.wait_for("viewing")
        (process,) = pids(server)
        await page.wait(lambda: page.told, "the address")
        assert page.told[0][1] == {"address": "/v/flows", "title": "flows · tiny.db · riff-tui"}
        await go(page, ENTER, "segments")
        await go(page, ENTER, "states")
        await go(page, ENTER, "neighbors")
        assert address(page)[1]["where"].startswith("flow=viewing ")
        await go(page, ENTER, "conversation")
        await page.wait_for("which day suits you?")
        assert re.fullmatch(r"run=run-\d conversation=c-\d{4}", address(page)[1]["where"])
        await go(page, ESCAPE, "neighbors")
        await page.resize(60, 20)
        await page.wait(lambda: "\x1b[20;" in page.sent.decode(), "a screen of 20 lines")
        await page.type("q" * 4)
        assert await page.end() == ""
        assert await is_gone(process)


async def test_a_link_opens_a_moment_of_a_call_and_a_copy_names_it(tiny: Path) -> None:
    async with (
        serving("tiny.db", command=EXPLORER, arguments=(f"--store={tiny}",)) as server,
        let_in(server.link) as browser,
        page_of(
            browser, server.public_url, query="&view=conversation&where=run%3Drun-1+conversation%3Dc-0000&at=turn:2"
        ) as page,
    ):
        await page.wait(lambda: page.told, "the address")
        assert address(page) == ("conversation", {"where": "run=run-1 conversation=c-0000", "at": "turn:2"})
        await page.type("y")
        await page.wait_for("copy:")
        await page.type("l")
        await page.wait_for("on the server to")
        assert b"\x1b]52;c;" in page.sent


async def test_what_makes_no_sense_is_said_on_the_page(tiny: Path) -> None:
    async with (
        serving("tiny.db", command=EXPLORER, arguments=(f"--store={tiny}",)) as server,
        let_in(server.link) as browser,
        page_of(browser, server.public_url, query="&view=flows&where=flow%3D(") as page,
    ):
        assert (await page.end()).startswith("riff-tui: error: filter, character 6: ")


async def test_read_only_writes_nothing_of_the_store_and_files_go_to_the_browser(
    tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    before, files = tiny.read_bytes(), sorted(tiny.parent.iterdir())
    async with (
        serving("tiny.db", command=EXPLORER, arguments=(f"--store={tiny}", "--read-only")) as server,
        let_in(server.link) as browser,
        page_of(browser, server.public_url, query="&view=conversation&where=conversation%3Dc-0000") as page,
    ):
        await page.wait_for("which day suits you?")
        for key in "afsiu":
            await page.type(key)
            await page.wait_for("opened with --read-only")
            await page.type("j")
            await page.wait(lambda: "opened with --read-only" not in page.text, "the next line")
        await page.type("o")
        await page.wait_for("write to:")
        await page.type("\x15../up/all \u00fc.json" + ENTER)
        await page.wait_for("goes to your browser")
        await page.wait(lambda: page.told[-1][0] == "deliver_file_start", "the file")
        address = f"{server.public_url}/download/{page.told[-1][1]}"
        async with browser.get(address) as answer:
            named = "attachment; filename=\"all _.json\"; filename*=UTF-8''all%20%C3%BC.json"
            assert answer.headers["Content-Disposition"] == named
            assert answer.headers["Content-Type"] == "application/octet-stream"
            assert json.loads(await answer.text())["view"] == "conversation"
        async with browser.get(address) as again:
            assert again.status == 404
    assert (tiny.read_bytes(), sorted(tiny.parent.iterdir())) == (before, files)
    assert list(tmp_path.iterdir()) == []


async def test_nothing_in_calls_reaches_the_page_but_as_text(hostile: Path) -> None:
    async with (
        serving("store.db", command=EXPLORER, arguments=(f"--store={hostile}", "--fresh")) as server,
        let_in(server.link) as browser,
        page_of(browser, server.public_url, query="&view=conversations") as page,
    ):
        await page.wait(lambda: page.told, "the list")
        for _ in range(4):
            await go(page, ENTER, "conversation")
            await page.type("jjjj")
            await go(page, ESCAPE, "conversations")
            await page.type("j")
        assert b"\x1b]52" not in page.sent
        assert foreign_controls(bytes(page.sent)) == []
