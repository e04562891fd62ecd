"""Let every statement of a store and every write of a file fail once, in each way, and look what is left.

usage: python -m benchmarks.faults [--every N] [--only TEXT] [--seed S] [--no-server]

What fails is printed with its place, and makes the exit code 1. `--every N` tries each N-th place, from one that the
seed chooses.
"""

from __future__ import annotations

import argparse
import errno
import random
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.endangered import Surroundings, surroundings
from tests.support.failing_files import SHORT
from tests.support.failing_statements import BROKEN_DISK, FULL_DISK, LOST_CONNECTION
from tests.support.faults import Fault
from tests.support.file_works import FileWork, fail_write, undisturbed_files
from tests.support.store_places import Place, fail_once, undisturbed
from tests.support.store_works import StoreWork, few_are_many

Trial = Callable[[], None]
_REASONS = (errno.ENOSPC, errno.EDQUOT, errno.EIO)


def main() -> int:
    """Try all, and say of each work how many faults it survived."""
    chosen = _arguments().parse_args()
    seed = chosen.seed if chosen.seed is not None else random.randrange(10**6)
    chance = random.Random(seed)
    print(f"seed {seed}, each {chosen.every}. place", flush=True)
    tried = failed = 0
    with TemporaryDirectory(prefix="riff-faults-") as folder, surroundings(Path(folder), server=chosen.server) as given:
        for name, trials in _works(given):
            if chosen.only not in name:
                continue
            began = time.monotonic()
            found = [_problem(trial) for trial in list(trials)[chance.randrange(chosen.every) :: chosen.every]]
            problems = [problem for problem in found if problem]
            tried, failed = tried + len(found), failed + len(problems)
            print(f"{len(found):5} faults, {len(problems)} not survived, {time.monotonic() - began:6.1f} s: {name}")
            print(*(f"      {problem}\n" for problem in problems), sep="", end="", flush=True)
    print(f"{tried} faults in all, {failed} not survived")
    return int(failed > 0)


def _works(given: Surroundings) -> Iterator[tuple[str, Iterator[Trial]]]:
    with few_are_many():
        for engine, place, works in given.store_works():
            for work in works:
                yield f"{engine}: {work.name}", _statements(place, work, engine)
    for command in given.file_works:
        yield f"files: {command.name}", _writes(command, given.folder)


def _statements(place: Place, work: StoreWork, engine: str) -> Iterator[Trial]:
    whole = undisturbed(place, work)
    messages = (FULL_DISK, LOST_CONNECTION if engine == "PostgreSQL" else BROKEN_DISK)
    for at in range(1, whole.statements + 1):
        for number, message in enumerate(messages):
            yield partial(fail_once, place, work, whole, Fault(at, lasting=(at + number) % 3 == 0), message)


def _writes(work: FileWork, folder: Path) -> Iterator[Trial]:
    writes, whole = undisturbed_files(work, folder / f"{work.name}-whole")
    for at in range(1, writes + 1):
        for number in (SHORT, *_REASONS):
            for lasting in (False, True)[: 1 if number == SHORT else 2]:
                place = folder / f"{work.name}-{at}-{number}-{lasting}"
                yield partial(fail_write, work, place, whole, Fault(at, lasting), number)


def _problem(trial: Trial) -> str:
    try:
        trial()
    except Exception as error:
        return f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"
    return ""


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.faults", description="Let everything fail once.")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="try each N-th place only")
    parser.add_argument("--only", default="", metavar="TEXT", help="try works whose names hold this")
    parser.add_argument("--seed", type=int, metavar="S", help="choose the same places again")
    parser.add_argument("--no-server", dest="server", action="store_false", help="leave PostgreSQL out")
    return parser


if __name__ == "__main__":
    sys.exit(main())
