"""`edits` says on stderr what it read of each flow, and ends in one line where it cannot."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.earlier_schema import earlier_store, stepped
from tests.support.repositories import Repo
from tests.surface.tui import ExitCode, run

Captured = pytest.CaptureFixture[str]


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    repo = Repo(tmp_path / "repo")
    repo.commit("Begin", {"flows/dental.toml": "1", "flows/other.toml": "1"})
    repo.commit("Ask for the date first", {"flows/dental.toml": "2"})
    return repo


def record(repo: Repo, store: Path, *more: str) -> int:
    return run(["edits", "--repo", str(repo.directory), "--flows", "flows/{flow}.*", "--store", str(store), *more])


def test_edits_are_told_flow_by_flow_and_again_only_what_is_new(repo: Repo, tmp_path: Path, capsys: Captured) -> None:
    store = tmp_path / "store.db"
    assert record(repo, store) == ExitCode.OK
    out, err = capsys.readouterr()
    assert out == ""
    assert err == (
        "dental  2 edits (2 new), 2026-01-01 to 2026-01-02, no calls yet\n"
        "other   1 edit (1 new), 2026-01-01 to 2026-01-01, no calls yet\n"
        "3 edits of 2 flows: 3 new, 2 flows without calls are kept until some come.\n"
    )
    assert record(repo, store) == ExitCode.OK
    assert "3 edits of 2 flows: nothing new" in capsys.readouterr().err
    repo.commit("More", {"flows/dental.toml": "3"})
    record(repo, store)
    assert "4 edits of 2 flows: 1 new" in capsys.readouterr().err
    repo.git("reset", "--quiet", "--hard", "HEAD~2")
    record(repo, store)
    assert "2 edits of 2 flows: nothing new, 2 gone from the history" in capsys.readouterr().err


def test_of_many_flows_only_the_sum_is_told(repo: Repo, tmp_path: Path, capsys: Captured) -> None:
    repo.commit("Many", {f"flows/f{number}.toml": "x" for number in range(30)})
    assert record(repo, tmp_path / "store.db") == ExitCode.OK
    assert capsys.readouterr().err.splitlines() == [
        "33 edits of 32 flows: 33 new, 32 flows without calls are kept until some come."
    ]


def test_a_shallow_clone_is_told(repo: Repo, tmp_path: Path, capsys: Captured) -> None:
    repo.git("clone", "--quiet", "--depth=1", f"file://{repo.directory}", str(tmp_path / "shallow"))
    arguments = ["edits", "--repo", str(tmp_path / "shallow"), "--flows", "flows/{flow}.*"]
    assert run([*arguments, "--store", str(tmp_path / "store.db")]) == ExitCode.OK
    assert "This is a shallow clone" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["--repo", "{repo}", "--flows", "flows/*.toml"], ExitCode.USAGE, "--flows: it needs {flow}"),
        (["--repo", "{tmp}", "--flows", "{flow}"], ExitCode.USAGE, "not a git repository"),
        (["--repo", "{tmp}/none", "--flows", "{flow}"], ExitCode.USAGE, "no such directory"),
        (["--flows", "{flow}"], ExitCode.USAGE, "--repo"),
        (["--repo", "{repo}"], ExitCode.USAGE, "--flows"),
    ],
)
def test_what_makes_no_sense_ends_in_one_line_and_makes_no_store(
    arguments: list[str], code: ExitCode, said: str, repo: Repo, tmp_path: Path, capsys: Captured
) -> None:
    given = [part.replace("{repo}", str(repo.directory)).replace("{tmp}", str(tmp_path)) for part in arguments]
    store = tmp_path / "store.db"
    assert run(["edits", *given, "--store", str(store)]) == code
    out, err = capsys.readouterr()
    assert out == ""
    assert said in err
    assert len(err.splitlines()) == 1
    assert not store.exists()


def test_without_git_the_error_says_so(
    repo: Repo, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert record(repo, tmp_path / "store.db") == ExitCode.UNEXPECTED
    assert "git is not installed" in capsys.readouterr().err


def test_a_pattern_that_matches_nothing_is_told(repo: Repo, tmp_path: Path, capsys: Captured) -> None:
    arguments = ["edits", "--repo", str(repo.directory), "--flows", "flws/{flow}.*", "--store", str(tmp_path / "s.db")]
    assert run(arguments) == ExitCode.OK
    assert "No file in the history" in capsys.readouterr().err
    assert not (tmp_path / "s.db").exists()


def test_what_is_known_is_forgotten_only_where_something_else_was_found(
    repo: Repo, tmp_path: Path, capsys: Captured
) -> None:
    store, other = tmp_path / "store.db", Repo(tmp_path / "other")
    other.commit("Elsewhere", {"flows/dental.toml": "1"}, day=9)
    record(repo, store)
    record(other, store)
    assert (
        run(["edits", "--repo", str(repo.directory), "--flows", "no/{flow}", "--store", str(store), "--rebuild"]) == 0
    )
    assert edits_in(store, capsys) == ["Elsewhere", "Ask for the date first", "Begin", "Begin"]
    record(other, store, "--rebuild")
    assert edits_in(store, capsys) == ["Elsewhere"]


def edits_in(store: Path, capsys: Captured) -> list[str]:
    capsys.readouterr()
    run(["dump", "edits", "--format", "json", "--store", str(store)])
    return [row["subject"] for row in json.loads(capsys.readouterr().out)["rows"]]


def test_an_older_store_is_migrated_by_its_edits(repo: Repo, tmp_path: Path, capsys: Captured) -> None:
    store = earlier_store(tmp_path / "old.db")
    with stepped():
        assert run(["dump", "edits", "--store", str(store)]) == ExitCode.STORE
        assert "migrates it" in capsys.readouterr().err
        assert record(repo, store) == ExitCode.OK
    assert edits_in(store, capsys) == ["Ask for the date first", "Begin", "Begin"]


def test_hostile_names_reach_the_terminal_as_text(repo: Repo, tmp_path: Path, capsys: Captured) -> None:
    repo.commit("x", {"flows/\x1b]52;c;aa\x07[bold].toml": "x"})
    assert record(repo, tmp_path / "store.db") == ExitCode.OK
    err = capsys.readouterr().err
    assert "\x1b" not in err
    assert "\x07" not in err
