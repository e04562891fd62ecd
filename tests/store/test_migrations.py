"""Stores of every earlier schema come forward whole; `schemas/` holds one of each as SQL."""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from riff_store.database import open_store
from riff_store.engines import sqlite_connection
from riff_store.engines.sqlite_connection import connect
from riff_store.errors import OlderStore, StoreBusy, StoreReadOnly
from riff_store.health import examine
from riff_store.migrations import STEPS, backup_path, migrate
from riff_store.models import SCHEMA_VERSION
from riff_store.queries.flows import flow_cells
from riff_store.queries.judges import judges
from riff_store.queries.quality import timeline
from tests.support.facts import broken_rows, contents, fresh, put, verdict
from tests.support.older_stores import SCHEMAS, of_today, restore

OLDER = range(1, SCHEMA_VERSION)


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


def test_there_is_a_step_and_a_store_of_each_earlier_schema() -> None:
    assert list(STEPS) == list(OLDER)
    assert {file.name for file in SCHEMAS.iterdir()} == {f"{version}.sql" for version in OLDER}


@pytest.mark.parametrize("version", OLDER)
def test_an_older_store_becomes_what_a_new_one_is(version: int, path: Path) -> None:
    older, new = restore(version, path), of_today(path.with_name("new.db"))
    open_store(older, write=True).close()
    assert schema(older) == schema(new)
    assert contents(older) == contents(new)
    assert answers(older) == answers(new)
    assert broken_rows(older) == []
    with open_store(older) as store:
        assert examine(store).wrong == []


def test_the_turn_taking_of_older_stores_gets_its_own_scale(path: Path) -> None:
    connection = sqlite3.connect(restore(2, path))
    connection.execute("INSERT INTO aspect (name) VALUES ('turn_taking')")
    connection.execute(
        "INSERT INTO aspect_score (conversation_id, aspect_id, judge_id, value)"
        " SELECT c.id, a.id, 1, 7.5 FROM conversation c, aspect a WHERE a.name = 'turn_taking' AND NOT c.errored"
    )
    connection.commit()
    connection.close()
    with open_store(path, write=True) as store:
        assert {cell.aspects["turn_taking"].mean for cell in flow_cells(store) if cell.n} == {0.75}
        assert examine(store).wrong == []


@pytest.mark.parametrize("version", OLDER)
def test_the_copy_made_before_is_the_older_store(version: int, path: Path) -> None:
    restore(version, path)
    before = sqlite3.connect(path)
    dumped = list(before.iterdump())
    before.close()
    open_store(path, write=True).close()
    copy = sqlite3.connect(backup_path(path, version))
    assert list(copy.iterdump()) == dumped
    copy.close()


@pytest.mark.parametrize("version", OLDER)
def test_reading_an_older_store_says_what_to_do_and_changes_nothing(version: int, path: Path) -> None:
    restore(version, path)
    before = path.read_bytes()
    with pytest.raises(OlderStore, match=r"riff-tui ingest.* migrates it"):
        open_store(path)
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize("version", OLDER)
def test_what_is_written_to_a_migrated_store_is_what_a_new_one_takes(version: int, path: Path) -> None:
    older, new = restore(version, path), of_today(path.with_name("new.db"))
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


def test_a_store_that_cannot_be_copied_is_left_as_it_is(path: Path) -> None:
    restore(1, path)
    before = path.read_bytes()
    backup_path(path, 1).mkdir()
    (backup_path(path, 1) / "taken").touch()
    with pytest.raises(StoreReadOnly, match="no copy can be made"):
        open_store(path, write=True)
    assert path.read_bytes() == before
    assert sorted(path.parent.iterdir()) == [path, backup_path(path, 1)]
    shutil.rmtree(backup_path(path, 1))
    open_store(path, write=True).close()


def test_who_comes_second_leaves_the_copy_of_the_first_alone(path: Path) -> None:
    restore(1, path)
    assert migrate(path, 1) == backup_path(path, 1)
    kept = backup_path(path, 1).read_bytes()
    assert migrate(path, 1) is None
    assert backup_path(path, 1).read_bytes() == kept
    assert version_of(backup_path(path, 1)) == 1


def test_a_store_that_another_holds_is_called_busy_and_not_waited_for_without_end(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    restore(1, path)
    monkeypatch.setattr(sqlite_connection, "BUSY_SECONDS", 0.1)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(StoreBusy):
            migrate(path, 1)
    assert list(path.parent.iterdir()) == [path]


def test_a_migration_that_was_killed_as_it_ended_is_done_again(path: Path) -> None:
    restore(1, path)
    killed, journal = path.with_name("killed.db"), path.with_name("killed.db-journal")
    with closing(connect(str(path))) as connection:
        connection.execute("PRAGMA synchronous = OFF")  # the journal is whole before the end
        connection.execute("BEGIN IMMEDIATE")
        for number in range(1, SCHEMA_VERSION):
            STEPS[number](connection)
        connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
        shutil.copy(f"{path}-journal", journal)
        connection.execute("COMMIT")
    shutil.copy(path, killed)
    with pytest.raises(OlderStore):
        open_store(killed)
    with open_store(killed, write=True) as store:
        assert store.copy_before == backup_path(killed, 1)
        assert examine(store).wrong == []
    assert version_of(backup_path(killed, 1)) == 1


def version_of(path: Path) -> int:
    with closing(sqlite3.connect(path)) as connection:
        return int(connection.execute("PRAGMA user_version").fetchone()[0])
