"""The screen of a state: its graph, its metrics, how long callers waited, and what of it fits."""

from __future__ import annotations

import threading
from collections.abc import Generator, Sequence
from dataclasses import replace

import pytest

from tests.support.fake_catalog import WAITS, FakeCatalog
from tests.support.walker import LONGEST_S, Walker, walking
from tests.surface.explorer import (
    PALETTES,
    START,
    Backend,
    Canvas,
    Explorer,
    Fold,
    Line,
    Location,
    next_fold,
    pooled_of,
    state_header_lines,
    state_lines,
    width_of,
)
from tests.surface.store import PooledLatency, StepCounts
from tests.surface.tui import ASCII, UNICODE, Filter, Request, StateFigure, Table, step_record

HERE = (*START, Location("neighbors", "collect_details", scope=Filter("flow=viewing state=collect_details")))
TABLE = FakeCatalog().show("neighbors", Request(where="flow=viewing state=collect_details"))
GRAPH: Sequence[Line] = [((f"graph {number}", None),) for number in range(5)]
PALETTE = PALETTES["ansi"]


def lines(
    fold: Fold = "all",
    *,
    room: int = 15,
    width: int = 80,
    pooled: PooledLatency | None = WAITS,
    doing: str = "",
    ascii_only: bool = False,
) -> list[str]:
    canvas = Canvas(width, room, ASCII if ascii_only else UNICODE, PALETTE)
    found = state_header_lines(fold, lambda _: GRAPH, TABLE, pooled, doing, canvas)
    assert len(found) <= room
    assert all(width_of(line) <= width for line in found)
    return ["".join(text for text, _ in line) for line in found]


def test_a_step_that_no_call_took_says_so_and_who_had_to_take_it() -> None:
    counts = StepCounts("caller", 8, missed=8, wrong=0, failed=7, missed_failed=7, wrong_failed=0)
    known = {"metrics": None, "step": step_record(counts)}
    text = " ".join("".join(text for text, _ in line) for line in state_lines(known, 80, ASCII, PALETTE))
    assert text.startswith(" no call took this step of the caller   exp 8   missed !100%")
    assert state_lines({"metrics": None}, 80, ASCII, PALETTE) == []


def test_what_decides_of_a_state_stands_on_a_screen_of_24_lines_and_leaves_most_to_the_calls() -> None:
    found = lines()
    assert [text[:5] for text in found[:5]] == ["graph"] * 5
    assert found[5] == " never reached because of it: confirm about 3"
    assert found[6].startswith(" n 11   stall !36% [15–64]   esc 10% [2–39]")
    assert found[7] == " 60 turns of 11 calls  p50 1.2  p95 3.9  p99 !9.1 s   0.5 ▄█▂▁ 5+ s"
    assert len(found) == 8


def test_a_tall_screen_has_all_metrics_and_how_latencies_spread() -> None:
    found = lines(room=27)
    assert found[6].startswith(" n 11   prog △64%")
    assert " latency of all 60 turns of 11 calls  p50 1.2  p95 3.9  p99 !9.1 s" in found
    assert found[-1] == "  0.5    1      2      5+ s"


@pytest.mark.parametrize(
    ("room", "parts"),
    [
        (15, ["graph", "missed", "metrics", "spark"]),
        (12, ["graph", "missed", "metrics", "spark"]),
        (11, ["graph", "metrics", "spark"]),
        (9, ["missed", "metrics", "spark"]),
        (3, ["metrics", "spark"]),
        (2, ["metrics"]),
        (0, []),
    ],
)
def test_what_has_no_room_is_left_out(room: int, parts: list[str]) -> None:
    signs = {"graph": "graph 0", "missed": "never reached", "metrics": "stall", "spark": "p50"}
    found = "\n".join(lines(room=room))
    assert [part for part, sign in signs.items() if sign in found] == parts


def test_each_part_can_have_the_room() -> None:
    assert lines("list") == []
    assert [text[:5] for text in lines("graph", room=4)] == ["graph"] * 4
    found = lines("latencies")
    assert not any("graph" in text for text in found)
    assert len([text for text in found if "█" in text]) > len([text for text in lines(room=27) if "█" in text])
    assert all(text.isascii() for text in lines("latencies", ascii_only=True))


def test_a_narrow_screen_keeps_the_figures() -> None:
    figures = " 60 turns of 11 calls  p50 1.2  p95 3.9  p99 !9.1 s"
    assert any(text.startswith(figures) for text in lines(width=60, room=9))


@pytest.mark.parametrize(
    ("pooled", "doing", "said"),
    [
        (PooledLatency(None, None, None, 0, 0, 0), "", "not available, no transcripts were kept"),
        (PooledLatency(None, None, None, 0, 0, 20_001, too_many=True), "", "not read for more than 20,000 calls"),
        (replace(WAITS, kept=9), "", "turns of 9 of 11 calls  p50"),
        (None, "reading latencies: 200 of 900 transcripts", "reading latencies: 200 of 900 transcripts"),
    ],
)
def test_what_is_known_of_latencies_is_said(pooled: PooledLatency | None, doing: str, said: str) -> None:
    assert any(said in text for text in lines(pooled=pooled, doing=doing))


def test_columns_that_are_still_to_come_have_their_room() -> None:
    assert len(lines(pooled=None, doing="reading")) == len(lines())


def test_parts_come_round_and_latencies_only_where_there_are_some() -> None:
    folds: list[Fold] = ["all", "graph", "latencies", "list"]
    assert [next_fold(fold, TABLE) for fold in folds] == ["graph", "latencies", "list", "all"]
    bare = TABLE._replace(figure=None)
    assert pooled_of(bare) is None
    assert [next_fold(fold, bare) for fold in folds] == ["graph", "list", "list", "all"]


async def test_v_goes_round_the_parts_of_a_state_and_says_what_comes_next() -> None:
    async with walking(HERE, size=(80, 24)) as at:
        for word, seen, not_seen in (
            ("neighbours", "[collect_details]", "nothing of this"),
            ("latencies", "[collect_details]", "nothing of this"),
            ("list only", "█████", "[collect_details]"),
            ("all of it", "", "prog"),
            ("neighbours", "[collect_details]", "nothing of this"),
        ):
            assert f"v {word}" in at.bottom
            assert seen in at.head
            assert not_seen not in at.head
            await at.press("v")


@pytest.mark.parametrize("size", [(60, 10), (80, 24), (100, 16), (200, 60)])
async def test_conversations_keep_their_lines_whatever_stands_above(size: tuple[int, int]) -> None:
    async with walking(HERE, size=size) as at:
        for _ in range(4):
            assert at.controls.table.size.height >= 7
            await at.press("v")


class Slow(FakeCatalog):
    """Leaves the latencies of a state and the trend of flows for later, and takes a step when it is let."""

    def __init__(self) -> None:
        super().__init__()
        self.steps = threading.Semaphore(0)
        self.taken, self.last = 0, 3

    def show(self, view: str, request: Request) -> Table:
        whole = super().show(view, request)
        if view == "neighbors":
            assert request.defer
            assert isinstance(whole.figure, StateFigure)
            return whole._replace(figure=replace(whole.figure, pooled=None), deferred=lambda: self._rest(whole))
        if view == "flows" and request.where:
            rows = [row._replace(record={**row.record, "trend": [0.1, 0.9]}) for row in whole.rows]
            return whole._replace(deferred=lambda: self._rest(whole._replace(rows=rows)))
        return whole

    def _rest(self, whole: Table) -> Generator[str, None, Table]:
        for step in range(1, self.last + 1):
            assert self.steps.acquire(timeout=LONGEST_S)
            self.taken = step
            yield f"reading latencies: {step} of {self.last} transcripts"
        return whole


@pytest.fixture
def catalog(monkeypatch: pytest.MonkeyPatch) -> Slow:
    monkeypatch.setattr("riff_tui.tui.controllers.loading._MIN_INTERVAL_S", 0.001)
    return Slow()


async def test_a_large_state_is_on_the_screen_before_its_latencies_are(catalog: Slow) -> None:
    app = Explorer(Backend(catalog.show), start=HERE)
    async with app.run_test(size=(80, 24)) as pilot:
        at = Walker(app, pilot, catalog)
        await at.until(lambda: "latencies are not read yet" in at.head)
        assert at.row == "c-0001"
        height = at.controls.header.size.height
        catalog.steps.release()
        await at.until(lambda: "reading latencies: 1 of 3" in at.bottom)
        assert "Esc" in at.bottom
        await pilot.press("j")
        catalog.steps.release(2)
        await at.settle()
        assert "60 turns of 11 calls" in at.head
        assert at.controls.header.size.height == height
        assert at.row == "c-0002"
        assert "? help" in at.bottom


async def test_escape_leaves_the_latencies_and_refresh_reads_them(catalog: Slow) -> None:
    app = Explorer(Backend(catalog.show), start=HERE)
    async with app.run_test(size=(80, 24)) as pilot:
        at = Walker(app, pilot, catalog)
        catalog.steps.release()
        await at.until(lambda: "reading latencies: 1 of 3" in at.bottom)
        await pilot.press("escape")
        assert "stopped" in at.bottom
        assert "latencies are not read: r reads them" in at.head
        assert at.path.startswith("flows › collect_details")
        catalog.steps.release(9)
        await at.settle()
        assert "60 turns of" not in at.head
        await at.press("r")
        assert "60 turns of" in at.head


async def test_going_elsewhere_gives_the_latencies_up(catalog: Slow) -> None:
    app = Explorer(Backend(catalog.show), start=HERE)
    async with app.run_test(size=(80, 24)) as pilot:
        at = Walker(app, pilot, catalog)
        catalog.last = 9
        catalog.steps.release()
        await at.until(lambda: "reading latencies: 1 of 9" in at.bottom)
        await pilot.press("enter")
        catalog.steps.release()
        await at.until(lambda: "c-0001" in at.path)
        catalog.steps.release(9)
        await at.settle()
        assert catalog.taken <= 3, "one step more may have been on its way"


async def test_what_goes_wrong_later_is_said_and_the_place_stays(catalog: Slow) -> None:
    def broken(whole: Table) -> Generator[str, None, Table]:
        yield "reading"
        raise ZeroDivisionError

    catalog._rest = broken  # type: ignore[method-assign]  # breaks after a step
    async with walking(HERE, catalog=catalog) as at:
        assert "unexpected ZeroDivisionError" in at.bottom
        assert at.row == "c-0001"


async def test_a_trend_that_takes_long_comes_after_the_rows_into_the_column_that_waits_for_it(catalog: Slow) -> None:
    app = Explorer(Backend(catalog.show), start=(Location("flows", filter=Filter("viewing")),))
    async with app.run_test(size=(120, 24)) as pilot:
        at = Walker(app, pilot, catalog)
        await at.until(lambda: bool(at.controls.table.columns))
        columns = [column.key for column in at.controls.table.columns]
        assert "trend" in columns
        await pilot.press("j")
        catalog.steps.release(9)
        await at.settle()
        assert [column.key for column in at.controls.table.columns] == columns
        assert at.row == "viewing qwen"
        assert "▂▇" in "\n".join(strip.text for strip in at.app.screen._compositor.render_strips())
