"""Make runs: every call is kept as it ends, and a run that ended early goes on where it stopped."""

from __future__ import annotations

import asyncio
import errno
import fcntl
import os
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

from riff_ingest import read_source
from tests.support.toy_calls import FLOW, ToyAgent, ToyCaller, toy_case, walks
from tests.support.toy_runs import ToyCallers, kept_lines, times_kept, toy_request, toy_settings
from tests.surface.runner import (
    AgentCall,
    AgentReply,
    CallerFailed,
    EndpointRefused,
    MadeCall,
    RunFiles,
    RunHooks,
    RunSide,
    SystemClock,
    Unavailable,
    make_run,
    plan_run,
    read_run,
    transcript_name,
)
from tests.surface.runner import run_runs as runs
from tests.surface.store import OutputError, UsageError

Reply = Callable[[AgentCall, str], Awaitable[AgentReply]]


def failing(times: int, error: Exception) -> Reply:
    """Fail in the first calls of this agent, then walk."""
    left = [times]

    async def reply(call: AgentCall, text: str) -> AgentReply:
        if left[0]:
            left[0] -= 1
            raise error
        return await walks(call, text)

    return reply


class Closing(ToyAgent):
    """Remember whether it was closed."""

    closed = False

    async def close(self) -> None:
        self.closed = True


def test_what_looks_wrong_before_the_run_is_told_and_ends_nothing(tmp_path: Path) -> None:
    class Hinting(ToyAgent):
        async def check(self) -> str | None:
            return "the endpoint lists a, and no b"

    told: list[str] = []
    end = make_run(
        toy_request(Hinting(walks), tmp_path / "out"), RunHooks(began=lambda plan, tally: told.extend(plan.warnings))
    )
    assert told == ["agent: the endpoint lists a, and no b"]
    assert end.tally.total.completed == end.tally.total.calls


def test_every_call_becomes_a_line_that_the_reader_takes(tmp_path: Path) -> None:
    out = tmp_path / "nightly"
    end = make_run(toy_request(ToyAgent(walks), out, trials=3, flows=2, label="Tuesday", commit="abc"))
    assert (end.tally.total.calls, end.tally.total.completed, end.error) == (6, 6, None)
    calls = [call for path in sorted(out.glob("flow-*")) for call in read_source(path)]
    assert {(call.run_id, call.run_label, call.commit) for call in calls} == {("nightly", "Tuesday", "abc")}
    assert [(call.flow, call.trial) for call in calls] == [(flow, n) for flow in ("toy-2", "toy") for n in range(3)]
    assert all(call.defects == {} and call.completed for call in calls)


def test_a_run_says_what_it_was_asked_to_do_and_how_it_ended(tmp_path: Path) -> None:
    make_run(toy_request(ToyAgent(walks), tmp_path / "r", trials=2, flows=2))
    document = read_run(tmp_path / "r")
    assert document is not None
    assert (document.run_id, document.planned, document.settings) == ("r", 4, toy_settings())
    assert {name: file.source for name, file in document.flows.items()} == {"toy": "toy.toml", "toy-2": "toy-2.toml"}
    [invocation] = document.invocations
    assert (invocation.pid, invocation.calls, invocation.errored, invocation.ended) == (os.getpid(), 4, 0, "done")


def test_a_run_without_a_directory_returns_its_calls() -> None:
    end = make_run(toy_request(ToyAgent(walks), trials=3))
    assert [call.trial for call in end.conversations] == [0, 1, 2]


def test_at_most_so_many_calls_are_made_at_once() -> None:
    under_way: set[str] = set()
    most = 0

    async def reply(call: AgentCall, text: str) -> AgentReply:
        nonlocal most
        under_way.add(call.case.conversation_id)
        most = max(most, len(under_way))
        await asyncio.sleep(0)
        said = await walks(call, text)
        if call.machine.state == "booked":
            under_way.discard(call.case.conversation_id)
        return said

    make_run(toy_request(ToyAgent(reply), trials=12, concurrency=3))
    assert most == 3


def test_a_call_is_made_again_where_a_side_could_not_be_asked(tmp_path: Path) -> None:
    reply = failing(2, Unavailable("agent", "503 overloaded"))
    end = make_run(toy_request(ToyAgent(reply), tmp_path / "r", trials=1))
    [line] = kept_lines(tmp_path / "r")
    assert (line["completed"], line["extra"]["attempts"]) == (True, 3)
    assert (end.tally.retried, end.tally.total.errored) == (1, 0)


def test_after_three_tries_a_call_is_kept_as_errored_and_the_run_goes_on(tmp_path: Path) -> None:
    reply = failing(3, Unavailable("caller", "503 overloaded"))
    end = make_run(toy_request(ToyAgent(reply), tmp_path / "r", trials=2, concurrency=1))
    errored, good = kept_lines(tmp_path / "r")
    assert (errored["errored"], errored["stop_reason"], errored["error"]) == (True, "error", "caller: 503 overloaded")
    assert "completed" not in errored
    assert good["completed"] is True
    assert (end.tally.total.calls, end.tally.total.errored, end.error) == (2, 1, None)


def test_an_endpoint_that_refuses_ends_the_run_and_what_is_complete_is_kept(tmp_path: Path) -> None:
    async def reply(call: AgentCall, text: str) -> AgentReply:
        if call.case.trial == 2:
            raise EndpointRefused("agent", "401 wrong key")
        return await walks(call, text)

    agent = Closing(reply)
    end = make_run(toy_request(agent, tmp_path / "r", trials=9, concurrency=1))
    assert isinstance(end.error, EndpointRefused)
    assert [line.get("trial", 0) for line in kept_lines(tmp_path / "r")] == [0, 1]
    document = read_run(tmp_path / "r")
    assert document is not None
    assert document.invocations[0].ended == "refused"
    assert agent.closed


def test_calls_that_are_under_way_are_dropped_where_an_endpoint_refuses(tmp_path: Path) -> None:
    async def reply(call: AgentCall, text: str) -> AgentReply:
        if call.case.trial == 3:
            raise EndpointRefused("agent", "quota is used up")
        await asyncio.sleep(60)
        return await walks(call, text)

    agent = ToyAgent(reply)
    make_run(toy_request(agent, tmp_path / "r", trials=4))
    assert kept_lines(tmp_path / "r") == []
    assert agent.ended == ["error"] * 4


def test_nothing_is_written_where_the_agent_cannot_be_reached(tmp_path: Path) -> None:
    class Gone(Closing):
        async def check(self) -> None:
            raise EndpointRefused("agent", "connection refused")

    agent = Gone(walks)
    with pytest.raises(EndpointRefused, match="agent: connection refused"):
        make_run(toy_request(agent, tmp_path / "r"))
    assert not (tmp_path / "r").exists()
    assert agent.closed


def test_a_second_run_into_the_same_directory_is_refused_with_what_to_do(tmp_path: Path) -> None:
    make_run(toy_request(ToyAgent(walks), tmp_path / "r"))
    with pytest.raises(UsageError, match="has a run already; go on with it with --resume"):
        make_run(toy_request(ToyAgent(walks), tmp_path / "r"))


def test_a_run_of_which_nothing_came_is_begun_anew(tmp_path: Path) -> None:
    refused = ToyAgent(failing(1, EndpointRefused("agent", "401 wrong key")))
    assert make_run(toy_request(refused, tmp_path / "r")).tally.total.calls == 0
    assert make_run(toy_request(ToyAgent(walks), tmp_path / "r")).tally.done == 4


def test_transcripts_of_something_else_are_never_added_to(tmp_path: Path) -> None:
    (tmp_path / "flow-transcripts-toy.jsonl").write_text("{}\n")
    for resume in (False, True):
        with pytest.raises(UsageError, match="choose another directory"):
            make_run(toy_request(ToyAgent(walks), tmp_path, resume=resume))


def test_to_go_on_makes_what_is_missing_and_what_was_errored(tmp_path: Path) -> None:
    out = tmp_path / "r"
    make_run(toy_request(ToyAgent(failing(3, Unavailable("agent", "down"))), out, trials=2, concurrency=1))
    request = toy_request(ToyAgent(walks), out, trials=4, flows=2, resume=True)
    plan = plan_run(request)
    assert (len(plan.due), plan.before, plan.again, plan.warnings) == (7, 1, 1, ())
    end = make_run(request)
    assert (end.tally.planned, end.tally.done, end.tally.total.calls) == (8, 8, 7)
    kept = times_kept(out)
    assert len(kept) == 8
    assert [name for name, times in kept.items() if times > 1] == [toy_case().conversation_id]
    again = make_run(request)
    assert (again.plan.due, again.tally.done) == ((), 8)
    document = read_run(out)
    assert document is not None
    assert [each.calls for each in document.invocations] == [2, 7]


def test_to_go_on_with_nothing_begins(tmp_path: Path) -> None:
    end = make_run(toy_request(ToyAgent(walks), tmp_path / "r", resume=True))
    assert end.tally.done == 4


def test_what_differs_when_a_run_goes_on_is_told(tmp_path: Path) -> None:
    request = toy_request(ToyAgent(walks), tmp_path / "r")
    make_run(request)
    changed = replace(request, resume=True, settings=toy_settings(seed=7, concurrency=9, trials=8))
    assert plan_run(changed).warnings == ("the seed differs from what this run was begun with",)


def test_a_flow_whose_file_has_changed_is_refused_unless_it_is_forced(tmp_path: Path) -> None:
    request = toy_request(ToyAgent(walks), tmp_path / "r", resume=True)
    make_run(request)
    flow = replace(FLOW, digest="cd" * 32)
    changed = replace(request, cases=[*request.cases, replace(toy_case(flow), trial=9)])
    with pytest.raises(UsageError, match="toy: the file of the flow has changed since this run began"):
        plan_run(changed)
    assert plan_run(replace(changed, force=True)).warnings == (
        "the flow toy differs from what this run was begun with",
    )


@pytest.mark.parametrize(
    ("side", "change", "said"),
    [
        ("agent", {"name": "other"}, "the agent is another one: its name has changed since this run began"),
        ("agent", {"command": ("./b",), "sha256": "cd"}, "the agent is another one: its command has changed"),
        ("agent", {"sha256": "cd"}, "the agent is another one: its file has changed"),
        ("caller", {"model": "m2", "sha256": "cd"}, "the caller is another one: its model has changed"),
        ("answered_by", {"sha256": "cd"}, "what answers tools is another one: its file has changed"),
    ],
)
def test_another_side_is_refused_unless_it_is_forced(
    tmp_path: Path, side: str, change: dict[str, Any], said: str
) -> None:
    began = RunSide(kind="command", name="mine", model="m", command=("./a",), sha256="ab")
    settings = msgspec.structs.replace(toy_settings(tools="command"), **{side: began})
    request = replace(toy_request(ToyAgent(walks), tmp_path / "r", resume=True), settings=settings)
    make_run(request)
    assert not plan_run(request).warnings
    other = msgspec.structs.replace(settings, **{side: msgspec.structs.replace(began, **change)})
    with pytest.raises(UsageError, match=said):
        plan_run(replace(request, settings=other))
    assert len(plan_run(replace(request, settings=other, force=True)).warnings) == 1


def test_what_an_earlier_version_kept_of_a_run_is_no_difference(tmp_path: Path) -> None:
    began = RunSide(kind="python", name="mine")
    settings = msgspec.structs.replace(toy_settings(), agent=began)
    request = replace(toy_request(ToyAgent(walks), tmp_path / "r", resume=True), settings=settings)
    make_run(request)
    now = msgspec.structs.replace(began, target="mine:reply", sha256="ab")
    assert plan_run(replace(request, settings=msgspec.structs.replace(settings, agent=now)))


def test_a_line_that_was_not_finished_is_cut_off_and_its_call_made_again(tmp_path: Path) -> None:
    request = toy_request(ToyAgent(walks), tmp_path / "r", resume=True)
    make_run(request)
    path = tmp_path / "r" / "flow-transcripts-toy.jsonl"
    whole = path.read_bytes()
    torn = whole.rstrip(b"\n").rfind(b"\n") + 1
    path.write_bytes(whole[: torn + 100])
    end = make_run(request)
    assert end.cut == {path: 100}
    assert path.read_bytes() == whole


def test_a_last_line_that_lacks_its_end_is_kept(tmp_path: Path) -> None:
    request = toy_request(ToyAgent(walks), tmp_path / "r", trials=5, resume=True)
    make_run(replace(request, cases=request.cases[:4]))
    path = tmp_path / "r" / "flow-transcripts-toy.jsonl"
    path.write_bytes(path.read_bytes().rstrip(b"\n"))
    assert make_run(request).cut == {}
    assert set(times_kept(tmp_path / "r").values()) == {1}
    assert len(times_kept(tmp_path / "r")) == 5


def test_two_processes_cannot_write_one_run(tmp_path: Path) -> None:
    out = tmp_path / "r"
    out.mkdir()
    held = os.open(out, os.O_RDONLY)
    try:
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.raises(UsageError, match="is being written by another run; wait for its end"):
            make_run(toy_request(ToyAgent(walks), out))
    finally:
        os.close(held)
    assert make_run(toy_request(ToyAgent(walks), out)).tally.done == 4


@pytest.mark.parametrize("name", ["r", "flow-transcripts-toy.jsonl"])
def test_nothing_is_written_through_a_link(tmp_path: Path, name: str) -> None:
    out = tmp_path / "r"
    elsewhere = tmp_path / "elsewhere"
    if name == "r":
        elsewhere.mkdir()
        out.symlink_to(elsewhere)
    else:
        out.mkdir()
        elsewhere.write_bytes(b"")
        RunFiles(out).close()
        (out / name).symlink_to(elsewhere)
    with pytest.raises((OutputError, UsageError)):
        make_run(toy_request(ToyAgent(walks), out))
    assert elsewhere.is_dir() or elsewhere.read_bytes() == b""


def test_calls_are_readable_by_their_owner_only(tmp_path: Path) -> None:
    make_run(toy_request(ToyAgent(walks), tmp_path / "r"))
    assert {path.name: path.stat().st_mode & 0o777 for path in (tmp_path / "r").iterdir()} == {
        "run.json": 0o600,
        "progress.jsonl": 0o600,
        "flow-transcripts-toy.jsonl": 0o600,
    }


def test_a_full_disk_ends_the_run_and_leaves_whole_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.write
    written = [0]

    def write(descriptor: int, data: Any) -> int:
        if b'"trial":3' in bytes(data) or written[0]:
            written[0] += 1
            if written[0] > 1:
                raise OSError(errno.ENOSPC, "No space left on device")
            return real(descriptor, bytes(data)[:50])
        return real(descriptor, data)

    monkeypatch.setattr(os, "write", write)
    end = make_run(toy_request(ToyAgent(walks), tmp_path / "r", trials=9, concurrency=1))
    assert isinstance(end.error, OSError)
    assert end.error.errno == errno.ENOSPC
    assert [line.get("trial", 0) for line in kept_lines(tmp_path / "r")] == [0, 1, 2]


def uneven(call: AgentCall) -> float:
    return 0.004 * ((call.case.trial * 7) % 5)


async def hesitates(call: AgentCall, text: str) -> AgentReply:
    await asyncio.sleep(uneven(call))
    return await walks(call, text)


@pytest.mark.parametrize("concurrency", [1, 3, 8])
def test_the_same_run_is_the_same_bytes_however_many_calls_are_made_at_once(tmp_path: Path, concurrency: int) -> None:
    request = toy_request(ToyAgent(hesitates), tmp_path / "a", trials=12, flows=2, run_id="golden", in_order=True)
    make_run(request)
    make_run(replace(request, out=tmp_path / "b", settings=toy_settings(concurrency=concurrency)))
    for path in (tmp_path / "a").glob("flow-*"):
        assert path.read_bytes() == (tmp_path / "b" / path.name).read_bytes()


def test_calls_that_wait_for_an_earlier_one_are_few(monkeypatch: pytest.MonkeyPatch) -> None:
    kept: list[int] = []
    began: list[tuple[int, int]] = []

    async def reply(call: AgentCall, text: str) -> AgentReply:
        if call.machine.state == "greet":
            began.append((call.case.trial, len(kept)))
        if call.case.trial == 0:
            await asyncio.sleep(0.1)
        return await walks(call, text)

    def keep(self: Any, made: MadeCall) -> None:
        kept.append(made.case.trial)

    monkeypatch.setattr(runs._Kept, "keep", keep)
    make_run(toy_request(ToyAgent(reply), trials=40, concurrency=4, in_order=True))
    assert kept == list(range(40))
    assert all(trial - done <= 8 for trial, done in began)


def test_who_watches_is_told_of_every_call(tmp_path: Path) -> None:
    ticks: list[int] = []
    told: list[tuple[int, int]] = []
    hooks = RunHooks(
        began=lambda plan, tally: told.append((len(plan.due), tally.planned)), tick=lambda: ticks.append(1)
    )
    make_run(toy_request(ToyAgent(walks), tmp_path / "r"), hooks)
    assert told == [(4, 4)]
    assert ticks
    statuses = [
        line.split('"status":"')[1].split('"')[0] for line in (tmp_path / "r/progress.jsonl").read_text().splitlines()
    ]
    assert statuses.count("done") == 4


def test_calls_whose_caller_failed_are_counted_apart(tmp_path: Path) -> None:
    class Failing(ToyCallers):
        async def begin(self, case: Any, notes: Any) -> ToyCaller:
            return ToyCaller([CallerFailed("repeats itself")] if case.trial else [])

    end = make_run(replace(toy_request(ToyAgent(walks)), caller=Failing()))
    total = end.tally.total
    assert (total.calls, total.completed, total.errored, total.caller_failed) == (4, 1, 3, 3)


def test_the_name_of_a_flow_stays_in_the_directory() -> None:
    assert transcript_name("dental_clinic") == "flow-transcripts-dental_clinic.jsonl"
    names = [transcript_name(flow) for flow in ("../../etc/passwd", "../..-etc-passwd", "", "ä b", "x" * 300, "\ud800")]
    assert len(set(names)) == len(names)
    assert all("/" not in name and len(name) < 120 and name.isascii() for name in names)


def test_latencies_are_measured_by_a_clock_that_goes() -> None:
    end = make_run(replace(toy_request(ToyAgent(hesitates), trials=3), clock=SystemClock()))
    latencies = [turn.latency_ms for turn in end.conversations[-1].turns if turn.role == "agent"]
    assert all(latency is not None and latency >= 1 for latency in latencies)


def test_the_most_frequent_reason_of_errors_counts_calls_that_differ_in_an_id(tmp_path: Path) -> None:
    async def reply(call: AgentCall, text: str) -> AgentReply:
        if call.case.trial < 3:
            raise Unavailable("agent", f"503: overloaded (request req-8f00{call.case.trial}ab)")
        if call.case.trial < 5:
            raise Unavailable("agent", "500: fell over")
        return await walks(call, text) if call.case.trial < 8 else AgentReply("")

    tally = make_run(toy_request(ToyAgent(reply), trials=9)).tally
    assert tally.reasons.most_common() == [
        ("agent: 503: overloaded (request req-…)", 3),
        ("agent: 500: fell over", 2),
    ]
    assert (tally.total.completed, dict(tally.total.stopped)) == (3, {"silence": 1})


def test_calls_by_another_caller_do_not_take_the_place_of_those_that_are_there(tmp_path: Path) -> None:
    class Robot(ToyCallers):
        name = "robot"

    out = tmp_path / "r"
    make_run(toy_request(ToyAgent(walks), out))
    request = toy_request(ToyAgent(walks), out, trials=9, resume=True, force=True)
    with pytest.raises(UsageError, match="by another caller, toy-caller; choose another directory for robot"):
        make_run(replace(request, caller=Robot()))
    other_calls = replace(request, caller=Robot(), cases=[case for case in request.cases if case.trial > 5])
    assert make_run(other_calls).tally.total.calls == 3
