"""A store that lies: what is put into its schema is refused in a sentence before any of it runs."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.support.earlier_schema import earlier_store, stepped
from tests.support.facts import call, fresh, put
from tests.support.lying_stores import LIES, tell_a_lie
from tests.surface.store import KNOWN, NotAStore, Run, StoreError, digest, migrate, open_store, schema, sqlite_schema


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("honest") / "calls.db"
    with fresh(path) as store:
        put(store, "/in/a.jsonl", [call("c-1")])
    return path


@pytest.fixture(scope="module")
def migrated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = earlier_store(tmp_path_factory.mktemp("migrated") / "calls.db")
    with stepped():
        open_store(path, write=True).close()
    return path


@pytest.mark.parametrize("lie", LIES)
@pytest.mark.parametrize("write", [False, True])
def test_a_lie_is_refused_before_any_of_it_runs(lie: str, write: bool, honest: Path, tmp_path: Path) -> None:
    path = tell_a_lie(Path(shutil.copy(honest, tmp_path / "calls.db")), LIES[lie])
    before = path.read_bytes()
    with pytest.raises(NotAStore):
        open_store(path, write=write)
    assert path.read_bytes() == before


def test_the_sentence_names_what_is_strange_and_what_to_do(honest: Path, tmp_path: Path) -> None:
    path = tell_a_lie(Path(shutil.copy(honest, tmp_path / "calls.db")), LIES["a view more"])
    with pytest.raises(NotAStore, match=r"it has a view, more, .* nothing of it was read; ask for the files"):
        open_store(path)


def test_a_lie_in_a_store_of_an_earlier_schema_is_refused_before_it_is_migrated(tmp_path: Path) -> None:
    lie = LIES["an endless view in the place of calls"]
    path = tell_a_lie(earlier_store(tmp_path / "calls.db"), lie)
    before = path.read_bytes()
    with stepped(), pytest.raises(NotAStore, match="it has a view, conversation"):
        migrate(path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_each_way_in_which_a_store_came_to_its_schema_is_known(honest: Path, migrated: Path) -> None:
    for path in (honest, migrated):
        with closing(sqlite3.connect(path)) as connection:
            held = connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_master").fetchall()
        assert digest(held) in KNOWN


def test_a_store_that_came_to_its_schema_in_another_way_is_looked_at_closely(
    honest: Path, migrated: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_schema, "KNOWN", frozenset())
    for path in (honest, migrated):
        open_store(path).close()


def test_what_an_analysis_leaves_behind_is_no_lie_and_costs_nothing(
    honest: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tell_a_lie(Path(shutil.copy(honest, tmp_path / "calls.db")), "ANALYZE")
    monkeypatch.delattr(sqlite_schema, "_described")
    with open_store(path) as store:
        assert store.execute(Run.select(Run.name)) == [("night-1",)]


def test_a_schema_without_end_is_refused(honest: Path, tmp_path: Path) -> None:
    many = ";".join(f'CREATE TABLE "t{number}" ("id" INTEGER)' for number in range(600))
    with pytest.raises(StoreError, match="too many tables"):
        open_store(tell_a_lie(Path(shutil.copy(honest, tmp_path / "calls.db")), f"BEGIN; {many}; COMMIT"))


def test_every_table_is_looked_at() -> None:
    with closing(sqlite_schema._made()) as made:
        assert sqlite_schema._described(made).keys() == {model._meta.table_name for model in schema.ALL}
