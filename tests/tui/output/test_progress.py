"""Progress says what is done, how fast and how long it takes, on one line that goes away."""

from __future__ import annotations

import io
from dataclasses import dataclass

from tests.surface.tui import ProgressLine, clock_text, counting_text, reading_text, terminal_progress


@dataclass
class Progress:
    files: int = 4
    bytes: int = 1000
    path: str = "/runs/nightly/flow-transcripts-dental.jsonl"
    done_files: int = 1
    done_bytes: int = 250
    conversations: int = 500
    packed: int = 0
    to_pack: int = 0


def test_an_ingest_tells_rate_and_time_left() -> None:
    assert reading_text(Progress(), 2.0) == (
        "1/4 files · 500 conversations · 250/s · 6 s left  flow-transcripts-dental.jsonl"
    )


def test_an_ingest_whose_files_are_read_tells_how_much_is_packed() -> None:
    assert reading_text(Progress(packed=8, to_pack=245), 90.0) == "500 conversations · packing columns 8/245"


def test_nothing_is_foretold_from_nothing() -> None:
    assert reading_text(Progress(done_bytes=0, conversations=0), 5.0).startswith("1/4 files · 0 conversations · 0/s  ")
    assert counting_text(10, 100, 0.2) == "10/100 conversations"


def test_slow_work_is_told_by_the_minute() -> None:
    assert counting_text(2, 10, 60.0) == "2/10 conversations · 2/min · 4:00 left"


def test_judging_tells_what_it_costs() -> None:
    times = iter([0.0, 2.0])
    stream = io.StringIO()
    ProgressLine(stream, 100, clock=lambda: next(times)).judging(10, 40, "12k tokens in, 900 out, 0.02 USD")
    drawn = stream.getvalue().removeprefix("\r\x1b[K")
    assert drawn == "10/40 conversations · 5/s · 6 s left · 12k tokens in, 900 out, 0.02 USD"


def test_long_times_are_minutes() -> None:
    assert [clock_text(seconds) for seconds in (0.4, 59.4, 61, 3600)] == ["0 s", "59 s", "1:01", "60:00"]


def test_the_line_is_drawn_at_most_ten_times_a_second_and_cut_to_the_terminal() -> None:
    times = iter([0.0, 0.05, 2.0, 2.05, 2.2])
    stream = io.StringIO()
    line = ProgressLine(stream, 30, clock=lambda: next(times))
    for _ in range(4):
        line.reading(Progress(path="\x1b]0;evil\x07"))
    line.clear()
    drawn = stream.getvalue().split("\r\x1b[K")
    assert len(drawn) == 4
    assert drawn[-1] == ""
    assert all(len(text) <= 29 and "\x1b" not in text for text in drawn)


def test_nobody_is_told_where_stderr_is_no_terminal() -> None:
    with terminal_progress() as line:
        assert line is None


def test_what_takes_nobody_knows_how_long_tells_how_long_it_took() -> None:
    times = iter([0.0, 61.0])
    stream = io.StringIO()
    ProgressLine(stream, 100, clock=lambda: next(times)).telling("reading the history")
    assert stream.getvalue() == "\r\x1b[Kreading the history · 1:01"
