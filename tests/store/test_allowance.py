"""A statement ends, whatever the file it reads is made of: it takes no more than a store of that size can need."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.facts import call, fresh, put
from tests.support.lying_stores import loop_pages
from tests.surface.store import LONGEST, STEPS_PER_BYTE, NotAStore, examine, open_store, set_steps_per_byte


@pytest.fixture(scope="module")
def looping(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store in which the rows of transcripts come again and again."""
    path = tmp_path_factory.mktemp("looping") / "calls.db"
    with fresh(path) as store:
        put(store, "/in/a.jsonl", [call(f"c-{number}") for number in range(5)])
        store.execute_sql("INSERT INTO transcript (conversation_id, body) SELECT id, x'00' FROM conversation")
    return loop_pages(path, "transcript")


@pytest.fixture
def strict() -> Iterator[None]:
    """A twentieth of what is allowed otherwise."""
    set_steps_per_byte(STEPS_PER_BYTE // 20)
    yield
    set_steps_per_byte(STEPS_PER_BYTE)


@pytest.mark.parametrize("asked", ["SUM(conversation_id)", "COUNT(*)"])
@pytest.mark.usefixtures("strict")
def test_a_statement_that_would_not_end_is_ended_in_a_sentence(looping: Path, asked: str) -> None:
    with open_store(looping) as store, pytest.raises(NotAStore, match=r"took more than .* limits\.statement_steps"):
        store.execute_sql(f"SELECT {asked} FROM transcript WHERE TRUE")


def test_no_more_rows_are_returned_than_a_store_can_hold(looping: Path) -> None:
    with open_store(looping) as store, pytest.raises(NotAStore, match="more rows than"):
        store.execute_sql("SELECT conversation_id FROM transcript")


@pytest.mark.usefixtures("strict")
def test_the_doctor_names_a_store_whose_pages_lead_back_to_each_other(looping: Path) -> None:
    with open_store(looping) as store:
        health = examine(store)
    assert health.wrong
    assert any("2nd reference to page" in problem for problem in health.checks["integrity"])


@pytest.mark.usefixtures("strict")
def test_a_whole_store_needs_far_less(tmp_path: Path) -> None:
    with fresh(tmp_path / "calls.db") as store:
        put(store, "/in/a.jsonl", [call(f"c-{number}") for number in range(500)])
    with open_store(tmp_path / "calls.db") as store:
        assert examine(store).wrong == []


def test_a_value_that_claims_to_be_longer_than_its_file_is_refused(looping: Path) -> None:
    with open_store(looping) as store, pytest.raises(NotAStore, match="damaged"):
        store.execute_sql("SELECT length(zeroblob(?))", (LONGEST + 1,))
