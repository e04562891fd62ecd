"""No note is lost: not by two who write at once, by a process that is killed, by a migration or by a copy."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.support.earlier_schema import made_earlier, stepped, store_of_today
from tests.support.facts import call, fresh, put
from tests.surface.store import Annotation, add_notes, examine, new_id, notes_by_call, open_store, read_notes

TIMES = 10
AT_ONCE = 200
_WRITER = """
import sys
from riff_store.annotations import new_id
from riff_store.database import open_store
from riff_store.facts import Annotation
from riff_store.write.notes import add_notes

location, author, times, size = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
for time in range(times):
    notes = [Annotation(new_id(), "c-1", author, note=f"{author} {time}") for _ in range(size)]
    print("begun", time, flush=True)
    with open_store(location, write=True) as store:
        add_notes(store, notes)
    print("done", time, flush=True)
"""


@contextmanager
def writer(store: Path, author: str, times: int, size: int) -> Iterator[subprocess.Popen[str]]:
    words = [sys.executable, "-c", _WRITER, str(store), author, str(times), str(size)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def read_until(process: subprocess.Popen[str], wanted: str) -> list[str]:
    """Return the lines of a process up to one."""
    assert process.stdout is not None
    found = []
    for each in process.stdout:
        found.append(each.strip())
        if found[-1] == wanted:
            return found
    raise AssertionError(f"it ended before {wanted}: {found}")


def test_two_who_write_at_once_lose_nothing(tmp_path: Path) -> None:
    fresh(tmp_path / "calls.db").close()
    with writer(tmp_path / "calls.db", "ann", 15, 2) as ann, writer(tmp_path / "calls.db", "bob", 15, 2) as bob:
        assert ann.wait() == bob.wait() == 0
    with open_store(tmp_path / "calls.db") as store:
        assert Counter(note.author for note in read_notes(store)) == {"ann": 30, "bob": 30}


def test_what_was_said_to_be_written_outlives_the_process(tmp_path: Path) -> None:
    path = tmp_path / "calls.db"
    fresh(path).close()
    for time in range(TIMES):
        with writer(path, f"author {time}", TIMES, AT_ONCE) as process:
            said = read_until(process, f"begun {time % 3}")
            process.kill()
        with open_store(path) as store:
            found = Counter(note.note for note in read_notes(store) if note.author == f"author {time}")
            assert set(found.values()) <= {AT_ONCE}, "half of an import is there"
            assert {f"author {time} {word.split()[1]}" for word in said if word.startswith("done")} <= set(found)
            assert examine(store).wrong == []


def test_notes_of_an_older_store_are_there_after_it_was_migrated(tmp_path: Path) -> None:
    path = store_of_today(tmp_path / "calls.db")
    wanted = Annotation("n-1", "c-1", "ann", turn=3, verdict="fail", code="loop", note="why", labels=["agent"], at=7)
    with open_store(path, write=True) as store:
        add_notes(store, [wanted])
    with stepped(), open_store(made_earlier(path), write=True) as store:
        assert wanted in read_notes(store)
        assert examine(store).wrong == []


def test_a_copy_of_a_store_has_its_notes_and_merges_back(tmp_path: Path) -> None:
    path, copy = tmp_path / "calls.db", tmp_path / "copy.db"
    with fresh(path) as store:
        add_notes(store, [Annotation("n-1", "c-1", "ann", code="loop")])
    shutil.copy(path, copy)
    with open_store(copy, write=True) as other:
        add_notes(other, [Annotation("n-2", "c-1", "bob", code="slow")])
        carried = read_notes(other)
    with open_store(path, write=True) as store:
        assert add_notes(store, carried)[:3] == (1, 1, 0)
        assert read_notes(store) == carried


def test_notes_stay_through_all_that_becomes_of_their_calls(tmp_path: Path) -> None:
    note = Annotation("n-1", "c-1", "ann", run="night-1", flow="viewing", code="loop")
    with fresh(tmp_path / "calls.db") as store:
        add_notes(store, [note])
        assert notes_by_call(store) == {}
        put(store, "/in/a.jsonl", [call("c-1")])
        assert [[found.id for found in notes] for notes in notes_by_call(store).values()] == [["n-1"]]
        put(store, "/in/a.jsonl", [call("c-1", errored=True)], sha256="bb")
        put(store, "/in/b.jsonl", [call("c-1", agent="model-b")])
        assert notes_by_call(store) == {}, "it does not say which of the two it is on"
        put(store, "/in/b.jsonl", [], sha256="cc")
        assert len(notes_by_call(store)) == 1
        put(store, "/in/a.jsonl", [], sha256="dd")
        assert read_notes(store) == [note]


def test_many_notes_are_counted_as_they_were_given(tmp_path: Path) -> None:
    calls = [call(f"c-{number}") for number in range(500)]
    lines = [
        Annotation(
            new_id(), f"c-{number % 500}", f"author {number % 7}", run="night-1", code=f"code {number % 11}", at=number
        )
        for number in range(10_000)
    ]
    with fresh(tmp_path / "calls.db") as store:
        put(store, "/in/a.jsonl", calls)
        add_notes(store, lines)
        found = {(note.author, note.code, key) for key, notes in notes_by_call(store).items() for note in notes}
        given = {(each.author, each.code, each.conversation) for each in lines}
        assert len(found) == sum(map(len, notes_by_call(store).values())) == len(given)
        assert Counter(each[:2] for each in found) == Counter(each[:2] for each in given)
