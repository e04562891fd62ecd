"""The edits of flows in the explorer: a screen of their own, a column of the timeline, a line of a flow's details."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.support.edited_store import edits, record
from tests.support.facts import call, fresh, put, verdict
from tests.support.golden import assert_golden
from tests.support.walker import Walker, exploring
from tests.surface.explorer import open_link as stack_of


@pytest.fixture(scope="module")
def path(tiny: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return record(Path(shutil.copy(tiny, tmp_path_factory.mktemp("edited") / "edited.db")), edits())


def lines(at: Walker) -> list[str]:
    return [strip.text.rstrip() for strip in at.app.screen._compositor.render_strips()]


@pytest.mark.parametrize("size", [(80, 24), (120, 36)], ids=["80x24", "120x36"])
async def test_the_screens_look_as_they_did(path: Path, size: tuple[int, int]) -> None:
    for name, key in (("edits", "H"), ("timeline", "5")):
        async with exploring(path, size) as at:
            await at.press(key)
            assert_golden("\n".join(lines(at)) + "\n", f"screens/{name}.{size[0]}x{size[1]}.txt")


async def test_quality_stands_where_it_is_seen_on_a_small_terminal(path: Path) -> None:
    async with exploring(path, (80, 24)) as at:
        await at.press("5")
        assert "(computed)" in lines(at)[1]
        await at.press("H")
        assert "change" in lines(at)[1]


async def test_an_edit_leads_to_the_run_after_it_and_a_flow_to_its_edits(path: Path) -> None:
    async with exploring(path, start=stack_of("edits", "subject:confirm")) as at:
        await at.press("enter")
        assert at.screen.history.here.view == "flows"
        assert at.screen.history.here.where.text == "flow=viewing run=run-2"
    async with exploring(path) as at:
        await at.press("enter", "H")
        assert at.screen.history.here.view == "edits"
        assert at.screen.history.here.where.text == "flow=viewing agent=gemini"
        await at.press("H")
        assert at.screen.history.here.where.text == ""


async def test_the_details_of_a_flow_tell_its_last_edit(path: Path) -> None:
    async with exploring(path, (120, 50)) as at:
        shown = "\n".join(lines(at))
        assert "last edit" in shown
        assert "author Ada" in shown
        assert "subject Write the flow down" in shown


async def test_a_store_without_edits_says_how_to_get_them(tiny: Path) -> None:
    async with exploring(tiny) as at:
        await at.press("H")
        assert "riff-tui edits --repo DIR" in " ".join(line.strip() for line in lines(at))


async def test_a_line_for_each_judge_stands_above_the_runs_unless_they_would_lose_their_place(tmp_path: Path) -> None:
    few, many = tmp_path / "few.db", tmp_path / "many.db"
    for place, count in ((few, 4), (many, 21)):
        with fresh(place) as store:
            calls = [call(f"c-{n}", run=f"run-{n:02}", started_at=n * 86_400_000_000 + 1) for n in range(count)]
            put(store, "/in/a.jsonl", calls)
            judged = [
                verdict(f"c-{n}", float(n % 9), run=f"run-{n:02}", judge="warm", line=n + 1) for n in range(count)
            ]
            put(store, "/in/h.jsonl", judged)
    async with exploring(few, (80, 24), start=stack_of("timeline", "")) as at:
        shown = lines(at)
        assert [line.split()[0] for line in shown[1:5]] == ["success", "(computed)", "warm", "Run"]
        assert " to " in shown[2]
        assert not any("run-00 " in line and "▅" in line for line in shown), "no row repeats what stands above all"
    async with exploring(many, (80, 24), start=stack_of("timeline", "")) as at:
        assert lines(at)[1].split()[0] == "Run"
        assert sum("run-" in line for line in lines(at)) == 21
    async with exploring(many, (120, 36), start=stack_of("timeline", "")) as at:
        assert [line.split()[0] for line in lines(at)[1:5]] == ["success", "(computed)", "warm", "Run"]
