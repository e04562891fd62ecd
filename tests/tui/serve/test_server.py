"""What the server answers over the wire, and to whom."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator

import aiohttp
import pytest

from tests.support.served_pages import let_in, opened, page_of, raw_answer, serving
from tests.surface.tui import ExplorerServer, Limits

UPGRADE = (
    "Connection: Upgrade\nUpgrade: websocket\nSec-WebSocket-Version: 13\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\n"
)


@pytest.fixture
async def server() -> AsyncIterator[ExplorerServer]:
    """A server of programs that say what they are told."""
    async with serving("nightly <b>.db") as running:
        yield running


async def status_of(origin: str, path: str, method: str = "GET", **options: object) -> int:
    async with aiohttp.ClientSession() as stranger, stranger.request(method, origin + path, **options) as answer:
        return int(answer.status)


@pytest.mark.parametrize(
    ("path", "method"),
    [
        *(("/", "GET"), ("/?token=guess", "GET"), ("/v/flows", "GET"), ("/ws", "GET"), ("/download/key", "GET")),
        *(("/static/js/textual.js", "GET"), ("/static/", "GET"), ("/nowhere", "GET"), ("/", "HEAD")),
    ],
)
async def test_strangers_get_nothing(server: ExplorerServer, path: str, method: str) -> None:
    assert await status_of(server.public_url, path, method) == 403
    assert await status_of(server.public_url, "/", "POST") == 405


async def test_the_link_opens_once_and_leaves_no_token_in_the_address(server: ExplorerServer) -> None:
    async with aiohttp.ClientSession() as browser:
        async with browser.head(server.link) as looked:
            assert looked.status == 403, "looking does not use the link up"
        async with browser.get(server.link, allow_redirects=False) as answer:
            assert (answer.status, answer.headers["Location"]) == (302, "/")
            cookie = answer.headers["Set-Cookie"]
    assert cookie.startswith(f"riff_tui_{server.port}=")
    assert {"HttpOnly", "SameSite=Strict", "Path=/"} <= set(cookie.split("; "))
    assert await status_of(server.public_url, server.link.removeprefix(server.public_url)) == 403
    async with aiohttp.ClientSession(headers={"Cookie": cookie.partition(";")[0]}) as browser:
        async with browser.get(server.link) as again:
            assert (again.status, again.url.query_string) == (200, ""), "who is in already may use it again"
        async with browser.get(f"{server.public_url}/static/") as listing:
            assert listing.status in (403, 404)


async def test_a_link_to_a_view_keeps_what_it_says_of_it(server: ExplorerServer) -> None:
    async with aiohttp.ClientSession() as browser:
        address = f"{server.public_url}/v/flows?where=n%3E2&token={server.keys.token}"
        async with browser.get(address, allow_redirects=False) as answer:
            assert answer.headers["Location"] == "/v/flows?where=n%3E2"


async def test_a_page_names_store_and_view_and_runs_no_script_but_its_own(server: ExplorerServer) -> None:
    async with let_in(server.link) as browser, browser.get(f"{server.public_url}/v/matrix?fontsize=9999") as answer:
        text, policy = await answer.text(), answer.headers["Content-Security-Policy"]
        assert "<title>flows · nightly &lt;b&gt;.db · riff-tui</title>" in text
        assert 'data-font-size="72"' in text
        nonce = text.partition('nonce="')[2].partition('"')[0]
        assert f"script-src 'self' 'nonce-{nonce}';" in policy
        assert policy.startswith("default-src 'none';")
        assert f"connect-src ws://127.0.0.1:{server.port};" in policy
        assert "frame-ancestors 'none'" in policy
        assert answer.headers["Cache-Control"] == "no-store"
        assert answer.headers["Referrer-Policy"] == "no-referrer"
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert answer.headers["Cross-Origin-Opener-Policy"] == "same-origin"
        assert text.count("<script") == 1
        assert "http://" not in text.replace("http://www.w3.org", "").replace("http%3A//www.w3.org", "")
        assert "https://" not in text
        assert "onclick" not in text.lower()
    async with let_in_again(server) as browser, browser.get(server.public_url) as answer:
        assert nonce not in await answer.text()


def let_in_again(server: ExplorerServer) -> aiohttp.ClientSession:
    return aiohttp.ClientSession(headers={"Cookie": f"riff_tui_{server.port}={server.keys.cookie}"})


@pytest.mark.parametrize(
    ("path", "status", "said"),
    [
        ("/v/moon", 400, "no view is called &#x27;moon&#x27;"),
        ("/v/flows?ping=http://evil.example", 400, "a link has no &#x27;ping&#x27;"),
        ("/?where=n>2", 400, "belongs to a view"),
        ("/v/a/b", 404, "nothing at this address"),
        ("/static/../server.py", 404, "nothing at this address"),
        ("/static/%2e%2e/server.py", 404, "nothing at this address"),
        ("/download/key", 404, "nothing at this address"),
    ],
)
async def test_what_there_is_not_is_said(server: ExplorerServer, path: str, status: int, said: str) -> None:
    async with let_in(server.link) as browser, browser.get(server.public_url + path) as answer:
        assert answer.status == status
        assert said in await answer.text()


async def test_what_a_client_would_never_send_is_refused(server: ExplorerServer) -> None:
    """Client libraries send one Host header and none that is wrong, so these are written by hand."""
    async with let_in(server.link):
        pass
    host, cookie = f"127.0.0.1:{server.port}", f"Cookie: riff_tui_{server.port}={server.keys.cookie}\n"
    origin = f"Origin: {server.public_url}\n"
    page, connection = "GET / HTTP/1.1\n", f"GET /ws HTTP/1.1\nHost: {host}\n{cookie}{UPGRADE}"
    assert (await raw_answer(server, f"{page}Host: {host}\n{cookie}\n"))[0] == 200
    assert (await raw_answer(server, f"{connection}{origin}\n"))[0] == 101
    for refused in (
        f"{page}{cookie}\n",
        f"{page}Host: evil.example\n{cookie}\n",
        f"{page}Host: localhost:{server.port}\n{cookie}\n",
        f"{page}Host: {host}\nHost: evil.example\n{cookie}\n",
        f"{page}Host: {host}\nHost: {host}\n{cookie}\n",
        f"GET http://evil.example/ HTTP/1.1\nHost: evil.example\n{cookie}\n",
        f"{connection}\n",
        f"{connection}Origin: https://evil.example\n\n",
        f"{connection}Origin: null\n\n",
        f"{connection}{origin}Origin: https://evil.example\n\n",
        f"{connection}{origin}".replace(cookie, "") + "\n",
    ):
        status, head = await raw_answer(server, refused)
        assert status in (400, 403), refused
        assert server.keys.cookie not in head
    assert len(server.sessions) <= 1


async def test_an_explorer_is_told_its_place_and_sizes_within_bounds() -> None:
    serving_a_view = serving(arguments=("--theme=dark",), start=("--", "worklist"))
    async with serving_a_view as server, let_in(server.link) as browser:
        async with page_of(browser, server.public_url, width=100_000, height=1_000) as page:
            assert json.loads(await page.echo()) == [["--theme=dark", "--", "worklist"], "500", "200"]
            await page.resize(1, 100_000)
            assert json.loads((await page.echo())[1:]) == {"type": "resize", "width": 20, "height": 200}
        query = "&view=states&where=flow%3Da"
        async with page_of(browser, server.public_url, width=-3, height=30, query=query) as page:
            assert json.loads(await page.echo()) == [["--theme=dark", "--where=flow=a", "--", "states"], "20", "30"]


async def test_frames_that_make_no_sense_change_nothing(server: ExplorerServer) -> None:
    async with opened(server) as page:
        await page.echo()
        for text in ("", "{", "null", '{"stdin": "j"}', '["resize", {"width": "wide"}]', '["moon", 1]', "[" * 50_000):
            await page.connection.send_str(text)
        await page.connection.send_bytes(b'["stdin", "b"]')
        await page.type("j")
        assert await page.echo() == b"Dj"
        await page.say("ping", "17")
        await page.wait(lambda: page.told == [["pong", "17"]], "the answer to a ping")


async def test_a_frame_that_is_too_long_ends_the_connection(server: ExplorerServer) -> None:
    async with opened(server) as page:
        await page.echo()
        await page.type("x" * (1 << 20))
        await page.end()
        assert page.connection.close_code == 1009


async def test_there_is_room_for_so_many_explorers_and_then_a_sentence() -> None:
    async with (
        serving(limits=Limits(sessions=2)) as server,
        let_in(server.link) as browser,
        page_of(browser, server.public_url) as first,
        page_of(browser, server.public_url) as second,
    ):
        await first.echo()
        await second.echo()
        for path in ("/", "/ws"):
            async with browser.get(server.public_url + path, headers={"Origin": server.public_url}) as answer:
                assert answer.status == 503
                assert "This server runs 2 explorers at once, and so many are open" in await answer.text()
        # A page that was loaded before, or wants its connection back, reads the sentence as the reason of its end.
        refused = await browser.ws_connect(f"{server.public_url}/ws", headers={"Origin": server.public_url})
        ended = await refused.receive()
        assert (ended.data, str(ended.extra).partition(",")[0]) == (1013, "This server runs 2 explorers at once")
        await first.connection.close()
        while len(server.sessions) > 1:
            await second.say("ping", "")
            await second.connection.receive()
        async with page_of(browser, server.public_url) as third:
            await third.echo()


async def test_a_forwarded_port_is_another_origin() -> None:
    async with serving(public_origin="http://127.0.0.1:9000") as server:
        assert server.link.startswith("http://127.0.0.1:9000/?token=")
        cookie = f"Cookie: riff_tui_{server.port}={server.keys.cookie}\n"
        token = f"GET /?token={server.keys.token} HTTP/1.1\nHost: 127.0.0.1:9000\n\n"
        assert (await raw_answer(server, token))[0] == 302
        status, head = await raw_answer(server, f"GET / HTTP/1.1\nHost: 127.0.0.1:9000\n{cookie}\n")
        assert (status, "connect-src ws://127.0.0.1:9000;" in head) == (200, True)
        assert (await raw_answer(server, f"GET / HTTP/1.1\nHost: 127.0.0.1:{server.port}\n{cookie}\n"))[0] == 403
