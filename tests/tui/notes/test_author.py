"""Notes say who wrote them: whom the settings name, else whom git knows, else the user."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.surface.tui import author_author as author
from tests.surface.tui import notes_author as module


@pytest.fixture(autouse=True)
def _asked_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LOGNAME", "cleo")
    module._known_here.cache_clear()
    yield
    module._known_here.cache_clear()


def git_knows(address: str) -> None:
    subprocess.run(["git", "config", "--global", "user.email", address], check=True, capture_output=True)


def test_who_is_named_in_the_settings_writes() -> None:
    git_knows("bea@example.org")
    assert author(" ann@example.org ") == "ann@example.org"


def test_else_whom_git_knows_writes() -> None:
    git_knows("bea@example.org")
    assert author() == author("") == "bea@example.org"


def test_else_the_user_of_the_machine_writes() -> None:
    assert author() == "cleo"


def test_the_user_writes_where_git_does_not_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "git"
    program.write_text("#!/bin/sh\nexec sleep 60\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setattr(module, "_GIT_TIMEOUT_S", 0.05)
    assert author() == "cleo"


def test_a_name_is_one_line_that_no_terminal_acts_on() -> None:
    assert author("ann\n\x1b]52;c;aGk=\x07 \u202eorg") == "ann ]52;c;aGk= org"
    git_knows("bea\x1b[2J@example.org")
    assert author() == "bea[2J@example.org"
