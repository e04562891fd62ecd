"""`dump conversation` of a voice call, from the store to each format."""

from __future__ import annotations

import json
import shutil
import sqlite3
from pathlib import Path

import pytest
import zstandard

from tests.support.voice_answers import SECRET, document
from tests.surface.tui import ExitCode, run

Captured = pytest.CaptureFixture[str]
CALL = "c-0000"


@pytest.fixture
def store(tiny: Path, tmp_path: Path) -> Path:
    """The tiny store, in which one call was spoken."""
    copy = tmp_path / "voice.db"
    shutil.copyfile(tiny, copy)
    body = zstandard.compress(json.dumps(document()).encode())
    with sqlite3.connect(copy) as database:
        key = database.execute("SELECT id FROM conversation WHERE name = ?", [CALL]).fetchone()[0]
        database.execute("UPDATE transcript SET body = ? WHERE conversation_id = ?", [body, key])
    database.close()
    return copy


def dumped(store: Path, capsys: Captured, *options: str, where: str = CALL) -> str:
    assert run(["dump", "conversation", "--where", where, "--store", str(store), *options]) == ExitCode.OK
    return capsys.readouterr().out


@pytest.mark.parametrize("form", ["text", "markdown", "svg"])
def test_what_people_read_begins_with_the_lanes(store: Path, capsys: Captured, form: str) -> None:
    shown = dumped(store, capsys, "--format", form)
    assert "▒▒▒▒▒" in shown
    assert "▲3.5" in shown
    assert "agent_interrupt" in shown.replace("\\", "")


@pytest.mark.parametrize("form", ["markdown", "svg"])
def test_what_is_posted_holds_words_only_when_asked(store: Path, capsys: Captured, form: str) -> None:
    assert SECRET not in dumped(store, capsys, "--format", form)
    shown = dumped(store, capsys, "--format", form, "--text").replace("\\", "")
    assert f"[-{SECRET},-]{{+Aber Nathy,+}}" in shown
    assert f"bookings / {SECRET} / day" in shown


def test_json_holds_the_call_under_voice(store: Path, capsys: Captured) -> None:
    known = json.loads(dumped(store, capsys, "--format", "json"))
    assert known["voice"]["turns"][2]["evidence"]["overlap_ms"] == 3500.0
    assert known["voice"]["agent"][2] == {"turn": 2, "start": 19.0, "end": 22.5}
    said = [row for row in known["rows"] if row["role"] == "agent" and row["turn"] == 2 and row["kind"] == "turn"]
    told = [(row["latency_ms"], row["turn_taking"], row["reason"]) for row in said]
    assert told == [(-5000.0, 0.0, "agent_interrupt")]


def test_csv_and_lines_have_the_columns_of_a_voice_call(store: Path, capsys: Captured) -> None:
    head = dumped(store, capsys, "--format", "csv").splitlines()[0]
    assert head == "t,turn,kind,state,role,text,changed,latency_ms,turn_taking,reason,detail"
    lines = dumped(store, capsys, "--format", "jsonl").splitlines()
    assert {"turn", "meant", "heard", "words_changed"} <= json.loads(lines[0]).keys()


def test_ascii_is_ascii(store: Path, capsys: Captured) -> None:
    shown = dumped(store, capsys, "--ascii")
    assert shown.isascii()
    assert "XXXXX" in shown
    assert "^3.5" in shown


def test_the_real_record_shows_the_agent_breaking_in(shared_data: Path, tmp_path: Path, capsys: Captured) -> None:
    store = tmp_path / "eva.db"
    assert run(["ingest", str(shared_data / "eva" / "run-real"), "--store", str(store)]) == ExitCode.OK
    capsys.readouterr()
    shown = dumped(store, capsys, where="1.1.2")
    assert "▲18.5" in shown
    assert "!21.3 s early" in shown
    known = json.loads(dumped(store, capsys, "--format", "json", where="1.1.2"))
    assert sum(row["kind"] == "tool" for row in known["rows"]) == 5
