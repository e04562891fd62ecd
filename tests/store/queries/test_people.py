"""People as judges: their verdicts beside scores, in agreement, disputes, filters and rates."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.support.agreement import disputes
from tests.support.facts import call, fresh, put, verdict
from tests.surface.store import (
    Alignments,
    Annotation,
    Store,
    add_notes,
    alignment,
    conversation_ids,
    flow_cells,
    judges,
    known_names,
)
from tests.surface.store import agreement_agreement as agreement
from tests.surface.tui import parse

CODEX = (2.0, 4.9, 5.0, 8.0, 9.0, 7.0)
"""What codex says of c0 to c5, of which the last was errored."""


def note(author: str, name: str, said: str | None, **given: Any) -> Annotation:
    return Annotation(f"{author}/{name}/{given.get('code')}", name, author, verdict=said, **given)


def judge(store: Store, scores: Mapping[str, float], name: str = "codex", **given: Any) -> None:
    put(store, f"{name}.jsonl", [verdict(key, score, judge=name, line=n, **given)
                                 for n, (key, score) in enumerate(scores.items())])  # fmt: skip


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with fresh(tmp_path / "store.db") as opened:
        put(opened, "calls.jsonl", [call(f"c{n}", errored=n == 5) for n in range(6)])
        judge(opened, {f"c{n}": score for n, score in enumerate(CODEX)})
        yield opened


def aligned(answer: Alignments) -> dict[tuple[str, str | None], tuple[int, float | None, int, float | None]]:
    return {
        (row.judge, row.code): (row.rates.tpr.n, row.rates.tpr.mean, row.rates.tnr.n, row.rates.tnr.mean)
        for row in answer.entries
    }


def test_a_person_is_a_judge_of_the_calls_that_count(store: Store) -> None:
    said = {"c0": "fail", "c1": "pass", "c2": "pass", "c5": "fail"}
    add_notes(store, [note("ann", name, given) for name, given in said.items()])
    add_notes(store, [note("bob", "c5", "fail"), note("eve", "c3", None, code="rude")])
    found = {summary.judge: summary for summary in judges(store)}
    assert set(found) == {"codex", "human:ann"}
    ann = found["human:ann"]
    assert (ann.n, ann.unscored, ann.aspect, ann.model, ann.rates) == (3, 0, "verdict", None, None)
    assert ann.mean.mean == pytest.approx(20 / 3)
    assert ann.shared == {"codex": 3, "correctness": 3}
    assert found["codex"].agreement["human:ann"] == pytest.approx(0.866, abs=0.001)


def test_only_the_latest_verdict_of_a_person_counts_and_none_that_was_taken_back(store: Store) -> None:
    lines = [note("ann", "c0", "fail", at=1), note("ann", "c1", "pass", at=2)]
    again = Annotation("later", "c0", "ann", verdict="pass", at=3)
    add_notes(store, [*lines, again, Annotation("gone", "c1", "ann", at=4, supersedes="ann/c1/None", deleted=True)])
    [ann] = [summary for summary in judges(store) if summary.judge == "human:ann"]
    assert (ann.n, ann.mean.mean) == (1, 10.0)


def test_a_judge_is_held_against_what_people_agree_on(store: Store) -> None:
    add_notes(store, [
        note("ann", "c0", "fail", code="rude"), note("bob", "c0", "fail", code="wrong day"),
        note("ann", "c1", "pass"), note("ann", "c2", "fail", code="rude"),
        note("ann", "c3", "pass"), note("bob", "c3", "fail", code="rude"),
        note("bob", "c4", "pass"), note("bob", "c5", "fail", code="rude"),
    ])  # fmt: skip
    found = alignment(store)
    # c3 is disputed and c5 errored: of c0 and c2, which people fail, codex fails one; of c1 and c4 it passes one.
    assert found.disputed == 1
    assert aligned(found) == {
        ("codex", None): (2, 0.5, 2, 0.5),
        ("codex", "rude"): (2, 0.5, 0, None),
        ("codex", "wrong day"): (1, 1.0, 0, None),
        ("correctness", None): (2, 0.0, 2, 1.0),
        ("correctness", "rude"): (2, 0.0, 0, None),
        ("correctness", "wrong day"): (1, 0.0, 0, None),
    }
    assert aligned(alignment(store, judges=parse("judge=codex"))).keys() == {
        ("codex", None), ("codex", "rude"), ("codex", "wrong day")
    }  # fmt: skip
    assert aligned(alignment(store, parse("code=rude")))["codex", None] == (2, 0.5, 0, None)
    assert not alignment(store, judges=parse("judge:human")).entries


def test_the_judge_that_misses_most_comes_first(store: Store) -> None:
    judge(store, {"c0": 9.0, "c1": 2.0}, "warm")
    judge(store, {"c1": 9.0}, "seldom")
    add_notes(store, [note("ann", "c0", "fail"), note("ann", "c1", "pass")])
    assert [row.judge for row in alignment(store).entries] == ["warm", "codex", "seldom", "correctness"]


def test_a_store_without_verdicts_of_people_holds_nobody_against_them(store: Store) -> None:
    assert alignment(store) == Alignments([], 0)
    assert [summary.judge for summary in judges(store)] == ["codex"]


def test_without_any_judge_people_are_compared_with_each_other_and_with_correctness(tmp_path: Path) -> None:
    with fresh(tmp_path / "people.db") as store:
        put(store, "calls.jsonl", [call(f"c{n}") for n in range(3)])
        add_notes(store, [note(who, f"c{n}", "fail" if n else "pass") for who in ("ann", "bob") for n in range(3)])
        pairs = {(pair.first, pair.second): pair for pair in agreement(store)}
    assert pairs.keys() == {("human:ann", "human:bob"), ("human:ann", None), ("human:bob", None)}
    assert (pairs["human:ann", "human:bob"].kappa, pairs["human:ann", "human:bob"].aspect) == (1.0, "verdict")
    assert pairs["human:ann", None].exact.mean == pytest.approx(1 / 3)


def test_a_person_and_a_judge_are_compared_as_pass_or_fail_whatever_is_judged(store: Store) -> None:
    judge(store, {"c0": 1.0, "c1": 9.0, "c2": 9.0}, "tact", aspect="tact")
    add_notes(store, [note("ann", f"c{n}", "fail" if n < 2 else "pass") for n in range(6)])
    pairs = {(pair.first, pair.second): pair for pair in agreement(store) if pair.second}
    assert pairs.keys() == {("codex", "human:ann"), ("tact", "human:ann")}
    codex = pairs["codex", "human:ann"]
    # A score of 5.0 passes and one of 4.9 does not.
    assert (codex.n, codex.exact.mean, codex.as_verdicts, codex.difference.mean) == (5, 1.0, True, None)
    assert pairs["tact", "human:ann"].exact.mean == pytest.approx(2 / 3)


def test_a_person_is_compared_with_those_alone_who_speak_of_the_same_calls(store: Store) -> None:
    put(store, "more.jsonl", [call("c6")])
    add_notes(store, [note("ann", "c0", "fail"), note("bob", "c6", "fail")])
    assert {(pair.first, pair.second) for pair in agreement(store)} == {
        ("codex", "human:ann"), ("codex", None), ("human:ann", None), ("human:bob", None)
    }  # fmt: skip


# disputes


def test_a_verdict_is_apart_from_a_score_that_says_otherwise_and_only_then(store: Store) -> None:
    judge(store, {"c0": 3.0, "c3": 7.5}, "gemini")
    add_notes(store, [note("ann", "c0", "fail"), note("ann", "c1", "fail"), note("ann", "c2", "fail"),
                      note("bob", "c3", "pass"), note("bob", "c4", "fail")])  # fmt: skip
    found = disputes(store)
    assert [(each.conversation, each.spread, each.highest, each.lowest) for each in found.entries] == [
        ("c4", 9.0, "codex", "human:bob"),
        ("c2", 5.0, "codex", "human:ann"),
        ("c0", 1.0, "gemini", "codex"),
        ("c3", 0.5, "codex", "gemini"),
    ]
    assert found.entries[3].scores == {"human:bob": 10.0, "codex": 8.0, "gemini": 7.5}
    assert found.agreed == 1


def test_disputes_of_a_pair_are_what_its_agreement_leaves(store: Store) -> None:
    add_notes(store, [note("ann", f"c{n}", "fail" if n % 2 else "pass") for n in range(6)])
    [pair] = [pair for pair in agreement(store) if pair.second == "human:ann"]
    share = pair.exact.mean
    assert share is not None
    assert disputes(store, judges=parse("judge=codex | judge=human:ann")).total == pair.n - round(share * pair.n) == 2


def test_two_people_who_disagree_are_a_dispute_also_where_nobody_else_judged(store: Store) -> None:
    put(store, "more.jsonl", [call("c6")])
    add_notes(store, [note("ann", "c6", "pass"), note("bob", "c6", "fail")])
    [found] = disputes(store).entries
    assert (found.conversation, found.aspect, found.spread) == ("c6", "verdict", 10.0)
    assert (found.highest, found.lowest) == ("human:ann", "human:bob")


# filters and names


@pytest.mark.parametrize(
    ("expression", "calls"),
    [
        ("judge:human", "c0 c1 c5"),
        ("judge=human:ann", "c0 c5"),
        ("judge=human:bob", "c1"),
        ("!judge:human", "c2 c3 c4 c6"),
        ("judge=·", "c6"),
        ("judge!=codex", ""),
        ("judge=human:an", ""),
    ],
)
def test_calls_are_found_by_the_person_who_gave_a_verdict(expression: str, calls: str, store: Store) -> None:
    put(store, "more.jsonl", [call("c6")])
    add_notes(store, [note("ann", "c0", "fail"), note("bob", "c1", "pass"), note("ann", "c5", "fail"),
                      note("eve", "c6", None, note="odd")])  # fmt: skip
    names = dict(store.execute_sql("SELECT id, name FROM conversation", ()))
    found = sorted(names[key] for key in conversation_ids(store, parse(expression)))
    assert found == calls.split()
    assert known_names(store, "judge") == ["codex", "human:ann", "human:bob"]


def test_a_judge_that_calls_itself_a_person_stays_a_judge(store: Store) -> None:
    judge(store, {"c0": 1.0, "c1": 2.0}, "human:ann")
    add_notes(store, [note("ann", "c0", "pass"), note("#human:ann", "c1", "fail")])
    means = {summary.judge: (summary.mean.mean, summary.rates is None) for summary in judges(store)}
    assert means == {
        "codex": (pytest.approx(5.78), False),
        "#human:ann": (1.5, False),
        "human:ann": (10.0, True),
        "human:#human:ann": (0.0, True),
    }
    assert [pair.second for pair in agreement(store, judges=parse("judge=human:ann"))].count("human:ann") == 2
    assert set(flow_cells(store)[0].humanness) == {"#human:ann", "codex"}
    assert disputes(store, judges=parse("judge=human:ann")).total == 0


def test_a_person_who_judges_as_a_model_does_keeps_to_the_own_aspect(store: Store) -> None:
    judge(store, {"c0": 1.0, "c1": 2.0}, "strict", aspect="verdict")
    add_notes(store, [note("ann", "c0", "pass"), note("ann", "c1", "fail")])
    assert {summary.judge: summary.n for summary in judges(store)} == {
        "codex": 5, "strict (verdict)": 2, "human:ann": 2
    }  # fmt: skip
    assert [each.aspect for each in disputes(store).entries] == ["verdict", "humanness"]
