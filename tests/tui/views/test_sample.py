"""The reading list as it is pasted and piped, and what it says of how far people are."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.facts import call, put
from tests.support.golden import assert_golden, printed
from tests.support.listed_calls import listed_store, names, read_two
from tests.surface.store import Annotation, Store, add_notes
from tests.surface.tui import Request, show
from tests.surface.tui import sample_progress as progress


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with listed_store(tmp_path / "calls.db") as opened:
        yield opened


@pytest.mark.parametrize(("format", "suffix"), [("markdown", "md"), ("json", "json"), ("text", "txt")])
def test_a_list_that_is_read_in_part_is_what_it_was(store: Store, format: str, suffix: str) -> None:
    read_two(store)
    assert_golden(printed(show(store, "sample", Request()), format), f"dumps/sample.{suffix}")


def test_a_cursor_begins_at_the_first_call_that_nobody_read(store: Store) -> None:
    table = show(store, "sample", Request())
    assert table.begin == table.rows[0].id
    read_two(store)
    table = show(store, "sample", Request())
    assert table.begin == table.rows[1].id
    add_notes(store, [Annotation(f"n{name}", name, "ann", note="fine", at=9) for name in names(store)])
    assert show(store, "sample", Request()).begin == ""


@pytest.mark.parametrize(
    ("where", "places"),
    [("read=yes", [1, 3]), ("noted=no", [2, 4, 5, 6]), ("code='wrong day'", [1]), ("noted_by=bob", [3])],
)
def test_a_filter_leaves_what_was_read_or_was_not(store: Store, where: str, places: list[int]) -> None:
    read_two(store)
    table = show(store, "sample", Request(where=where))
    assert [row.record["position"] for row in table.rows] == places
    assert (table.counts.matched, table.counts.total) == (len(places), 6)
    assert table.extras["read"] == 2


def test_a_filter_leaves_a_stratum_or_a_flow(store: Store) -> None:
    (outlier,) = show(store, "sample", Request(where="stratum=outlier")).rows
    assert (outlier.record["conversation"], outlier.record["why"]) == ("c-13", "outlier: 31 turns (median 9)")
    for flow in ("viewing", "dental"):
        rows = show(store, "sample", Request(where=f"flow={flow}")).rows
        assert {row.record["flow"] for row in rows} == {flow}


def test_a_call_that_is_gone_comes_last_and_leads_nowhere(store: Store) -> None:
    first, *others = names(store)
    put(store, "calls.jsonl", [call(name, flow=flow) for name in others for flow in ("viewing", "dental")], sha256="bb")
    table = show(store, "sample", Request())
    assert [row.record["conversation"] for row in table.rows] == [*others, first]
    assert (table.rows[-1].record["position"], table.rows[-1].where) == (1, "")
    assert table.notes[-1] == "1 call of the list is gone from the store."
    assert f"{first} (gone)" in printed(table, "text")
    assert table.begin == table.rows[0].id


@pytest.mark.parametrize(
    ("read", "codes", "since", "said"),
    [
        (0, 0, 0, ["0 of 100 read"]),
        (9, 0, 9, ["9 of 100 read"]),
        (37, 6, 0, ["37 of 100 read", "6 codes"]),
        (37, 1, 14, ["37 of 100 read", "no new code for 14 calls", "1 code"]),
        (37, 6, 20, ["37 of 100 read", "no new code for 20 calls: enough?", "6 codes"]),
    ],
)
def test_it_says_how_far_people_are_and_when_nothing_new_comes_up(
    read: int, codes: int, since: int, said: list[str]
) -> None:
    assert progress({"read": read, "calls": 100, "codes": codes, "since_new_code": since}) == said
