"""What was looked at in the explorer becomes a case in a file."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.walker import Walker, exploring, walking
from tests.surface.explorer import Field, open_link
from tests.surface.runner import read_case

CALL = open_link("conversation", "run=run-1 conversation=c-0000")


def asking(at: Walker) -> Field:
    found = at.screen.query_one(Field)
    assert found.is_open
    return found


def foot(at: Walker) -> str:
    return " ".join("".join(text for text, _ in line) for line in asking(at).foot.lines)


async def test_the_call_on_the_screen_is_written_as_a_case(
    tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    async with exploring(tiny, (120, 30), CALL) as at:
        await at.press("W")
        assert "riff-tui run --scenarios FILE makes the call again" in foot(at)
        await at.press("enter")
        [written] = tmp_path.iterdir()
        assert written.match("c-0000*.toml")
        assert f"written to {written}" in at.bottom
    case = read_case(written)
    assert case.origin is not None
    assert (case.flow, case.origin.conversation) == ("viewing", "c-0000")
    assert case.redacted


async def test_a_file_that_is_there_is_overwritten_by_a_second_enter_only(tiny: Path, tmp_path: Path) -> None:
    path = tmp_path / "a.toml"
    path.write_text("dear")
    async with exploring(tiny, (120, 30), CALL) as at:
        await at.press("W")
        asking(at).field.set(str(path))
        await at.press("enter")
        assert "press Enter again to overwrite it" in foot(at)
        assert path.read_text() == "dear"
        await at.press("enter")
        assert "written to" in at.bottom
    assert read_case(path).flow == "viewing"


async def test_another_ending_is_refused(tiny: Path, tmp_path: Path) -> None:
    async with exploring(tiny, (120, 30), CALL) as at:
        await at.press("W")
        asking(at).field.set(str(tmp_path / "a.md"))
        await at.press("enter")
        assert "a case is read from a file that ends in .toml" in foot(at)
    assert not list(tmp_path.iterdir())


async def test_the_key_says_where_it_does_not_apply(tiny: Path) -> None:
    async with exploring(tiny, (120, 30)) as at:
        await at.press("W")
        assert "only in a conversation" in at.bottom
    async with walking(CALL, size=(120, 30)) as at:
        await at.press("W")
        assert "there is no store here to make a case from" in at.bottom
