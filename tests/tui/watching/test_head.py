"""The line that says where a run stands, and what it leaves out where there is no room."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.surface.runner import CallCounts, RunStatus
from tests.surface.tui import cell_width, head_line, span, whole_head_line

STATUS = RunStatus(
    run_id="nightly-06-22",
    directory=Path("runs"),
    as_of=0.0,
    phase="running",
    agent="acme",
    caller="scripted",
    planned=1200,
    counts=CallCounts(done=412, errored=9, running=3, retrying=2),
    rate_per_min=7.142,
)


def test_all_of_it_stands_where_there_is_room() -> None:
    whole = "run nightly-06-22  412/1200 calls · 3 running · 9 errored · 2 retrying · 7.1/min · ETA 1h50"
    assert whole_head_line(STATUS) == whole
    assert head_line(STATUS, 120) == f"{whole} · caller scripted"


@pytest.mark.parametrize(
    ("width", "line"),
    [
        (78, "run nightly-06-22  412/1200 calls · 9 errored · 2 retrying · ETA 1h50"),
        (60, "run nightly-06-22  412/1200 calls · 9 errored · 2 retrying"),
        (20, "run nightly-06-22  …"),
    ],
)
def test_what_says_least_goes_first(width: int, line: str) -> None:
    assert head_line(STATUS, width) == line


def test_a_run_that_goes_well_has_room_for_its_caller() -> None:
    well = replace(STATUS, counts=CallCounts(done=412, running=3))
    assert head_line(well, 78) == "run nightly-06-22  412/1200 calls · 3 running · ETA 1h50 · caller scripted"


def test_nothing_is_said_of_what_is_not_known() -> None:
    begun = replace(STATUS, counts=CallCounts(running=4), rate_per_min=None)
    assert whole_head_line(begun) == "run nightly-06-22  0/1200 calls · 4 running"


def test_a_run_that_nobody_works_on_says_how_it_ended() -> None:
    stopped = replace(STATUS, phase="stopped", ending="interrupted", counts=CallCounts(done=412), rate_per_min=None)
    assert whole_head_line(stopped) == "run nightly-06-22  412/1200 calls · stopped (interrupted)"
    assert whole_head_line(replace(stopped, phase="ended")).endswith(" · ended")


@given(st.text(max_size=60), st.text(max_size=60), st.integers(1, 130))
def test_no_name_is_wider_than_the_line_or_alive(run: str, caller: str, width: int) -> None:
    line = head_line(replace(STATUS, run_id=run, caller=caller), width)
    assert cell_width(line) <= width
    assert "\x1b" not in line
    assert "\n" not in line


def test_spans_are_short() -> None:
    assert [span(seconds) for seconds in (0, 59, 60, 3599, 3600, 6660, 90_000)] == [
        "<1min", "<1min", "1min", "59min", "1h00", "1h51", "25h00",
    ]  # fmt: skip
