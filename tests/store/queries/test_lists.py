"""Runs, judges, archetypes and what was skipped."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.agreement import rank_correlation
from tests.support.facts import call, fresh, put, verdict
from tests.surface.store import (
    ConversationFacts,
    Measure,
    RunSummary,
    Skipped,
    SkippedEntry,
    Store,
    archetypes,
    judges,
    run_order,
    runs,
    skipped,
)
from tests.surface.tui import parse


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with fresh(tmp_path / "store.db") as opened:
        yield opened


# runs

NOTHING = Measure(0, 0)


def test_runs_come_in_order_of_time_with_what_is_known_of_them(store: Store) -> None:
    put(
        store,
        "calls.jsonl",
        [
            call("c1", run="second", started_at=200, run_label="nightly", commit="abc", branch="main"),
            call("c2", run="second", started_at=150, flow="other", errored=True),
            call("c3", run="first", started_at=160),
            call("c4", run="first", started_at=100, aspects={"correctness": 0.0}),
            call("c5", run="undated"),
        ],
    )
    found = runs(store)
    assert [replace(run, success=NOTHING, quality=NOTHING) for run in found] == [
        RunSummary("first", None, None, None, 100, 1, 2, 0, NOTHING, NOTHING, 1),
        RunSummary("second", "nightly", "abc", "main", 150, 2, 1, 1, NOTHING, NOTHING, 0),
        RunSummary("undated", None, None, None, None, 1, 1, 0, NOTHING, NOTHING, 0),
    ]
    assert [(run.success.mean, run.success.n) for run in found] == [(0.5, 2), (1.0, 1), (1.0, 1)]
    assert run_order(store) == {"first": 0, "second": 1, "undated": 2}


@pytest.mark.parametrize(
    ("expression", "left"),
    [("run=first", ["first"]), ("commit=abc", ["second"]), ("flow=other", ["second"]), ("persona=x", [])],
)
def test_runs_without_such_calls_are_left_out(expression: str, left: list[str], store: Store) -> None:
    put(store, "calls.jsonl", [call("c1", run="first"), call("c2", run="second", flow="other", commit="abc")])
    assert [run.run for run in runs(store, parse(expression))] == left


def test_a_run_of_verdicts_alone_is_no_run(store: Store) -> None:
    put(store, "verdicts.jsonl", [verdict("c1", 5.0, run="ghost")])
    assert runs(store) == []


# judges


def test_judges_are_summed_and_compared_on_the_calls_that_both_scored(store: Store) -> None:
    put(store, "calls.jsonl", [call(f"c{n}", aspects={"correctness": float(n)}) for n in range(5)])
    scores = [verdict(f"c{n}", float(n), judge="rising", prompt_hash="ab12", model="m1", line=n) for n in range(5)]
    scores += [verdict(f"c{n}", 9.0 - n, judge="falling", line=10 + n) for n in range(4)]
    scores += [verdict("c0", 3.0, judge="rare", line=20), verdict("c1", None, judge="rare", line=21)]
    put(store, "verdicts.jsonl", scores)
    found = {judge.judge: judge for judge in judges(store)}
    assert list(found) == ["falling", "rare", "rising"]
    rising = found["rising"]
    assert (rising.model, rising.prompt_hash, rising.n, rising.unscored, rising.mean.mean) == ("m1", "ab12", 5, 0, 2.0)
    assert rising.agreement == {"correctness": pytest.approx(1.0), "falling": pytest.approx(-1.0), "rare": None}
    assert (found["rare"].n, found["rare"].unscored, found["rare"].model) == (1, 1, None)
    assert found["rare"].agreement["correctness"] is None


def test_errored_calls_count_for_no_judge(store: Store) -> None:
    put(store, "calls.jsonl", [call(f"c{n}", errored=n == 3, aspects={"correctness": float(n % 3)}) for n in range(4)])
    put(store, "verdicts.jsonl", [verdict(f"c{n}", float(n), line=n) for n in range(4)])
    [judge] = judges(store)
    assert (judge.n, judge.mean.mean) == (3, 1.0)
    assert judge.agreement["correctness"] == pytest.approx(1.0)


def test_another_aspect_of_a_judge_stands_apart(store: Store) -> None:
    put(store, "calls.jsonl", [call("c1")])
    put(store, "verdicts.jsonl", [verdict("c1", 5.0, line=1), verdict("c1", 9.0, aspect="politeness", line=2)])
    assert [(judge.judge, judge.mean.mean) for judge in judges(store)] == [("codex", 5.0), ("codex (politeness)", 9.0)]


def test_a_filter_narrows_the_calls_that_judges_are_compared_on(store: Store) -> None:
    put(store, "calls.jsonl", [call(f"c{n}", persona="x" if n else None) for n in range(4)])
    put(store, "verdicts.jsonl", [verdict(f"c{n}", float(n), line=n) for n in range(4)])
    [judge] = judges(store, parse("persona=x"))
    assert (judge.n, judge.mean.mean) == (3, 2.0)


def test_without_judges_there_are_none(store: Store) -> None:
    put(store, "calls.jsonl", [call("c1")])
    assert judges(store) == []


def test_rank_correlation_is_that_of_the_textbook() -> None:
    iq = [106.0, 100.0, 86.0, 101.0, 99.0, 103.0, 97.0, 113.0, 112.0, 110.0]
    hours = [7.0, 27.0, 2.0, 50.0, 28.0, 29.0, 20.0, 12.0, 6.0, 17.0]
    assert rank_correlation(iq, hours) == pytest.approx(-29 / 165)


@pytest.mark.parametrize(("first", "second"), [([1.0, 2.0], [1.0, 2.0]), ([1.0] * 5, [1.0, 2.0, 3.0, 4.0, 5.0])])
def test_too_few_or_equal_values_do_not_correlate(first: list[float], second: list[float]) -> None:
    assert rank_correlation(first, second) is None


@given(st.lists(st.tuples(st.floats(0, 10), st.floats(0, 10)), min_size=3, max_size=20))
def test_rank_correlation_is_bounded_and_the_same_both_ways(pairs: list[tuple[float, float]]) -> None:
    first, second = [one for one, _ in pairs], [other for _, other in pairs]
    found = rank_correlation(first, second)
    assert found == rank_correlation(second, first)
    assert found is None or -1 <= found <= 1
    assert rank_correlation(first, first) in (None, pytest.approx(1.0))


# archetypes


def test_families_pool_their_calls_and_name_the_worst_member(store: Store) -> None:
    put(
        store,
        "calls.jsonl",
        [
            call("c1", flow="viewing", archetype="booking"),
            call("c2", flow="dental", archetype="booking", aspects={"correctness": 0.0, "completion": 0.0}),
            call("c3", flow="dental", archetype="booking", errored=True),
            call("c4", flow="weather", archetype="inquiry"),
            call("c5", flow="loner"),
        ],
    )
    found = archetypes(store)
    assert [(cell.archetype, cell.flows, cell.family.n, cell.family.excluded) for cell in found] == [
        ("booking", 2, 2, 1), (None, 1, 1, 0), ("inquiry", 1, 1, 0),
    ]  # fmt: skip
    booking = found[0]
    assert booking.family.success.mean == 0.5
    assert booking.least is not None
    assert booking.most is not None
    assert (booking.least.keys["flow"], booking.most.keys["flow"]) == ("dental", "viewing")
    assert [cell.archetype for cell in archetypes(store, parse("archetype=·"))] == [None]


def test_a_thin_member_is_not_the_worst_while_another_is_there(store: Store) -> None:
    def made(name: str, flow: str, correctness: float) -> ConversationFacts:
        return call(name, flow=flow, archetype="booking", aspects={"correctness": correctness, "completion": 10.0})

    many = [made(f"c{place}", "apartment", 10.0 if place else 0.0) for place in range(6)]
    put(store, "calls.jsonl", [*many, made("c9", "dog", 0.0)])
    (booking,) = archetypes(store)
    assert booking.least is not None
    assert booking.least.keys["flow"] == "apartment"


# skipped


def test_notes_come_by_file_and_line(store: Store) -> None:
    put(store, "b.jsonl", [Skipped("skipped", 9, "no JSON"), Skipped("skipped", 2, "no flow", "c1")])
    put(store, "a.jsonl", [Skipped("defect", None, "file ends early")])
    found = skipped(store)
    assert [(Path(entry.path).name, entry.line, entry.kind, entry.reason, entry.conversation) for entry in found] == [
        ("a.jsonl", None, "defect", "file ends early", None),
        ("b.jsonl", 2, "skipped", "no flow", "c1"),
        ("b.jsonl", 9, "skipped", "no JSON", None),
    ]
    assert isinstance(found[0], SkippedEntry)
