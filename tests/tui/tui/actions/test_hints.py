"""What the hint line offers, whatever was done last, and the ten keys that the help of a screen begins with."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import pytest

from tests.support.controls import controls_at
from tests.support.fake_catalog import FakeCatalog, flow_table
from tests.support.walker import Walker, walking
from tests.surface.explorer import (
    ACTIONS,
    HINTS,
    KINDS,
    SCREEN_KEYS,
    Backend,
    Explorer,
    Location,
    Reader,
    SessionFile,
    help_lines,
    hints,
    screen_keys,
)
from tests.surface.tui import Filter, ScreenKind

VIEWS: dict[ScreenKind, str] = {"list": "flows", "state": "neighbors", "conversation": "conversation"}
SCREENS = [
    controls_at(
        Location(VIEWS[kind], scope=Filter("flow=weather") if depth > 1 else Filter()), table, depth=depth, graph=graph
    )
    for kind, table, depth, graph in itertools.product(KINDS, (None, flow_table(3)), (1, 3), (False, True))
]


def in_a_list(done: str, here: str | Location = "flows", **more: Any) -> list[tuple[str, str]]:
    """What the hint line says over rows, after an action."""
    return hints(controls_at(here, flow_table(9), depth=2, done=done, was_elsewhere=True, **more))


@pytest.mark.parametrize("done", ["", *(each.id for each in ACTIONS)])
def test_whatever_was_done_last_the_line_names_at_most_six_keys_that_apply(done: str) -> None:
    for controls in SCREENS:
        controls.host.done = done
        found = hints(controls)
        assert 2 <= len(found) <= HINTS, controls.here
        assert [key for key, _ in found][:2] == ["?", "q"], controls.here
        by_key = {each.keys[0]: each for each in ACTIONS if controls.here.kind in each.kinds}
        assert all(by_key[key].enabled(controls) == "" and word for key, word in found), controls.here
        assert len({key for key, _ in found}) == len(found)


def test_the_first_walk_meets_comparison_disputes_timeline_and_runs() -> None:
    met: set[str] = set()
    for done in ("", "view:worklist", "open", "close", "view:timeline", "view:runs"):
        met |= {word for _, word in in_a_list(done)}
    assert {"worklist", "timeline", "runs", "disputes", "since last run", "mark"} <= met


def test_after_a_sort_the_line_says_how_to_undo_it_and_how_to_keep_it() -> None:
    assert dict(in_a_list("sort", Location("flows", sort="n"), column="n")) == {
        "?": "help",
        "q": "back",
        "-": "undo sort",
        "O": "keep order",
        "S": "reverse",
        "c": "columns",
    }


def test_after_the_key_of_a_view_that_is_narrowed_the_line_says_that_it_widens() -> None:
    narrowed = Location("timeline", scope=Filter("flow=weather"))
    assert ("5", "whole store") in in_a_list("view:timeline", narrowed)
    assert all(word != "whole store" for _, word in in_a_list("view:timeline", "timeline"))


@pytest.mark.parametrize("done", ["", "open", "close", "view:states"])
@pytest.mark.parametrize("view", ["segments", "states", "neighbors"])
def test_on_the_way_down_the_line_offers_why_calls_fail_and_what_was_changed(view: str, done: str) -> None:
    found = hints(controls_at(view, flow_table(3), depth=3, done=done))
    assert [key for key, _ in found if key in "MCH"] == ["M", "C", "H"]


async def test_the_line_changes_with_what_was_done_and_not_with_a_move() -> None:
    async with walking() as at:
        before = at.bottom
        await at.press("j", "l", "k")
        assert at.bottom == before
        await at.press("0")
        assert at.bottom != before
        assert "L since last run" in at.bottom


def test_a_screen_has_ten_keys_that_the_help_begins_with() -> None:
    controls = controls_at("flows", flow_table(9), depth=2, column="n", was_elsewhere=True)
    keys = screen_keys(controls)
    assert len(keys) == SCREEN_KEYS
    assert all(not each.enabled(controls) for each in keys)
    told = help_lines(controls, 100)
    lines = ["".join(text for text, _ in line) for line in told]
    heads = [lines.index(f" {head}   ") for head in ("Keys of this screen", "Columns", "Move", "Filter")]
    assert heads == sorted(heads)
    assert heads[0] < 6
    assert any(line.strip().startswith("Enter") for line in lines[heads[0] : heads[0] + 3])


@pytest.mark.parametrize("size", [(80, 24)])
@pytest.mark.parametrize("keys", [[], ["3"], ["3", "enter"], ["3", "enter", "enter"], ["0"], ["7"], ["p"]])
async def test_the_first_page_of_help_is_what_it_is_ten_keys_and_the_signs(
    keys: list[str], size: tuple[int, int]
) -> None:
    async with walking(size=size) as at:
        await at.press(*keys, "question_mark")
        page = [strip.text.rstrip() for strip in at.app.screen._compositor.render_strips()]
        blanks = [number for number, line in enumerate(page) if not line][:3]
        heads = [page[number + 1].strip() for number in blanks]
        assert heads[:2] == ["Keys of this screen", "Signs"]
        assert 2 <= blanks[0] <= 4
        assert blanks[1] - blanks[0] - 2 == SCREEN_KEYS
        assert blanks[2] < 24
        assert "! bad" in page[blanks[1] + 2]
        await at.press("slash", *"theme")
        assert isinstance(at.app.screen, Reader)
        assert any("theme: Take the next set of colours." in line for line in at_found(at))
        await at.press("escape", "slash", *"no such words")
        assert "not found" in at.app.screen._compositor.render_strips()[-1].text
        await at.press("escape", "escape")
        assert not isinstance(at.app.screen, Reader)


def at_found(at: Walker) -> list[str]:
    """The lines of help that stand out."""
    strips = at.app.screen._compositor.render_strips()
    reverse = [strip for strip in strips if any(segment.style and segment.style.reverse for segment in strip)]
    return [strip.text.rstrip() for strip in reverse]


async def test_help_goes_from_match_to_match() -> None:
    async with walking() as at:
        await at.press("question_mark", "slash", *"mark", "enter")
        first = at_found(at)
        await at.press("n")
        second = at_found(at)
        assert first != second
        assert "mark" in second[0].lower()
        await at.press("N")
        assert at_found(at) == first


async def test_a_store_greets_once_in_one_line(tmp_path: Path) -> None:
    said = []
    for _ in range(2):
        session = SessionFile(tmp_path / "session.json")
        app = Explorer(Backend(FakeCatalog().show, session=session))
        async with app.run_test(size=(80, 24)) as pilot:
            at = Walker(app, pilot)
            await at.settle()
            said.append(at.bottom)
            await at.press("j")
            assert "New here" not in at.bottom
        session.write()
    assert said[0].strip() == "New here: Enter goes into a row · 0 what to fix first · ? help"
    assert "New here" not in said[1]
