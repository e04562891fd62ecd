"""What effects explain is chosen in the explorer: one aspect, or quality again."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.controls import controls_at
from tests.support.fake_catalog import flow_table
from tests.support.golden import printed
from tests.support.walker import exploring
from tests.surface.explorer import START, Location, SessionFile, crumbs, decoded, encoded, hints, link, open_link
from tests.surface.store import open_store
from tests.surface.tui import ExitCode, Filter, Request, run, show

ERRORS = Location("effects", aspect="errors")


async def test_an_aspect_is_chosen_and_quality_again(tiny: Path) -> None:
    async with exploring(tiny) as at:
        await at.press("F", "Z", *"errors", "enter")
        assert "effects on errors" in at.path
        assert at.screen.loaded is not None
        table = at.screen.loaded.main
        assert table.dump == "riff-tui dump effects --aspect errors"
        with open_store(tiny) as store:
            assert printed(table, "text") == printed(show(store, "effects", Request(aspect="errors")), "text")
        await at.press("Z", *"quality", "enter")
        assert (at.screen.history.here.view, at.screen.history.here.aspect) == ("effects", "")
        assert at.screen.loaded.main.dump == "riff-tui dump effects"
        await at.press("left_square_bracket")
        assert at.screen.history.here.aspect == "errors"
        await at.press("1", "Z")
        assert "only effects explain one aspect" in at.bottom


async def test_a_filter_and_a_file_are_about_the_aspect_that_is_shown(tiny: Path, tmp_path: Path) -> None:
    async with exploring(tiny, start=(*START, ERRORS)) as at:
        await at.press("slash", *"factor=flow", "enter")
        assert {row.record["factor"] for row in at.screen.loaded.main.rows} == {"flow"}  # type: ignore[union-attr]  # it is read
        await at.press("o", "ctrl+u", *str(tmp_path / "effects.md"), "enter")
        await at.settle()
    assert "What explains errors" in (tmp_path / "effects.md").read_text(encoding="utf-8")


async def test_an_aspect_that_nobody_scored_is_said(tiny: Path) -> None:
    async with exploring(tiny, start=(*START, replace(ERRORS, aspect="charm"))) as at:
        assert "no call was scored for 'charm'" in at.bottom


def test_the_hint_line_of_effects_names_the_key() -> None:
    assert dict(hints(controls_at("effects", flow_table(3), depth=2)))["Z"] == "aspect"
    assert "Z" not in dict(hints(controls_at("flows", flow_table(3))))


def test_the_aspect_is_part_of_the_place_and_of_its_link() -> None:
    assert crumbs((*START, ERRORS)) == ["flows", "effects on errors"]
    assert replace(ERRORS, aspect="").cache_key != ERRORS.cache_key
    assert link(ERRORS) == "riff-tui ui effects --aspect errors"
    assert open_link("effects", "flow:a", "errors") == (*START, replace(ERRORS, filter=Filter("flow:a")))
    session = SessionFile()
    session.set_stack((*START, ERRORS))
    assert decoded(encoded(session.state, "x")).stack[-1] == ERRORS
    session.set_stack((*START, replace(ERRORS, view="runs")))
    assert decoded(encoded(session.state, "x")).stack == ()


def test_only_effects_open_at_an_aspect(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["ui", "flows", "--aspect", "errors"]) == ExitCode.USAGE
    assert "flows is not about one aspect; riff-tui ui effects --aspect errors is" in capsys.readouterr().err
    assert run(["ui", "effects", "--aspect", "errors"]) == ExitCode.USAGE
    assert "prints the same: riff-tui dump effects --aspect errors" in capsys.readouterr().err
