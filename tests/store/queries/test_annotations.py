"""Notes on a call: which of them are of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.support.facts import call, detail_of, fresh, put
from tests.surface.store import Annotation, Store, notes_by_call, notes_of_no_call, skipped


def written(key: str, **given: Any) -> Annotation:
    return Annotation(key, "c-1", "ann@example.org", note=f"note {key}", **given)


def on_call(store: Store, trial: int = 0) -> list[str]:
    detail = detail_of(store, "night-1", "c-1", trial)
    assert detail is not None
    return [note.id for note in detail.notes]


def test_a_note_is_of_the_one_call_that_nothing_it_says_tells_apart(tmp_path: Path) -> None:
    notes = [
        written("of either"),
        written("first", trial=0, run="night-1", flow="viewing", agent="model-a"),
        written("second", trial=1),
        written("of another run", run="night-2"),
        written("of another flow", flow="dental"),
        written("of another agent", agent="model-b"),
        Annotation("of another call", "c-2", "ann@example.org"),
    ]
    with fresh(tmp_path / "calls.db") as store:
        put(store, "/in/notes.json", notes)
        put(store, "/in/a.jsonl", [call("c-1"), call("c-1", trial=1)])
        assert on_call(store, 0) == ["first"]
        assert on_call(store, 1) == ["second"]


def test_notes_come_in_the_order_of_time_without_those_taken_back_or_written_anew(tmp_path: Path) -> None:
    notes = [written("b", at=2), written("c", at=1), written("old", at=0), written("a", at=3, supersedes="old")]
    with fresh(tmp_path / "calls.db") as store:
        put(store, "/in/a.jsonl", [call("c-1")])
        put(store, "/in/notes.json", [*notes, written("gone", deleted=True)])
        assert on_call(store) == ["c", "b", "a"]


def test_what_a_note_says_is_read_as_it_was_written(tmp_path: Path) -> None:
    with fresh(tmp_path / "calls.db") as store:
        put(store, "/in/a.jsonl", [call("c-1")])
        put(store, "/in/n.json", [written("n", turn=3, state="greet", verdict="fail", code="rude", labels=["agent"])])
        detail = detail_of(store, "night-1", "c-1")
        assert detail is not None
        [note] = detail.notes
        assert (note.turn, note.state, note.verdict, note.code, note.labels) == (3, "greet", "fail", "rude", ("agent",))
        assert (note.author, note.text, note.at) == ("ann@example.org", "note n", None)


def test_a_line_without_a_word_is_no_note_on_a_call(tmp_path: Path) -> None:
    with fresh(tmp_path / "calls.db") as store:
        put(store, "/in/a.jsonl", [call("c-1"), call("c-2")])
        put(store, "/in/n.json", [Annotation("n", "c-1", "ann@example.org"), Annotation("m", "c-2", "ann", note="hm")])
        assert [[note.id for note in notes] for notes in notes_by_call(store).values()] == [["m"]]


def test_a_call_alone_says_what_all_calls_say_where_a_line_moved_a_note_to_another(tmp_path: Path) -> None:
    notes = [written("here"), Annotation("there", "c-2", "ann@example.org", note="there", at=1, supersedes="here")]
    with fresh(tmp_path / "calls.db") as store:
        put(store, "/in/a.jsonl", [call("c-1"), call("c-2")])
        put(store, "/in/n.json", notes)
        found = notes_by_call(store)
        assert [note.id for written in found.values() for note in written] == ["there"]
        assert notes_by_call(store, (1, 2)) == {2: found[2]}


def test_of_two_edits_at_once_on_an_ambiguous_call_the_one_that_stands_is_listed(tmp_path: Path) -> None:
    notes = [written("old"), written("ann", at=1, supersedes="old"), written("bob", at=2, supersedes="old")]
    with fresh(tmp_path / "calls.db") as store:
        put(store, "/in/n.json", notes)
        assert tuple(notes_of_no_call(store)) == (1, 0)
        put(store, "/in/a.jsonl", [call("c-1"), call("c-1", trial=1)])
        assert tuple(notes_of_no_call(store)) == (0, 1)
        assert [entry.conversation for entry in skipped(store)] == ["c-1"]
