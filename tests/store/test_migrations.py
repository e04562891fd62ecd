"""A store of an earlier schema comes forward whole, and one from which no steps lead is refused."""

from __future__ import annotations

import json
import shutil
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.support.earlier_schema import EARLIER, STEP, earlier_store, stepped, store_of_today
from tests.support.facts import broken_rows, contents, fresh, put, verdict
from tests.surface.store import (
    SCHEMA_VERSION,
    NotAStore,
    OlderStore,
    StoreBusy,
    StoreReadOnly,
    backup_path,
    connect,
    examine,
    flow_cells,
    judges,
    migrate,
    migrations,
    open_store,
    sqlite_connection,
    timeline,
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "calls.db"


def schema(path: Path) -> dict[str, Any]:
    """Every table with its columns, keys and options, every index with its columns."""
    connection = sqlite3.connect(path)
    try:
        found: dict[str, Any] = {}
        for _, name, kind, _, without_rowid, _ in connection.execute("PRAGMA table_list").fetchall():
            if name.startswith("sqlite_"):
                continue
            indexes = connection.execute(f'PRAGMA index_list("{name}")').fetchall()
            found[name] = (
                kind,
                without_rowid,
                connection.execute(f'PRAGMA table_xinfo("{name}")').fetchall(),
                sorted(row[2:] for row in connection.execute(f'PRAGMA foreign_key_list("{name}")')),
                sorted((*row[1:], *connection.execute(f'PRAGMA index_info("{row[1]}")').fetchall()) for row in indexes),
            )
        return found
    finally:
        connection.close()


def answers(path: Path) -> Any:
    with open_store(path) as store:
        return flow_cells(store), judges(store), timeline(store)


@pytest.fixture
def _stepped() -> Iterator[None]:
    with stepped():
        yield


@pytest.mark.usefixtures("_stepped")
def test_an_older_store_becomes_what_a_new_one_is(path: Path) -> None:
    older, new = earlier_store(path), store_of_today(path.with_name("new.db"))
    assert schema(older) != schema(new)
    open_store(older, write=True).close()
    assert schema(older) == schema(new)
    assert contents(older) == contents(new)
    assert answers(older) == answers(new)
    assert broken_rows(older) == []
    with open_store(older) as store:
        assert examine(store).wrong == []


@pytest.mark.usefixtures("_stepped")
def test_the_copy_made_before_is_the_older_store(path: Path) -> None:
    before = dumped(earlier_store(path))
    open_store(path, write=True).close()
    assert dumped(backup_path(path, EARLIER)) == before
    assert stat.S_IMODE(backup_path(path, EARLIER).stat().st_mode) == 0o600


def dumped(path: Path) -> list[str]:
    with closing(sqlite3.connect(path)) as connection:
        return list(connection.iterdump())


@pytest.mark.usefixtures("_stepped")
def test_reading_an_older_store_says_what_to_do_and_changes_nothing(path: Path) -> None:
    before = earlier_store(path).read_bytes()
    with pytest.raises(OlderStore, match=rf"has schema {EARLIER}, .*riff-tui ingest.* migrates it"):
        open_store(path)
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


def test_a_store_of_every_schema_that_a_release_wrote_comes_forward() -> None:
    assert migrations.STEPS.keys() == set(range(1, SCHEMA_VERSION))


def test_a_store_that_steps_lead_to_no_store_of_ours_is_left_as_it_was(path: Path) -> None:
    before = dumped(earlier_store(path))
    with stepped({EARLIER: lambda connection: None}), pytest.raises(NotAStore, match="its table run has other columns"):
        open_store(path, write=True)
    assert dumped(path) == before


@pytest.mark.usefixtures("_stepped")
def test_what_is_written_to_a_migrated_store_is_what_a_new_one_takes(path: Path) -> None:
    older, new = earlier_store(path), store_of_today(path.with_name("new.db"))
    more = [verdict("c-3", 4.0, run="night-2", prompt_version="2", evidence=[1, 4])]
    for place in (older, new):
        with open_store(place, write=True) as store:
            put(store, "/in/more.jsonl", more, sha256="bb")
    assert contents(older) == contents(new)
    assert answers(older) == answers(new)


def test_a_verdict_is_kept_with_the_version_of_its_prompt_and_its_evidence(path: Path) -> None:
    with fresh(path) as store:
        put(store, "/in/h.jsonl", [
            verdict("c-1", 4.0, prompt_version="2", evidence=[1, 4]),
            verdict("c-2", None, line=2),
            verdict("c-3", 5.0, line=3, evidence=[]),
        ])  # fmt: skip
        rows = store.execute_sql("SELECT prompt_version, evidence FROM judged_score ORDER BY line")
    assert [(version, told and json.loads(told)) for version, told in rows] == [("2", [1, 4]), (None, None), (None, [])]


@pytest.mark.usefixtures("_stepped")
def test_a_store_that_cannot_be_copied_is_left_as_it_is(path: Path) -> None:
    before, copy = earlier_store(path).read_bytes(), backup_path(path, EARLIER)
    copy.mkdir()
    (copy / "taken").touch()
    with pytest.raises(StoreReadOnly, match="no copy can be made"):
        open_store(path, write=True)
    assert path.read_bytes() == before
    assert sorted(path.parent.iterdir()) == [path, copy]
    shutil.rmtree(copy)
    open_store(path, write=True).close()


@pytest.mark.usefixtures("_stepped")
def test_who_comes_second_leaves_the_copy_of_the_first_alone(path: Path) -> None:
    copy = backup_path(earlier_store(path), EARLIER)
    assert migrate(path) == copy
    kept = copy.read_bytes()
    assert migrate(path) is None
    assert copy.read_bytes() == kept
    assert version_of(copy) == EARLIER


def test_a_store_that_another_holds_is_called_busy_and_not_waited_for_without_end(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    earlier_store(path)
    monkeypatch.setattr(sqlite_connection, "BUSY_SECONDS", 0.1)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(StoreBusy):
            migrate(path)
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.usefixtures("_stepped")
def test_a_migration_that_was_killed_as_it_ended_is_done_again(path: Path) -> None:
    earlier_store(path)
    killed, journal = path.with_name("killed.db"), path.with_name("killed.db-journal")
    with closing(connect(str(path))) as connection:
        connection.execute("PRAGMA synchronous = OFF")  # the journal is whole before the end
        connection.execute("BEGIN IMMEDIATE")
        connection.execute(STEP)
        connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
        shutil.copy(f"{path}-journal", journal)
        connection.execute("COMMIT")
    shutil.copy(path, killed)
    with pytest.raises(OlderStore):
        open_store(killed)
    with open_store(killed, write=True) as store:
        assert store.copy_before == backup_path(killed, EARLIER)
        assert examine(store).wrong == []
    assert version_of(backup_path(killed, EARLIER)) == EARLIER


def version_of(path: Path) -> int:
    with closing(sqlite3.connect(path)) as connection:
        return int(connection.execute("PRAGMA user_version").fetchone()[0])
