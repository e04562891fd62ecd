"""One key leads from a flow to what calls never touched of it, and Enter on to the calls that touched an item."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.facts import call, fresh, put
from tests.support.golden import assert_golden
from tests.support.walker import Walker, exploring
from tests.surface.explorer import open_link
from tests.surface.store import DescribedFlow, DescribedState, Touched


@pytest.fixture
def viewed(tmp_path: Path) -> Path:
    """A flow with a file, of which a step was never taken and another one by an earlier run alone."""
    states = [DescribedState("greet", "opening", None), DescribedState("ask", "collect", None)]
    states.append(DescribedState("booked", "closing", "success"))
    edges = [("greet", "ask"), ("ask", "booked"), ("greet", "booked"), ("ask", "greet")]
    whole, short = Touched(["greet", "ask", "booked"], 3, [0, 1, 1, 2]), Touched(["greet", "booked"], 2, [0, 1])
    runs = [("old", "night-1", whole), ("odd", "night-1", short), ("new", "night-2", whole)]
    calls = [call(name, run=run, path=path) for name, run, path in runs]
    with fresh(tmp_path / "calls.db") as store:
        put(store, "flow.toml", [DescribedFlow("viewing", None, states, edges)])
        put(store, "calls.jsonl", [*calls, call("o", flow="grooming", path=whole, success=False)])
    return tmp_path / "calls.db"


def items(at: Walker) -> list[str]:
    loaded = at.screen.loaded
    assert loaded is not None
    return [row.record["item"] for row in loaded.main.rows]


def calls(at: Walker) -> list[str]:
    loaded = at.screen.loaded
    assert loaded is not None
    return [row.record["conversation"] for row in loaded.main.rows]


async def to_row(at: Walker, key: str, name: str) -> None:
    while at.controls.table.row is None or at.controls.table.row.record[key] != name:
        await at.press("j")


@pytest.mark.parametrize("size", [(80, 24), (120, 36)])
async def test_one_key_opens_the_coverage_of_the_flow_under_the_cursor(viewed: Path, size: tuple[int, int]) -> None:
    async with exploring(viewed, size, open_link("flows", "")) as at:
        await to_row(at, "flow", "viewing")
        await at.press("percent_sign")
        assert items(at)[:2] == ["ask > greet", "greet > booked"]
        text = "\n".join(strip.text.rstrip() for strip in at.app.screen._compositor.render_strips()) + "\n"
        assert_golden(text, f"screens/coverage.{size[0]}x{size[1]}.txt")
        await at.press("percent_sign")
        assert len(items(at)) > len(set(items(at)))


async def test_enter_lists_the_calls_that_touched_an_item_and_says_where_none_did(viewed: Path) -> None:
    async with exploring(viewed, (100, 30), open_link("coverage", "flow=viewing")) as at:
        await at.press("enter")
        assert at.controls.here.view == "coverage"
        assert "no call has touched this" in at.bottom
        await to_row(at, "item", "greet > booked")
        await at.press("enter")
        assert calls(at) == ["odd"]
        await at.press("escape")
        await to_row(at, "item", "ask > booked")
        await at.press("enter")
        assert calls(at) == ["old", "new"]


async def test_enter_on_what_the_run_did_not_touch_lists_the_calls_of_the_last_run_that_did(viewed: Path) -> None:
    async with exploring(viewed, (100, 30), open_link("coverage", "flow=viewing run=night-2")) as at:
        await to_row(at, "item", "greet > booked")
        assert at.controls.table.row is not None
        assert at.controls.table.row.record["calls"] == 0
        await at.press("enter")
        assert calls(at) == ["odd"]
