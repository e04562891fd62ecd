"""What a damaged store holds ends a command in a sentence, or shows as what it is: never in a traceback."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.surface.store import open_store
from tests.surface.tui import ExitCode, run

DAMAGES = (
    ("failure-matrix", "UPDATE call_failure SET last_ok_id = -1"),
    ("causes", "UPDATE conversation SET scenario_id = 'text'"),
    ("causes", "UPDATE call_failure SET state_id = 9223372036854775807"),
    ("causes", "UPDATE persona SET name = zeroblob(10) WHERE id = 1"),
    ("flows", "UPDATE aspect_total SET aspect_id = 9e999 WHERE aspect_id = 1"),
    ("flows", "UPDATE flow SET name = x'00ff' WHERE id = 1"),
    ("states", "UPDATE state_total SET state_id = x'' WHERE state_id = 1"),
)


def damaged(whole: Path, folder: Path, statement: str) -> Path:
    path = Path(shutil.copy(whole, folder / "store.db"))
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        assert connection.execute(statement).rowcount
    return path


@pytest.mark.parametrize(("view", "statement"), DAMAGES)
def test_a_damage_ends_in_a_sentence_and_the_doctor_names_it(
    view: str, statement: str, tiny: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = damaged(tiny, tmp_path, statement)
    assert run(["dump", view, "--store", str(path)]) in (ExitCode.OK, ExitCode.STORE)
    said = capsys.readouterr().err
    assert said.count("\n") <= 1
    assert "Traceback" not in said
    assert run(["doctor", "--store", str(path)]) == ExitCode.STORE
    assert "Traceback" not in capsys.readouterr().err


def test_what_fails_on_a_whole_store_is_not_blamed_on_it(tiny: Path) -> None:
    with open_store(tiny) as store, pytest.raises(KeyError), store.snapshot():
        raise KeyError("a mistake of ours")
