"""A store in PostgreSQL beside one in a file: how quickly rows get in, and what a view takes.

The server is one of its own in a temporary folder, which keeps nothing. It is asked through a socket of this machine:
a network adds its own.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from benchmarks.bulk import AT_ONCE, in_bulk, insert_many, rate
from benchmarks.grow import grown
from benchmarks.load import nightly_files
from benchmarks.ours import ingest_file
from benchmarks.processes import riff_tui, take
from benchmarks.ratio import Goal, Ratio, in_turns
from benchmarks.scale.questions import VIEWS
from benchmarks.sizes import Sizes
from riff_store.database import open_store
from riff_store.schema import AspectScore
from tests.support.postgresql_server import Server, programs, running

_ASKED = ("flows", "worklist", "timeline", "agreement", "conversations", "causes")
_NARROWED = ("--where", "persona=hostile")


def rows(folder: Path, sizes: Sizes) -> Iterator[Ratio]:
    """Ratios of a store on a server; none if no server is installed."""
    installed = programs()
    if installed is None:
        print("PostgreSQL is not installed, so that nothing can be measured of it", file=sys.stderr)
        return
    night = nightly_files(folder, 1, sizes.few)
    with running(installed) as server:
        yield from _inserts(server, night, sizes)
        yield from _views(server, night, folder, sizes)


def _inserts(server: Server, night: Path, sizes: Sizes) -> Iterator[Ratio]:
    """Rows a second into the table of aspect scores, and whole ingests."""
    address = server.store()
    ingest_file(night, address, with_text=False)
    with open_store(address, write=True) as store:
        scores = store.execute(AspectScore.select())
        copied, many = in_turns(
            partial(rate, store, scores, in_bulk), partial(rate, store, scores, insert_many), rounds=sizes.rounds
        )
    note = f"PostgreSQL, {len(scores):,} rows"
    yield Ratio(f"COPY ÷ insert_many({AT_ONCE})", copied, many, "rows/s", Goal(">=", 10), note)


def _views(server: Server, night: Path, folder: Path, sizes: Sizes) -> Iterator[Ratio]:
    """An ingest, then views as whole processes; the answers are the same to the last byte."""
    small, file, address = folder / "night.db", folder / "nights.db", server.store()
    for path in (small, file):
        path.unlink(missing_ok=True)

    def into_file() -> float:
        small.unlink(missing_ok=True)
        return _seconds("ingest", str(night), "--no-text", store=str(small))

    def into_server() -> float:
        return _seconds("ingest", str(night), "--no-text", store=server.store())

    on_server, in_file = in_turns(into_server, into_file, rounds=sizes.rounds)
    yield Ratio("ingest into PostgreSQL ÷ into a file", on_server, in_file, "s", note=f"{sizes.few:,} calls")
    grown(small, file, sizes.many // sizes.few)
    take([*riff_tui("copy", str(file), address)])
    for name in _ASKED:
        yield from _compared(name, VIEWS[name].command, address, file, sizes)
    yield from _compared(f"flows, {_NARROWED[1]}", (*VIEWS["flows"].command, *_NARROWED), address, file, sizes)
    for path in (small, file):
        path.unlink()


def _compared(what: str, command: Sequence[str], address: str, file: Path, sizes: Sizes) -> Iterator[Ratio]:
    printed = [
        take([*riff_tui(*command, "--format", "csv"), "--store", store]).output for store in (address, str(file))
    ]
    if printed[0] != printed[1]:
        raise ValueError(f"{what}: PostgreSQL answers something else than the file")
    on_server, in_file = in_turns(
        partial(_seconds, *command, store=address), partial(_seconds, *command, store=str(file)), rounds=sizes.rounds
    )
    yield Ratio(f"{what} from PostgreSQL ÷ from a file", on_server, in_file, "s", note=f"{sizes.many:,} calls")


def _seconds(*arguments: str, store: str) -> float:
    return take([*riff_tui(*arguments), "--store", store]).seconds
