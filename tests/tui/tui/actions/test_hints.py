"""What the hint line offers, whatever was done last, and the ten keys that the help of a screen begins with."""

from __future__ import annotations

import itertools

import pytest

from riff_tui.text.glyphs import UNICODE
from riff_tui.tui.actions.context import KINDS, ActionContext
from riff_tui.tui.actions.hints import HINTS, SCREEN_KEYS, hints, screen_keys
from riff_tui.tui.actions.registry import ACTIONS
from riff_tui.tui.render.help_lines import help_lines
from riff_tui.tui.render.styled_lines import PALETTES
from riff_tui.views.spec import ScreenKind
from tests.support.fake_catalog import flow_table
from tests.support.walker import walking

LIST = ActionContext(rows=9, below="segments", column="n", depth=2, back=True, last=True)


@pytest.mark.parametrize("done", ["", *(each.id for each in ACTIONS)])
def test_whatever_was_done_last_the_line_names_at_most_six_keys_that_apply(done: str) -> None:
    for kind, rows, below, column, depth, graph in itertools.product(
        KINDS, (0, 3), ("", "states"), ("", "stall"), (1, 3), (False, True)
    ):
        context = ActionContext(
            kind=kind, rows=rows, below=below, column=column, depth=depth, graph=graph, done=done, scoped=depth > 1
        )
        found = hints(context)
        assert 2 <= len(found) <= HINTS, context
        assert [key for key, _ in found][:2] == ["?", "q"], context
        by_key = {each.keys[0]: each for each in ACTIONS if kind in each.kinds}
        assert all(by_key[key].unavailable(context) == "" and word for key, word in found), context
        assert len({key for key, _ in found}) == len(found)


def test_the_first_walk_meets_comparison_disputes_timeline_and_runs() -> None:
    met: set[str] = set()
    for done in ("", "view:worklist", "open", "close", "view:timeline", "view:runs"):
        met |= {word for _, word in hints(ActionContext(rows=9, below="segments", depth=2, done=done, back=True))}
    assert {"worklist", "timeline", "runs", "disputes", "since last run", "mark"} <= met


def test_after_a_sort_the_line_says_how_to_undo_it_and_how_to_keep_it() -> None:
    assert dict(
        hints(ActionContext(rows=9, column="n", depth=2, last=True, sorted=True, choosable=True, done="sort"))
    ) == {
        "?": "help",
        "q": "back",
        "-": "undo sort",
        "O": "keep order",
        "S": "reverse",
        "c": "columns",
    }


def test_after_the_key_of_a_view_that_is_narrowed_the_line_says_that_it_widens() -> None:
    narrowed = ActionContext(view="timeline", rows=9, below="flows", depth=2, scoped=True, done="view:timeline")
    assert ("5", "wider") in hints(narrowed)
    assert all(word != "wider" for _, word in hints(ActionContext(view="timeline", rows=9, done="view:timeline")))


@pytest.mark.parametrize("done", ["", "open", "close", "view:states"])
@pytest.mark.parametrize("view", ["segments", "states", "neighbors"])
def test_on_the_way_down_the_line_offers_why_calls_fail_and_what_was_changed(view: str, done: str) -> None:
    kind: ScreenKind = "state" if view == "neighbors" else "list"
    found = hints(ActionContext(view=view, kind=kind, rows=3, below="states", depth=3, neighbors=True, done=done))
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
    keys = screen_keys(LIST)
    assert len(keys) == SCREEN_KEYS
    assert all(not each.unavailable(LIST) for each in keys)
    told = help_lines(flow_table(), LIST, 100, UNICODE, PALETTES["ansi"])
    lines = ["".join(text for text, _ in line) for line in told]
    heads = [lines.index(f" {head}   ") for head in ("Keys of this screen", "Columns", "Move", "Filter")]
    assert heads == sorted(heads)
    assert heads[0] < 6
    assert any(line.strip().startswith("Enter") for line in lines[heads[0] : heads[0] + 3])
