"""What lies on the disk in the middle of a write is a whole store: what a killed process leaves."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.support.facts import broken_rows, call, contents, fresh, put, source
from tests.surface.store import Store, Writer, open_store


class Killed(BaseException):
    """End a writer where a signal would."""


def write_until_killed(store: Store, image: Path) -> None:
    """Write far more than fits into memory, copy what lies on the disk then, and go no further."""
    store.connection.execute("PRAGMA cache_size = 5")
    writer = Writer(store)
    with writer.batch():
        writer.put_file(source("/in/a.jsonl", "bb"), [call(f"d-{number}") for number in range(600)])
        for ending in ("", "-journal"):
            if (path := Path(f"{store.location}{ending}")).exists():
                shutil.copy(path, f"{image}{ending}")
        raise Killed


def test_the_disk_holds_the_store_of_before_until_a_batch_is_committed(tmp_path: Path) -> None:
    path, image = tmp_path / "calls.db", tmp_path / "image.db"
    with fresh(path) as store:
        put(store, "/in/a.jsonl", [call("c-1"), call("c-2")])
    before, unspoilt = contents(path), path.read_bytes()

    with open_store(path, write=True) as store, pytest.raises(Killed):
        write_until_killed(store, image)

    assert image.read_bytes() != unspoilt
    with open_store(image) as store:
        store.execute_sql("SELECT count(*) FROM conversation")
    assert contents(image) == before
    assert broken_rows(image) == []
