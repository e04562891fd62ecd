"""Notes are written into the store, else kept beside the settings, and what was written can be taken back."""

from __future__ import annotations

import os
import stat
import threading
from pathlib import Path

import pytest

from tests.support.facts import call, fresh, put
from tests.surface.store import Annotation, SqliteEngine, Store, StoreBusy, new_id, open_store, read_notes, standing
from tests.surface.tui import Notebook, OutputError, append_kept, lacking, open_to_read, read_kept

ANN = "ann@example.org"


@pytest.fixture
def location(tmp_path: Path) -> str:
    path = tmp_path / "calls.db"
    with fresh(path) as store:
        put(store, "/in/a.jsonl", [call("c-1"), call("c-2")])
    return str(path)


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    return tmp_path / "config" / "notes.jsonl"


@pytest.fixture
def notebook(location: str, kept: Path) -> Notebook:
    return Notebook(location, ANN, kept)


@pytest.fixture
def read_only(location: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(SqliteEngine, "can_write", lambda engine: False)


def note(book: Notebook, text: str, **given: object) -> Annotation:
    return Annotation(new_id(), "c-1", book.author, note=text, at=book.now(), **given)  # type: ignore[arg-type]


def texts(location: str) -> list[str | None]:
    with open_to_read(location) as store:
        return [line.note for line in standing(read_notes(store))]


def test_a_note_is_in_the_store_once_it_was_said_to_be_written(notebook: Notebook, location: str) -> None:
    receipt = notebook.write([note(notebook, "wrong day")])
    assert receipt.kept_in is None
    assert texts(location) == ["wrong day"]


def test_what_was_written_is_taken_back_step_by_step(notebook: Notebook, location: str) -> None:
    first = note(notebook, "wrong day")
    second = note(notebook, "wrong month", supersedes=first.id)
    notebook.write([first])
    notebook.write([second])
    notebook.write([note(notebook, "rude"), note(notebook, "slow")])
    found = [texts(location)]
    while notebook.undo():
        found.append(texts(location))
    assert found == [["wrong month", "rude", "slow"], ["wrong month"], ["wrong day"], []]
    assert not notebook.can_undo


def test_to_take_back_deletes_nothing_and_can_be_followed_by_more(notebook: Notebook, location: str) -> None:
    notebook.write([note(notebook, "wrong day")])
    notebook.undo()
    notebook.write([note(notebook, "fine after all")])
    with open_store(location) as store:
        assert [line.note for line in read_notes(store)] == ["wrong day", "wrong day", "fine after all"]
    assert texts(location) == ["fine after all"]


def test_what_another_wrote_is_theirs_when_a_change_to_it_is_taken_back(location: str, kept: Path) -> None:
    bea, ann = Notebook(location, "bea", kept), Notebook(location, ANN, kept)
    before = note(bea, "wrong day")
    bea.write([before])
    ann.write([Annotation(new_id(), "c-1", "bea", note="bad date", at=ann.now(), supersedes=before.id, editor=ANN)])
    ann.undo()
    with open_store(location) as store:
        assert [(line.note, line.author) for line in standing(read_notes(store))] == [("wrong day", "bea")]


@pytest.mark.usefixtures("read_only")
def test_notes_on_a_store_that_cannot_be_written_are_kept_and_read_with_it(
    notebook: Notebook, location: str, kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RIFF_TUI_CONFIG", str(kept.parent / "settings.toml"))
    receipt = notebook.write([note(notebook, "wrong day")])
    assert receipt.kept_in == kept
    assert "read-only" in receipt.why
    assert stat.S_IMODE(os.stat(kept).st_mode) == 0o600
    assert texts(location) == ["wrong day"]
    notebook.undo()
    assert texts(location) == []


@pytest.mark.usefixtures("read_only")
def test_a_line_that_was_torn_off_costs_no_other(notebook: Notebook, kept: Path) -> None:
    notebook.write([note(notebook, "first")])
    whole = kept.read_bytes()
    kept.write_bytes(whole + whole[: len(whole) // 2])
    notebook.write([note(notebook, "second")])
    assert [line.note for line in read_kept(kept)] == ["first", "second"]


def test_kept_notes_are_never_written_through_a_link(notebook: Notebook, kept: Path, tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("mine")
    kept.parent.mkdir()
    kept.symlink_to(victim)
    with pytest.raises(OutputError, match="is a link"):
        append_kept(kept, [note(notebook, "wrong day")])
    assert victim.read_text() == "mine"
    assert read_kept(kept) == []


def test_a_writer_is_waited_for(notebook: Notebook, location: str) -> None:
    letting_go = threading.Event()
    with open_store(location, write=True) as other:
        thread = _holding(other, letting_go)
        written: list[object] = []
        waiting = threading.Thread(target=lambda: written.append(notebook.write([note(notebook, "wrong day")])))
        waiting.start()
        assert not written
        letting_go.set()
        waiting.join()
        thread.join()
    assert texts(location) == ["wrong day"]


def test_a_note_is_kept_where_another_writer_does_not_let_go_and_comes_with_the_next(
    notebook: Notebook, location: str, kept: Path
) -> None:
    first = note(notebook, "wrong day")
    with open_store(location, write=True) as other, other.writing():
        with pytest.raises(StoreBusy):
            notebook.write([first], wait=0)
        receipt = notebook.write([first], wait=0, keep=True)
        assert receipt.kept_in == kept
        assert [line.note for line in notebook.standing_on("c-1")] == ["wrong day"]
    with open_store(location) as store:
        assert [line.note for line in lacking(store, read_kept(kept))] == ["wrong day"]
    notebook.write([note(notebook, "slow")])
    assert texts(location) == ["wrong day", "slow"]


def _holding(store: Store, letting_go: threading.Event) -> threading.Thread:
    """Hold the store on another thread until told to let go; return once it is held."""
    held = threading.Event()

    def hold() -> None:
        with store.writing():
            held.set()
            letting_go.wait()

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait()
    return thread
