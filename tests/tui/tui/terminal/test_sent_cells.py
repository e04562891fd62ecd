"""What is sent to a terminal: what changed, and afterwards it shows what it would if all of it were drawn."""

from __future__ import annotations

import pyte
from hypothesis import given
from hypothesis import strategies as st
from rich.color import ColorSystem
from rich.segment import Segment
from rich.style import Style
from textual._compositor import LayoutUpdate
from textual.geometry import Region
from textual.strip import Strip

from tests.support.screen import Screen
from tests.surface.explorer import SentCells

WIDTH, HEIGHT = 24, 6
STYLES = (None, *map(Style.parse, ("bold", "dim", "red", "reverse", "bold underline", "white on bright_black")))
TEXTS = ("flow", "  ", " 41%", "█▏", "·", "a", "水", "e\u0301", "👍🏽", "⚠️", "       ")
Frame = tuple[int, list[Strip]]

pieces = st.lists(st.builds(Segment, st.sampled_from(TEXTS), st.sampled_from(STYLES)), max_size=6)
strips = pieces.map(lambda segments: Strip(segments).adjust_cell_length(WIDTH))
parts = st.integers(0, HEIGHT - 1).flatmap(
    lambda y: st.tuples(st.just(y), st.lists(strips, min_size=1, max_size=HEIGHT - y))
)
shifts = st.tuples(st.integers(0, 2), st.integers(3, HEIGHT - 2), st.integers(-2, 2).filter(bool))


def _update(y: int, drawn: list[Strip]) -> LayoutUpdate:
    return LayoutUpdate([[strip] for strip in drawn], Region(0, y, WIDTH, len(drawn)))


def _cells(screen: Screen) -> list[list[object]]:
    """What can be seen of each cell: of a blank no weight and no colour of letters."""
    plain = screen.default_char
    return [
        [
            cell._replace(fg=plain.fg, bold=False)
            if cell.data == " " and not cell.reverse and not cell.underscore
            else cell
            for cell in (line[x] for x in range(WIDTH))
        ]
        for line in (screen.buffer[y] for y in range(HEIGHT))
    ]


@given(st.lists(strips, min_size=HEIGHT, max_size=HEIGHT), st.lists(st.one_of(parts, shifts), max_size=5))
def test_what_changed_leads_to_the_same_screen_as_all_of_it(
    first: list[Strip], steps: list[Frame | tuple[int, int, int]]
) -> None:
    shown, sent = list(first), SentCells()
    screen = Screen(WIDTH, HEIGHT)
    stream = pyte.Stream(screen)
    stream.feed(sent.changes(_update(0, first), WIDTH, ColorSystem.STANDARD))
    for step in steps:
        if len(step) == 2:
            y, drawn = step
            shown[y : y + len(drawn)] = drawn
            stream.feed(sent.changes(_update(y, drawn), WIDTH, ColorSystem.STANDARD))
        else:
            top, height, by = step
            blank = [Strip.blank(WIDTH)] * abs(by)
            moved = shown[top : top + height]
            shown[top : top + height] = [*moved[by:], *blank] if by > 0 else [*blank, *moved[:by]]
            sent.shift(top, height, by)
            stream.feed(sent.changes(_update(0, shown[:1]), WIDTH, ColorSystem.STANDARD))
    anew = Screen(WIDTH, HEIGHT)
    pyte.Stream(anew).feed(SentCells().changes(_update(0, shown), WIDTH, ColorSystem.STANDARD))
    assert screen.display == anew.display
    assert _cells(screen) == _cells(anew)
    assert sent.changes(_update(0, shown), WIDTH, ColorSystem.STANDARD) == ""


def test_of_a_line_what_is_alike_is_not_sent_again() -> None:
    sent = SentCells()
    line = Strip([Segment("apartment_scheduler"), Segment(" 41%", Style.parse("red"))]).adjust_cell_length(WIDTH)
    other = Strip([Segment("apartment_scheduler"), Segment(" 42%", Style.parse("red"))]).adjust_cell_length(WIDTH)
    sent.changes(_update(3, [line]), WIDTH, ColorSystem.STANDARD)
    assert sent.changes(_update(3, [line]), WIDTH, ColorSystem.STANDARD) == ""
    assert sent.changes(_update(3, [other]), WIDTH, ColorSystem.STANDARD) == "\x1b[4;22H\x1b[31m2\x1b[0m"
    sent.forget()
    assert "apartment_scheduler" in sent.changes(_update(3, [other]), WIDTH, ColorSystem.STANDARD)


def test_an_update_of_a_wider_terminal_ends_at_the_edge() -> None:
    sent = SentCells()
    line = Strip([Segment("x" * WIDTH)])
    sent.changes(_update(0, [line]), WIDTH, ColorSystem.STANDARD)
    late = LayoutUpdate([[Strip([Segment("late")])]], Region(WIDTH - 2, 0, 4, 1))
    assert sent.changes(late, WIDTH - 3, ColorSystem.STANDARD) == ""
    assert sent.changes(late, WIDTH - 1, ColorSystem.STANDARD).endswith("Hl")
