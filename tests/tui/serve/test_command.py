"""`riff-tui serve` as a process: what it prints, and that nothing of it is left however it ends."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.support.postgresql_server import Server
from tests.support.programs import is_gone
from tests.support.served_pages import let_in, page_of, surroundings
from tests.surface.tui import ExitCode, run

Captured = pytest.CaptureFixture[str]


@contextlib.asynccontextmanager
async def command(*arguments: str) -> AsyncIterator[tuple[asyncio.subprocess.Process, str]]:
    """Run the command and yield it with the link that it prints."""
    pipe = asyncio.subprocess.PIPE
    server = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "riff_tui", "serve", "--no-open", *arguments),
        stdout=pipe, stderr=pipe, env=surroundings(),
    )  # fmt: skip
    assert server.stdout is not None
    try:
        yield server, (await server.stdout.readline()).decode().strip()
    finally:
        with contextlib.suppress(ProcessLookupError):
            server.kill()
        await server.wait()


def children(process: int) -> list[int]:
    found = Path(f"/proc/{process}/task/{process}/children").read_text(encoding="ascii")
    return [int(child) for child in found.split()]


@pytest.mark.parametrize(
    ("number", "code"),
    [
        (signal.SIGINT, ExitCode.INTERRUPTED),
        (signal.SIGTERM, ExitCode.TERMINATED),
        (signal.SIGKILL, -signal.SIGKILL),
    ],
)
async def test_nothing_is_left_however_it_ends(number: signal.Signals, code: int, tiny: Path) -> None:
    async with command("--store", str(tiny)) as (server, link):
        origin = link.partition("/?")[0]
        assert re.fullmatch(r"http://127\.0\.0\.1:[0-9]+", origin)
        async with let_in(link) as browser, page_of(browser, origin) as page, page_of(browser, origin) as other:
            await page.wait_for("viewing")
            explorers = children(server.pid)
            assert len(explorers) == 2
            assert not other.sent or "viewing" in page.text
            if number == signal.SIGKILL:
                os.kill(explorers[0], signal.SIGSTOP)
            server.send_signal(number)
            assert await server.wait() == code
            for explorer in explorers:
                assert await is_gone(explorer)
        assert server.stderr is not None
        said = (await server.stderr.read()).decode()
        assert "once and in one browser" in said
        assert link not in said
        assert "Traceback" not in said


@pytest.mark.parametrize(
    ("arguments", "code", "complaint"),
    [
        (["moon"], ExitCode.USAGE, "no view is called 'moon'"),
        (["flows", "--where", "flow=("], ExitCode.USAGE, "filter, character 6"),
        (["flows", "--at", "turn:7"], ExitCode.USAGE, "--at is a moment of one call"),
        (["--port", "70000"], ExitCode.USAGE, "Invalid value for '--port'"),
        (["--public-origin", "ftp://box"], ExitCode.USAGE, "it takes http://HOST:PORT"),
        (["--public-origin", "http://box/riff"], ExitCode.USAGE, "it takes no path"),
        (["--store", "none.db"], ExitCode.STORE, "none.db: there is no store"),
    ],
)
def test_what_no_page_could_open_is_refused_at_once(
    arguments: list[str], code: int, complaint: str, tiny: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    monkeypatch.setenv("RIFF_TUI_STORE", str(tiny))
    assert run(["serve", "--no-open", *arguments]) == code
    out, err = capsys.readouterr()
    assert complaint in err
    assert (out, err.count("\n")) == ("", 1)


async def test_a_store_on_a_server_is_shown_and_its_password_is_nowhere(tiny: Path, postgresql: Server) -> None:
    store = postgresql.store(password="s3cret")
    assert run(["copy", str(tiny), store]) == ExitCode.OK
    async with command("--store", store, "--read-only") as (server, link), let_in(link) as browser:
        origin = link.partition("/?")[0]
        async with page_of(browser, origin) as page, browser.get(origin) as answer:
            await page.wait_for("viewing")
            (explorer,) = children(server.pid)
            assert b"s3cret" not in Path(f"/proc/{explorer}/cmdline").read_bytes()
            await page.type("y")
            await page.wait_for("copy:")
            await page.type("l")
            await page.wait_for("on the server to")
            assert b"s3cret" not in page.sent
            assert "s3cret" not in await answer.text()


async def test_a_port_that_is_taken_is_said(tiny: Path) -> None:
    async with command("--store", str(tiny)) as (_, link):
        port = link.partition("/?")[0].rpartition(":")[2]
        again = [sys.executable, "-m", "riff_tui", "serve", "--no-open", "--store", str(tiny), "--port", port]
        done = subprocess.run(again, capture_output=True, text=True, env=surroundings(), check=False)
        assert done.returncode == ExitCode.USAGE
        assert f"port {port} is taken; --port 0 takes a free one" in done.stderr


def test_without_its_packages_it_says_what_to_install(
    tiny: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    for name in [name for name in sys.modules if name.startswith(("riff_tui.serve.", "textual_serve"))]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "textual_serve.server", None)
    monkeypatch.setitem(sys.modules, "textual_serve.app_service", None)
    assert run(["serve", "--store", str(tiny)]) == ExitCode.USAGE
    assert re.search(r"not installed; .*python\S* -m pip install aiohttp textual-serve$", capsys.readouterr().err, re.M)


async def test_over_ssh_it_says_how_to_reach_it(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSH_CONNECTION", "10.0.0.1 5 10.0.0.2 22")
    environ = surroundings()
    started = [sys.executable, "-m", "riff_tui", "serve", "--store", str(tiny)]
    with subprocess.Popen(started, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environ, text=True) as server:
        assert server.stdout is not None
        assert server.stderr is not None
        link = server.stdout.readline()
        port = link.partition("/?")[0].rpartition(":")[2]
        said = [server.stderr.readline(), server.stderr.readline()]
        assert f"ssh -L {port}:127.0.0.1:{port}" in said[1]
        os.kill(server.pid, signal.SIGINT)
