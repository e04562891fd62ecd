"""Kill everything that writes at random moments, and see what is left.

usage: python -m benchmarks.kills [--count N] [--seed S] [--no-server]

What is done to stores in files and on a server, commands that write files, and an ingest with workers are killed in
turn, until so many of the kills came before the end of what was killed. What does not survive is printed with its
moment, and makes the exit code 1.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Protocol

from benchmarks.endangered import Surroundings, surroundings
from benchmarks.processes import riff_tui
from riff_runner.simulate.suite import simulate
from tests.support.facts import contents
from tests.support.faults import NEVER, Fault
from tests.support.kills import Killable, KilledCommand, KilledStoreWork, forked, kill_after, was_killed
from tests.support.store_places import assert_whole
from tests.support.store_works import few_are_many

_CALLS = 1200
"""How many calls an ingest with workers reads."""


class Endangered(Protocol):
    """Describe what is killed."""

    name: str
    seconds: float

    def kill(self, after: float) -> bool:
        """Kill it after so many seconds, check what is left, and report whether it was under way."""


class InFork:
    """Kill what begins at once in a process that is forked from this one."""

    def __init__(self, name: str, of: Killable) -> None:
        self.name = name
        self._of = of
        of.begin()
        began = time.monotonic()
        assert not was_killed(forked(lambda: of.work(Fault(NEVER)))), name
        self.seconds = time.monotonic() - began

    def kill(self, after: float) -> bool:
        return kill_after(self._of, after)


class WithWorkers:
    """Kill an ingest that has two processes read for it: they end as well."""

    name = "processes: ingest --jobs 2"

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        simulate(folder / "calls", conversations=_CALLS, seed=3)
        self._numbers = iter(range(10**6))
        began = time.monotonic()
        store = self._store()
        assert self._started(store).wait() == 0
        self.seconds = time.monotonic() - began
        self._whole = contents(store)

    def kill(self, after: float) -> bool:
        store = self._store()
        process = self._started(store)
        with suppress(subprocess.TimeoutExpired):
            process.wait(after)
        process.kill()
        killed = process.wait() != 0
        what = f"killed after {after:.3f} s"
        assert _are_gone(process.pid), f"{what}: workers stay"
        assert_whole(str(store), what)
        assert self._started(store).wait() == 0, what
        assert contents(store) == self._whole, what
        return killed

    def _store(self) -> Path:
        return self._folder / f"{next(self._numbers)}.db"

    def _started(self, store: Path) -> subprocess.Popen[bytes]:
        command = riff_tui("ingest", str(self._folder / "calls"), "--jobs", "2", "--store", str(store))
        return subprocess.Popen(command, stderr=subprocess.DEVNULL, start_new_session=True)


def main() -> int:
    """Kill that many times, and print for each work how many of the kills came while it was under way."""
    chosen = _arguments().parse_args()
    seed = chosen.seed if chosen.seed is not None else random.randrange(10**6)
    chance = random.Random(seed)
    print(f"seed {seed}", flush=True)
    kills: Counter[str] = Counter()
    under_way: Counter[str] = Counter()
    problems: list[str] = []
    with (
        TemporaryDirectory(prefix="riff-kills-") as folder,
        surroundings(Path(folder), server=chosen.server) as given,
        few_are_many(),
    ):
        endangered = list(_endangered(given))
        while under_way.total() < chosen.count:
            work = endangered[kills.total() % len(endangered)]
            kills[work.name] += 1
            try:
                under_way[work.name] += work.kill(work.seconds * chance.random())
            except AssertionError as error:
                problems.append(f"{work.name}: {str(error).splitlines()[0]}")
                under_way[work.name] += 1
            print(f"\r{under_way.total()} of {chosen.count}", end="", file=sys.stderr)
    for name in sorted(kills):
        print(f"{kills[name]:4} kills, {under_way[name]:4} while it was under way: {name}")
    print(*(f"not survived: {problem}\n" for problem in problems), sep="", end="")
    print(f"{kills.total()} kills in all, {under_way.total()} under way, {len(problems)} not survived")
    return int(bool(problems))


def _endangered(given: Surroundings) -> Iterator[Endangered]:
    for engine, place, works in given.store_works():
        for work in works:
            yield InFork(f"{engine}: {work.name}", KilledStoreWork(place, work))
    for command in given.file_works:
        yield InFork(f"files: {command.name}", KilledCommand(given.folder, command))
    for folder in (given.folder / "with-workers-1", given.folder / "with-workers-2"):
        folder.mkdir()
        yield WithWorkers(folder)


def _are_gone(group: int) -> bool:
    """Wait until no process of a group is left, at most half a minute."""
    for _ in range(600):
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return True
        time.sleep(0.05)
    os.killpg(group, signal.SIGKILL)
    return False


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.kills", description="Kill everything that writes.")
    parser.add_argument("--count", type=int, default=200, metavar="N", help="how many kills of what is under way")
    parser.add_argument("--seed", type=int, metavar="S", help="choose the same moments again")
    parser.add_argument("--no-server", dest="server", action="store_false", help="leave PostgreSQL out")
    return parser


if __name__ == "__main__":
    sys.exit(main())
