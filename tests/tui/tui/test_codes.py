"""Codes are renamed, merged and followed to their calls where they are counted."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.coded_store import coded, noted
from tests.support.golden import assert_golden
from tests.support.hostile import HOSTILE
from tests.support.walker import Walker, exploring
from tests.surface.explorer import open_link
from tests.surface.store import Annotation, codes, open_store

BOB = "bob@example.org"
CODES = open_link("codes", "")


@pytest.fixture
def store(tiny: Path, tmp_path: Path) -> Path:
    return coded(tiny, tmp_path)


def counts(store: Path) -> dict[str, int]:
    with open_store(store) as opened:
        return {code.code: code.n for code in codes(opened).codes}


def screen(at: Walker) -> str:
    return "\n".join(strip.text.rstrip() for strip in at.app.screen._compositor.render_strips())


async def test_the_codes_fit_a_small_terminal_and_lead_to_their_calls(store: Path) -> None:
    async with exploring(store, (80, 24), open_link("flows", ""), author=BOB) as at:
        await at.press("number_sign")
        assert_golden(screen(at), "screens/codes.80x24.txt")
        await at.press("enter")
        assert at.row == "run=run-1 conversation=c-0000"
        assert_golden(screen(at), "screens/calls_of_a_code.80x24.txt")


async def test_a_code_is_renamed_and_the_renaming_taken_back(store: Path) -> None:
    before = counts(store)
    async with exploring(store, (80, 24), CODES, author=BOB) as at:
        await at.press("i", "ctrl+u", *"slow", "enter")
        assert "renamed to slow in 3 notes · I takes it back" in at.bottom
        assert at.row == "code=slow"
        assert counts(store) == {"slow": 3, "slow | loud": 1, "backend": 0}
        await at.press("I")
        assert "taken back, in 3 notes" in at.bottom
        assert at.row == 'code="asks twice"'
        assert counts(store) == before


async def test_a_renaming_is_taken_back_in_a_call_in_few_words(store: Path) -> None:
    before = counts(store)
    async with exploring(store, (80, 24), CODES, author=BOB) as at:
        await at.press("i", "ctrl+u", *"slow", "enter", "enter", "enter", "u")
        assert "taken back: fail · asks twice is in effect again," in at.bottom
        # Of three lines two say the same.
        assert at.bottom.count("is in effect again") == 2
        assert "c-0001, c-0002" in at.bottom
    assert counts(store) == before


async def test_a_note_of_one_call_is_taken_back_among_the_codes_by_name(store: Path) -> None:
    async with exploring(store, (80, 24), open_link("conversations", "code=backend"), author=BOB) as at:
        await at.press("enter", "f", "number_sign")
        assert at.screen.location.view == "codes"
        await at.press("I")
        assert "taken back: fail · c-" in at.bottom


async def test_a_code_that_gets_the_name_of_another_is_merged_into_it(store: Path) -> None:
    async with exploring(store, (80, 24), CODES, author=BOB) as at:
        await at.press("j", "i", "ctrl+u", *"Asks", "space", *"TWICE")
        assert "Enter merges it into asks twice (3 calls)" in screen(at)
        await at.press("enter")
        assert "merged into asks twice in 1 note" in at.bottom
        assert (at.row, counts(store)) == ('code="asks twice"', {"asks twice": 3, "backend": 0})


async def test_a_code_keeps_its_name_where_none_is_typed(store: Path) -> None:
    before = counts(store)
    async with exploring(store, (80, 24), CODES, author=BOB) as at:
        for keys in (["enter"], ["space", "enter"], ["ctrl+u", "enter"], ["x", "escape"]):
            await at.press("i", *keys)
        assert counts(store) == before
        await at.press("I")
        assert "nothing to take back" in at.bottom
        await at.press("1", "i")
        assert "only codes are renamed" in at.bottom


async def test_a_hostile_code_is_renamed_like_any_other(tiny: Path, tmp_path: Path) -> None:
    words = [HOSTILE[kind] for kind in ("clipboard write", "line ends of every kind", "wide")]
    notes = [Annotation(f"n-{at}", "c-0001", "ann", code=text, at=at) for at, text in enumerate(words)]
    store = noted(tiny, tmp_path, notes)
    async with exploring(store, (80, 24), CODES, author=BOB) as at:
        await at.press("G", "i", "enter")
        assert counts(store).keys() == set(words)
        for number in range(len(words)):
            await at.press("G", "i", "ctrl+u", "exclamation_mark", str(number), "enter")
    assert counts(store).keys() == {f"!{number}" for number in range(len(words))}
