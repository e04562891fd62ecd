"""Several boxes that fill one store on a server, one of which dies, while others look at it."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.support.facts import call, contents, fresh, put, verdict
from tests.support.postgresql_server import Server
from tests.surface.store import FileResult, Item, Store, StoreError, copy_store, examine, open_store

FILES = 6
DYING = """
import sys
from riff_store.database import open_store
from riff_store.write.writer import Writer
from tests.support.facts import call, source

def items():
    yield from (call(f"lost-{number}", run="night-4") for number in range(700))
    print("in the middle", flush=True)
    sys.stdin.read()

with open_store(sys.argv[1], write=True) as store:
    writer = Writer(store)
    with writer.batch():
        writer.put_file(source("/box-4/whole.jsonl"), [call("lost")])
        writer.put_file(source("/box-4/torn.jsonl"), items())
"""


def files(box: int) -> Iterator[tuple[str, list[Item]]]:
    """What a box stores: calls of its own run, verdicts on them, and a file that all of them have."""
    for number in range(FILES):
        calls = [call(f"c-{number}-{each}", run=f"night-{box}", errored=each == 3) for each in range(5)]
        yield f"/box-{box}/{number}.jsonl", list(calls)
        yield f"/box-{box}/h-{number}.jsonl", [verdict(f"c-{number}-0", 4.0, run=f"night-{box}")]
        yield "/shared/flows.jsonl", [call("everywhere", run="night-0")]


def stored(address: str, box: int) -> list[FileResult]:
    with open_store(address, write=True) as store:
        return [put(store, path, items) for path, items in files(box)]


@pytest.fixture
def dying(address: str) -> Iterator[subprocess.Popen[str]]:
    """A writer that has the store to itself, and will never end."""
    command = [sys.executable, "-c", DYING, address]
    root = Path(__file__).resolve().parents[3]
    path = [str(root), str(root / "store"), str(root / "ingest")]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env={"PYTHONPATH": ":".join(path)}
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "in the middle\n"
        yield process
        process.kill()


@pytest.fixture
def address(postgresql: Server) -> str:
    address = postgresql.store()
    open_store(address, write=True, create=True).close()
    return address


def test_four_write_and_one_is_killed_and_nothing_is_lost_or_there_twice(
    address: str, dying: subprocess.Popen[str], tmp_path: Path
) -> None:
    with ThreadPoolExecutor(5) as pool:
        writers = [pool.submit(stored, address, box) for box in (1, 2, 3)]
        done = threading.Event()
        readers = [pool.submit(looked, address, done) for _ in range(2)]
        dying.kill()
        results = [each for writer in writers for each in writer.result(60)]
        done.set()
        for reader in readers:
            assert reader.result(60) == 3 * FILES * 4 + 1
    assert [each.status for each in results].count("taken") == 3 * FILES * 2 + 1

    with open_store(address) as on_server, fresh(tmp_path / "copy.db") as copy:
        assert examine(on_server).wrong == []
        copy_store(on_server, copy)
    with fresh(tmp_path / "alone.db") as alone:
        for box in (1, 2, 3):
            for path, items in files(box):
                put(alone, path, items)
    assert contents(tmp_path / "copy.db") == contents(tmp_path / "alone.db")


def looked(address: str, done: threading.Event) -> int:
    """Look until nobody writes any more: sums and rows agree at each moment. Return how many calls count."""
    with open_store(address) as store:
        while True:
            last = done.is_set()
            with store.snapshot():
                rows = number(store, "SELECT COUNT(*) FROM conversation WHERE NOT errored")
                assert number(store, "SELECT COALESCE(SUM(n), 0) FROM call_rollup") == rows
            if last:
                return rows


def number(store: Store, statement: str) -> int:
    return int(store.execute_sql(statement)[0][0])


def test_a_copy_that_dies_leaves_what_was_there(address: str, postgresql: Server, tmp_path: Path) -> None:
    with fresh(tmp_path / "more.db") as source:
        put(source, "/in/a.jsonl", [call(f"c-{each}") for each in range(30)])
    stored(address, 1)
    before = counts(address)

    def cut(rows: int) -> None:
        postgresql.run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()")

    for interrupted in (cut, _raise):
        assert_copy_fails(tmp_path / "more.db", address, interrupted)
        assert counts(address) == before


def assert_copy_fails(path: Path, address: str, progress: Callable[[int], None]) -> None:
    with (
        pytest.raises((StoreError, KeyboardInterrupt)),
        open_store(path) as source,
        open_store(address, write=True) as target,
    ):
        copy_store(source, target, replace=True, progress=progress)


def _raise(rows: int) -> None:
    raise KeyboardInterrupt


def counts(address: str) -> object:
    with open_store(address) as store:
        assert examine(store).wrong == []
        return examine(store).counts
