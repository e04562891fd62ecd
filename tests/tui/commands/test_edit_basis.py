"""Which edit a run contains is told by its commit, in real repositories, and by time only where that is unknown."""

from __future__ import annotations

import csv
import io
import json
import sqlite3
import subprocess
from collections.abc import Mapping
from contextlib import closing
from hashlib import sha1
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from tests.support.facts import call, fresh, put
from tests.support.repositories import DAY, START, Repo
from tests.surface.tui import ExitCode, run

Captured = pytest.CaptureFixture[str]
FLOW = "flows/viewing.toml"
LINES = [f"line {number}\n" for number in range(20)]


def text(**changes: str) -> str:
    """The flow's file; changes to lines far apart merge by themselves."""
    places = {"top": 1, "middle": 10, "end": 18}
    lines = list(LINES)
    for name, change in changes.items():
        lines[places[name]] = f"{change}\n"
    return "".join(lines)


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    return Repo(tmp_path / "repo")


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "store.db"


def ingest(store: Path, runs: Mapping[str, tuple[str | None, float | None]], flow: str = "viewing") -> None:
    """Put a call of each run into the store; a run has a commit and a day when it started."""
    calls = [
        call(f"{flow}-{name}", run=name, flow=flow, commit=commit, line=line,
             started_at=None if day is None else START + int(day * DAY))
        for line, (name, (commit, day)) in enumerate(runs.items(), 1)
    ]  # fmt: skip
    with fresh(store) as opened:
        put(opened, f"/in/{flow}-{'-'.join(runs)}.jsonl", calls)


def read(repo: Repo | Path, store: Path, *more: str) -> None:
    directory = repo.directory if isinstance(repo, Repo) else repo
    arguments = ["--repo", str(directory), "--flows", "flows/{flow}.*", "--store", str(store)]
    assert run(["edits", *arguments, *more]) == ExitCode.OK


def exported(store: Path, capsys: Captured) -> dict[str, tuple[str, str]]:
    """The last edit of each run, and what told it."""
    capsys.readouterr()
    assert run(["export", "--store", str(store)]) == ExitCode.OK
    rows = csv.DictReader(io.StringIO(capsys.readouterr().out))
    return {row["run"]: (row["edit_subject"], row["edit_basis"]) for row in rows}


def dumped(store: Path, view: str, capsys: Captured) -> dict[str, Any]:
    capsys.readouterr()
    assert run(["dump", view, "--format", "json", "--store", str(store)]) == ExitCode.OK
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_an_edit_on_a_branch_counts_from_its_merge_on_however_early_it_was_made(
    repo: Repo, store: Path, capsys: Captured
) -> None:
    first = repo.commit("Begin", {FLOW: text()}, day=0)
    repo.git("checkout", "--quiet", "-b", "side")
    side = repo.commit("On the side", {FLOW: text(top="x")}, day=1)
    repo.git("checkout", "--quiet", "main")
    beside = repo.commit("Beside", {"README": "x"}, day=2)
    repo.git("merge", "--quiet", "--no-ff", "-m", "Merge", "side", day=5)
    runs = {"main": (beside, 3), "side": (side[:7], 3), "first": (first.upper(), 4), "merged": (repo.head(), 6)}
    ingest(store, runs)
    read(repo, store)
    assert exported(store, capsys) == {
        "main": ("Begin", "commit"),
        "side": ("On the side", "commit"),
        "first": ("Begin", "commit"),
        "merged": ("On the side", "commit"),
    }


def test_a_run_of_a_branch_that_was_never_merged_contains_its_edits_and_others_do_not(
    repo: Repo, store: Path, capsys: Captured
) -> None:
    base = repo.commit("Begin", {FLOW: text()}, day=0)
    repo.git("checkout", "--quiet", "-b", "side")
    side = repo.commit("In vain", {FLOW: text(top="x")}, day=1)
    repo.commit("Nobody ran it", {FLOW: text(top="y")}, day=2)
    repo.git("checkout", "--quiet", "main")
    ingest(store, {"main": (base, 3), "side": (side, 3), "unknown": ("0123abc", 3), "none": (None, 3)})
    read(repo, store)
    assert "2 edits on other branches" in capsys.readouterr().err
    assert exported(store, capsys) == {
        "main": ("Begin", "commit"),
        "side": ("In vain", "commit"),
        "unknown": ("Begin", "time"),
        "none": ("Begin", "time"),
    }
    rows = dumped(store, "edits", capsys)["rows"]
    assert [(row["subject"], row["next_run"], row["runs"]) for row in rows] == [
        ("In vain", "side", 1),
        ("Begin", "main", 3),
    ]


def test_both_sides_of_a_merge_count_and_of_neither_before_the_other_the_later_is_last(
    repo: Repo, store: Path, capsys: Captured
) -> None:
    pattern = ("--flows", "flows/{flow}/**")
    repo.commit("Begin", {"flows/viewing/a": "1"}, day=0)
    repo.git("checkout", "--quiet", "-b", "side")
    repo.commit("On the side", {"flows/viewing/b": "1"}, day=1)
    repo.git("checkout", "--quiet", "main")
    repo.commit("On main", {"flows/viewing/a": "2"}, day=2)
    repo.git("merge", "--quiet", "--no-ff", "-m", "Merge", "side", day=3)
    merged = repo.head()
    repo.commit("After", {"flows/viewing/b": "2"}, day=1)
    ingest(store, {"merged": (merged, 8), "after": (repo.head(), 9)})
    read(repo, store, *pattern)
    assert exported(store, capsys) == {"merged": ("On main", "commit"), "after": ("After", "commit")}
    rows = {row["subject"]: row for row in dumped(store, "edits", capsys)["rows"]}
    assert {subject: row["next_run"] for subject, row in rows.items()} == {
        "Begin": "merged", "On the side": "merged", "On main": "merged", "After": "after",
    }  # fmt: skip
    assert rows["After"]["previous_run"] == "merged"


def test_a_merge_that_mends_both_sides_is_the_last_edit(repo: Repo, store: Path, capsys: Captured) -> None:
    repo.commit("Begin", {FLOW: text()}, day=0)
    repo.git("checkout", "--quiet", "-b", "side")
    repo.commit("Top", {FLOW: text(top="x")}, day=1)
    repo.git("checkout", "--quiet", "main")
    repo.commit("End", {FLOW: text(end="x")}, day=2)
    repo.git("merge", "--quiet", "--no-ff", "-m", "Both", "side", day=3)
    ingest(store, {"merged": (repo.head(), 9)})
    read(repo, store)
    assert exported(store, capsys) == {"merged": ("Both", "commit")}


def test_a_revert_counts_for_runs_that_contain_it_alone(repo: Repo, store: Path, capsys: Captured) -> None:
    repo.commit("Begin", {FLOW: text()}, day=0)
    changed = repo.commit("Change", {FLOW: text(top="x")}, day=1)
    repo.git("revert", "--no-edit", "HEAD", day=2)
    ingest(store, {"changed": (changed, 5), "reverted": (repo.head(), 4), "later": (None, 6)})
    read(repo, store)
    assert exported(store, capsys) == {
        "changed": ("Change", "commit"),
        "reverted": ('Revert "Change"', "commit"),
        "later": ('Revert "Change"', "time"),
    }


def test_a_cherry_pick_is_an_edit_of_its_own_branch(repo: Repo, store: Path, capsys: Captured) -> None:
    repo.commit("Begin", {FLOW: text()}, day=0)
    repo.git("checkout", "--quiet", "-b", "release")
    repo.git("checkout", "--quiet", "main")
    picked = repo.commit("Change", {FLOW: text(top="x")}, day=1)
    repo.commit("More", {FLOW: text(top="x", end="x")}, day=2)
    repo.git("checkout", "--quiet", "release")
    before = repo.commit("Version", {"VERSION": "1"}, day=3)
    repo.git("cherry-pick", picked)
    release = repo.head()
    assert release != picked
    repo.git("checkout", "--quiet", "main")
    ingest(store, {"before": (before, 4), "release": (release, 5), "main": (repo.head(), 5)})
    read(repo, store)
    capsys.readouterr()
    run(["export", "--store", str(store)])
    commits = {row["run"]: row["edit_commit"] for row in csv.DictReader(io.StringIO(capsys.readouterr().out))}
    assert commits == {"before": repo.git("rev-parse", "main~2"), "release": release, "main": repo.head()}


def test_runs_that_come_after_the_history_was_read_know_their_edit(repo: Repo, store: Path, capsys: Captured) -> None:
    first = repo.commit("Begin", {FLOW: text()}, day=0)
    second = repo.commit("Change", {FLOW: text(top="x")}, day=1)
    read(repo, store)
    ingest(store, {"first": (first, 5), "second": (second[:10], 6), "third": ("fffffff", 7)})
    assert exported(store, capsys) == {
        "first": ("Begin", "commit"),
        "second": ("Change", "commit"),
        "third": ("Change", "time"),
    }
    third = repo.commit("More", {"README": "x"}, day=2)
    ingest(store, {"fourth": (third, 8)})
    assert exported(store, capsys)["fourth"] == ("Change", "time")
    read(repo, store)
    assert exported(store, capsys)["fourth"] == ("Change", "commit")


def test_a_commit_before_the_first_edit_contains_none(repo: Repo, store: Path, capsys: Captured) -> None:
    before = repo.commit("Plan", {"README": "x"}, day=5)
    repo.commit("Begin", {FLOW: text()}, day=0)
    ingest(store, {"before": (before, 6)})
    read(repo, store)
    assert exported(store, capsys) == {"before": ("", "")}


def test_a_run_without_a_time_is_placed_by_its_commit(repo: Repo, store: Path, capsys: Captured) -> None:
    commit = repo.commit("Begin", {FLOW: text()}, day=0)
    ingest(store, {"known": (commit, None), "unknown": (None, None)})
    read(repo, store)
    assert exported(store, capsys) == {"known": ("Begin", "commit"), "unknown": ("", "")}


def test_an_abbreviation_counts_where_it_stands_for_one_commit(repo: Repo, store: Path, capsys: Captured) -> None:
    first = repo.commit("Begin", {FLOW: text()}, day=0)
    tree, *people = repo.git("cat-file", "commit", first).partition("\n\n")[0].split("\n")
    written = ("\n".join([tree, f"parent {first}", *people, "", f"{number}"]).encode() for number in count())
    alike = next(text for text in written if sha1(b"commit %d\0%b" % (len(text), text)).hexdigest()[:4] == first[:4])
    second = repo.git("hash-object", "-t", "commit", "-w", "--stdin", stdin=alike)
    repo.git("update-ref", "refs/heads/main", second)
    assert second[:4] == first[:4]
    described = f"v1.2-3-g{second[:8]}-dirty"
    runs = {"shared": (second[:4], 5), "described": (described, 5), "build": (second[:4].translate(DIGITS), 5)}
    ingest(store, runs)
    read(repo, store)
    found = exported(store, capsys)
    assert found["described"] == ("Begin", "commit")
    assert found["shared"] == ("Begin", "time")
    assert found["build"] == ("Begin", "time")


DIGITS = str.maketrans("abcdef", "123456")


def test_a_shallow_clone_tells_of_what_it_holds(repo: Repo, store: Path, tmp_path: Path, capsys: Captured) -> None:
    commits = [repo.commit(f"{number}", {FLOW: text(top=str(number))}, day=number) for number in range(6)]
    ingest(store, {"old": (commits[1], 7), "boundary": (commits[3], 8), "new": (commits[4], 9)})
    shallow = tmp_path / "shallow"
    repo.git("clone", "--quiet", "--depth=3", f"file://{repo.directory}", str(shallow))
    read(shallow, store)
    assert exported(store, capsys) == {"old": ("5", "time"), "boundary": ("", ""), "new": ("4", "commit")}
    read(repo, store)
    assert exported(store, capsys) == {"old": ("1", "commit"), "boundary": ("3", "commit"), "new": ("4", "commit")}
    with fresh(store) as opened:
        assert opened.execute_sql("SELECT COUNT(*) FROM repository") == [(1,)]


def test_each_of_two_repositories_tells_of_its_own_flows(
    repo: Repo, store: Path, tmp_path: Path, capsys: Captured
) -> None:
    other = Repo(tmp_path / "other")
    here = repo.commit("Here", {FLOW: text()}, day=0)
    repo.commit("Here again", {FLOW: text(top="x")}, day=2)
    there = other.commit("There", {"flows/weather.toml": "1"}, day=1)
    other.commit("There again", {"flows/weather.toml": "2"}, day=2)
    ingest(store, {"here": (here, 5)})
    ingest(store, {"there": (there, 5)}, flow="weather")
    ingest(store, {"mixed": (here, 5)}, flow="weather")
    for each in (repo, other):
        read(each, store)
    assert exported(store, capsys) == {
        "here": ("Here", "commit"),
        "there": ("There", "commit"),
        "mixed": ("There again", "time"),
    }
    read(other, store, "--rebuild")
    assert exported(store, capsys)["here"] == ("", "")


def test_a_run_is_compared_with_the_last_one_of_its_own_line_of_work(repo: Repo, store: Path, capsys: Captured) -> None:
    first = repo.commit("Begin", {FLOW: text()}, day=0)
    repo.git("checkout", "--quiet", "-b", "side")
    side = repo.commit("On the side", {FLOW: text(end="x")}, day=1)
    repo.git("checkout", "--quiet", "main")
    second = repo.commit("On main", {FLOW: text(top="x")}, day=2)
    ingest(store, {"first": (first, 3), "side": (side, 4), "second": (second, 5), "again": (first, 6)})
    read(repo, store)
    rows = {row["subject"]: row for row in dumped(store, "edits", capsys)["rows"]}
    around = {subject: (row["previous_run"], row["next_run"], row["runs"]) for subject, row in rows.items()}
    assert around == {
        "Begin": (None, "first", 2),
        "On the side": ("first", "side", 1),
        "On main": ("first", "second", 1),
    }
    assert {row["basis"] for row in rows.values()} == {"commit"}


def test_what_goes_by_time_says_so_wherever_it_is_shown(repo: Repo, store: Path, capsys: Captured) -> None:
    commit = repo.commit("Begin", {FLOW: text()}, day=0)
    ingest(store, {"one": (None, 1), "two": (commit, 2)})
    read(repo, store)
    capsys.readouterr()
    for view, sign in (("edits", "2026-01-01T00:00:00Z?"), ("timeline", f"{commit[:7]}?")):
        assert run(["dump", view, "--store", str(store)]) == ExitCode.OK
        shown = capsys.readouterr().out
        assert sign in shown
        assert "Edits with ? go by time" in shown
    found = {row["run"]: row["edit"]["basis"] for row in dumped(store, "timeline", capsys)["rows"]}
    assert found == {"one": "time", "two": "commit"}
    assert dumped(store, "flows", capsys)["rows"][0]["last_edit"]["basis"] == "commit"


def test_edits_without_their_history_go_by_time_until_it_is_read_again(
    repo: Repo, store: Path, capsys: Captured
) -> None:
    commit = repo.commit("Begin", {FLOW: text()}, day=0)
    ingest(store, {"one": (commit, 1)})
    read(repo, store)
    with closing(sqlite3.connect(store)) as connection:
        for table in ("known_commit", "history_node", "repository"):
            connection.execute(f"DELETE FROM {table}")
        connection.commit()
    capsys.readouterr()
    assert set(exported(store, capsys).values()) == {("Begin", "time")}
    read(repo, store)
    assert "nothing new" in capsys.readouterr().err
    assert set(exported(store, capsys).values()) == {("Begin", "commit")}


def test_where_every_commit_is_known_nothing_is_said_of_time(repo: Repo, store: Path, capsys: Captured) -> None:
    ingest(store, {"one": (repo.commit("Begin", {FLOW: text()}, day=0), 1)})
    read(repo, store)
    for view in ("edits", "timeline", "flows"):
        assert run(["dump", view, "--store", str(store)]) == ExitCode.OK
    assert "go by time" not in capsys.readouterr().out


@pytest.mark.parametrize("ref", ["refs/stash", "refs/notes/review", "refs/replace/x"])
def test_what_git_put_aside_is_no_edit(ref: str, repo: Repo, store: Path, capsys: Captured) -> None:
    repo.commit("Begin", {FLOW: text()}, day=0)
    repo.commit("Put aside", {FLOW: text(top="x")}, day=1)
    repo.git("update-ref", ref, "HEAD")
    repo.git("reset", "--quiet", "--hard", "HEAD~1")
    read(repo, store)
    assert "1 edit of 1 flow" in capsys.readouterr().err


def test_a_ref_that_leads_nowhere_is_passed_over(repo: Repo, store: Path, capsys: Captured) -> None:
    repo.commit("Begin", {FLOW: text()}, day=0)
    (repo.directory / ".git" / "refs" / "heads" / "lost").write_text(f"{'1' * 40}\n")
    with pytest.raises(subprocess.CalledProcessError):
        repo.git("rev-parse", "--verify", "lost^{commit}")
    blob = repo.git("hash-object", "-w", "--stdin", stdin=b"x")
    repo.git("update-ref", "refs/tags/blob", blob)
    read(repo, store)
    assert "1 edit of 1 flow" in capsys.readouterr().err
