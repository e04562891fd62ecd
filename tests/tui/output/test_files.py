"""A file is written whole or not at all, for its owner, and never somewhere else than it seems."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import TextIO

import pytest

from tests.surface.tui import OutputError, write_whole


def hello(file: TextIO) -> None:
    file.write("hällo\n")


def test_a_new_file_is_readable_by_its_owner_only(tmp_path: Path) -> None:
    path = tmp_path / "out.md"
    write_whole(path, hello)
    assert path.read_bytes() == "hällo\n".encode()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert list(tmp_path.iterdir()) == [path]


def test_a_failure_leaves_what_was_there(tmp_path: Path) -> None:
    path = tmp_path / "out.md"
    path.write_text("before", encoding="utf-8")

    def fail(file: TextIO) -> None:
        file.write("half")
        raise RuntimeError

    with pytest.raises(RuntimeError):
        write_whole(path, fail)
    assert path.read_text(encoding="utf-8") == "before"
    assert list(tmp_path.iterdir()) == [path]


def test_a_link_is_never_written_through(tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_text("before", encoding="utf-8")
    link.symlink_to(target)
    with pytest.raises(OutputError, match="is a link"):
        write_whole(link, hello)
    assert target.read_text(encoding="utf-8") == "before"
    assert link.is_symlink()


def test_a_pipe_or_a_directory_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", tmp_path, Path(os.devnull)):
        with pytest.raises(OutputError, match="not a plain file"):
            write_whole(path, hello)


def test_a_missing_directory_is_named(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="directory does not exist; make it with mkdir -p "):
        write_whole(tmp_path / "no" / "out.md", hello)
