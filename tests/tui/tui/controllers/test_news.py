"""A store on a server that others fill while it is looked at: it is seen at once, and who does it."""

from __future__ import annotations

import time

import pytest

from tests.support.facts import call, source, verdict
from tests.support.postgresql_server import Server
from tests.support.walker import Walker, running
from tests.surface.explorer import Backend, Explorer, StoreWatcher, refresh
from tests.surface.store import Item, Store, Writer, open_store
from tests.surface.tui import Request


@pytest.fixture
def address(postgresql: Server) -> str:
    address = postgresql.store(password="s3cret")
    with open_store(address, write=True, create=True) as store:
        write(store, "/in/a.jsonl", [call("c-1")])
    return address


def write(store: Store, path: str, items: list[Item], by: str = "ci-42") -> None:
    writer = Writer(store, by)
    with writer.batch():
        writer.put_file(source(path), items)


def heard(live: StoreWatcher) -> str:
    """Look until a message has come: the server sends it right after the writer was told that all is well."""
    while (found := live.look()) == "same":
        time.sleep(0.01)
    return found


def test_what_others_write_is_heard_with_who_they_are(address: str) -> None:
    with open_store(address) as opened, open_store(address, write=True) as other:
        live = StoreWatcher(opened)
        assert (live.look(), live.writing()) == ("same", "")
        write(other, "/in/b.jsonl", [call("c-2", run="night-2"), call("c-3", run="night-2")])
        assert (heard(live), live.writing()) == ("changed", "ci-42 is writing night-2")
        assert live.look() == "changed"
        live.renew()
        assert live.look() == "same"
        write(
            other, "/in/c.jsonl", [call(f"d-{run}", run=run) for run in ("a", "b", "c")], "https://ci.example/j/1234567"
        )
        assert (heard(live), live.writing()) == ("changed", "…://ci.example/j/1234567 is writing 3 runs")
        live.renew()
        write(other, "/in/h.jsonl", [verdict("c-1", 3.0)])
        assert heard(live) == "changed"


def test_other_stores_and_other_senders_are_not_heard(address: str, postgresql: Server) -> None:
    with open_store(address, write=True) as mine, open_store(postgresql.store(), write=True, create=True) as other:
        live = StoreWatcher(mine)
        write(other, "/in/b.jsonl", [call("c-2")], "somebody else")
        postgresql.run("NOTIFY riff_written, 'no message of ours'")
        assert (live.look(), live.writing()) == ("same", "")
        write(mine, "/in/b.jsonl", [call("c-2")])
        assert (heard(live), live.writing()) == ("changed", "ci-42 is writing night-1")


def test_a_store_that_is_taken_away_is_missed(
    address: str, postgresql: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("riff_tui.tui.data.backend.ASKED_EVERY_S", 0.0)
    with open_store(address) as opened:
        live = StoreWatcher(opened)
        assert live.look() == "same"
        postgresql.run(f"DROP SCHEMA {address.rpartition('=')[2]} CASCADE")
        assert live.look() == "gone"


async def test_the_explorer_shows_what_comes_and_says_whose_it_is(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(refresh, "HEARING_PERIOD_S", 3600.0)
    monkeypatch.setattr(refresh, "QUIET_S", 0.0)
    monkeypatch.setattr(refresh, "PAUSE_PER_LOAD", 0.0)
    with open_store(address) as opened:
        live = StoreWatcher(opened)
        app = Explorer(Backend(live.show, live.age, watcher=live))
        async with running(app, (100, 30)) as pilot:
            at = Walker(app, pilot)
            await at.settle()
            with open_store(address, write=True) as other:
                write(other, "/in/b.jsonl", [call("c-2", flow="weather", run="night-2")], "ci\x1b[31m-42")
            while "is writing" not in at.path:
                at.controls.auto_refresh.tick()
                await at.settle()
            assert at.screen.loaded is not None
            assert {row.record["flow"] for row in at.screen.loaded.main.rows} == {"viewing", "weather"}
            assert "is writing night-2" in at.path
            assert "\x1b" not in at.path


def test_who_wrote_a_run_is_kept_with_it(address: str) -> None:
    with open_store(address) as store:
        live = StoreWatcher(store)
        (row,) = live.show("runs", Request()).rows
    assert row.record["written_by"] == "ci-42"
