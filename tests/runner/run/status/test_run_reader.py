"""Reading a run directory: what is counted, what is under way, and what files may look like."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.examples import examples
from tests.support.run_directories import BEGAN, RunDirectory, stamp
from tests.surface.ingest import PROGRESS_FILE, RUN_FILE
from tests.surface.runner import CallPlace, FinishedCall, RunReader, RunStatus, finished_call
from tests.surface.store import UsageError

GONE = 2**22 - 3
"""The number of a process that no system has."""


def look(directory: Path, seconds: float = 60.0) -> RunStatus:
    """Return where a run stands so long after it began."""
    status = RunReader(directory).read(BEGAN + seconds)
    assert status is not None
    return status


def test_calls_are_counted_by_what_came_of_them(tmp_path: Path) -> None:
    run = RunDirectory(tmp_path / "nightly")
    run.finish("a", BEGAN + 10)
    run.finish("b", BEGAN + 20, completed=False)
    run.finish("c", BEGAN + 30, errored=True, error="agent: 503", errors=[{"kind": "retried", "message": "429"}])
    run.finish("d", BEGAN + 40, flow="pizza", errored=True, caller_ok=False, error="caller: repeats itself")
    run.progress("e", "running", BEGAN + 41, state="greeting", turn=2)
    run.progress("f", "retrying", BEGAN + 50, why="429")
    status = look(run.path)
    assert status.counts._asdict() == {
        "done": 4, "completed": 1, "errored": 2, "caller_failed": 1, "retried": 1, "running": 1, "retrying": 1,
    }  # fmt: skip
    assert [(flow, counts.done) for flow, counts in status.flows.items()] == [("dental", 3), ("pizza", 1)]
    assert [(call.conversation_id, call.idle_s(status.as_of)) for call in status.under_way] == [("f", 10), ("e", 19)]
    assert (status.phase, status.left, status.agent, status.caller) == ("running", 8, "acme", "scripted")


def test_the_rate_is_that_of_the_last_minutes(tmp_path: Path) -> None:
    run = RunDirectory(tmp_path, planned=100)
    run.progress("0", "running", BEGAN)
    for number in range(10):
        run.finish(str(number), BEGAN + 6 * (number + 1))
    status = look(tmp_path, 60)
    assert status.rate_per_min == pytest.approx(10)
    assert status.eta_s == pytest.approx(540)
    for number in range(10, 20):
        run.finish(str(number), BEGAN + 1000 + number)
    assert look(tmp_path, 1100).rate_per_min == pytest.approx(2)


def test_a_run_without_a_call_has_no_rate_and_no_end(tmp_path: Path) -> None:
    RunDirectory(tmp_path)
    status = look(tmp_path)
    assert (status.rate_per_min, status.eta_s, status.agent_tokens) == (None, None, None)


def test_a_call_that_is_made_again_is_not_done(tmp_path: Path) -> None:
    run = RunDirectory(tmp_path)
    run.finish("a", BEGAN + 1, errored=True)
    run.progress("a", "running", BEGAN + 2)
    reader = RunReader(tmp_path)
    status = reader.read(BEGAN + 3)
    assert status is not None
    assert (status.counts.done, status.counts.errored, status.counts.running) == (0, 0, 1)
    run.finish("a", BEGAN + 5)
    status = reader.read(BEGAN + 6)
    assert status is not None
    assert (status.counts.done, status.counts.errored, status.counts.running) == (1, 0, 0)


def test_calls_of_a_process_that_is_gone_are_dropped(tmp_path: Path) -> None:
    run = RunDirectory(tmp_path, pid=GONE)
    run.progress("a", "running", BEGAN + 2)
    status = look(tmp_path)
    assert (status.phase, status.ending, status.counts.running) == ("stopped", "killed", 0)
    assert [call.status for call in status.under_way] == ["dropped"]


def test_a_number_that_another_process_got_since_is_no_sign_of_life(tmp_path: Path) -> None:
    RunDirectory(tmp_path, began=0.0)
    assert look(tmp_path).phase == "running", "the clock of a run may be any"
    os.utime(tmp_path / RUN_FILE, (0, 0))
    assert look(tmp_path).phase == ("stopped" if Path("/proc/self/stat").exists() else "running")


def test_a_run_on_another_machine_works_as_long_as_it_writes(tmp_path: Path) -> None:
    run = RunDirectory(tmp_path, pid=GONE)
    run.document.invocations[-1].host = "elsewhere"
    run.end(BEGAN)
    run.document.invocations[-1].ended_at = run.document.invocations[-1].ended = None
    run._write()
    written = (tmp_path / RUN_FILE).stat().st_mtime
    reader = RunReader(tmp_path)
    assert [reader.read(moment).phase for moment in (written + 60, written + 3600)] == ["running", "stopped"]  # type: ignore[union-attr]


def test_a_run_that_is_complete_has_ended(tmp_path: Path) -> None:
    run = RunDirectory(tmp_path, planned=1)
    run.finish("a", BEGAN + 1)
    run.end(BEGAN + 2)
    assert (look(tmp_path).phase, look(tmp_path).ending) == ("ended", "done")


def test_tokens_are_summed_where_they_were_told(tmp_path: Path) -> None:
    run = RunDirectory(tmp_path)
    run.finish("a", BEGAN + 1, extra={"agent": "acme", "requests": [{"prompt_tokens": 10, "completion_tokens": 2}]})
    run.finish("a", BEGAN + 2, extra={"requests": [{"prompt_tokens": 5, "completion_tokens": 1}, 7]})
    assert look(tmp_path).spent == [("acme", 15, 3)]
    run.finish("b", BEGAN + 3, extra={"requests": [{"ms": 3}], "caller_requests": [{"prompt_tokens": 2}]})
    assert look(tmp_path).spent == [("acme", None, None), ("scripted", 2, None)]


def test_calls_of_another_agent_are_those_of_an_earlier_run(tmp_path: Path) -> None:
    run = RunDirectory(tmp_path, agent="acme-v2")
    run.finish("a", BEGAN + 1, extra={"agent": "acme-v1"})
    run.finish("b", BEGAN + 2, extra={"agent": "acme-v2"})
    assert look(tmp_path).counts.done == 1


def test_each_look_reads_only_what_is_new(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = RunDirectory(tmp_path)
    run.finish("a", BEGAN + 1)
    reader = RunReader(tmp_path)
    reader.read(BEGAN + 2)
    decoded: list[bytes] = []

    def decode(line: bytes, place: CallPlace) -> FinishedCall | None:
        decoded.append(line)
        return finished_call(line, place)

    monkeypatch.setattr("riff_runner.run.status.tallies.finished_call", decode)
    reader.read(BEGAN + 3)
    assert decoded == []
    run.finish("b", BEGAN + 4)
    status = reader.read(BEGAN + 5)
    assert status is not None
    assert (len(decoded), status.counts.done) == (1, 2)


def test_a_torn_line_is_read_once_it_is_whole(tmp_path: Path) -> None:
    run = RunDirectory(tmp_path)
    run.finish("a", BEGAN + 1)
    path = tmp_path / "flow-transcripts-dental.jsonl"
    whole = path.read_bytes()
    path.write_bytes(whole + whole[: len(whole) // 2])
    reader = RunReader(tmp_path)
    assert reader.read(BEGAN + 2).counts.done == 1  # type: ignore[union-attr]
    path.write_bytes(whole)
    run.finish("b", BEGAN + 3)
    assert reader.read(BEGAN + 4).counts.done == 2  # type: ignore[union-attr]


def test_a_file_that_is_written_anew_is_counted_anew(tmp_path: Path) -> None:
    run = RunDirectory(tmp_path)
    for call in "abc":
        run.finish(call, BEGAN + 1)
    reader = RunReader(tmp_path)
    assert reader.read(BEGAN + 2).counts.done == 3  # type: ignore[union-attr]
    (tmp_path / "flow-transcripts-dental.jsonl").unlink()
    run.finish("d", BEGAN + 3)
    assert reader.read(BEGAN + 4).counts.done == 1  # type: ignore[union-attr]


def test_progress_that_is_written_anew_is_no_sign_of_life(tmp_path: Path) -> None:
    run = RunDirectory(tmp_path)
    run.progress("a", "running", BEGAN + 1, since="x")
    run.progress("b", "running", BEGAN + 1)
    reader = RunReader(tmp_path)
    reader.read(BEGAN + 2)
    line = json.loads((tmp_path / PROGRESS_FILE).read_text().splitlines()[0]) | {"t": stamp(BEGAN + 50)}
    anew = tmp_path / "anew"
    anew.write_text(json.dumps(line) + "\n")
    os.replace(anew, tmp_path / PROGRESS_FILE)
    status = reader.read(BEGAN + 60)
    assert status is not None
    assert [(call.conversation_id, call.idle_s(status.as_of)) for call in status.under_way] == [("a", 59)]


def test_what_is_no_plain_file_is_not_read(tmp_path: Path) -> None:
    run = RunDirectory(tmp_path / "run")
    (run.path / "flow-transcripts-a.jsonl").symlink_to("/dev/zero")
    os.mkfifo(run.path / "flow-transcripts-b.jsonl")
    (run.path / "flow-transcripts-c.jsonl").mkdir()
    (run.path / PROGRESS_FILE).symlink_to(tmp_path / "nowhere")
    assert look(run.path).counts.done == 0


def test_no_run_is_no_status_and_nonsense_is_refused(tmp_path: Path) -> None:
    assert RunReader(tmp_path).read(BEGAN) is None
    assert RunReader(tmp_path / "missing").read(BEGAN) is None
    (tmp_path / RUN_FILE).write_text("[]")
    with pytest.raises(UsageError, match="does not describe a run"):
        RunReader(tmp_path).read(BEGAN)


def test_calls_are_listed_by_who_waits_longest(tmp_path: Path) -> None:
    run = RunDirectory(tmp_path)
    run.finish("old", BEGAN + 1)
    run.finish("new", BEGAN + 9)
    run.finish("bad", BEGAN + 5, errored=True, error="agent: 503")
    run.progress("slow", "running", BEGAN + 2)
    run.progress("quick", "running", BEGAN + 8)
    reader = RunReader(tmp_path)
    status = reader.read(BEGAN + 10)
    assert status is not None
    listed, more = reader.calls(status, 4)
    assert ([call.conversation_id for call in listed], more) == (["slow", "quick", "bad", "new"], True)
    changed, more = reader.calls(status, 4, since=BEGAN + 6)
    assert ([call.conversation_id for call in changed], more) == (["quick", "new"], False)
    assert reader.last_words(listed[-1]) == ("caller", "My phone is 555 0100")
    assert reader.last_words(listed[0]) is None


lines = st.lists(
    st.one_of(
        st.binary(max_size=60).map(lambda text: text.replace(b"\n", b"")),
        st.fixed_dictionaries(
            {"conversation_id": st.sampled_from("abc") | st.integers(), "flow": st.sampled_from(["dental", 3])},
            optional={
                "completed": st.booleans() | st.text(max_size=3),
                "errored": st.booleans(),
                "caller_ok": st.none() | st.booleans(),
                "errors": st.integers() | st.lists(st.just({"kind": "retried"}) | st.integers()),
                "extra": st.none() | st.just({"requests": [{"prompt_tokens": -1}], "attempts": "x"}),
                "started_at": st.sampled_from(["2026-06-22T03:00:00Z", "9999-99-99", "", 5]),
                "t": st.sampled_from(["2026-06-22T03:00:00Z", "0001-01-01T00:00:00+14:00", "soon"]),
                "status": st.sampled_from(["running", "retrying", "done", "errored", "flying"]),
                "since": st.just(""),
                "turn": st.integers(-5, 5) | st.just("x"),
            },
        ).map(lambda line: json.dumps(line).encode()),
    ),
    max_size=12,
)


@given(lines, st.lists(st.integers(0, 400), max_size=4))
@settings(max_examples=examples(30), suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_looking_often_finds_what_looking_once_does(tmp_path: Path, wrote: list[bytes], cuts: list[int]) -> None:
    directory = tmp_path / "run"
    RunDirectory(directory)
    names = ("flow-transcripts-dental.jsonl", PROGRESS_FILE)
    for name in names:
        (directory / name).write_bytes(b"")
    often = RunReader(directory)
    content = b"".join(line + b"\n" for line in wrote)
    for cut in sorted(cuts):
        for name in names:
            with (directory / name).open("ab") as file:
                file.write(content[file.tell() : max(cut, file.tell())])
        often.read(BEGAN + 60)
    for name in names:
        with (directory / name).open("ab") as file:
            file.write(content[file.tell() :])
    found, once = often.read(BEGAN + 60), RunReader(directory).read(BEGAN + 60)
    assert found == once
    assert found is not None
    assert 0 <= found.counts.errored <= found.counts.done <= 4
