"""What a judge said is kept line by line, mended after a sudden end, and put in order when a run is over."""

from __future__ import annotations

import errno
import json
import os
import stat
import threading
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from tests.support.judged_calls import kept
from tests.surface.runner import ConversationName, Ledger, Signature, Unkeepable
from tests.surface.runner import ledger as module


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "run-1" / "humanness-old.jsonl"


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return Ledger("old", lambda run: tmp_path / run / "humanness-old.jsonl")


def line(conversation: str, score: float | None, **more: Any) -> dict[str, Any]:
    return {"run_id": "run-1", "conversation_id": conversation, "judge": "old", "score": score, **more}


def written(path: Path, content: str | bytes) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def test_lines_are_there_at_once_and_in_order_in_the_end(ledger: Ledger, path: Path) -> None:
    with ledger:
        ledger.hold(["run-1"])
        for conversation in ("c-2", "c-3", "c-1"):
            ledger.keep("run-1", line(conversation, 5))
        assert [each["conversation_id"] for each in kept(path)] == ["c-2", "c-3", "c-1"]
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [each["conversation_id"] for each in kept(path)] == ["c-1", "c-2", "c-3"]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert os.listdir(path.parent) == [path.name]


def test_what_was_said_is_known_with_its_signature(ledger: Ledger, path: Path) -> None:
    signed = {"model": "m", "prompt_hash": "h"}
    lines = [line("c-1", 5, **signed), line("c-2", None, **signed), line("c-3", 11), line("c-4", 0) | {"judge": "new"}]
    lines.append(line("c-5", -0.5))
    written(path, "".join(json.dumps(each) + "\n" for each in lines) + "junk\n\n")
    known = ledger.known(["run-1", "run-9"])
    assert known.scored == {(ConversationName("run-1", "c-1"), Signature("m", "h"))}
    assert known.unscored == {(ConversationName("run-1", "c-2"), Signature("m", "h"))}
    assert not (path.parent.parent / "run-9").exists()


def test_a_line_is_of_the_run_that_it_names_else_of_its_directory(ledger: Ledger, path: Path) -> None:
    elsewhere, here = line("c-1", 0), line("c-2", 10)
    elsewhere["run_id"], here["run_id"] = "run-7", None
    written(path, "".join(json.dumps(each) + "\n" for each in (elsewhere, here)))
    names = {name for name, _ in ledger.known(["run-1"]).scored}
    assert names == {ConversationName("run-7", "c-1"), ConversationName("run-1", "c-2")}


def test_no_thread_outlives_it(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SYNC_SECONDS", 0.0)
    with ledger:
        ledger.hold(["run-1"])
        ledger.keep("run-1", line("c-1", 5))
        assert any(thread.name.startswith("ledger") for thread in threading.enumerate())
    assert not any(thread.name.startswith("ledger") for thread in threading.enumerate())


def test_of_lines_that_say_the_same_the_scored_and_then_the_last_stays(ledger: Ledger, path: Path) -> None:
    with ledger:
        ledger.hold(["run-1"])
        for score in (None, 3.0, 4.0, None):
            ledger.keep("run-1", line("c-1", score))
        ledger.keep("run-1", line("c-1", 9, model="other"))
        ledger.keep("run-1", line("c-2", None, unscored="first"))
        ledger.keep("run-1", line("c-2", None, unscored="last"))
    assert [(each["score"], each.get("unscored")) for each in kept(path)] == [(4.0, None), (9, None), (None, "last")]


def test_lines_of_others_stay_as_they_are(ledger: Ledger, path: Path) -> None:
    others = b'junk \xff\n{"judge": "new",  "conversation_id": "c-0", "score": 1}\n'
    written(path, others)
    with ledger:
        ledger.hold(["run-1"])
        ledger.keep("run-1", line("c-1", 5))
    assert path.read_bytes().endswith(others)
    assert len(path.read_bytes().splitlines()) == 3


@pytest.mark.parametrize("torn", ['{"run_id": "run-1", "conv', "\0\0\0", '{"a": 1}\0', '"half'])
def test_a_torn_last_line_is_taken_away(ledger: Ledger, path: Path, torn: str) -> None:
    written(path, json.dumps(line("c-1", 5)) + "\n" + torn)
    assert len(ledger.known(["run-1"]).scored) == 1
    with ledger:
        ledger.hold(["run-1"])
        ledger.keep("run-1", line("c-2", 6))
    assert [each["conversation_id"] for each in kept(path)] == ["c-1", "c-2"]


def test_a_last_line_that_only_lost_its_end_counts(ledger: Ledger, path: Path) -> None:
    written(path, json.dumps(line("c-1", 5)))
    assert len(ledger.known(["run-1"]).scored) == 1
    with ledger:
        ledger.hold(["run-1"])
        ledger.keep("run-1", line("c-2", 6))
    assert len(kept(path)) == 2


def test_nothing_said_leaves_no_file(ledger: Ledger, path: Path) -> None:
    with ledger:
        ledger.hold(["run-1"])
        assert path.exists()
    assert not path.exists()


def test_two_runs_of_one_judge_exclude_each_other(ledger: Ledger, path: Path) -> None:
    other = Ledger("old", lambda run: path)
    with ledger:
        ledger.hold(["run-1"])
        ledger.keep("run-1", line("c-1", 5))
        with pytest.raises(Unkeepable, match="being written by another run of this judge"):
            other.hold(["run-1"])
    with other:
        other.hold(["run-1"])
    assert len(kept(path)) == 1


def test_links_are_never_written_through(ledger: Ledger, path: Path, tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.write_text("mine", encoding="utf-8")
    path.parent.mkdir()
    path.symlink_to(target)
    with pytest.raises(Unkeepable, match="cannot be"):
        ledger.hold(["run-1"])
    with pytest.raises(Unkeepable, match="cannot be read"):
        ledger.known(["run-1"])
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "run-2").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(Unkeepable, match="is a link"):
        ledger.hold(["run-2"])
    assert target.read_text(encoding="utf-8") == "mine"
    assert not os.listdir(tmp_path / "elsewhere")


def test_what_is_no_plain_file_is_refused(ledger: Ledger, path: Path) -> None:
    path.parent.mkdir()
    os.mkfifo(path)
    with pytest.raises(Unkeepable, match="not a plain file"):
        ledger.hold(["run-1"])
    with pytest.raises(Unkeepable, match="not a plain file"):
        ledger.known(["run-1"])


def test_calls_of_one_id_have_lines_of_their_own(ledger: Ledger, path: Path) -> None:
    with ledger:
        ledger.hold(["run-1"])
        for flow, trial in (("b", 1), ("b", None), ("a", 0), ("b", 0), ("a", 0)):
            ledger.keep("run-1", line("c-1", 5, flow=flow, agent_model="m", trial=trial))
        ledger.keep("run-1", line("c-1", 6))
    said = [(each.get("flow"), each.get("trial")) for each in kept(path)]
    assert said == [(None, None), ("a", 0), ("b", None), ("b", 0), ("b", 1)]
    assert ConversationName("run-1", "c-1", "b", "m", 1) in {name for name, _ in ledger.known(["run-1"]).scored}


def test_a_slow_disk_holds_up_no_verdict(ledger: Ledger, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    disk, synced = Event(), Event()

    def slow(descriptor: int) -> None:
        assert disk.wait(60)
        synced.set()

    monkeypatch.setattr(module, "SYNC_SECONDS", 0.0)
    with ledger:
        ledger.hold(["run-1"])
        monkeypatch.setattr(os, "fsync", slow)
        for conversation in ("c-1", "c-2", "c-3"):
            ledger.keep("run-1", line(conversation, 5))
        assert [each["conversation_id"] for each in kept(path)] == ["c-1", "c-2", "c-3"]
        assert not synced.is_set()
        disk.set()
        assert synced.wait(60)


def test_what_the_disk_does_not_take_is_an_error_in_the_end(
    ledger: Ledger, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(descriptor: int) -> None:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(module, "SYNC_SECONDS", 0.0)
    ledger.hold(["run-1"])
    with monkeypatch.context() as broken:
        broken.setattr(os, "fsync", failing)
        ledger.keep("run-1", line("c-1", 5))
        with pytest.raises(OSError, match="Input/output"):
            ledger.close()
    assert [each["conversation_id"] for each in kept(path)] == ["c-1"]
