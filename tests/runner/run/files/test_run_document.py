"""Test `run.json`: what is written is read again, and what is something else is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.surface.ingest import RUN_FILE
from tests.surface.runner import Invocation, RunDocument, RunFlowFile, RunSettings, RunSide, read_run, write_run
from tests.surface.store import UsageError


def document() -> RunDocument:
    """Return the description of a small run."""
    agent = RunSide(kind="command", name="mine", command=("./agent.sh", "--fast"))
    return RunDocument(
        run_id="nightly",
        created_at="2026-06-22T03:00:00Z",
        settings=RunSettings(agent=agent, caller=RunSide(kind="scripted", name="scripted"), limits={"max_turns": 40}),
        planned=12,
        flows={"dental_clinic": RunFlowFile(source="dental_clinic", sha256="ab" * 32)},
        versions={"python": "3.12.1"},
        invocations=[Invocation(started_at="2026-06-22T03:00:00Z", pid=7, host="here")],
    )


def test_what_was_written_is_read_again(tmp_path: Path) -> None:
    write_run(tmp_path, document())
    assert read_run(tmp_path) == document()
    assert (tmp_path / RUN_FILE).stat().st_mode & 0o777 == 0o600
    assert [path.name for path in tmp_path.iterdir()] == [RUN_FILE]


def test_what_is_not_known_is_not_written(tmp_path: Path) -> None:
    write_run(tmp_path, document())
    text = (tmp_path / RUN_FILE).read_text()
    assert "null" not in text
    assert text.startswith('{\n  "schema": "riff.run/1",')


def test_a_directory_without_a_run_has_none(tmp_path: Path) -> None:
    assert read_run(tmp_path) is None
    assert read_run(tmp_path / "nowhere") is None


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"run_id": 3}', b"[" * 100_000])
def test_another_file_of_that_name_is_refused_with_what_to_do(tmp_path: Path, content: bytes) -> None:
    (tmp_path / RUN_FILE).write_bytes(content)
    with pytest.raises(UsageError, match=r"does not describe a run: .*; choose another directory"):
        read_run(tmp_path)


def test_a_later_schema_is_refused(tmp_path: Path) -> None:
    write_run(tmp_path, document())
    path = tmp_path / RUN_FILE
    path.write_text(path.read_text().replace("riff.run/1", "riff.run/9"))
    with pytest.raises(UsageError, match=r"riff\.run/9"):
        read_run(tmp_path)


def test_a_link_is_neither_read_nor_written_through(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_text("untouched")
    (tmp_path / RUN_FILE).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UsageError, match="cannot be read"):
        read_run(tmp_path)
    write_run(tmp_path, document())
    assert (tmp_path / "elsewhere").read_text() == "untouched"
    assert read_run(tmp_path) == document()
