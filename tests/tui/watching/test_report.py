"""What people read of a run: that it fits, and that what matters is in it."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.surface.runner import CallCounts, RunStatus, WatchedCall
from tests.surface.tui import ASCII, WatchedRun, cell_width, idle_text, report

names = st.text(max_size=50)
calls = st.builds(
    WatchedCall,
    conversation_id=names,
    flow=names,
    status=st.sampled_from(["running", "retrying", "dropped", "errored", "done"]),
    state=st.none() | names,
    turn=st.none() | st.integers(0, 99),
    changed_at=st.none() | st.floats(-1e5, 1e5),
    why=st.none() | names,
)


def status(flows: int = 1, under_way: tuple[WatchedCall, ...] = ()) -> RunStatus:
    """Return where a run of so many flows stands."""
    return RunStatus(
        run_id="nightly",
        directory=Path("runs"),
        as_of=0.0,
        phase="running",
        agent="acme",
        caller="scripted",
        planned=9,
        counts=CallCounts(done=3, running=len(under_way)),
        flows={f"flow-{number}": CallCounts(done=3) for number in range(flows)},
        under_way=under_way,
    )


@given(st.lists(calls, max_size=30), st.integers(0, 30), st.integers(20, 130), st.integers(10, 40))
def test_a_report_fits_its_terminal(listed: list[WatchedCall], flows: int, width: int, height: int) -> None:
    lines = report(WatchedRun(status(flows), listed), width, height)
    assert len(lines) <= height
    assert all(cell_width(line) <= width for line in lines)
    assert not any("\x1b" in line or "\n" in line for line in lines)
    assert all(line.isascii() for line in report(WatchedRun(status(flows), listed), width, height, ASCII))


def test_a_long_name_leaves_room_for_what_a_call_waits_for() -> None:
    waiting = [
        WatchedCall("dental_clinic-something-hurts-front_loader-1", "dental_clinic", "running", "greeting", 0, -3.0),
        WatchedCall(
            "dental_clinic-checkup-patient-1", "dental_clinic", "retrying", "greeting", 1, -40.0, "429; again in 4 s"
        ),
    ]
    first, second = report(WatchedRun(status(), waiting), 80, 24)[4:6]
    assert first == "dental_cli…t_loader-1  greeting           0    <5 s  running"
    assert second.endswith("1    40 s  retrying: 429; again in 4 s")


@pytest.mark.parametrize(("height", "more"), [(14, "and 2 more calls"), (40, "")])
def test_calls_that_have_no_room_are_counted(height: int, more: str) -> None:
    listed = [WatchedCall(f"c-{number}", "flow", "running") for number in range(8)]
    lines = report(WatchedRun(status(), listed), 80, height)
    assert [line for line in lines if "more" in line] == ([more] if more else [])
    assert sum("running" in line for line in lines[1:]) == (6 if more else 8)


def test_idle_seconds_change_seldom() -> None:
    found = [idle_text(seconds) for seconds in (None, 0, 4.9, 5, 59, 60, 119, 6000)]
    assert found == ["", "<5 s", "<5 s", "5 s", "55 s", "1 min", "1 min", ">99 min"]
