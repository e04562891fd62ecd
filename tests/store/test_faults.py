"""A writer that dies or fails at any moment leaves whole files and true sums."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pytest

from riff_store.database import open_store
from riff_store.engines.sqlite_connection import SqliteConnection
from riff_store.errors import StoreError
from riff_store.writer import Item, Writer
from tests.support.facts import broken_rows, call, contents, fresh, put, source, verdict


def first(n: int = 3) -> list[Item]:
    return [call(f"c-{i}") for i in range(n)]


def second() -> list[Item]:
    return [call("c-0", flow="other"), call("d-1", errored=True), *first(2)[1:]]


class _Failing(SqliteConnection):
    """A connection whose n-th statement fails, as a disk would."""

    left = 10**9

    def _step(self) -> None:
        type(self).left -= 1
        if type(self).left == 0:
            raise sqlite3.OperationalError("disk I/O error")

    def execute(self, *given: Any) -> sqlite3.Cursor:
        self._step()
        return super().execute(*given)

    def executemany(self, *given: Any) -> sqlite3.Cursor:
        self._step()
        return super().executemany(*given)


def test_a_fault_at_any_statement_leaves_the_store_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, done = tmp_path / "calls.db", tmp_path / "done.db"
    for place in (path, done):
        with fresh(place) as store:
            put(store, "/in/a.jsonl", first())
            put(store, "/in/h.jsonl", [verdict("c-0", 4.0)])
    with fresh(done) as store:
        put(store, "/in/a.jsonl", second(), sha256="bb")
    before, after = contents(path), contents(done)

    connect = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", lambda *a, **k: connect(*a, **k | {"factory": _Failing}))
    for n in range(1, 200):
        _Failing.left = 10**9
        with open_store(path, write=True) as store:
            writer = Writer(store)
            _Failing.left = n
            try:
                with writer.batch():
                    writer.put_file(source("/in/a.jsonl", "bb"), second())
            except (StoreError, sqlite3.Error):
                pass
            else:
                break
            finally:
                _Failing.left = 10**9
        monkeypatch.undo()
        assert contents(path) == before, f"statement {n}"
        assert broken_rows(path) == []
        monkeypatch.setattr(sqlite3, "connect", lambda *a, **k: connect(*a, **k | {"factory": _Failing}))
    monkeypatch.undo()
    assert n > 25
    assert contents(path) == after
