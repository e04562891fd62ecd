"""How often a judge says what people say: by hand, and as scikit-learn computes it of simulated judges and people."""

from __future__ import annotations

import random
from collections.abc import Mapping
from itertools import combinations
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from sklearn.metrics import cohen_kappa_score, confusion_matrix, recall_score

from tests.support.facts import call, fresh, put, verdict
from tests.surface.store import Annotation, add_notes, alignment, judges, rates, reference_of
from tests.surface.store import agreement_agreement as agreement

verdicts = st.dictionaries(st.integers(0, 20), st.booleans(), max_size=15)
people = st.lists(verdicts, max_size=4)


def test_rates_can_be_counted_on_fingers() -> None:
    says = {1: False, 2: False, 3: True, 4: True, 5: False, 9: True}
    found = rates(says, {1: False, 2: False, 3: False, 4: True, 5: True, 6: True})
    # Of 1 to 3, which people fail, it fails two; of 4 and 5, which they pass, it passes one; 6 and 9 are not shared.
    assert found.tpr.n == 3
    assert found.tpr.mean == pytest.approx(2 / 3)
    assert (found.tnr.n, found.tnr.mean) == (2, 0.5)
    low, high = stats.binomtest(2, 3).proportion_ci(method="wilson")
    assert found.tpr.interval() == pytest.approx((low, high))


def test_people_who_disagree_on_a_call_say_nothing_of_it() -> None:
    assert reference_of([{1: True, 2: False}, {2: True, 3: False}, {2: False, 1: True}]) == ({1: True, 3: False}, {2})


@given(people)
def test_it_does_not_matter_who_of_the_people_is_asked_first_or_twice(given: list[dict[int, bool]]) -> None:
    found = reference_of(given)
    assert reference_of([*reversed(given), *given]) == found
    for number in {number for one in given for number in one}:
        said = {one[number] for one in given if number in one}
        assert (number in found.disputed) is (len(said) == 2)
        assert found.passed.get(number) == (said.pop() if len(said) == 1 else None)


@given(verdicts, verdicts)
def test_what_one_judge_hits_its_opposite_misses(says: dict[int, bool], given: Mapping[int, bool]) -> None:
    found = rates(says, given)
    opposite = rates({number: not passed for number, passed in says.items()}, given)
    for one, other in zip(found, opposite, strict=True):
        assert one.n == other.n
        assert (one.mean is None) is (one.n == 0)
        assert one.mean is None or other.mean is None or one.mean + other.mean == pytest.approx(1)
    assert found.tpr.n + found.tnr.n == len(says.keys() & given.keys())


@pytest.mark.parametrize("seed", range(3))
def test_a_simulated_judge_agrees_with_simulated_people_as_scikit_learn_computes_it(seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)
    truth = {f"c{n}": chance.random() < 0.6 for n in range(120)}
    scores = {name: round(chance.gauss(6.5 if good else 4, 2), 1) for name, good in truth.items()}
    ann = {name: good if chance.random() < 0.9 else not good for name, good in truth.items() if chance.random() < 0.7}
    bob = {name: good if chance.random() < 0.8 else not good for name, good in truth.items() if chance.random() < 0.5}
    notes = [
        Annotation(f"{author}-{name}", name, author, verdict="pass" if good else "fail")
        for author, given in (("ann", ann), ("bob", bob))
        for name, good in given.items()
    ]
    with fresh(tmp_path / "store.db") as store:
        put(store, "calls.jsonl", [call(name) for name in truth])
        put(store, "verdicts.jsonl", [verdict(name, score, line=n) for n, (name, score) in enumerate(scores.items())])
        add_notes(store, notes)
        pairs = {(pair.first, pair.second): pair for pair in agreement(store)}
        [row] = [row for row in alignment(store).entries if row.judge == "codex"]
        [summary] = [judge for judge in judges(store) if judge.judge == "codex"]
    codex = {name: score >= 5 for name, score in scores.items()}
    for (first, one), (second, other) in combinations({"codex": codex, "human:ann": ann, "human:bob": bob}.items(), 2):
        shared = sorted(one.keys() & other.keys())
        known = cohen_kappa_score([one[name] for name in shared], [other[name] for name in shared])
        pair = pairs[first, second]
        assert pair.n == len(shared)
        assert pair.kappa == pytest.approx(known)
        assert pair.kappa_unweighted == pytest.approx(known)

    both = {**bob, **ann}
    agreed = [name for name in both if ann.get(name, both[name]) == bob.get(name, both[name])]
    failed = [not both[name] for name in agreed]
    flagged = [not codex[name] for name in agreed]
    (spared, alarms), (missed, caught) = confusion_matrix(failed, flagged)
    assert (row.rates.tpr.n, row.rates.tnr.n) == (missed + caught, spared + alarms)
    assert row.rates.tpr.mean == pytest.approx(recall_score(failed, flagged))
    assert row.rates.tnr.mean == pytest.approx(recall_score(failed, flagged, pos_label=False))
    assert summary.rates == row.rates
    assert summary.disputed == len(both) - len(agreed) > 0
