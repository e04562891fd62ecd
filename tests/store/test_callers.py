"""Calls whose caller failed are kept, are in no mean, and are counted apart."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.facts import call, fresh, put
from tests.surface.store import (
    Grouping,
    Predicate,
    Store,
    Term,
    call_sums,
    conversations,
    examine,
    flow_cells,
    state_cells,
)
from tests.surface.store import SumsCallSums as CallSums

FAILED = {"correctness": 0.0, "completion": 0.0}
CALLS = [
    call("1", caller="scripted", caller_ok=True),
    call("2", caller="scripted", aspects=FAILED),
    call("3", caller="gpt", caller_ok=False, errored=True, aspects=FAILED),
    call("4", caller="gpt", caller_ok=False),
    call("5", caller="gpt", caller_ok=False, errored=True, aspects={}),
    call("6", errored=True),
]


@pytest.fixture
def store(tmp_path: Path) -> Store:
    store = fresh(tmp_path / "calls.db")
    put(store, "calls.jsonl", CALLS)
    return store


def sums(store: Store, calls: Predicate | None = None) -> CallSums:
    [found] = call_sums(store, calls, Grouping(("flow",))).values()
    return found


def test_a_call_whose_caller_failed_is_in_no_mean_also_where_its_line_forgot_that_it_is_errored(store: Store) -> None:
    [cell] = flow_cells(store)
    assert (cell.n, cell.excluded) == (2, 4)
    assert (cell.success.n, cell.success.mean, cell.aspects["correctness"].mean) == (2, 0.5, 5.0)
    assert {cell.n for cell in state_cells(store)} == {2}


def test_calls_whose_caller_failed_are_counted_apart_and_as_they_ended(store: Store) -> None:
    found = sums(store)
    assert (found.excluded, found.caller_failed, found.caller_success_n, found.caller_success) == (4, 3, 2, 1)
    overall = found.overall_measure()
    assert overall is not None
    assert (found.success_measure().mean, overall.n, overall.mean) == (0.5, 4, 0.5)
    [cell] = flow_cells(store)
    assert (cell.caller_failed, cell.overall) == (3, overall)


def test_without_a_caller_that_failed_there_is_nothing_beside_success(store: Store) -> None:
    [cell] = flow_cells(store, Term("caller", "=", "scripted"))
    assert (cell.caller_failed, cell.overall) == (0, None)


def test_sums_of_callers_are_the_same_from_rollups_and_from_calls(store: Store) -> None:
    of_all_calls = Term("trial", ">=", 0)
    assert sums(store, of_all_calls) == sums(store)
    assert examine(store).wrong == []


def test_a_sum_that_differs_from_its_calls_is_found(store: Store) -> None:
    with store.writing():
        store.execute_sql("UPDATE call_rollup SET caller_success = 2")
    assert examine(store).wrong == ["sums: calls whose caller failed: 2 cells differ from their rows"]


@pytest.mark.parametrize(
    ("term", "found"),
    [
        (Term("caller", "=", "scripted"), "12"),
        (Term("caller", "contains", "GP"), "345"),
        (Term("caller", "missing", None), "6"),
        (Term("caller_ok", "=", False), "345"),
        (Term("caller_ok", "=", True), "1"),
        (Term("caller_ok", "missing", None), "26"),
        (Term("errored", "=", True), "3456"),
    ],
)
def test_calls_are_found_by_their_caller(store: Store, term: Term, found: str) -> None:
    assert "".join(sorted(each.conversation for each in conversations(store, term))) == found


def test_flows_are_told_apart_by_caller(store: Store) -> None:
    found = {cell.keys["caller"]: (cell.n, cell.excluded) for cell in flow_cells(store, by=("caller",))}
    assert found == {"scripted": (2, 0), "gpt": (0, 3), None: (0, 1)}
