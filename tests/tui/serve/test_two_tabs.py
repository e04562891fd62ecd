"""Two tabs on one store, which keep what lasts in one file."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

from tests.support.served_pages import EXPLORER, let_in, page_of, serving


async def test_two_tabs_keep_what_the_last_one_chose(tiny: Path) -> None:
    async with (
        serving("tiny.db", command=EXPLORER, arguments=(f"--store={tiny}",)) as server,
        let_in(server.link) as browser,
        page_of(browser, server.public_url) as first,
        page_of(browser, server.public_url) as second,
    ):
        await first.wait_for("viewing")
        await second.wait_for("viewing")
        for page in (second, first):
            await page.type("t")
            await page.wait_for("theme: light")
        await first.type("t")
        await first.wait_for("theme: mono")
        for page, others in ((second, 1), (first, 0)):
            await page.connection.close()
            while len(server.sessions) > others:
                await asyncio.sleep(0.01)
    (kept,) = Path(os.environ["XDG_STATE_HOME"]).rglob("*.json")
    assert '"mono"' in kept.read_text(encoding="utf-8")
