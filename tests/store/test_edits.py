"""The edits of a repository's flow are replaced as a whole, and nothing else is."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.support.facts import call, fresh, put
from tests.surface.store import EditsResult, FlowEdit, Store, Writer, open_store


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "calls.db"


def edits(*commits: str, flow: str = "viewing", author: str = "Ada") -> list[FlowEdit]:
    return [
        FlowEdit(flow, commit, 1_000_000 * (place + 1), author, f"Change {commit}", f"flows/{flow}.toml")
        for place, commit in enumerate(commits)
    ]


def record(store: Store, repository: str, found: Sequence[FlowEdit], *, rebuild: bool = False) -> list[EditsResult]:
    by_flow: dict[str, list[FlowEdit]] = {}
    for edit in found:
        by_flow.setdefault(edit.flow, []).append(edit)
    writer = Writer(store)
    with writer.batch():
        return writer.put_edits(repository, by_flow, rebuild=rebuild)


def rows(store: Store) -> list[tuple[Any, ...]]:
    return store.execute_sql('SELECT repository, flow_name, position, "commit" FROM flow_edit ORDER BY 1, 2, 3')


def test_edits_are_kept_in_order_and_told(path: Path) -> None:
    with fresh(path) as store:
        put(store, "/in/a.jsonl", [call("c-1")])
        (result,) = record(store, "root", edits("a", "b"))
        assert result == EditsResult("viewing", 2, 2, 0, 1_000_000, 2_000_000, has_calls=True)
        assert rows(store) == [("root", "viewing", 0, "a"), ("root", "viewing", 1, "b")]


def test_the_same_history_again_writes_nothing(path: Path) -> None:
    with fresh(path) as store:
        record(store, "root", edits("a", "b"))
    before = path.read_bytes()
    with open_store(path, write=True) as store:
        (result,) = record(store, "root", edits("a", "b"))
    assert (result.added, result.gone) == (0, 0)
    assert path.read_bytes() == before


def test_new_commits_are_added_and_a_history_written_anew_replaces_the_old(path: Path) -> None:
    with fresh(path) as store:
        record(store, "root", [*edits("a", "b"), *edits("a", flow="other")])
        (grown,) = record(store, "root", edits("a", "b", "c"))
        assert (grown.edits, grown.added, grown.gone) == (3, 1, 0)
        (anew,) = record(store, "root", edits("x", "y"))
        assert (anew.edits, anew.added, anew.gone) == (2, 2, 3)
        assert rows(store) == [("root", "other", 0, "a"), ("root", "viewing", 0, "x"), ("root", "viewing", 1, "y")]


def test_a_clone_that_was_deepened_is_the_same_repository(path: Path) -> None:
    with fresh(path) as store:
        record(store, "boundary", edits("c", "d"))
        (result,) = record(store, "root", edits("a", "b", "c", "d"))
        assert (result.added, result.gone) == (2, 0)
        assert [row[3] for row in rows(store)] == ["a", "b", "c", "d"]


def test_edits_of_other_repositories_stay_unless_all_are_forgotten(path: Path) -> None:
    with fresh(path) as store:
        record(store, "one", edits("a"))
        record(store, "two", edits("z"))
        assert {row[0] for row in rows(store)} == {"one", "two"}
        record(store, "three", edits("q"), rebuild=True)
        assert rows(store) == [("three", "viewing", 0, "q")]


def test_a_flow_without_calls_is_kept_and_known_once_they_come(path: Path) -> None:
    with fresh(path) as store:
        assert not record(store, "root", edits("a"))[0].has_calls
        put(store, "/in/a.jsonl", [call("c-1")])
        assert record(store, "root", edits("a"))[0].has_calls


def test_a_failure_keeps_what_was_there(path: Path) -> None:
    with fresh(path) as store:
        record(store, "root", edits("a"))
        broken = [*edits("b"), FlowEdit("viewing", "c", None, "Ada", "x", "p")]  # type: ignore[arg-type]
        with pytest.raises(sqlite3.IntegrityError, match="NOT NULL"):
            record(store, "root", broken)
        assert [row[3] for row in rows(store)] == ["a"]


def test_lone_surrogates_are_spelled_out(path: Path) -> None:
    with fresh(path) as store:
        record(store, "root", edits("a", flow="\ud800", author="\udcff"))
        assert rows(store)[0][1] == "\\ud800"
