"""Test `progress.jsonl`: who watches it sees where every call stands, and it stays small."""

from __future__ import annotations

import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec
import pytest

from tests.surface.runner import CallProgress, CallStatus, ProgressFile, ProgressLine, progress_file


class Watch:
    """Tell a time that the test moves."""

    def __init__(self) -> None:
        self.seconds = 100.0

    def clock(self) -> float:
        return self.seconds

    def now(self) -> datetime:
        return datetime(2026, 6, 22, tzinfo=UTC) + timedelta(seconds=self.seconds)


def opened(directory: Path, watch: Watch) -> ProgressFile:
    return ProgressFile(directory, clock=watch.clock, now=watch.now)


def read(directory: Path) -> list[ProgressLine]:
    text = (directory / "progress.jsonl").read_bytes()
    return [msgspec.json.decode(line, type=ProgressLine) for line in text.splitlines()]


def step(conversation: str, status: CallStatus = "running", state: str = "greeting", turn: int = 0) -> CallProgress:
    return CallProgress(conversation, "dental_clinic", status, state, turn)


def test_a_change_of_status_is_there_at_once_and_the_rest_a_little_later(tmp_path: Path) -> None:
    watch = Watch()
    file = opened(tmp_path, watch)
    file.report(step("c-1"))
    for turn in range(1, 10):
        watch.seconds += 0.01
        file.report(step("c-1", turn=turn))
    assert [line.turn for line in read(tmp_path)] == [0]
    file.flush()
    assert len(read(tmp_path)) == 1
    watch.seconds += 0.5
    file.flush()
    assert [line.turn for line in read(tmp_path)] == [0, 9]
    file.report(step("c-1", "retrying", turn=9))
    assert [line.status for line in read(tmp_path)][-1] == "retrying"


def test_since_says_when_the_call_got_where_it_is(tmp_path: Path) -> None:
    watch = Watch()
    file = opened(tmp_path, watch)
    file.report(step("c-1"))
    watch.seconds += 2
    file.report(step("c-1", turn=1))
    watch.seconds += 2
    file.report(step("c-1", state="confirm", turn=2))
    lines = read(tmp_path)
    assert [line.since for line in lines] == [lines[0].t, lines[0].t, lines[2].t]
    assert lines[0].t == "2026-06-22T00:01:40.000Z"


def test_it_stays_small_and_keeps_the_calls_that_are_under_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress_file, "LARGEST_FILE", 4000)
    watch = Watch()
    file = opened(tmp_path, watch)
    file.report(step("slow"))
    for number in range(500):
        file.report(step(f"c-{number}"))
        file.report(step(f"c-{number}", "done"))
        assert (tmp_path / "progress.jsonl").stat().st_size < 4500
    assert "slow" in {line.conversation_id for line in read(tmp_path)}
    assert [path.name for path in tmp_path.iterdir()] == ["progress.jsonl"]


def test_a_run_goes_on_where_its_progress_cannot_be_written(tmp_path: Path) -> None:
    folder = tmp_path / "gone"
    watch = Watch()
    file = opened(folder, watch)
    file.report(step("c-1"))
    folder.mkdir()
    watch.seconds += 10
    file.report(step("c-1", turn=3))
    assert [line.turn for line in read(folder)] == [3]
    shutil.rmtree(folder)
    file.report(step("c-1", "done"))
    file.close()
