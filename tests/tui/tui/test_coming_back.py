"""Coming back to a store: to the place, order and colours of last time, unless a link or `--fresh` says otherwise."""

from __future__ import annotations

import json
import os
import shutil
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.support.growing_store import ingest_more
from tests.support.pty_terminal import COMMAND, Terminal
from tests.support.walker import Walker, running
from tests.surface.explorer import START, Backend, Explorer, Location, SessionFile, SessionState, session_path
from tests.surface.store import open_store
from tests.surface.tui import Filter, catalog, state_directory

CONVERSATION = (
    *START,
    Location("conversations", scope=Filter("flow=viewing"), row="run=run-1 conversation=c-0003", index=1),
    Location("conversation", "c-0003", Filter("run=run-1 conversation=c-0003")),
)


@asynccontextmanager
async def opened_with(store: Path, session: SessionFile) -> AsyncIterator[Walker]:
    """An explorer that begins where the last one ended."""
    with open_store(store) as opened:
        start = session.state.stack or START
        if not session.state.stack:
            session.opened(start)
        app = Explorer(Backend(lambda view, request: catalog.show(opened, view, request), session=session), start=start)
        async with running(app, (100, 30)) as pilot:
            at = Walker(app, pilot)
            await at.settle()
            yield at


async def test_the_place_with_those_above_it_its_cursor_and_its_order_come_back(tiny: Path, tmp_path: Path) -> None:
    file = tmp_path / "kept.json"
    async with opened_with(tiny, SessionFile(file)) as at:
        await at.press("enter", "enter", "l", "s", "O", "j")
        before = at.path, at.row, at.controls.table.column, at.screen.history.here.sort
        assert before[-1] is not None
        await at.press("Q")
        at.app.session.write()
    async with opened_with(tiny, SessionFile(file)) as at:
        assert (at.path, at.row, at.controls.table.column, at.screen.history.here.sort) == before
        await at.press("escape")
        assert at.path.startswith("flows › viewing @ gemini ")
        await at.press("escape", "3")
        assert at.screen.history.here.sort == before[-1]


async def test_a_conversation_comes_back_with_the_list_that_n_and_p_go_through(tiny: Path) -> None:
    session = SessionFile()
    session.set_stack(CONVERSATION)
    async with opened_with(tiny, session) as at:
        assert "4 of 10" in at.path
        await at.press("n")
        assert "c-0004" in at.path
        assert "5 of 10" in at.path
        await at.press("escape")
        assert at.controls.table.cursor == 4


async def test_a_place_that_is_gone_is_said_and_the_first_screen_opens(tiny: Path) -> None:
    session = SessionFile()
    session.set_stack((*START, Location("conversation", "c-9999", Filter("run=run-1 conversation=c-9999"))))
    async with opened_with(tiny, session) as at:
        assert at.path.startswith("flows ")
        assert "cannot be shown" in at.bottom
        assert "no call matches" in at.bottom
        await at.press("j")
        assert "? help" in at.bottom


async def test_an_order_whose_column_is_gone_is_said_and_given_up(tiny: Path) -> None:
    session = SessionFile()
    session.sort("flows", "-hum:nobody")
    assert session.state.sorts
    async with opened_with(tiny, session) as at:
        assert at.path.startswith("flows ")
        assert "cannot be sorted by hum:nobody" in at.bottom
        assert session.state.sorts == {}


async def test_what_changed_is_written_by_and_by(tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("riff_tui.tui.app.SAVED_AFTER_S", 0.05)
    file = tmp_path / "kept.json"
    async with opened_with(tiny, SessionFile(file)) as at:
        await at.press("t", "enter", "j")
        await at.until(lambda: [place.view for place in SessionFile(file).state.stack[-1:]] == ["segments"])
        assert SessionFile(file).state.theme == "dark"


async def test_what_cannot_be_written_is_said_once(tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("riff_tui.tui.app.SAVED_AFTER_S", 0.05)
    (tmp_path / "in-the-way").touch()
    async with opened_with(tiny, SessionFile(tmp_path / "in-the-way" / "kept.json")) as at:
        await at.press("t")
        await at.until(lambda: "the session is not saved" in at.bottom)
        await at.press("t")
        await at.until(lambda: at.app._save_timer is None)
        await at.settle()
        assert "the session is not saved" not in at.bottom


async def test_d_shows_the_dump_and_then_the_link_and_y_l_copies_it(tiny: Path) -> None:
    async with opened_with(tiny, SessionFile()) as at:
        await at.press("enter", "s", "d")
        assert at.bottom.strip().startswith("riff-tui dump segments --where 'flow=viewing agent=gemini'")
        await at.press("d")
        link = f"riff-tui ui segments --where 'flow=viewing agent=gemini' --sort {at.screen.history.here.sort}"
        assert at.bottom.strip() == link
        await at.press("d")
        assert "riff-tui dump" in at.bottom
        await at.press("d", "j", "d")
        assert "riff-tui dump" in at.bottom
        await at.press("y", "l")
        assert Path(" ".join(at.bottom.split()).rsplit("to ", 1)[1]).read_text() == f"{link}\n"


# On a terminal


def opening(store: Path, *arguments: str) -> Terminal:
    return Terminal([*COMMAND, *arguments, "--store", str(store)], width=100)


def kept(store: Path) -> SessionState:
    session = SessionFile(session_path(str(store), state_directory()))
    assert session.complaint == ""
    return session.state


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP], ids=["SIGTERM", "SIGHUP"])
def test_a_signal_leaves_behind_where_one_was(tiny: Path, number: signal.Signals) -> None:
    with opening(tiny) as terminal:
        terminal.wait_for("viewing")
        terminal.press("\r")
        terminal.wait_for("viewing @ gemini")
        terminal.press("j")
        terminal.signal(number)
        assert terminal.end() == 128 + number
    assert [place.view for place in kept(tiny).stack] == ["flows", "segments"]
    assert kept(tiny).stack[-1].index == 1
    with opening(tiny) as terminal:
        terminal.wait_for("viewing @ gemini")
        terminal.press("Q")
        assert terminal.end() == 0


def test_a_closed_terminal_leaves_it_behind_too(tiny: Path) -> None:
    with opening(tiny) as terminal:
        terminal.wait_for("viewing")
        terminal.press("\r")
        terminal.wait_for("viewing @ gemini")
        os.close(terminal._fd)
        terminal._fd = os.open(os.devnull, os.O_RDONLY)
        os.waitpid(terminal.pid, 0)
        terminal.code = -1
    assert [place.view for place in kept(tiny).stack] == ["flows", "segments"]


def test_a_link_and_fresh_open_elsewhere_and_keep_the_last_place_until_one_goes_on(tiny: Path) -> None:
    with opening(tiny) as terminal:
        terminal.wait_for("viewing")
        terminal.press("\r")
        terminal.wait_for("viewing @ gemini")
        terminal.press("Q")
        assert terminal.end() == 0
    for arguments, seen in ((("--fresh",), "2 agents"), (("states", "--where", "flow=weather"), "› weather › states")):
        with opening(tiny, *arguments) as terminal:
            terminal.wait_for(seen)
            terminal.press("jQ")
            assert terminal.end() == 0
        assert [place.view for place in kept(tiny).stack] == ["flows", "segments"]
    with opening(tiny, "runs", "--sort", "-n") as terminal:
        terminal.wait_for("n▼")
        terminal.press("4")
        terminal.wait_for("conversations")
        terminal.press("Q")
        assert terminal.end() == 0
    assert kept(tiny).stack[-1].view == "conversations"
    assert kept(tiny).sorts == {}


def test_the_theme_that_was_chosen_lasts_and_a_setting_goes_before_it(tiny: Path) -> None:
    with opening(tiny) as terminal:
        terminal.wait_for("viewing")
        terminal.press("tQ")
        assert terminal.end() == 0
    assert kept(tiny).theme == "dark"
    for arguments, named in (((), "light"), (("--theme", "ansi"), "dark")):
        with opening(tiny, *arguments) as terminal:
            terminal.wait_for("viewing")
            terminal.press("t")
            terminal.wait_for(f"theme: {named}")
            terminal.signal(signal.SIGKILL)


@pytest.mark.parametrize("content", [b"\xff\x00{", b'{"form": 99}'], ids=["bytes", "newer"])
def test_a_damaged_file_is_said_and_everything_works(tiny: Path, content: bytes) -> None:
    file = session_path(str(tiny), state_directory())
    file.parent.mkdir(parents=True)
    file.write_bytes(content)
    with opening(tiny) as terminal:
        terminal.wait_for("is ignored")
        terminal.press("\r")
        terminal.wait_for("viewing @ gemini")
        terminal.press("Q")
        assert terminal.end() == 0
    assert [place.view for place in kept(tiny).stack] == ["flows", "segments"]
    assert json.loads(file.read_text())["store"] == str(tiny)


def test_a_theme_that_there_is_not_is_said_before_the_screen_is_touched(tiny: Path) -> None:
    with opening(tiny, "--theme", "neon") as terminal:
        assert terminal.end() == 2
        sent = terminal.take()
        assert b"there are ansi, dark, light, mono" in sent
        assert b"\x1b[?1049h" not in sent


def test_the_link_names_the_store_that_was_opened(tiny: Path) -> None:
    with opening(tiny) as terminal:
        terminal.wait_for("viewing")
        terminal.press("dd")
        terminal.wait_for("riff-tui ui flows --store")
        assert str(tiny) in "".join(line.strip() for line in terminal.lines)
        terminal.press("Q")


def test_an_explorer_that_follows_a_store_sends_nothing_until_it_grows(tiny: Path, tmp_path: Path) -> None:
    store = Path(shutil.copy(tiny, tmp_path / "growing.db"))
    os.utime(store, ns=(0, 0))  # an age that is the same a minute later
    with opening(store) as terminal:
        terminal.wait_for("2 agents")
        terminal.take()
        assert terminal.take(quiet=2.2) == b""
        ingest_more(store, 100)
        terminal.wait_for("agents · 21")
        terminal.take()
        assert terminal.take(quiet=2.2) == b""
        terminal.press("Q")
        assert terminal.end() == 0
