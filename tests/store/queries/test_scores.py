"""Every score of the store, one by one: none lost, none twice, in one order, a page at a time."""

from __future__ import annotations

from itertools import islice, pairwise
from pathlib import Path

import pytest

from tests.support.facts import call, fresh, put, verdict
from tests.support.listed_scores import ListedScore, listed
from tests.support.random_stores import selected, world
from tests.support.recorded_queries import recorded_queries
from tests.surface.store import Predicate, Store, run_order, score_pages
from tests.surface.tui import parse


def scores(store: Store, calls: Predicate | None = None, size: int = 500) -> list[ListedScore]:
    return listed(score_pages(store, calls, size))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("expression", ["", "flow=dental", "run=night-2 !errored=yes", "persona=· | correctness=10"])
def test_the_scores_are_those_of_the_facts(seed: int, expression: str, tmp_path: Path) -> None:
    made, predicate = world(seed, 60), parse(expression)
    wanted = {
        (facts.run_id, facts.conversation_id, aspect, judge): (
            facts.flow,
            facts.agent_model,
            facts.persona,
            facts.errored,
            value,
        )
        for facts in selected(made, predicate)
        for judge, given in (
            ("(computed)", facts.aspects),
            *((name, {"humanness": score}) for name, score in made.judged(facts).items()),
        )
        for aspect, value in given.items()
    }
    with made.store(tmp_path / "world.db") as store:
        found = scores(store, predicate)
    assert len(found) == len(wanted)
    assert {
        (row.call.run, row.call.conversation, row.aspect, row.judge): (
            row.call.flow,
            row.call.agent,
            row.call.persona,
            row.call.errored,
            row.value,
        )
        for row in found
    } == wanted


@pytest.mark.parametrize("size", [1, 7, 60, 500])
def test_the_order_is_one_whatever_the_page(size: int, tmp_path: Path) -> None:
    with world(3, 60).store(tmp_path / "world.db") as store:
        found, order = scores(store, size=size), run_order(store)
        assert found == scores(store)
        assert all(len(page.calls) <= size for page in score_pages(store, None, size))
    keys = [(order[row.call.run], row.call.conversation, row.aspect, row.judge) for row in found]
    assert all(before < after for before, after in pairwise(keys))


def test_the_order_does_not_hang_on_that_of_the_ingest(tmp_path: Path) -> None:
    made = world(3, 60)
    turned = world(3, 60)
    turned.calls.reverse()
    with made.store(tmp_path / "one.db") as one, turned.store(tmp_path / "two.db") as two:
        # Of several commits that calls give for one run the first stays.
        found = [[row._replace(call=row.call._replace(commit=None)) for row in scores(store)] for store in (one, two)]
    assert found[0] == found[1]


def test_a_page_is_read_when_it_is_asked_for(tmp_path: Path) -> None:
    with world(3, 60).store(tmp_path / "world.db") as store:
        with recorded_queries(store) as all_of_it:
            scores(store, size=5)
        with recorded_queries(store) as beginning:
            list(islice(score_pages(store, None, 5), 1))
    assert len(beginning) < len(all_of_it) / 3


def test_the_time_is_that_of_the_verdict_that_counts(tmp_path: Path) -> None:
    with fresh(tmp_path / "few.db") as store:
        put(store, "calls.jsonl", [call("a", aspects={}), call("b", aspects={})])
        put(store, "late.jsonl", [verdict("a", 3.0, judged_at=9_000_000, line=1), verdict("b", 1.0, line=2)])
        put(store, "more.jsonl", [verdict("a", 8.0, judged_at=5_000_000), verdict("b", 2.0, judged_at=None, line=2)])
        put(store, "other.jsonl", [verdict("a", None, judge="gemini", judged_at=None)])
        found = scores(store)
    assert [(row.call.conversation, row.judge, row.value, row.judged_at) for row in found] == [
        ("a", "codex", 3.0, 9_000_000),
        ("a", "gemini", None, None),
        ("b", "codex", 1.0, 1_000_000),
    ]


def test_a_score_says_by_which_model_and_prompt_it_was_given(tmp_path: Path) -> None:
    first = {"prompt_hash": "aaaaaa1", "model": "old", "prompt_version": "1", "judged_at": 1}
    second = {"prompt_hash": "bbbbbb2", "model": "new", "prompt_version": "2"}
    with fresh(tmp_path / "few.db") as store:
        put(store, "calls.jsonl", [call("a", aspects={"correctness": 10.0})])
        late = verdict("a", 4.0, line=2, **{**first, "model": "newer", "judged_at": 2})
        put(store, "both.jsonl", [verdict("a", 3.0, line=1, **first), late, verdict("a", 8.0, line=3, **second)])
        found = scores(store)
    assert [(row.judge, row.value, row.model, row.prompt_hash, row.prompt_version) for row in found] == [
        ("(computed)", 10.0, None, None, None),
        ("codex@new", 8.0, "new", "bbbbbb2", "2"),
        ("codex@newer", 4.0, "newer", "aaaaaa1", "1"),
        ("codex@old", 3.0, "old", "aaaaaa1", "1"),
    ]


def test_of_verdicts_given_at_once_the_later_path_and_line_counts(tmp_path: Path) -> None:
    with fresh(tmp_path / "few.db") as store:
        put(store, "calls.jsonl", [call("a", aspects={})])
        put(store, "two.jsonl", [verdict("a", 4.0, line=1), verdict("a", 5.0, line=2)])
        put(store, "one.jsonl", [verdict("a", 6.0, line=3)])
        (row,) = scores(store)
    assert (row.value, row.judged_at) == (5.0, 1_000_000)


def test_an_empty_store_has_no_pages(tmp_path: Path) -> None:
    with fresh(tmp_path / "none.db") as store:
        assert list(score_pages(store)) == []
