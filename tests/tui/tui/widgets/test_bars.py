"""The title bar and the hint bar: tinted from edge to edge, and what is left out where there is no room."""

from __future__ import annotations

import pytest
from textual.app import App, ComposeResult

from tests.surface.explorer import PALETTES, BottomLine, TopLine


class Bars(App[None]):
    """An application of both bars."""

    def __init__(self, palette: str = "ansi") -> None:
        super().__init__(ansi_color=True)
        self.top = TopLine(palette=PALETTES[palette])
        self.bottom = BottomLine(palette=PALETTES[palette])

    def compose(self) -> ComposeResult:
        yield from (self.top, self.bottom)


@pytest.mark.parametrize(("width", "kept"), [(80, 3), (55, 2), (40, 1)])
async def test_the_age_of_the_data_goes_before_the_filter(width: int, kept: int) -> None:
    app = Bars()
    async with app.run_test(size=(width, 10)):
        app.top.show(["flows [success<50%]"], (1, 12), [" match", "20 hidden", "written 3 min ago"])
        text = app.top.render_line(0).text
    assert "flows [success<50%]" in text
    assert [part in text for part in ("1 of 12 match", "20 hidden", "3 min ago")] == [
        place < kept for place in range(3)
    ]


@pytest.mark.parametrize(("width", "drawn"), [(8, "too long"), (6, "too l…"), (1, "…")])
async def test_a_line_that_has_no_room_is_cut_with_a_sign(width: int, drawn: str) -> None:
    app = Bars()
    async with app.run_test(size=(width, 10)):
        app.top.lines = ((("too", None), (" long", None)),)
        assert app.top.render_line(0).text == drawn


@pytest.mark.parametrize("palette", ["ansi", "dark", "light", "mono"])
async def test_bars_are_tinted_from_edge_to_edge_where_there_are_colours(palette: str) -> None:
    app = Bars(palette)
    async with app.run_test(size=(80, 10)):
        app.top.show(["flows"], (1, 12), ["8 flows"])
        app.bottom.hint([("?", "help")], "surely ! <50%")
        strips = [app.top.render_line(0), app.bottom.render_line(0)]
        app.bottom.say("it failed", "bad")
        strips.append(app.bottom.render_line(0))
    grounds = {segment.style and segment.style.bgcolor for strip in strips for segment in strip}
    assert [strip.cell_length for strip in strips] == [80, 80, 80]
    assert len(grounds) == 1
    assert (grounds == {None}) == (palette == "mono")
    assert strips[1].text.endswith("surely ! <50% ")
