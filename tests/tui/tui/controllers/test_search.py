"""What a filter would leave is what the store answers, and quick enough to be said while one types."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.fake_catalog import FakeCatalog, conversation_table, flow_table, long_table
from tests.surface.explorer import count_matches, moment_test, row_test
from tests.surface.store import open_store
from tests.surface.tui import Filter, FilterError, Request, UsageError, catalog

VIEWS = ("flows", "segments", "states", "runs", "judges", "archetypes", "skipped")
SCOPES = ("", "flow=viewing agent=gemini", "run=run-1")
EXPRESSIONS = (
    "", "view", "!view", "run-1", "/^c/", "flow:view", "flow=viewing | flow=weather", "agent:gem", "stall>0.2",
    "progress<=0.7", "n>3", "!n>3", "slot_fill_rate=·", "operability<4", "humanness=·", "humanness.codex>1",
    "view stall>0.2", "(flow:view n<9)", "segment:collect", "worst_state:collect", "kind=skipped", "mean>2",
)  # fmt: skip


@pytest.mark.parametrize("view", VIEWS)
def test_what_would_be_left_is_what_the_store_leaves(tiny: Path, view: str) -> None:
    told = 0
    with open_store(tiny) as store:
        for scope in SCOPES if view != "skipped" else ("",):
            whole = catalog.show(store, view, Request(where=scope))
            for expression in EXPRESSIONS:
                try:
                    answer = catalog.show(store, view, Request(where=(Filter(scope) & Filter(expression)).text))
                except FilterError:
                    with pytest.raises(FilterError):
                        count_matches(expression, whole)
                    continue
                except UsageError:
                    assert count_matches(expression, whole) is None
                    continue
                left = count_matches(expression, whole)
                told += left is not None
                assert left in (None, len(answer.rows)), (scope, expression)
    assert told >= 5


@pytest.mark.parametrize("expression", ["persona:angry", "judge=codex", "persona:calm stall=1 n>3"])
def test_what_speaks_of_calls_is_left_to_the_store(expression: str) -> None:
    assert count_matches(expression, flow_table()) is None


def test_a_list_of_which_pages_are_missing_and_views_that_have_no_rows_of_their_own_are_left_to_the_store() -> None:
    assert count_matches("viewing", FakeCatalog().show("conversations", Request())) is None
    assert count_matches("dental", long_table(30_000)) is None


@pytest.mark.parametrize(
    ("expression", "found"),
    [("qwen", ["viewing qwen", "weather qwen"]), ("persona:x n>20", ["viewing qwen"]), ("oper>9", ["weather qwen"])],
)
def test_rows_are_found_by_what_a_filter_says_of_them(expression: str, found: list[str]) -> None:
    table = FakeCatalog().show("flows", Request())
    test = row_test(expression, table)
    assert test is not None
    assert [row.id for row in table.rows if test(row)] == found


def test_a_filter_that_says_nothing_of_such_rows_finds_none() -> None:
    assert row_test("persona:angry", flow_table()) is None
    assert row_test("", flow_table()) is None


@pytest.mark.parametrize(
    ("expression", "found"),
    [
        ("tuesday", ["2"]),
        ('"which day"', ["1", "4"]),
        ("HAS_", ["3", "5"]),
        ("kind=guard", ["5"]),
        ("state=greet !maybe", ["0", "1"]),
        ("/^done/i", ["7"]),
        ("", []),
    ],
)
def test_what_was_said_and_what_happened_is_found(expression: str, found: list[str]) -> None:
    table = conversation_table()
    test = moment_test(expression, table)
    assert [row.id for row in table.rows if test(row)] == found


def test_a_field_that_moments_do_not_have_is_named_with_its_place() -> None:
    with pytest.raises(FilterError) as caught:
        moment_test("day persona:x", conversation_table())
    assert (caught.value.position, "no persona" in caught.value.message) == (4, True)
