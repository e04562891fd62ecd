"""Explorers behind pages end with them, whatever they are doing."""

from __future__ import annotations

import asyncio
import os
import signal
import sys

from tests.support.programs import is_alive, is_gone
from tests.support.served_pages import let_in, opened, pids, serving
from tests.surface.tui import COMPLAINT_BYTES, Limits, Session

QUICK = Limits(patience_s=0.2)


async def test_an_explorer_ends_with_its_page() -> None:
    async with serving() as server, opened(server) as page:
        await page.echo()
        (process,) = pids(server)
        await page.connection.close()
        assert await is_gone(process)


async def test_one_that_was_stopped_or_hears_nothing_is_killed() -> None:
    async with serving(limits=QUICK) as server:
        async with opened(server) as page:
            await page.echo()
            (stopped,) = pids(server)
            os.kill(stopped, signal.SIGSTOP)
        assert await is_gone(stopped)
        server.keys.is_spent = False
        async with opened(server) as page:
            await page.echo()
            await page.type("be deaf")
            assert await page.echo() == b"deaf"
            # The other one is gone before the server has heard of it.
            (deaf,) = {*pids(server)} - {stopped}
        assert await is_gone(deaf)


async def test_one_that_is_still_starting_is_told_at_once() -> None:
    command = (sys.executable, "-c", "import time; time.sleep(600)")
    async with serving(command=command) as server, opened(server) as page:
        while not pids(server):
            await asyncio.sleep(0.01)
        (process,) = pids(server)
        await page.connection.close()
        assert await is_gone(process)


async def test_a_page_that_answers_nothing_holds_nothing_up() -> None:
    async with serving(limits=QUICK) as server:
        async with let_in(server.link):
            pass
        reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        writer.write(
            f"GET /ws HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nOrigin: {server.public_url}\r\n"
            f"Cookie: riff_tui_{server.port}={server.keys.cookie}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
            "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n".encode()
        )
        assert b"101" in await reader.readline()
        while not pids(server):
            await asyncio.sleep(0.01)
        (process,) = pids(server)
        await server.stop_all()
        assert not is_alive(process)
    writer.close()


async def test_what_one_that_hangs_does_not_read_is_not_kept() -> None:
    async with serving(limits=QUICK) as server, opened(server) as page:
        await page.echo()
        (process,) = pids(server)
        os.kill(process, signal.SIGSTOP)
        for _ in range(8):
            await page.type("x" * 500_000)
        await page.say("ping", "still there")
        await page.wait(lambda: page.told, "an answer")
        await page.connection.close()
        assert await is_gone(process)


async def test_the_end_of_the_server_is_the_end_of_its_explorers() -> None:
    async with serving(limits=QUICK) as server, opened(server) as page:
        await page.echo()
        (process,) = pids(server)
        await server.stop_all()
        assert not is_alive(process)
        assert await page.end() == ""


async def test_one_that_nobody_uses_ends() -> None:
    async with serving(limits=Limits(idle_s=0.3)) as server, opened(server) as page:
        await page.echo()
        (process,) = pids(server)
        assert "nobody used it" in await page.end()
        assert await is_gone(process)


async def test_the_page_says_why_an_explorer_could_not_begin() -> None:
    async with serving() as server, opened(server) as page:
        await page.echo()
        (session,) = server.sessions
        await page.type("complain")
        assert await page.end() == "riff-tui: error: ␛]52;c;aGk=␇ no store"
        assert len(session.complaint) <= COMPLAINT_BYTES


async def test_one_that_begins_as_the_server_ends_ends_too() -> None:
    async with serving(limits=QUICK) as server:
        session = Session(
            (sys.executable, "-c", "import time; time.sleep(600)"),
            {},
            draw=_nothing,
            tell=_nothing,
            ended=_nothing,
            titled=str,
            downloads=server.download_manager,
            limits=QUICK,
        )
        await session.stop()
        await session.start()
        assert session.pid is not None
        assert await is_gone(session.pid)


async def _nothing(_: object) -> None:
    pass
