"""Dumps of calls that people gave verdicts: what is said of people and judges, and all that does not change by it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.golden import assert_golden, printed
from tests.support.people_store import store_of_calls, with_notes
from tests.support.postgresql_server import Server
from tests.surface.store import Measure, Rates, Store, open_store
from tests.surface.tui import Request, rate_marks, shortfalls, show

OF_PEOPLE = ("judges", "agreement", "disputes", "alignment")
FORMATS = [("markdown", "md"), ("json", "json"), ("text", "txt")]
COMPUTED = (
    ("flows", Request()), ("flows", Request(by=("persona",))), ("segments", Request()), ("states", Request()),
    ("timeline", Request()), ("flow-table", Request()), ("effects", Request()), ("worklist", Request()),
    ("archetypes", Request()), ("runs", Request()), ("repeats", Request()),
    ("compare", Request(sides=("night", "noon"))), ("failures", Request(sides=("night", "noon"))),
)  # fmt: skip


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with with_notes(store_of_calls(tmp_path_factory.mktemp("people"))) as opened:
        yield opened


@pytest.mark.parametrize("view", OF_PEOPLE)
@pytest.mark.parametrize(("format", "suffix"), FORMATS)
def test_dumps_are_what_they_were(store: Store, view: str, format: str, suffix: str) -> None:
    assert_golden(printed(show(store, view, Request()), format), f"dumps/people/{view}.{suffix}")


def test_dumps_from_a_server_are_the_same(store: Store, postgresql: Server) -> None:
    with open_store(postgresql.copy_of(Path(store.location))) as on_server:
        for view in OF_PEOPLE:
            for format, suffix in FORMATS:
                assert_golden(printed(show(on_server, view, Request()), format), f"dumps/people/{view}.{suffix}")


@pytest.mark.parametrize("view", OF_PEOPLE)
def test_every_row_leads_to_as_many_calls_as_it_says(store: Store, view: str) -> None:
    for row in show(store, view, Request()).rows:
        where = row.leads or row.where
        if not where:
            assert (view, _said_otherwise(row.record)) == ("alignment", 0)
            continue
        below = show(store, "conversations", Request(where=where))
        if view == "alignment":
            assert below.counts.matched == _said_otherwise(row.record), where
        else:
            assert below.counts.matched, where


def _said_otherwise(record: object) -> int:
    assert isinstance(record, dict)
    rates = ((record[key], record[f"{key}_n"]) for key in ("tpr", "tnr"))
    return sum(round((1 - rate) * n) for rate, n in rates if rate is not None)


def test_what_judges_surely_miss_is_said_the_worst_first_with_its_interval(store: Store) -> None:
    found = show(store, "alignment", Request())
    said = [note for note in found.notes if " of what people " in note]
    assert said[0] == "warm misses 100% of what people fail (14 of 14; 95 % interval 78% to 100%)."
    [row] = [row for row in found.rows if row.record["judge"] == "warm" and row.record["code"] is None]
    assert row.severity["tpr"] == "bad"
    assert (row.record["tpr"], row.record["tpr_n"], row.record["intervals"]["tpr"][1] < 0.22) == (0.0, 14, True)
    assert "2 calls on which people disagree are left out: judge:human in disputes lists them." in found.notes
    assert show(store, "judges", Request()).notes[:2] == said[:2]


def test_nothing_is_said_of_a_judge_by_fewer_than_five_calls() -> None:
    few, enough = (Rates(Measure(n, 0, rate=True), Measure(0, 0)) for n in (4, 5))
    assert (rate_marks(few), shortfalls([("codex", few)])) == ({}, [])
    assert rate_marks(enough) == {"tpr": "bad"}
    assert shortfalls([("codex", few), ("gemini", enough)]) == [
        "gemini misses 100% of what people fail (5 of 5; 95 % interval 57% to 100%)."
    ]


def test_rows_can_be_chosen_by_code_judge_and_rate(store: Store) -> None:
    of_code = show(store, "alignment", Request(where='code="wrong day" judge=strict'))
    assert [(row.record["judge"], row.record["code"]) for row in of_code.rows] == [("strict", "wrong day")]
    rates = [row.record["tpr"] for row in show(store, "alignment", Request(where="tpr<60%")).rows]
    assert rates
    assert max(rates) < 0.6


def test_verdicts_of_people_move_no_computed_figure(tmp_path: Path) -> None:
    with store_of_calls(tmp_path) as store:
        before = [printed(show(store, *asked), "json") for asked in COMPUTED]
        opened = with_notes(store)
    with opened:
        after = [printed(show(opened, *asked), "json") for asked in COMPUTED]
        people = [row.record["judge"] for row in show(opened, "judges", Request()).rows]
    assert after == before
    assert sum(name.startswith("human:") for name in people) == 2
