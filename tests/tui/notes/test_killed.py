"""What was said to be written is there whatever ends the process that wrote it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.facts import broken_rows, call, fresh, put
from tests.surface.store import open_store, read_notes

_WRITING = """
import itertools, sys
from riff_store.annotations import new_id
from riff_store.facts import Annotation
from riff_tui.notes.notebook import Notebook

book = Notebook(sys.argv[1], "ann@example.org")
for number in itertools.count():
    note = Annotation(new_id(), "c-1", book.author, note=str(number), at=book.now())
    book.write([note])
    print(note.id, flush=True)
    if number % 3 == 2:
        book.undo()
"""


@pytest.mark.parametrize("notes", [1, 4, 12])
def test_every_note_that_was_said_to_be_written_outlives_a_kill(tmp_path: Path, notes: int) -> None:
    location = tmp_path / "calls.db"
    with fresh(location) as store:
        put(store, "/in/a.jsonl", [call("c-1")])
    with subprocess.Popen(
        [sys.executable, "-c", _WRITING, str(location)], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        reported = {process.stdout.readline().strip() for _ in range(notes)}
        process.kill()
    with open_store(location, write=True) as store:
        assert reported <= {line.id for line in read_notes(store)}
    assert broken_rows(location) == []
