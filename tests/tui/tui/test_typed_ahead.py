"""What comes in one packet of a slow line does what it does key by key; what is about to open gets what is typed."""

from __future__ import annotations

import shutil
import threading
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TypeAlias

import pytest

from tests.support.fake_names import FakeNames
from tests.support.finding import Finding, finding
from tests.support.walker import LONGEST_S, Walker, exploring, press_key, send
from tests.surface.explorer import PAGE, open_link
from tests.surface.store import StoreBusy, open_store, read_notes, standing
from tests.surface.tui import Request, Table

Noted: TypeAlias = tuple[str, str | None, str | None]


class SlowNames(FakeNames):
    """Answers once it may."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = threading.Event()

    def counted(self, field: str, where: str = "") -> Sequence[tuple[str, int, float | None]]:
        assert self.gate.wait(LONGEST_S)
        return super().counted(field, where)


def state(at: Walker) -> tuple[object, ...]:
    picker = at.controls.menu
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
        "Zjj ",
        "yxqj",
        "?jjqj",
        "\r\r\rjj\r",
        "/flow:viewing\rj",
        "2/x\r",
        "3/viewwwwwing\r",
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


CALLS = open_link("conversations", "")


@asynccontextmanager
async def noting(tiny: Path, folder: Path) -> AsyncIterator[tuple[Walker, Callable[[], set[Noted]]]]:
    """Read the first call of a store; return as well what was noted so far."""
    store = Path(shutil.copy(tiny, folder / "calls.db"))

    def noted() -> set[Noted]:
        with open_store(store) as opened:
            return {(line.conversation, line.verdict, line.note) for line in standing(read_notes(opened))}

    async with exploring(store, (80, 24), CALLS, author="ann@example.org") as at:
        await at.press("enter")
        yield at, noted


@pytest.mark.parametrize(
    ("sequence", "expected"),
    [
        ("isaid it twice\rf", {("c-0000", None, "said it twice"), ("c-0000", "fail", None)}),
        ("nf", {("c-0001", "fail", None)}),
        ("flf", {("c-0000", "fail", None), ("c-0001", "fail", None)}),
        ("fu", set()),
        ("ixx\ruf", {("c-0000", "fail", None)}),
    ],
)
async def test_what_is_noted_is_noted_on_the_call_that_the_keys_lead_to(
    tiny: Path, tmp_path: Path, sequence: str, expected: set[Noted]
) -> None:
    async with noting(tiny, tmp_path) as (at, noted):
        send(at.app, sequence)
        await at.settle()
        assert noted() == expected


async def test_a_note_for_a_call_that_takes_long_to_read_is_written_on_that(tiny: Path, tmp_path: Path) -> None:
    async with noting(tiny, tmp_path) as (at, noted):
        gate, show = threading.Event(), at.screen.show_view

        def slow(view: str, request: Request) -> Table:
            assert view != "conversation" or gate.wait(LONGEST_S)
            return show(view, request)

        at.screen.show_view = slow
        send(at.app, "nf")
        await at.until(lambda: "reading conversation" in at.bottom)
        assert noted() == set()
        gate.set()
        await at.settle()
        assert noted() == {("c-0001", "fail", None)}


async def test_a_key_that_is_held_down_does_not_go_on_for_long_after_it_is_let_go(tiny: Path, tmp_path: Path) -> None:
    async with noting(tiny, tmp_path) as (at, _):
        send(at.app, "n" * 15)
        await at.settle()
        assert " 5 of 20" in at.path


@pytest.mark.parametrize(("sequence", "expected"), [("G\r", "{last} of {last}"), ("256j\rnq", "257 of {last}")])
async def test_rows_that_are_not_loaded_yet_are_waited_for(demo: Path, sequence: str, expected: str) -> None:
    downs, _, keys = sequence.rpartition("j")
    async with exploring(demo, (80, 24), CALLS) as at:
        at.controls.table.cursor = int(downs or 1) - 1
        last = len(at.controls.table.table.rows)
        assert last > PAGE
        send(at.app, keys)
        await at.settle()
        assert expected.format(last=f"{last:,}") in at.path


async def waiting(at: Finding, *keys: str) -> Callable[[], bool]:
    """Press keys, the first of which opens a list that is not there yet; return whether it says so."""
    for key in keys:
        press_key(at.app, key)
    await at.until(lambda: "reading flows … · Esc stops it" in at.bottom)
    return lambda: at.controls.menu.is_open


async def test_what_is_typed_before_a_list_opens_is_typed_into_it() -> None:
    names = SlowNames()
    async with finding(names=names) as at:
        is_open = await waiting(at, "f", "o", "w", "t")
        assert not is_open()
        assert not at.controls.field.is_open
        names.gate.set()
        await at.until(is_open)
        await at.until(lambda: at.picker.field.value == "owt")
        assert "reading" not in at.bottom


@pytest.mark.parametrize("key", ["escape", "ctrl+c"])
async def test_what_is_typed_for_a_list_that_was_given_up_and_asked_for_again_is_typed_into_it(key: str) -> None:
    names = SlowNames()
    async with finding(names=names) as at:
        is_open = await waiting(at, "f", "x", key, "f", "o", "w", "t")
        names.gate.set()
        await at.until(is_open)
        await at.until(lambda: at.picker.field.value == "owt")


async def test_a_click_beside_a_list_leaves_the_keys_to_it() -> None:
    async with finding() as at:
        await at.press("f")
        send(at.app, "\x1b[<0;2;4M\x1b[<0;2;4mwe\r")
        await at.settle()
        assert at.path.startswith("flows [flow=weather]")


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
        assert not at.controls.field.is_open


async def test_what_is_typed_for_a_list_that_cannot_open_is_no_command() -> None:
    class Busy(SlowNames):
        def counted(self, field: str, where: str = "") -> Sequence[tuple[str, int, float | None]]:
            super().counted(field, where)
            raise StoreBusy("x.db: another process is writing to it")

    names = Busy()
    async with finding(names=names) as at:
        await waiting(at, "f", "o", "w")
        names.gate.set()
        await at.until(lambda: not at.controls.opening.is_loading)
        assert not at.controls.field.is_open
        await at.until(lambda: "another process is writing" in at.bottom)
        await at.press("j")
        assert at.controls.table.cursor == 1
