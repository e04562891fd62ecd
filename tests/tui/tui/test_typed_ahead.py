"""What comes in one packet of a slow line does what it does key by key; what is about to open gets what is typed."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from riff_store.annotations import standing
from riff_store.database import open_store
from riff_store.errors import StoreBusy
from riff_store.notes import read_notes
from riff_tui.tui.navigation.links import open_link
from tests.support.fake_names import FakeNames
from tests.support.finding import Finding, finding
from tests.support.walker import LONGEST_S, Walker, exploring, press_key, send


class SlowNames(FakeNames):
    """Answers once it may."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = threading.Event()

    def counted(self, field: str, where: str = "") -> Sequence[tuple[str, int]]:
        assert self.gate.wait(LONGEST_S)
        return super().counted(field, where)


def state(at: Walker) -> tuple[object, ...]:
    picker = at.controls.picker
    return at.path, at.row, at.controls.table.column, at.bottom, picker.is_open, picker.field.value, at.app.field


@pytest.mark.parametrize(
    "sequence",
    [
        "/flow:weather\r",
        "/flow:x\x15flow:weather\r",
        "/\x1b[200~flow:we\x1b[201~ather\r",
        "/we\t\r",
        "/flow:we\t\r",
        "fwe\r",
        "fwx\x7fe\r",
        "f\x1b[B\x1b[B\r",
        "fe\x1b[B\r",
        "aqw\r",
        "f",
        "jl",
        "Vjj ",
        "yxqj",
        "?jjqj",
        "\r\r\rjj\r",
        "/flow:viewing\rj",
        "2/x\r",
        "3jjq",
        "4\rnnNq",
    ],
)
async def test_what_comes_at_once_does_what_it_does_key_by_key(sequence: str) -> None:
    async with finding() as at:
        for character in sequence.replace("\x1b[B", "\x0e").replace("\x1b[200~", "").replace("\x1b[201~", ""):
            send(at.app, character)
            await at.settle()
        expected = state(at)
    async with finding() as at:
        send(at.app, sequence)
        await at.settle()
        assert state(at)[:-1] == expected[:-1]
        assert type(state(at)[-1]) is type(expected[-1])


async def test_a_note_is_written_and_the_next_key_goes_on(tiny: Path, tmp_path: Path) -> None:
    store = Path(shutil.copy(tiny, tmp_path / "calls.db"))

    def noted() -> list[tuple[str, str | None, str | None]]:
        with open_store(store) as opened:
            return [(line.conversation, line.verdict, line.note) for line in standing(read_notes(opened))]

    start = open_link("conversations", "flow=viewing")
    async with exploring(store, (80, 24), start, author="ann@example.org") as at:
        await at.press("enter")
        send(at.app, "iasked for the date twice\rf")
        await at.until(lambda: len(noted()) == 2)
        assert set(noted()) == {("c-0000", None, "asked for the date twice"), ("c-0000", "fail", None)}


async def waiting(at: Finding, *keys: str) -> Callable[[], bool]:
    """Press keys, the first of which opens a list that is not there yet; return whether it says so."""
    for key in keys:
        press_key(at.app, key)
    await at.until(lambda: "reading flows … · Esc stops it" in at.bottom)
    return lambda: at.controls.picker.is_open


async def test_what_is_typed_before_a_list_opens_is_typed_into_it() -> None:
    names = SlowNames()
    async with finding(names=names) as at:
        is_open = await waiting(at, "f", "o", "w", "t")
        assert not is_open()
        assert not at.controls.file_prompt.is_open
        names.gate.set()
        await at.until(is_open)
        await at.until(lambda: at.picker.field.value == "owt")
        assert "reading" not in at.bottom


@pytest.mark.parametrize("key", ["escape", "ctrl+c"])
async def test_a_list_that_is_about_to_open_can_be_given_up(key: str) -> None:
    names = SlowNames()
    async with finding(names=names) as at:
        is_open = await waiting(at, "f", "o", "w")
        press_key(at.app, key)
        await at.until(lambda: "stopped" in at.bottom)
        names.gate.set()
        await at.settle()
        assert not is_open()
        assert at.app.is_running
        await at.press("j")
        assert at.controls.table.cursor == 1
        assert not at.controls.file_prompt.is_open


async def test_what_is_typed_for_a_list_that_cannot_open_is_no_command() -> None:
    class Busy(SlowNames):
        def counted(self, field: str, where: str = "") -> Sequence[tuple[str, int]]:
            super().counted(field, where)
            raise StoreBusy("x.db: another process is writing to it")

    names = Busy()
    async with finding(names=names) as at:
        await waiting(at, "f", "o", "w")
        names.gate.set()
        await at.until(lambda: "another process is writing" in at.bottom)
        await at.press("j")
        assert at.controls.table.cursor == 1
        assert not at.controls.file_prompt.is_open
