"""Filters are parsed where text comes in, not again with every key."""

from __future__ import annotations

import pytest

from tests.support.walker import Walker, walking
from tests.surface.store import Predicate
from tests.surface.tui import Filter, FilterError, parser


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Collect the texts that are parsed, wherever it is done."""
    texts: list[str] = []
    whole = parser._Reader.whole

    def collect(reader: parser._Reader) -> Predicate | None:
        texts.append(reader.text)
        return whole(reader)

    monkeypatch.setattr(parser._Reader, "whole", collect)
    return texts


async def _pressed(at: Walker, parsed: list[str], *keys: str) -> list[str]:
    parsed.clear()
    await at.press(*keys)
    return [text for text in parsed if text]


async def test_a_key_parses_no_more_than_what_a_row_that_is_new_says(parsed: list[str]) -> None:
    async with walking() as at:
        assert await _pressed(at, parsed, "j", "k", "l", "G", "g") == []
        assert len(await _pressed(at, parsed, "enter")) <= 1
        assert await _pressed(at, parsed, "escape", "enter", "j", "k", "left_square_bracket") == []
        await at.press("3")
        await at.press("j", "k")
        assert await _pressed(at, parsed, "j", "k", "l", "s") == []


async def test_a_typed_filter_is_parsed_alone_and_with_the_scope_it_is_typed_in(parsed: list[str]) -> None:
    async with walking() as at:
        await at.press("enter", "enter")
        scope = at.screen.history.here.scope.text
        await at.press("slash", *"stall>0")
        typed = await _pressed(at, parsed, "enter")
        assert set(typed) <= {"stall>0", f"{scope} stall>0"}
        await at.press("j", "k")
        assert await _pressed(at, parsed, "j", "k", "l") == []


def test_a_filter_is_parsed_when_it_is_first_asked_what_it_says(parsed: list[str]) -> None:
    found = Filter("flow=a stall>0.3")
    assert parsed == []
    assert found.predicate is found.predicate
    assert parsed == ["flow=a stall>0.3"]
    assert Filter.of(found.predicate) == found
    assert Filter("stall>").text == "stall>"
    with pytest.raises(FilterError):
        _ = Filter("stall>").predicate
