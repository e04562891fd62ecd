"""Forgetting calls on the command line: what is told, what is asked, and what is left."""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.support.facts import contents
from tests.support.pty_terminal import Terminal
from tests.surface.store import SqliteEngine, open_store
from tests.surface.tui import ExitCode, run

Captured = pytest.CaptureFixture[str]
RUN_1 = "run=run-1 flow=viewing"


@pytest.fixture
def store(tiny: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(tiny, tmp_path / "tiny.db"))


def forget(store: Path, *options: str) -> int:
    return run(["forget", *options, "--store", str(store)])


def calls(store: Path) -> int:
    with open_store(store) as opened:
        return int(opened.execute_sql("SELECT COUNT(*) FROM conversation")[0][0])


def test_a_dry_run_tells_what_would_go_and_changes_nothing(store: Path, capsys: Captured) -> None:
    before = store.read_bytes()
    assert forget(store, "--where", RUN_1, "--dry-run") == ExitCode.OK
    told = capsys.readouterr().err.splitlines()
    with open_store(store) as opened:
        n = "SELECT COUNT(*) FROM conversation c JOIN run r ON r.id = c.run_id JOIN flow f ON f.id = c.flow_id"
        ((wanted,),) = opened.execute_sql(f"{n} WHERE r.name = 'run-1' AND f.name = 'viewing'")
    assert told[0].startswith(f"{store}: {wanted} calls (run run-1, flow viewing) with ")
    assert told[0].endswith(f"; {20 - wanted} stay.")
    assert told[1] == "Nothing was changed (--dry-run)."
    assert store.read_bytes() == before


def test_without_a_terminal_it_takes_a_yes(store: Path, capsys: Captured) -> None:
    assert forget(store, "--where", RUN_1) == ExitCode.USAGE
    assert "add --yes to forget them, or --dry-run to see what goes" in capsys.readouterr().err
    assert calls(store) == 20
    assert forget(store, "--where", RUN_1, "--yes") == ExitCode.OK
    assert "forgotten. To have them back: riff-tui ingest --again PATH --store" in capsys.readouterr().err
    assert calls(store) < 20


@pytest.mark.parametrize(("answer", "left"), [("n", 20), ("", 20), ("y", 10)])
def test_on_a_terminal_it_asks(answer: str, left: int, store: Path) -> None:
    asked = ("-c", "from riff_tui.cli import main; main()", "forget", "--where", "flow=weather", "--store", str(store))
    with Terminal(asked, width=200) as terminal:
        terminal.wait(lambda: "Forget them? [y/N]" in "\n".join(terminal.screen.display))
        terminal.send(f"{answer}\n")
        terminal.end()
    assert terminal.code == ExitCode.OK
    assert calls(store) == left


def test_without_a_filter_it_is_refused(store: Path, capsys: Captured) -> None:
    assert forget(store, "--yes") == ExitCode.USAGE
    assert forget(store, "--where", " ", "--yes") == ExitCode.USAGE
    assert "forget needs --where" in capsys.readouterr().err
    assert calls(store) == 20


def test_a_filter_that_selects_nothing_is_well_and_says_so(store: Path, capsys: Captured) -> None:
    before = contents(store)
    assert forget(store, "--where", "flow=viewings") == ExitCode.OK
    told = capsys.readouterr().err
    assert "No call in " in told
    assert "viewing" in told
    assert contents(store) == before


def test_what_goes_is_told_as_one_object(store: Path, capsys: Captured) -> None:
    assert forget(store, "--where", "flow=weather", "--json", "--dry-run") == ExitCode.OK
    planned = json.loads(capsys.readouterr().out)
    assert forget(store, "--where", "flow=weather", "--json", "--yes", "--vacuum") == ExitCode.OK
    done: dict[str, Any] = json.loads(capsys.readouterr().out)
    same = {"schema_version": 1, "filter": "flow=weather", "calls": 10, "flows": ["weather"], "left": 10}
    assert same.items() <= planned.items()
    assert planned | {"done": True, "vacuumed": True} == done
    assert planned["done"] is False


def test_what_was_forgotten_is_not_ingested_until_it_is_taken_again(tmp_path: Path, capsys: Captured) -> None:
    from tests.support import tiny_store

    files, store = tmp_path / "files", tmp_path / "calls.db"
    tiny_store.write(files)
    ingest = ["ingest", str(files), "--store", str(store)]
    assert run(ingest) == ExitCode.OK
    before = contents(store)
    assert forget(store, "--where", "failed=1", "--yes") == ExitCode.OK
    after = calls(store)
    capsys.readouterr()
    assert run([*ingest, "--rebuild"]) == ExitCode.OK
    assert (
        f"{20 - after} conversations left out that were forgotten (ingest --again takes them)."
        in capsys.readouterr().err
    )
    assert calls(store) == after
    assert run([*ingest, "--again"]) == ExitCode.OK
    assert contents(store) == before


def test_a_store_that_another_holds_is_said_to_be_busy(
    store: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, sqlite_open = contents(store), SqliteEngine.open

    def impatient(engine: SqliteEngine, *, write: bool) -> None:
        sqlite_open(engine, write=write)
        engine.wait_at_most(0.05)

    monkeypatch.setattr(SqliteEngine, "open", impatient)
    with closing(sqlite3.connect(store, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        assert forget(store, "--where", "failed=1", "--yes") == ExitCode.STORE
    assert "another process" in capsys.readouterr().err
    assert contents(store) == before
