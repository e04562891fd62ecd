"""What people wrote on calls is kept apart from them."""

from __future__ import annotations

from pathlib import Path

from tests.support.facts import call, fresh, put
from tests.surface.store import Annotation, Store
from tests.surface.store import schema as m


def notes(store: Store) -> list[tuple[str, str | None]]:
    return list(store.execute(m.Annotation.select(m.Annotation.id, m.Annotation.note).order_by(m.Annotation.id)))


def written(key: str, note: str) -> Annotation:
    return Annotation(key, "c-1", "ann@example.org", note=note, labels=["agent", "hallucination"])


def test_notes_wait_for_their_call_and_stay_when_it_is_replaced(tmp_path: Path) -> None:
    with fresh(tmp_path / "calls.db") as store:
        put(store, "/in/note.json", [written("n-1", "dead line")])
        put(store, "/in/a.jsonl", [call("c-1")])
        put(store, "/in/a.jsonl", [call("c-1", errored=True)], sha256="bb")
        assert notes(store) == [("n-1", "dead line")]


def test_a_file_that_changed_brings_its_notes_anew(tmp_path: Path) -> None:
    with fresh(tmp_path / "calls.db") as store:
        put(store, "/in/note.json", [written("n-1", "dead line"), written("n-2", "fine")])
        put(store, "/in/note.json", [written("n-1", "dead line from the start")], sha256="bb")
        assert notes(store) == [("n-1", "dead line from the start")]


def test_a_note_that_stands_in_two_places_is_one(tmp_path: Path) -> None:
    with fresh(tmp_path / "calls.db") as store:
        put(store, "/in/a.json", [written("n-1", "first"), written("n-1", "second")])
        put(store, "/in/b.json", [written("n-1", "third")])
        assert notes(store) == [("n-1", "third")]
