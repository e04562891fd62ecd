"""Write what two hours of a busy evaluation write into a store that an explorer and a page show; measure all the while.

usage: python -m benchmarks.soak [--minutes N] [--store URL]

Prints what the explorer, the server and the page's explorer hold over time, and makes the exit code 1 where memory is
not flat or anything is lost.
"""

from __future__ import annotations

import argparse
import asyncio
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.soak.growth import Growth
from benchmarks.soak.writers import CALLS_AN_HOUR, HOURS, NOTES_AN_HOUR
from riff_ingest.pipeline import ingest
from riff_runner.simulate.suite import simulate
from riff_store.database import open_store
from riff_store.health import examine
from riff_store.write.notes import read_notes
from riff_store.write.writer import Writer
from tests.support.pty_terminal import COMMAND, Terminal
from tests.support.served_pages import Page, let_in, page_of, surroundings

PEOPLE = ("ann", "bo")
BEFORE = 200
"""How many calls the store holds before: somebody has to have something to note something on."""
LOOK_SECONDS = 2.0
MOST_GROWTH = 16 * 1024 * 1024
"""How many bytes a process may grow by, from the first fifth of the time on, while the store grows twelvefold."""
_SHOWN = "dental_clinic"
_WALK = ("j", "\r", "j", "\r", "k", "\x1b", "j", "\x1b", "G", "g")


def main() -> int:
    """Soak, and report what came of it."""
    chosen = _arguments().parse_args()
    with TemporaryDirectory(prefix="riff-soak-") as folder:
        return asyncio.run(_soak(Path(folder), chosen.store or f"{folder}/calls.db", chosen.minutes * 60))


async def _soak(folder: Path, store: str, seconds: float) -> int:
    simulate(folder / "before", conversations=BEFORE, seed=1)
    simulate(folder / "made", conversations=HOURS * CALLS_AN_HOUR, seed=2)
    for path in (folder / "made").rglob("*.jsonl"):
        path.write_bytes(path.read_bytes().replace(b'"run_id":"', b'"run_id":"box-'))
    with open_store(store, write=True, create=True) as opened:
        ingest([folder / "before"], Writer(opened))
    began = time.monotonic()
    with _writers(folder, store, seconds) as writers:
        growths = await _watched(store, folder, lambda: any(writer.poll() is None for writer in writers))
        problems = [f"a writer ended with {writer.returncode}" for writer in writers if writer.returncode]
    print(
        f"{HOURS} hours of a box ({CALLS_AN_HOUR} calls an hour) and of {len(PEOPLE)} people ({NOTES_AN_HOUR} notes an"
    )
    print(f"hour each) in {(time.monotonic() - began) / 60:.1f} minutes")
    for growth in growths:
        print(growth)
        if growth.bytes > MOST_GROWTH:
            problems.append(f"{growth.name} grew by {growth.bytes / 2**20:.1f} MiB")
    problems += _lost(folder, store)
    print(*(f"problem: {problem}" for problem in problems), sep="\n")
    return int(bool(problems))


@contextmanager
def _writers(folder: Path, store: str, seconds: float) -> Iterator[list[subprocess.Popen[bytes]]]:
    given = [("calls", "box"), *(("notes", person) for person in PEOPLE)]
    started = [
        subprocess.Popen([sys.executable, "-m", "benchmarks.soak.writers", kind, store, folder, str(seconds), name])
        for kind, name in given
    ]
    try:
        yield started
    finally:
        for process in started:
            process.kill()
            process.wait()


async def _watched(store: str, folder: Path, is_written: Callable[[], bool]) -> list[Growth]:
    """Look at the store with an explorer and on a page until it is no longer written; return how they grew."""
    environ = {"RIFF_TUI_STORE": store, "XDG_STATE_HOME": str(folder / "state")}
    async with (
        _served(store) as (server, link),
        let_in(link) as browser,
        page_of(browser, link.partition("/?")[0]) as page,
    ):
        await page.wait_for(_SHOWN)
        (child,) = Path(f"/proc/{server}/task/{server}/children").read_text(encoding="ascii").split()
        with Terminal(COMMAND, environ=environ, cold=True) as terminal:
            terminal.wait_for(_SHOWN)
            named = {"explorer": terminal.pid, "server": server, "explorer on a page": int(child)}
            growths = [Growth(name, process) for name, process in named.items()]
            began, looks = time.monotonic(), 0
            while is_written():
                key = _WALK[looks % len(_WALK)]
                terminal.send(key)
                await page.type(key)
                ends = time.monotonic() + LOOK_SECONDS
                await asyncio.gather(asyncio.to_thread(_read, terminal, ends), _read_page(page, ends))
                for growth in growths:
                    growth.look(time.monotonic() - began)
                looks += 1
            terminal.send("Q")
            assert terminal.end() == 0, terminal.text
    return growths


@asynccontextmanager
async def _served(store: str) -> AsyncIterator[tuple[int, str]]:
    """Run the server of pages; yield its process and the link that it prints."""
    environ = {**surroundings(), "RIFF_TUI_STORE": store}
    pipe, nowhere = asyncio.subprocess.PIPE, asyncio.subprocess.DEVNULL
    command = (sys.executable, "-m", "riff_tui", "serve", "--no-open")
    server = await asyncio.create_subprocess_exec(*command, stdout=pipe, stderr=nowhere, env=environ)
    assert server.stdout is not None
    try:
        yield server.pid, (await server.stdout.readline()).decode().strip()
    finally:
        server.terminate()
        await server.wait()


def _read(terminal: Terminal, until: float) -> None:
    terminal.wait(lambda: time.monotonic() >= until)
    terminal.sent.clear()


async def _read_page(page: Page, until: float) -> None:
    with suppress(TimeoutError):
        async with asyncio.timeout_at(asyncio.get_running_loop().time() + until - time.monotonic()):
            await page.wait(lambda: False, "the end of it")
    page.sent.clear()


def _lost(folder: Path, store: str) -> list[str]:
    """Return what is not in the store that was written, and what the doctor finds."""
    made = sum(path.read_bytes().count(b"\n") for path in (folder / "made").rglob("flow-transcripts-*.jsonl"))
    reported = {line for person in PEOPLE for line in (folder / f"{person}.ids").read_text("utf-8").split()}
    with open_store(store, write=True) as opened:
        health, notes = examine(opened), {note.id for note in read_notes(opened)}
    calls = health.counts["calls"] - BEFORE
    print(f"{calls:,} of {made:,} calls and {len(reported & notes):,} of {len(reported):,} notes are in the store")
    lost = [f"{made - calls} calls are not in the store"] if calls != made else []
    lost += [f"{len(reported - notes)} notes are not in the store"] if reported - notes else []
    return lost + [f"doctor: {problem}" for problem in health.wrong]


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.soak", description="Two hours of writing, in less.")
    parser.add_argument(
        "--minutes", type=float, default=10, metavar="N", help="how many minutes they are done in, at least"
    )
    parser.add_argument("--store", metavar="URL", help="a new store on a server, in place of a file")
    return parser


if __name__ == "__main__":
    sys.exit(main())
