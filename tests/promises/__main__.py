"""Break promises one at a time and print which test noticed: `python -m tests.promises [ID ...]`."""

from __future__ import annotations

import argparse
import os
import queue
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.promises.breaking import Copy, Outcome
from tests.promises.descriptions import ROOT, Break, Promise, promises

HEAD = "| promise | code | how it was changed | test that failed | s |\n|---|---|---|---|---:|"


def outcomes(chosen: list[Promise], jobs: int, limit: float) -> Iterator[Outcome]:
    """Yield what became of each break, in order, as they come."""
    breaks = [(promise, broken) for promise in chosen for broken in promise.breaks]
    with tempfile.TemporaryDirectory(prefix="promises-") as folder, ThreadPoolExecutor(jobs) as workers:
        copies: queue.SimpleQueue[Copy] = queue.SimpleQueue()
        for number in range(min(jobs, len(breaks))):
            copies.put(Copy(ROOT, Path(folder) / str(number)))

        def one(promise: Promise, broken: Break) -> Outcome:
            copy = copies.get()
            try:
                return copy.outcome(promise, broken, limit)
            finally:
                copies.put(copy)

        yield from workers.map(lambda pair: one(*pair), breaks)


def how(broken: Break) -> str:
    """Return in words what a break changes."""
    if broken.returns:
        return f"returns `{broken.returns}`"
    if not broken.replacement:
        return f"without `{broken.replaces or broken.drops}`"
    return f"`{broken.replaces}` becomes `{broken.replacement}`"


def row(outcome: Outcome) -> str:
    """Return the line of a break in the table."""
    broken = outcome.broken
    cells = (
        outcome.promise.id,
        f"`{broken.code}`",
        how(broken),
        outcome.caught_by.rpartition("::")[2] or f"**none** ({outcome.told})",
        f"{outcome.seconds:.1f}",
    )
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def main() -> int:
    """Print the table; 1 where a broken promise was not noticed."""
    parser = argparse.ArgumentParser(prog="python -m tests.promises", description=__doc__)
    parser.add_argument("id", nargs="*", help="promises to break; without any all of them")
    parser.add_argument("--jobs", type=int, default=1, help="how many at a time (1)")
    parser.add_argument("--limit", type=float, default=400, help="seconds that the tests of a break may take (400)")
    given = parser.parse_args()
    known = {promise.id: promise for promise in promises()}
    if unknown := [name for name in given.id if name not in known]:
        parser.error(f"no promise is called {', '.join(unknown)}; there are: {', '.join(known)}")
    print(HEAD)
    survived = 0
    for outcome in outcomes([known[name] for name in given.id or known], given.jobs, given.limit):
        print(row(outcome), flush=True)
        survived += not outcome.caught_by
    print(f"\n{survived or 'none'} not noticed", file=sys.stderr)
    return bool(survived)


if __name__ == "__main__":
    os.umask(0o022)  # what most people have: one that hides everything would hide a break as well
    sys.exit(main())
