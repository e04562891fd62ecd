"""Transcripts are compressed by what they have in common, and read whatever compressed them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import zstandard

from tests.support.facts import broken_rows, call, detail_of, fresh, put, source
from tests.surface.ingest import Turn
from tests.surface.store import (
    LARGEST_DICTIONARY,
    SAMPLES,
    ConversationFacts,
    EventColumns,
    Item,
    NotAStore,
    Store,
    Writer,
    compressor,
    spell,
)

WORDS = (
    "boat", "lake", "rain", "kettle", "stairs", "window", "garden", "letter", "bridge", "winter", "station", "lamp",
    "harbour", "cloud", "meadow",
)  # fmt: skip


def said(number: int) -> list[str]:
    """What a call says, of which some is in all of them."""
    return [f"Hello, this is the office, how can I help you with your {WORDS[number % 15]}?", WORDS[number % 13] * 2]


def spoken(number: int, **given: Any) -> ConversationFacts:
    turns = [Turn(role="agent", text=text, t=float(number % 97)) for text in said(number)]
    return call(f"c-{number}", line=number + 1, transcript=spell(turns, EventColumns(), {}), **given)


def kept(store: Store) -> list[tuple[Any, ...]]:
    """By which dictionary how many transcripts are compressed, and into how many bytes."""
    return store.execute_sql(
        "SELECT dictionary_id, count(*), sum(length(body)) FROM transcript GROUP BY 1 ORDER BY 1 NULLS FIRST"
    )


def texts(store: Store, name: str) -> list[str]:
    found = detail_of(store, "night-1", name)
    assert found is not None
    assert found.document is not None
    return [turn["text"] for turn in found.document["turns"]]  # type: ignore[attr-defined]


def test_few_transcripts_are_compressed_each_by_itself(tmp_path: Path) -> None:
    with fresh(tmp_path / "calls.db") as store:
        put(store, "/in/a.jsonl", [spoken(number) for number in range(SAMPLES - 1)])
        assert [row[:2] for row in kept(store)] == [(None, SAMPLES - 1)]


def test_many_are_compressed_by_what_they_have_in_common_and_read_one_by_one(tmp_path: Path) -> None:
    path = tmp_path / "calls.db"
    with fresh(path) as store:
        put(store, "/in/a.jsonl", [spoken(number) for number in range(SAMPLES - 1)])
        [(_, alone, before)] = kept(store)
        put(store, "/in/b.jsonl", [spoken(number) for number in range(SAMPLES - 1, SAMPLES + 50)])
        [(dictionary, together, after)] = kept(store)
        assert (dictionary, together) == (1, SAMPLES + 50)
        assert after / together < 0.8 * before / alone
        assert [texts(store, f"c-{number}") for number in (0, 7, SAMPLES + 49)] == [
            said(number) for number in (0, 7, SAMPLES + 49)
        ]
    with fresh(path) as store:
        put(store, "/in/c.jsonl", [spoken(SAMPLES + 50)])
        assert [row[:2] for row in kept(store)] == [(1, SAMPLES + 51)]
        assert texts(store, f"c-{SAMPLES + 50}") == said(SAMPLES + 50)
    assert broken_rows(path) == []


def test_what_another_process_compressed_is_read_also_where_the_dictionary_is_another_by_then(tmp_path: Path) -> None:
    def elsewhere(number: int) -> Item:
        facts = spoken(number, filled=1)
        facts.transcript, facts.compressed = compressor(given or b"none").compress(facts.transcript or b""), True
        return facts

    with fresh(tmp_path / "calls.db") as store:
        assert Writer(store).dictionary() is None
        put(store, "/in/a.jsonl", [spoken(number, filled=1) for number in range(SAMPLES)])
        writer = Writer(store)
        given = writer.dictionary()
        for path, numbers in (("/in/b.jsonl", (0, SAMPLES)), ("/in/c.jsonl", (1, SAMPLES + 1))):
            with writer.batch():
                writer.put_file(source(path), map(elsewhere, numbers))
            put(store, "/in/d.jsonl", [spoken(numbers[1], filled=1)])
            assert [texts(store, f"c-{number}") for number in numbers] == [said(number) for number in numbers]
            with store.writing():
                store.execute_sql("INSERT INTO text_dictionary (body) VALUES (?)", (b"Hello, this is the office",))
        assert [row[:2] for row in kept(store)] == [(1, SAMPLES), (2, 2)]
        assert store.execute_sql("SELECT DISTINCT kind FROM skipped_input") == [("superseded",)], "none lost a word"


def test_a_file_that_does_not_go_in_takes_its_dictionary_with_it(tmp_path: Path) -> None:
    def fails_after(calls: int) -> Any:
        yield from (spoken(number) for number in range(calls))
        raise OSError("the disk is gone")

    with fresh(tmp_path / "calls.db") as store:
        with pytest.raises(Exception, match="disk is gone"):
            put(store, "/in/a.jsonl", fails_after(2 * SAMPLES))
        assert store.execute_sql("SELECT count(*) FROM text_dictionary") == [(0,)]
        put(store, "/in/a.jsonl", [spoken(1)])
        assert [row[:2] for row in kept(store)] == [(None, 1)]
        assert texts(store, "c-1") == said(1)


@pytest.mark.parametrize(
    "dictionary",
    [b"", b"short", b"\x37\xa4\x30\xec" + b"\xff" * 500, b"x" * (LARGEST_DICTIONARY + 1), 2**40, None],
    ids=["empty", "short", "broken", "large", "number", "missing"],
)
def test_a_hostile_dictionary_damages_the_transcripts_that_name_it_and_no_more(
    tmp_path: Path, dictionary: bytes | int | None
) -> None:
    with fresh(tmp_path / "calls.db") as store:
        put(store, "/in/a.jsonl", [spoken(number) for number in range(SAMPLES)])
        plain = zstandard.compress(spell([Turn(role="agent", text="Hello")], EventColumns(), {}))
        with store.writing():
            store.execute_sql("DELETE FROM text_dictionary")
            if dictionary is not None:
                store.execute_sql("INSERT INTO text_dictionary (id, body) VALUES (1, ?)", (dictionary,))
            store.execute_sql(
                "UPDATE transcript SET body = ?, dictionary_id = NULL WHERE conversation_id = 2", (plain,)
            )
        with pytest.raises(NotAStore, match="damaged"):
            texts(store, "c-0")
        assert texts(store, "c-1") == ["Hello"]
        put(store, "/in/b.jsonl", [spoken(SAMPLES)])
        assert texts(store, f"c-{SAMPLES}") == said(SAMPLES)


def test_a_damaged_transcript_is_left_as_it_is_and_stops_no_ingest(tmp_path: Path) -> None:
    with fresh(tmp_path / "calls.db") as store:
        put(store, "/in/a.jsonl", [spoken(number) for number in range(SAMPLES - 1)])
        with store.writing():
            store.execute_sql("UPDATE transcript SET body = ? WHERE conversation_id = 2", (b"junk",))
        put(store, "/in/b.jsonl", [spoken(number) for number in range(SAMPLES - 1, SAMPLES + 50)])
        assert [row[:2] for row in kept(store)] == [(None, 1), (1, SAMPLES + 49)]
        assert texts(store, "c-0") == said(0)
