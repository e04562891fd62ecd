"""Every command that opens a store refuses one that lies in a sentence, and runs nothing that was put into it."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.support.earlier_schema import earlier_store, stepped
from tests.support.lying_stores import LIES, tell_a_lie
from tests.surface.tui import ExitCode, run

LIE = LIES["an endless view in the place of calls"]
COMMANDS: Sequence[Sequence[str]] = (
    ("doctor", "--store", "{lying}"),
    ("doctor", "--migrate", "--store", "{older}"),
    ("dump", "flows", "--store", "{lying}"),
    ("dump", "conversations", "--store", "{lying}"),
    ("export", "--store", "{lying}", "-o", "{folder}/out.csv"),
    ("gate", "--store", "{lying}", "--baseline", "previous", "--candidate", "latest"),
    ("ingest", "{folder}/in", "--store", "{lying}"),
    ("ingest", "{folder}/in", "--store", "{older}"),
    ("notes", "export", "--store", "{lying}"),
    ("notes", "add", "--store", "{lying}", "--where", "conversation=c-1", "--note", "warm"),
    ("notes", "import", "{folder}/in/notes.jsonl", "--store", "{lying}"),
    ("sample", "--store", "{lying}"),
    ("copy", "{lying}", "{folder}/new.db"),
    ("copy", "{tiny}", "{lying}"),
)


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_a_command_refuses_a_store_that_lies(
    command: Sequence[str], tiny: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lying = tell_a_lie(Path(shutil.copy(tiny, tmp_path / "lying.db")), LIE)
    older = tell_a_lie(earlier_store(tmp_path / "older.db"), LIE)
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "notes.jsonl").write_text('{"conversation": "c-1", "note": "warm", "author": "ann"}\n')
    places = {"lying": str(lying), "older": str(older), "tiny": str(tiny), "folder": str(tmp_path)}
    before = lying.read_bytes(), older.read_bytes()
    with stepped():
        assert run([part.format(**places) for part in command]) == ExitCode.STORE
    assert "it is not a store that riff-tui made" in capsys.readouterr().err
    assert (lying.read_bytes(), older.read_bytes()) == before
