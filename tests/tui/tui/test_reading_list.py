"""The reading list on the screen: it opens where reading goes on, and its calls come in its order."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.dump_commands import dumped_rows, rows_on
from tests.support.facts import call, fresh, put
from tests.support.golden import assert_golden
from tests.support.listed_calls import listed_store, names, read_two
from tests.support.walker import Walker, exploring
from tests.surface.explorer import open_link as stack_of


@pytest.fixture
def listed(tmp_path: Path) -> Path:
    with listed_store(tmp_path / "calls.db") as store:
        read_two(store)
    return tmp_path / "calls.db"


def lines(at: Walker) -> str:
    return "\n".join(strip.text.rstrip() for strip in at.app.screen._compositor.render_strips()) + "\n"


async def test_the_list_opens_at_the_first_unread_call_and_says_how_far_people_are(listed: Path) -> None:
    async with exploring(listed, (80, 24), start=stack_of("sample", "")) as at:
        assert at.controls.table.cursor == 1
        assert rows_on(at) == dumped_rows(listed, at)
        assert_golden(lines(at), "screens/sample.80x24.txt")


async def test_calls_are_opened_in_the_order_of_the_list(listed: Path) -> None:
    with fresh(listed) as store:
        expected = names(store)
    async with exploring(listed) as at:
        await at.press("U", "enter")
        assert f"{expected[1]} " in at.path
        assert at.path.endswith("2 of 6")
        await at.press("n")
        assert f"{expected[2]} " in at.path
        await at.press("p", "p")
        assert f"{expected[0]} " in at.path
        await at.press("q")
        assert at.controls.table.cursor == 0


async def test_the_place_one_is_in_narrows_the_list_and_the_same_key_widens_it(listed: Path) -> None:
    async with exploring(listed, start=stack_of("segments", "flow=viewing")) as at:
        await at.press("U")
        assert 0 < len(rows_on(at)) < 6
        await at.press("U")
        assert len(rows_on(at)) == 6


async def test_without_a_list_it_says_how_to_draw_one(tmp_path: Path) -> None:
    with fresh(tmp_path / "calls.db") as store:
        put(store, "calls.jsonl", [call("c-1")])
    async with exploring(tmp_path / "calls.db") as at:
        await at.press("U")
        assert "riff-tui sample --n 100 draws a list" in lines(at)


async def test_a_call_that_is_gone_is_said_where_one_would_come_to_it(listed: Path) -> None:
    with fresh(listed) as store:
        others = names(store)[1:]
        calls = [call(name, flow=flow) for name in others for flow in ("viewing", "dental")]
        put(store, "calls.jsonl", calls, sha256="bb")
    async with exploring(listed, start=stack_of("sample", "")) as at:
        await at.press("G", "k", "enter", "n")
        assert at.path.endswith("5 of 6")
        assert "that call is gone from the store" in at.bottom


async def test_reading_goes_on_where_the_person_has_not_read_and_the_list_counts_it(listed: Path) -> None:
    async with exploring(listed, (80, 24), stack_of("sample", ""), author="ann") as at:
        await at.press("enter", "f", "l")
        assert at.path.endswith("4 of 6 · FAILED")
        await at.press("a", "q")
        assert "4 of 6 read" in at.path
        assert rows_on(at) == dumped_rows(listed, at)
