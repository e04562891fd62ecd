"""Whatever lies over a screen comes and goes, and no key is dead afterwards; nor is one obeyed that nobody sees."""

from __future__ import annotations

import itertools
from collections.abc import Mapping

import pytest

from tests.support.voice_tables import IN_LIST, Voices
from tests.support.walker import Walker, send, walking
from tests.surface.explorer import START, ExplorerScreen, Stack

AT_80 = (80, 24)
PANES: Mapping[str, tuple[str, ...]] = {
    "rows": (),
    "details below the rows": ("p",),
    "details over the rows": ("p", "p"),
    "a state": ("3", "enter"),
    "the graph of a state": ("3", "enter", "v"),
    "a call": ("3", "enter", "enter"),
    "a voice call": ("enter",),
    "details over a voice call": ("enter", "enter"),
}
OVERLAYS = {
    "filter": "slash", "help": "question_mark", "palette": "ctrl+p", "copy": "y", "write": "o",
    "columns": "c", "names": "R", "codes": "s",
}  # fmt: skip


def stack_of(pane: str) -> Stack:
    return IN_LIST if "voice" in pane else START


@pytest.mark.parametrize("pane", PANES)
async def test_keys_work_once_an_overlay_is_gone(pane: str) -> None:
    async with walking(stack_of(pane), size=AT_80, catalog=Voices() if "voice" in pane else None) as at:
        await at.press(*PANES[pane])
        before = at.path, at.controls.detail.covers
        for overlay, key in itertools.product(OVERLAYS, ("escape", "ctrl+c")):
            await at.press(OVERLAYS[overlay])
            is_open = at.app.screen is not at.screen or at.screen.dialog is not None
            # Over another screen an interrupt ends the explorer.
            await at.press(*[key if at.app.screen is at.screen else "escape"] * is_open)
            assert isinstance(at.app.screen, ExplorerScreen), overlay
            assert at.screen.dialog is None, overlay
            assert (at.path, at.controls.detail.covers) == before, overlay
            await at.press("question_mark")
            assert at.app.screen is not at.screen, f"no key is answered after {overlay}"
            await at.press("escape")
        await at.press("Q")
        assert at.app.return_code == 0


@pytest.mark.parametrize("overlay", ["slash", "ctrl+p", "o", "c"])
async def test_what_is_typed_into_has_the_keys_again_once_the_screen_has_grown(overlay: str) -> None:
    async with walking(size=AT_80) as at:
        await at.press(overlay)
        await at.pilot.resize_terminal(40, 10)
        await at.settle()
        await at.press("x", "j", "enter")
        await at.pilot.resize_terminal(*AT_80)
        await at.settle()
        assert at.screen.dialog is not None
        focused = at.screen.focused
        assert focused is not None
        assert at.screen.dialog in focused.ancestors_with_self
        await at.press("escape", "j")
        assert at.screen.dialog is None


async def test_a_screen_that_is_too_small_obeys_no_key_but_that_to_quit() -> None:
    async with walking(size=AT_80) as at:
        before, row = at.path, at.row
        await at.pilot.resize_terminal(59, 24)
        await at.settle()
        await at.press("j", "3", "m", "t", "enter", "slash", "x", "escape", "q", "p")
        assert "Q quits" in str(at.screen.query_one("#too-small").render())
        await at.pilot.resize_terminal(*AT_80)
        await at.settle()
        assert (at.path, at.row, at.screen.dialog) == (before, row, None)
        assert not at.controls.marks
        await at.pilot.resize_terminal(40, 10)
        await at.settle()
        await at.press("Q")
        assert at.app.return_code == 0


def click(at: Walker, x: int, y: int) -> str:
    """What a terminal sends of a click on a cell."""
    return f"\x1b[<0;{x + 1};{y + 1}M\x1b[<0;{x + 1};{y + 1}m"


async def clicked(at: Walker, word: str, y: int) -> None:
    strip = at.app.screen._compositor.render_strips()[y]
    send(at.app, click(at, strip.text.index(word), y))
    await at.settle()


async def test_a_click_on_a_heading_sorts_by_it_and_another_one_the_other_way() -> None:
    async with walking(size=AT_80) as at:
        await clicked(at, "correctness", 1)
        assert (at.screen.here.order, at.row) == ("correctness", "viewing gemini")
        await clicked(at, "correctness", 1)
        assert (at.screen.here.order, at.row) == ("-correctness", "weather qwen")


async def test_a_click_on_a_hint_is_its_key_also_in_a_menu() -> None:
    async with walking(size=AT_80) as at:
        await clicked(at, "filter", 23)
        assert at.controls.prompt.is_open
        await at.press("escape", "ctrl+p")
        await clicked(at, "cancel", 23)
        assert at.screen.dialog is None
        await at.press("y")
        await clicked(at, "cancel", 23)
        assert at.app.screen is at.screen
        await clicked(at, "worklist", 23)
        assert at.path.startswith("flows › worklist")
        await clicked(at, "back", 23)
        assert not at.path.startswith("flows › ")
        await clicked(at, "⏎", 23)
        assert at.path.startswith("flows › viewing @ gemini")
