"""A store that changes under the eyes: what is noticed, what is shown, and that nothing moves."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.support import postgresql_server, tiny_store
from tests.support.growing_store import ingest_more
from tests.support.postgresql_server import programs
from tests.support.walker import Walker, running
from tests.surface.explorer import Backend, Explorer, StoreWatcher, refresh
from tests.surface.store import NotAStore, StoreMissing, open_store
from tests.surface.tui import Request


@pytest.fixture
def store(tmp_path: Path, tiny: Path) -> Path:
    """A copy of the hand-written store, to be written to."""
    return Path(shutil.copy(tiny, tmp_path / "growing.db"))


@asynccontextmanager
async def following_it(
    store: Path | str, *, paused: bool = False, size: tuple[int, int] = (150, 30)
) -> AsyncIterator[Walker]:
    with open_store(store) as opened:
        live = StoreWatcher(opened)
        app = Explorer(Backend(live.show, live.age, watcher=live, paused=paused))
        async with running(app, size) as pilot:
            at = Walker(app, pilot)
            await at.settle()
            yield at


@pytest.fixture(autouse=True)
def _no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    """Look when the test says so."""
    monkeypatch.setattr(refresh, "PERIOD_S", 3600.0)
    monkeypatch.setattr(refresh, "QUIET_S", 0.0)
    monkeypatch.setattr(refresh, "PAUSE_PER_LOAD", 0.0)


async def look(at: Walker) -> None:
    at.controls.auto_refresh.tick()
    await at.settle()


# The store itself


def test_a_store_is_the_same_until_somebody_writes_to_it(store: Path) -> None:
    with open_store(store) as opened:
        live = StoreWatcher(opened)
        assert live.look() == "same"
        ingest_more(store, 100)
        assert live.look() == "changed"
        assert live.look() == "changed"
        live.renew()
        assert live.look() == "same"
        assert len(live.show("conversations", Request()).rows) == 21
        live.mark_stale()
        assert live.look() == "changed"


def test_a_store_that_is_written_now_is_busy_and_not_waited_for(store: Path) -> None:
    with open_store(store) as opened:
        live = StoreWatcher(opened)
        writer = sqlite3.connect(store, isolation_level=None)
        writer.execute("BEGIN EXCLUSIVE")
        assert live.look() == "busy"
        writer.execute("ROLLBACK")
        writer.close()
        assert live.look() == "same"


def test_another_file_in_its_place_is_told_from_a_change_and_can_be_opened(store: Path, tiny: Path) -> None:
    with open_store(store) as opened:
        live = StoreWatcher(opened)
        ingest_more(store, 100)
        live.renew()
        shutil.copy(tiny, store.with_name("other.db"))
        store.with_name("other.db").replace(store)
        assert live.look() == "replaced"
        assert len(live.show("conversations", Request()).rows) == 21
        live.renew()
        assert live.look() == "same"
        assert len(live.show("conversations", Request()).rows) == 20


def test_a_file_written_over_it_is_noticed_whatever_it_counts(store: Path, tiny: Path) -> None:
    with open_store(store) as opened:
        live = StoreWatcher(opened)
        os.utime(store, ns=(0, 0))
        store.write_bytes(tiny.read_bytes())
        assert live.look() == "changed"
        live.renew()
        assert live.look() == "same"


def test_a_store_that_is_gone_or_is_none_any_more_is_said_and_what_was_open_stays(store: Path) -> None:
    with open_store(store) as opened:
        live = StoreWatcher(opened)
        away = store.rename(store.with_name("away.db"))
        assert live.look() == "gone"
        with pytest.raises(StoreMissing):
            live.renew()
        assert len(live.show("conversations", Request()).rows) == 20
        store.write_text("no store at all")
        assert live.look() == "replaced"
        with pytest.raises(NotAStore):
            live.renew()
        away.replace(store)
        assert live.look() == "same"


def test_what_a_killed_writer_left_half_done_is_taken_back(store: Path) -> None:
    script = (
        "import os, sqlite3, sys; c = sqlite3.connect(sys.argv[1], isolation_level=None);"
        "c.execute('PRAGMA cache_size = 1');"
        "c.execute('BEGIN EXCLUSIVE'); c.execute('UPDATE conversation SET errored = 1');"
        "c.execute('CREATE TABLE filler AS WITH RECURSIVE n(x) AS (VALUES(1) UNION ALL SELECT x + 1 FROM n LIMIT 20000)"
        " SELECT x, hex(randomblob(50)) FROM n'); os.kill(os.getpid(), 9)"
    )
    with open_store(store) as opened:
        live = StoreWatcher(opened)
        subprocess.run([sys.executable, "-c", script, str(store)], check=False)
        assert store.with_name(f"{store.name}-journal").exists()
        assert len(live.show("conversations", Request(where="!errored=yes")).rows) == 19
        assert live.look() == "changed"
        live.renew()
        assert live.look() == "same"


def test_the_age_is_that_of_the_data_which_are_shown(store: Path) -> None:
    with open_store(store) as opened:
        os.utime(store, ns=(0, 0))
        live = StoreWatcher(opened)
        assert live.age().endswith(" d ago")
        os.utime(store)
        assert live.age().endswith(" d ago")
        live.renew()
        assert live.age() == "written just now"


# On the screen


def said(at: Walker) -> str:
    """The words of the status line, wherever it wraps: paths of temporary folders are long."""
    return " ".join(at.bottom.split())


async def test_what_is_ingested_meanwhile_appears_by_itself_and_nothing_moves(store: Path) -> None:
    async with following_it(store) as at:
        assert "20 calls" in at.path
        await at.press("j", "h")
        row, column, said = at.row, at.controls.table.column, at.bottom
        ingest_more(store, 100, 5)
        await look(at)
        assert "25 calls" in at.path
        assert "written just now" in at.path
        assert (at.row, at.controls.table.column, at.bottom) == (row, column, said)
        assert at.controls.table._lit == {"flow=viewing agent=gemini"}
        await at.press("k")
        assert not at.controls.table._lit
        await at.press("enter")
        assert at.screen.loaded is not None
        assert at.screen.loaded.main.rows[0].record["n"] == 11


async def test_how_many_calls_came_is_said_for_a_while(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(refresh, "NEWS_S", 3600.0)
    async with following_it(store) as at:
        assert "just now" not in at.path.replace("written just now", "")
        ingest_more(store, 100)
        await look(at)
        assert "+1 call just now" in at.path
        ingest_more(store, 200, 1_200)
        await look(at)
        assert "+1,201 calls just now" in at.path
        await at.press("enter")
        assert "+1,201 calls just now" in at.path
        monkeypatch.setattr(refresh, "NEWS_S", 0.0)
        await look(at)
        assert "calls just now" not in at.path
        ingest_more(store, 2_000)
        await look(at)
        assert "call just now" not in at.path


async def test_the_cursor_stays_on_its_row_and_its_line_where_rows_come_in_before_it(store: Path) -> None:
    ingest_more(store, 1_000, 700)
    async with following_it(store, size=(80, 20)) as at:
        await at.press("4", "G")
        at.controls.table.cursor -= 150
        await at.press("k")
        table = at.controls.table
        before, line, top = at.row, table.cursor - table._top, table._top
        # Run-2 begins with calls of viewing that come before those of weather.
        ingest_more(store, 400, 300)
        await look(at)
        assert "1,020 conversations" in at.path
        assert (at.row, table.cursor - table._top) == (before, line)
        assert table._top == top + 300
        assert all(table.table.rows[index].id for index in table._in_view)


async def test_the_cursor_stays_on_a_call_that_was_ingested_anew(store: Path) -> None:
    ingest_more(store, 1_000, 300)
    async with following_it(store, size=(80, 20)) as at:
        await at.press("4", "G")
        at.controls.table.cursor -= 150
        await at.press("k")
        before, number = at.row, at.controls.table.cursor
        # The same calls once more, and others before them: each is taken out and put in again.
        ingest_more(store, 500, 801, latency=600)
        await look(at)
        assert "821 conversations" in at.path
        assert at.row == before
        assert at.controls.table.cursor == number + 500


async def test_a_state_is_brought_up_to_date_whole_and_the_cursor_stays_in_its_graph(store: Path) -> None:
    async with following_it(store) as at:
        await at.press("enter", "enter", "enter", "v", "h")
        assert at.controls.header.focused_graph
        spot, before = at.controls.header._target, at.screen.loaded
        ingest_more(store, 100, 5)
        await look(at)
        assert at.screen.loaded is not None
        assert before is not None
        assert at.screen.loaded != before
        assert at.screen.loaded.deferred is None
        assert at.controls.header.focused_graph
        assert spot is not None
        found = at.controls.header._target
        assert found is not None
        assert found.is_same(spot)


async def test_a_change_that_does_not_concern_the_screen_draws_nothing(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(*_: object, **__: object) -> None:
        raise AssertionError("drawn again")

    async with following_it(store) as at:
        await at.press("j", "enter", "enter")
        ingest_more(store, 100)
        monkeypatch.setattr(at.controls.table, "load", never)
        await look(at)
        monkeypatch.undo()
        assert at.screen.last_error is None
        assert at.controls.auto_refresh.watcher is not None
        assert at.controls.auto_refresh.watcher.look() == "same"
        await at.press("escape", "escape")
        assert "21 calls" in at.path


async def test_paused_it_offers_a_change_and_shows_it_when_asked(store: Path) -> None:
    async with following_it(store) as at:
        await at.press("z")
        assert at.path.startswith("flows")
        assert "paused" in at.path
        assert "z resumes" in said(at)
        ingest_more(store, 100)
        await look(at)
        assert "paused · changed: r reads it" in at.path
        assert "20 calls" in at.path
        await at.press("r")
        assert "1 of 3 · paused · " in at.path
        assert "21 calls" in at.path
        ingest_more(store, 101)
        await at.press("z")
        assert "22 calls" in at.path
        assert "paused" not in at.path


async def test_it_can_begin_paused(store: Path) -> None:
    async with following_it(store, paused=True) as at:
        ingest_more(store, 100)
        await look(at)
        assert "paused · changed" in at.path


async def test_eighty_columns_show_that_it_is_paused_and_changed_before_what_is_counted(store: Path) -> None:
    async with following_it(store, paused=True, size=(80, 24)) as at:
        assert "1 of 3 · paused · 2 flows" in at.path
        ingest_more(store, 100)
        await look(at)
        assert "1 of 3 · paused · changed: r reads it · 2 flows " in at.path


async def test_nothing_changes_while_one_types_or_reads_help(store: Path) -> None:
    async with following_it(store) as at:
        await at.press("slash", "w")
        ingest_more(store, 100)
        await look(at)
        assert at.controls.prompt.is_open
        assert "20 calls" in at.path
        await at.press("escape", "question_mark")
        await look(at)
        assert "20 calls" in at.path
        await at.press("q")
        await look(at)
        assert "21 calls" in at.path


async def test_a_list_above_a_conversation_is_brought_up_to_date_when_one_is_back(store: Path) -> None:
    async with following_it(store) as at:
        await at.press("4", "enter", "n")
        ingest_more(store, 100)
        await look(at)
        assert "2 of 20" in at.path
        await at.press("escape")
        assert "20 conversations" in at.path
        await look(at)
        assert "21 conversations" in at.path
        assert at.controls.table.cursor == 1


async def test_a_writer_that_keeps_the_store_is_shown_and_asked_again(store: Path) -> None:
    async with following_it(store) as at:
        writer = sqlite3.connect(store, isolation_level=None)
        writer.execute("BEGIN EXCLUSIVE")
        await look(at)
        assert "being written" not in at.path
        await look(at)
        assert "being written" in at.path
        assert "!" not in said(at)[:2]
        writer.execute("COMMIT")
        writer.close()
        await look(at)
        assert "being written" not in at.path


async def test_a_place_behind_a_busy_store_opens_once_it_answers(store: Path) -> None:
    async with following_it(store) as at:
        assert at.controls.auto_refresh.watcher is not None
        at.controls.auto_refresh.watcher._store.execute_sql("PRAGMA busy_timeout = 1")
        writer = sqlite3.connect(store, isolation_level=None)
        writer.execute("BEGIN EXCLUSIVE")
        await at.press("enter")
        assert "another process is writing" in said(at)
        assert at.path.startswith("flows  ")
        writer.execute("COMMIT")
        writer.close()
        await at.until(lambda: at.path.startswith("flows › viewing @ gemini"))


async def test_escape_gives_up_on_a_busy_store(store: Path) -> None:
    async with following_it(store) as at:
        assert at.controls.auto_refresh.watcher is not None
        at.controls.auto_refresh.watcher._store.execute_sql("PRAGMA busy_timeout = 1")
        writer = sqlite3.connect(store, isolation_level=None)
        writer.execute("BEGIN EXCLUSIVE")
        await at.press("enter")
        assert at.controls.navigator.is_loading
        await at.press("escape")
        assert "stopped" in said(at)
        assert not at.controls.navigator.is_loading
        writer.close()
        assert at.path.startswith("flows  ")


async def test_a_store_that_was_replaced_is_said_and_opened_by_r(store: Path, tiny: Path) -> None:
    ingest_more(store, 100)
    async with following_it(store) as at:
        other = Path(shutil.copy(tiny, store.with_name("other.db")))
        other.replace(store)
        await look(at)
        assert "replaced: r opens it" in at.path
        assert "another file replaced" in said(at)
        assert "21 calls" in at.path
        await at.press("enter", "escape", "r")
        assert "20 calls" in at.path
        assert "replaced" not in at.path


async def test_a_server_that_does_not_answer_is_said_and_tried_again_until_it_does(tiny: Path) -> None:
    installed = programs()
    if installed is None:
        pytest.skip("needs PostgreSQL: apt-get install postgresql")
    with postgresql_server.running(installed) as server:
        async with following_it(server.copy_of(tiny)) as at:
            server.stop()
            for _ in range(2):
                await look(at)
                await at.until(lambda: "no answer: trying again" in at.path)
            assert "does not answer; it is tried again" in said(at)
            assert "20 calls" in at.path
            server.start()
            await look(at)
            await at.until(lambda: "no answer" not in at.path)
            await at.press("enter")
            assert at.path.startswith("flows › viewing @ gemini")


async def test_a_store_that_is_gone_is_said_in_a_sentence_and_its_rows_stay(store: Path) -> None:
    async with following_it(store) as at:
        store.unlink()
        await look(at)
        assert "store gone" in at.path
        assert "not there any more" in said(at)
        await at.press("enter")
        assert at.path.startswith("flows › viewing @ gemini")
        await at.press("r")
        assert "there is no store" in said(at)
        store.write_text("no store")
        await look(at)
        await at.press("r")
        assert "not a riff-tui store" in said(at)
        assert at.controls.table.table.rows


async def test_the_age_grows_without_a_key(store: Path) -> None:
    async with following_it(store) as at:
        assert at.controls.auto_refresh.watcher is not None
        assert "written just now" in at.path
        at.controls.auto_refresh.watcher._written_at = 0.0
        await look(at)
        assert "d ago" in at.path


def test_the_small_store_has_no_calls_of_the_numbers_used_here() -> None:
    assert len(list(tiny_store.calls())) < 100
