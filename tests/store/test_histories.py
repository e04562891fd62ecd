"""What the commits of a repository contain is kept once, whatever is read of it and from where."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support.facts import broken_rows, fresh
from tests.surface.store import Commit, FlowEdit, Histories, Store, Writer, open_store


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "calls.db"


def sha(name: str) -> str:
    """A commit's id, told by one letter."""
    return f"{ord(name):02x}" * 20


def line(names: str) -> list[Commit]:
    """Commits one after the other."""
    return [Commit(sha(name), (sha(names[place - 1]),) if place else ()) for place, name in enumerate(names)]


def record(store: Store, repository: str, edited: str, commits: list[Commit], flow: str = "viewing") -> None:
    found = [FlowEdit(flow, sha(name), 1_000_000 + place, "Ada", name, "p") for place, name in enumerate(edited)]
    writer = Writer(store)
    with writer.batch():
        writer.put_edits(sha(repository), {flow: found} if found else {}, commits)


def last_edits(store: Store, names: str) -> list[str | None]:
    """The last edit of each commit of one line of history; `-` stands for none, `None` for a commit nobody knows."""
    histories = Histories(store)
    edits = {place: name for name in map(chr, range(97, 123)) if (place := histories.of_edit(sha(name)))}
    places = [histories.of_run(sha(name)) for name in names]
    return [None if place is None else "-" if place.node is None else edits[place] for place in places]


def counts(store: Store) -> tuple[Any, ...]:
    tables = ("repository", "known_commit", "history_node")
    return tuple(store.execute_sql(f"SELECT COUNT(*) FROM {table}")[0][0] for table in tables)


def test_every_commit_knows_its_last_edit(path: Path) -> None:
    with fresh(path) as store:
        record(store, "a", "bd", line("abcde"))
        assert last_edits(store, "abcdex") == ["-", "b", "b", "d", "d", None]
        assert counts(store) == (1, 5, 2)
    assert broken_rows(path) == []


def test_the_same_history_again_writes_nothing(path: Path) -> None:
    with fresh(path) as store:
        record(store, "a", "bd", line("abcde"))
    before = path.read_bytes()
    with open_store(path, write=True) as store:
        record(store, "a", "bd", line("abcde"))
    assert path.read_bytes() == before


def test_a_history_grows_and_one_written_anew_leaves_nothing_behind(path: Path) -> None:
    with fresh(path) as store:
        record(store, "a", "b", line("abc"))
        record(store, "a", "be", line("abcdef"))
        assert last_edits(store, "bdf") == ["b", "b", "e"]
        record(store, "a", "y", line("axyz"))
        assert last_edits(store, "abcz") == ["-", None, None, "y"]
        assert counts(store) == (1, 4, 1)


def test_a_clone_that_was_deepened_is_the_same_repository(path: Path) -> None:
    with fresh(path) as store:
        record(store, "c", "d", line("cde"))
        record(store, "a", "bd", line("abcde"))
        assert last_edits(store, "abcde") == ["-", "b", "b", "d", "d"]
        assert counts(store) == (1, 5, 2)
    assert broken_rows(path) == []


def test_repositories_without_a_commit_in_common_stay_apart(path: Path) -> None:
    with fresh(path) as store:
        record(store, "a", "b", line("abc"))
        record(store, "x", "y", line("xyz"))
        assert last_edits(store, "acxz") == ["-", "b", "-", "y"]
        assert counts(store) == (2, 6, 2)


def test_flows_that_were_read_before_by_other_patterns_keep_their_history(path: Path) -> None:
    with fresh(path) as store:
        record(store, "a", "b", line("abcd"))
        record(store, "a", "d", line("abcd"), flow="weather")
        assert last_edits(store, "abcd") == ["-", "b", "b", "d"]


def test_what_is_forgotten_is_forgotten_whole(path: Path) -> None:
    with fresh(path) as store:
        record(store, "a", "b", line("abc"))
        record(store, "x", "y", line("xyz"))
        record(store, "a", "b", [])
        assert counts(store) == (1, 3, 1)
        writer = Writer(store)
        with writer.batch():
            writer.put_edits(sha("a"), {}, rebuild=True)
        assert counts(store) == (0, 0, 0)


@pytest.mark.parametrize(
    ("asked", "is_known"),
    [
        ("6162636465" + "0" * 30, True),
        ("6162636465", True),
        ("616263646", True),
        (" 616263646500\n", True),
        ("v1.2-14-g6162636", True),
        ("6162636-dirty", True),
        ("6162636+", True),
        ("61626f", False),
        ("616263", False),  # six digits count builds
        ("6162636465" + "0" * 31, False),
        ("6162636465-x", False),
        ("main", False),
        ("", False),
        (None, False),
    ],
)
def test_a_commit_goes_by_what_transcripts_call_it(asked: str | None, is_known: bool, path: Path) -> None:
    with fresh(path) as store:
        record(store, "a", "", [Commit("6162636465" + "0" * 30, ())])
        assert (Histories(store).of_run(asked) is not None) == is_known


def test_an_abbreviation_of_two_commits_stands_for_neither(path: Path) -> None:
    with fresh(path) as store:
        record(store, "a", "", [Commit("abcdef0" + digit * 33, ()) for digit in "05f"])
        histories = Histories(store)
        assert histories.of_run("abcdef0") is None
        assert [histories.of_run(f"ABCDEF0{digit}") is None for digit in "015f"] == [False, True, False, False]
