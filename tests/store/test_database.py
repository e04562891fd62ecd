"""What is a store, what is none, and what opening may not do."""

from __future__ import annotations

import gc
import gzip
import os
import re
import resource
import sqlite3
import stat
import struct
from pathlib import Path

import pytest

from tests.support.earlier_schema import EARLIER, STEP, made_earlier, stepped
from tests.support.facts import broken_rows, call, contents, fresh, put
from tests.surface.store import (
    APPLICATION_ID,
    BUSY_SECONDS,
    Connection,
    DiskFull,
    NewerStore,
    NotAStore,
    OlderStore,
    Run,
    StoreBusy,
    StoreError,
    StoreMissing,
    backup_path,
    migrate,
    open_store,
)
from tests.surface.store import SCHEMA_VERSION as NOW


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "calls.db"


@pytest.fixture
def filled(path: Path) -> Path:
    with fresh(path) as store:
        put(store, "/in/a.jsonl", [call("c-1")])
    return path


def test_reading_creates_no_file_and_says_how_to_make_one(path: Path) -> None:
    with pytest.raises(StoreMissing, match="riff-tui ingest"):
        open_store(path)
    assert list(path.parent.iterdir()) == []


def test_a_new_store_is_private_and_whole(path: Path) -> None:
    open_store(path / "deeper" / "calls.db", write=True, create=True).close()
    made = path / "deeper" / "calls.db"
    assert stat.S_IMODE(made.stat().st_mode) == 0o600
    assert [entry.name for entry in made.parent.iterdir()] == ["calls.db"]
    assert broken_rows(made) == []


def no_store(kind: str, path: Path, filled: Path) -> None:
    whole = filled.read_bytes()
    filled.unlink()
    if kind == "directory":
        path.mkdir()
    elif kind == "another database":
        sqlite3.connect(path).execute("CREATE TABLE t (a)").connection.close()
    elif kind == "database of another program":
        sqlite3.connect(path).execute("CREATE TABLE t (a)").execute("PRAGMA user_version = 1").connection.close()
    else:
        path.write_bytes({"text": b"hello " * 50, "gz": gzip.compress(whole), "empty": b"", "short": whole[:60],
                          "flipped": b"X" + whole[1:]}[kind])  # fmt: skip


@pytest.mark.parametrize(
    "kind",
    ["text", "gz", "empty", "short", "flipped", "directory", "another database", "database of another program"],
)
@pytest.mark.parametrize("write", [False, True])
def test_what_is_no_store_is_named_so_and_left_alone(kind: str, write: bool, path: Path, filled: Path) -> None:
    no_store(kind, path, filled)
    before = path.read_bytes() if path.is_file() else None
    with pytest.raises(NotAStore, match="not a riff-tui store"):
        open_store(path, write=write, create=write)
    assert (path.read_bytes() if path.is_file() else None) == before
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]


def test_a_truncated_store_is_an_error_of_ours(path: Path, filled: Path) -> None:
    path.write_bytes(filled.read_bytes()[:8192])
    with pytest.raises(StoreError, match="damaged"), open_store(path) as store:
        store.execute(Run.select())


def test_a_newer_store_is_refused_with_both_versions(filled: Path) -> None:
    _set_version(filled, NOW + 41)
    with pytest.raises(NewerStore, match=f"schema {NOW + 41}, this one knows {NOW}"):
        open_store(filled, write=True)


def test_a_store_of_version_zero_is_none_of_ours(filled: Path) -> None:
    _set_version(filled, 0)
    with pytest.raises(NotAStore):
        open_store(filled)


def test_an_older_store_is_copied_and_migrated_in_one_transaction(filled: Path) -> None:
    before = contents(filled)
    with stepped():
        copy = migrate(made_earlier(filled))
    assert copy == backup_path(filled, EARLIER)
    assert (_version(copy), _version(filled)) == (EARLIER, NOW)
    assert contents(filled) == before
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600


def test_a_migration_that_fails_leaves_the_store_as_it_was(filled: Path) -> None:
    def step(connection: Connection) -> None:
        connection.execute("DELETE FROM conversation")
        raise RuntimeError("bad step")

    before = contents(made_earlier(filled))
    with stepped({EARLIER: step}), pytest.raises(RuntimeError):
        migrate(filled)
    assert contents(filled) == before
    assert _version(filled) == EARLIER


def test_a_migration_that_would_lose_rows_is_refused(filled: Path) -> None:
    def step(connection: Connection) -> None:
        connection.execute(STEP)
        connection.execute("DELETE FROM flow")

    with stepped({EARLIER: step}), pytest.raises(StoreError, match="lose rows"):
        migrate(made_earlier(filled))
    assert contents(filled)["conversation"]


def test_what_would_make_a_missing_store_can_be_typed_as_it_is_said(tmp_path: Path) -> None:
    missing = tmp_path / "two words.db"
    with pytest.raises(StoreMissing, match=re.escape(f"--store '{missing}'`")):
        open_store(missing)


def test_a_home_of_nobody_is_called_so() -> None:
    with pytest.raises(StoreMissing, match="no user of that name has a home directory"):
        open_store("~no-such-person/x.db", write=True, create=True)


def test_an_older_store_is_not_migrated_by_reading(filled: Path) -> None:
    with stepped(), pytest.raises(OlderStore, match=f"has schema {EARLIER}, this riff-tui needs {NOW}"):
        open_store(made_earlier(filled))
    assert _version(filled) == EARLIER


def test_reading_changes_nothing_and_cannot(filled: Path) -> None:
    before = filled.read_bytes()
    with open_store(filled) as store:
        assert store.execute(Run.select(Run.name)) == [("night-1",)]
        with pytest.raises(StoreError, match="read-only"):
            store.execute_sql("DELETE FROM run")
        assert store.execute_sql("PRAGMA query_only") == [(1,)]
        assert store.execute_sql("PRAGMA trusted_schema") == [(0,)]
        store.execute_sql("PRAGMA query_only = 0")
        with pytest.raises(StoreError, match="read-only"):
            store.execute_sql("DELETE FROM run")
    assert filled.read_bytes() == before
    assert [entry.name for entry in filled.parent.iterdir()] == [filled.name]


def test_a_snapshot_answers_from_one_state_while_another_writes(filled: Path) -> None:
    with open_store(filled) as reader, open_store(filled, write=True) as writer:
        with reader.snapshot():
            first = reader.execute(Run.select())
            writer.wait_at_most(0.001)
            with pytest.raises(StoreBusy, match="another process"):
                put(writer, "/in/b.jsonl", [call("c-2", run="night-2")])
            assert reader.execute(Run.select()) == first
        put(writer, "/in/b.jsonl", [call("c-2", run="night-2")])
        assert len(reader.execute(Run.select())) == 2


def test_a_reader_notices_that_another_wrote(filled: Path) -> None:
    with open_store(filled) as reader:
        before = reader.change_counter()
        assert reader.change_counter() == before
        with open_store(filled, write=True) as writer:
            put(writer, "/in/b.jsonl", [call("c-2")])
        assert reader.change_counter() != before


def test_a_reader_that_does_not_wait_is_told_at_once_that_another_writes(filled: Path) -> None:
    with open_store(filled) as reader, open_store(filled, write=True) as writer:
        writer.execute_sql("BEGIN EXCLUSIVE")
        with pytest.raises(StoreBusy):
            reader.change_counter(wait=False)
        writer.execute_sql("COMMIT")
        assert reader.change_counter(wait=False) == reader.change_counter()
        assert reader.execute_sql("PRAGMA busy_timeout")[0][0] == BUSY_SECONDS * 1000


def test_reopening_reads_what_took_the_stores_place_and_keeps_what_was_open_where_that_is_none(
    filled: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other.db"
    with fresh(other) as writer:
        put(writer, "/in/b.jsonl", [call("c-2", run="night-2")])
    with open_store(filled) as reader:
        other.replace(filled)
        assert reader.execute(Run.select(Run.name)) == [("night-1",)]
        reader.reopen()
        assert reader.execute(Run.select(Run.name)) == [("night-2",)]
        filled.write_text("no store")
        with pytest.raises(NotAStore):
            reader.reopen()
        filled.unlink()
        with pytest.raises(StoreMissing):
            reader.reopen()


def test_a_full_disk_is_named_and_leaves_the_store_as_it_was(filled: Path) -> None:
    before = contents(filled)
    with open_store(filled, write=True) as store:
        pages = store.execute_sql("PRAGMA page_count")[0][0]
        store.execute_sql(f"PRAGMA max_page_count = {pages}")
        with pytest.raises(DiskFull, match="disk full"):
            put(store, "/in/b.jsonl", [call(f"d-{n}") for n in range(3000)])
    assert contents(filled) == before
    assert broken_rows(filled) == []


def test_more_than_may_be_written_is_a_full_disk_as_well(filled: Path) -> None:
    before = contents(filled)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    with open_store(filled, write=True) as store:
        resource.setrlimit(resource.RLIMIT_FSIZE, (filled.stat().st_size, limits[1]))
        try:
            with pytest.raises(DiskFull, match="disk full"):
                put(store, "/in/b.jsonl", [call(f"d-{n}") for n in range(3000)])
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert contents(filled) == before


def test_a_url_that_cannot_be_opened_is_refused_in_a_sentence() -> None:
    with pytest.raises(StoreError, match="give a path"):
        open_store("mysql://somewhere/db")


@pytest.mark.parametrize("name", ["a b.db", "new\nline.db", "q'uo\"te?.db", "%41#.db", "-dash.db", "esc\x1b.db"])
def test_any_path_name_can_hold_a_store(name: str, tmp_path: Path) -> None:
    with fresh(tmp_path / name) as store:
        put(store, "/in/a.jsonl", [call("c-1")])
    with open_store(tmp_path / name) as store:
        assert store.execute(Run.select(Run.name)) == [("night-1",)]
    assert os.listdir(tmp_path) == [name]


def test_the_header_says_what_the_file_is(filled: Path) -> None:
    header = filled.read_bytes()[:100]
    assert struct.unpack(">I", header[68:72]) == (APPLICATION_ID,)


def _version(path: Path) -> int:
    return int(struct.unpack(">I", path.read_bytes()[60:64])[0])


def _set_version(path: Path, version: int) -> None:
    connection = sqlite3.connect(path)
    connection.execute(f"PRAGMA user_version = {version}")
    connection.close()


def test_a_statement_leaves_nothing_behind_in_a_store_that_stays_open(filled: Path) -> None:
    with open_store(filled) as store:
        store.execute_sql("SELECT 1")
        gc.collect()
        before = len(gc.get_objects())
        for _ in range(2_000):
            store.execute_sql("SELECT 1")
        gc.collect()
        assert len(gc.get_objects()) < before + 1_000
