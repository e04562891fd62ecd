"""What git cannot tell becomes one sentence that says what to do."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.support.repositories import Repo
from tests.surface.ingest import GitProblem, NoHistory, Repository, read_edits


def test_a_directory_that_is_not_there_is_called_so(tmp_path: Path) -> None:
    with pytest.raises(NoHistory, match="no such directory"):
        Repository(tmp_path / "missing")


def test_a_directory_that_is_no_repository_is_called_so(tmp_path: Path) -> None:
    with pytest.raises(NoHistory, match="not a git repository; name the one with"):
        Repository(tmp_path)


def test_a_repository_without_commits_has_no_edits(tmp_path: Path) -> None:
    with pytest.raises(NoHistory, match="no commits yet"):
        Repository(Repo(tmp_path / "empty").directory)


def test_a_machine_without_git_is_told_what_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(GitProblem, match="git is not installed"):
        Repository(tmp_path)


def test_a_damaged_repository_is_told_in_the_words_of_git(tmp_path: Path) -> None:
    repo = Repo(tmp_path / "repo")
    commit = repo.commit("Begin", {"flows/a.toml": "1"})
    path = repo.directory / ".git" / "objects" / commit[:2] / commit[2:]
    path.chmod(0o600)
    path.write_bytes(b"no object")
    with pytest.raises(GitProblem, match="repo: ") as caught:
        read_edits(repo.directory, ["flows/{flow}.*"])
    assert "\n" not in str(caught.value)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a repository to another user")
def test_a_repository_of_another_user_is_read_only_once_it_is_trusted(tmp_path: Path) -> None:
    repo = Repo(tmp_path / "not mine")
    repo.commit("Begin", {"flows/a.toml": "1"})
    for path in (repo.directory, *repo.directory.rglob("*")):
        os.chown(path, 12345, 12345)
    with pytest.raises(GitProblem, match=r"safe.directory '.*not mine'$") as caught:
        read_edits(repo.directory, ["flows/{flow}.*"])
    command = str(caught.value).rpartition("do: ")[2]
    assert os.system(command) == 0
    assert set(read_edits(repo.directory, ["flows/{flow}.*"]).edits) == {"a"}
