"""How far judges agree and on which calls they do not, computed a second time from the same facts."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import pandas as pd
import pytest
from scipy import stats

from tests.support.agreement import disputes
from tests.support.facts import call, fresh, put, verdict
from tests.support.random_stores import SHOWN, World, selected, world
from tests.surface.store import (
    And,
    Dispute,
    FoundDisputes,
    Order,
    Store,
    judges,
    judges_shown,
    matches,
    unique_names,
)
from tests.surface.store import agreement_agreement as agreement
from tests.surface.tui import parse


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with fresh(tmp_path / "store.db") as opened:
        yield opened


def frame(made: World, expression: str = "") -> pd.DataFrame:
    """A row per call that counts: its names, the score of each judge, and correctness."""
    rows = [
        {
            "run": facts.run_id,
            "conversation": facts.conversation_id,
            "correctness": facts.aspects.get("correctness"),
            **made.judged(facts),
        }
        for facts in selected(made, parse(expression))
        if not facts.errored
    ]
    return pd.DataFrame(rows, columns=["run", "conversation", "correctness", *SHOWN])


def test_a_judge_says_how_many_calls_it_shares_with_each_other_one(store: Store) -> None:
    put(store, "calls.jsonl", [call(name) for name in "abcd"])
    put(store, "verdicts.jsonl", [
        verdict("a", 4.0, line=1), verdict("b", 5.0, line=2), verdict("c", None, line=3),
        *(verdict(name, 6.0, judge="gemini", line=line) for line, name in enumerate("bcd", 4)),
    ])  # fmt: skip
    shared = {judge.judge: judge.shared for judge in judges(store)}
    assert shared == {"codex": {"correctness": 2, "gemini": 1}, "gemini": {"codex": 1, "correctness": 3}}


# agreement


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("expression", ["", "flow=dental", "persona=· | trial>0"])
def test_pairs_are_compared_on_the_calls_that_both_scored(seed: int, expression: str, tmp_path: Path) -> None:
    made = world(seed, size=60)
    table = frame(made, expression)
    with made.store(tmp_path / "store.db") as store:
        found = {(pair.first, pair.second): pair for pair in agreement(store, parse(expression))}
    judged = [name for name in SHOWN if table[name].notna().any()]
    assert set(found) == {*itertools.combinations(judged, 2), *((name, None) for name in judged)}
    for (first, second), pair in found.items():
        shared = table[[first, second or "correctness"]].astype(float).dropna()
        shared.columns = pd.Index(["one", "other"])
        assert pair.n == len(shared)
        if len(shared) < 3:
            assert (pair.exact.mean, pair.kappa, pair.kappa_unweighted, pair.spearman) == (None, None, None, None)
            assert pair.difference.mean is None
            continue
        if second:
            rated = (shared + 0.5).astype(int)
            assert pair.difference.mean == pytest.approx((shared.one - shared.other).mean())
        else:
            rated = pd.DataFrame({"one": shared.one >= 5, "other": shared.other == 10}).astype(int)
            assert pair.difference.mean is None
        assert pair.exact.mean == pytest.approx((rated.one == rated.other).mean())
        assert pair.kappa == _kappa(rated, quadratic=True)
        assert pair.kappa_unweighted == _kappa(rated, quadratic=False)
        known = stats.spearmanr(shared.one, shared.other).statistic if _varies(shared) else None
        assert pair.spearman == (None if known is None else pytest.approx(known))


def _varies(shared: pd.DataFrame) -> bool:
    return bool(shared.one.nunique() > 1 and shared.other.nunique() > 1)


def _kappa(rated: pd.DataFrame, *, quadratic: bool) -> object:
    """1 less observed over expected disagreement, the expected from every value beside every other."""

    def apart(pairs: pd.DataFrame) -> float:
        return float(((pairs.one - pairs.other) ** 2 if quadratic else pairs.one != pairs.other).mean())

    expected = apart(rated[["one"]].merge(rated[["other"]], how="cross"))
    return pytest.approx(1 - apart(rated) / expected) if expected else None


def test_the_least_agreement_comes_first_and_correctness_last(tmp_path: Path) -> None:
    with world(3, size=80).store(tmp_path / "store.db") as store:
        found = agreement(store)
    for kind in (False, True):
        kappas = [pair.kappa for pair in found if (pair.second is None) is kind]
        assert kappas == sorted(kappas, key=lambda kappa: (kappa is None, kappa))
    kinds = [pair.second is None for pair in found]
    assert kinds == sorted(kinds)


@pytest.mark.parametrize(
    ("expression", "named"),
    [
        ("judge=codex", lambda names: "codex" in names),
        ("judge=gemini", lambda names: any(str(name).startswith("gemini#") for name in names)),
        ('judge="gemini#b7"', lambda names: "gemini#b7" in names),
        ("judge=codex judge:#b7", lambda names: False),
    ],
)
def test_a_filter_on_judges_chooses_pairs_and_changes_none(expression: str, named: object, tmp_path: Path) -> None:
    with world(1, size=60).store(tmp_path / "store.db") as store:
        every = agreement(store)
        found = agreement(store, judges=parse(expression))
    assert callable(named)
    assert found == [pair for pair in every if named((pair.first, pair.second))]


def test_errored_calls_are_compared_by_nobody(store: Store) -> None:
    put(store, "calls.jsonl", [call(f"c{n}", errored=n > 2) for n in range(6)])
    scores = [verdict(f"c{n}", float(n), judge=judge, line=10 * n + line) for n in range(6)
              for line, judge in enumerate(("codex", "gemini"))]  # fmt: skip
    put(store, "verdicts.jsonl", scores)
    assert [pair.n for pair in agreement(store)] == [3, 3, 3]
    assert disputes(store).agreed == 3


def test_judges_of_different_aspects_are_not_compared(store: Store) -> None:
    put(store, "calls.jsonl", [call(f"c{n}") for n in range(3)])
    scores = [verdict(f"c{n}", float(n), aspect=aspect, line=10 * n + line) for n in range(3)
              for line, aspect in enumerate(("humanness", "politeness"))]  # fmt: skip
    put(store, "verdicts.jsonl", scores)
    assert [(pair.first, pair.second) for pair in agreement(store)] == [("codex", None), ("codex (politeness)", None)]
    assert disputes(store).total == 0


def test_a_judge_that_is_called_after_what_it_judges_needs_no_second_name(store: Store) -> None:
    put(store, "calls.jsonl", [call(f"c{n}") for n in range(3)])
    put(store, "verdicts.jsonl", [verdict(f"c{n}", float(n), judge="tact", aspect="tact", line=n) for n in range(3)])
    assert [pair.first for pair in agreement(store)] == ["tact"]


def test_the_shares_have_their_intervals(store: Store) -> None:
    put(store, "calls.jsonl", [call(f"c{n}") for n in range(10)])
    scores = [verdict(f"c{n}", 5.0 + (n > 6) * line, judge=judge, line=10 * n + line) for n in range(10)
              for line, judge in enumerate(("codex", "gemini"))]  # fmt: skip
    put(store, "verdicts.jsonl", scores)
    pair = agreement(store)[0]
    low, high = stats.binomtest(7, 10).proportion_ci(method="wilson")
    assert pair.exact.interval() == pytest.approx((low, high))
    known = stats.t.interval(0.95, 9, loc=-0.3, scale=stats.sem([0.0] * 7 + [-1.0] * 3))
    assert pair.difference.interval() == pytest.approx(known, abs=1e-6)


# disputes


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("heard", ["", "judge=gemini", 'judge=codex | judge="gemini#b7"'])
def test_calls_stand_by_how_far_their_judges_are_apart(seed: int, heard: str, tmp_path: Path) -> None:
    made = world(seed, size=60)
    table = frame(made)
    names = {"": SHOWN, "judge=gemini": SHOWN[1:]}.get(heard, (SHOWN[0], SHOWN[3]))
    given = table[[*names]].astype(float)
    table["spread"] = given.max(axis=1) - given.min(axis=1)
    several = table[given.notna().sum(axis=1) > 1]
    expected = several[several.spread > 0].sort_values(["spread", "run", "conversation"], ascending=[False, True, True])
    with made.store(tmp_path / "store.db") as store:
        found = disputes(store, judges=parse(heard))
        few = disputes(store, judges=parse(heard), limit=3)
    assert [(each.run, each.conversation) for each in found.entries] == list(
        zip(expected.run, expected.conversation, strict=True)
    )
    assert (found.total, found.agreed) == (len(expected), len(several) - len(expected))
    assert (few.total, few.agreed, list(few.entries)) == (found.total, found.agreed, list(found.entries[:3]))
    for each, (_, row) in zip(found.entries, expected.iterrows(), strict=True):
        assert each.scores == {name: row[name] for name in names if pd.notna(row[name])}
        assert each.spread == pytest.approx(row.spread)
        assert each.correctness == (None if pd.isna(row.correctness) else row.correctness)


def test_a_dispute_says_which_call_it_is_about(store: Store) -> None:
    put(store, "calls.jsonl", [call("c1", flow="dental", agent="qwen", aspects={"correctness": 5.0})])
    put(store, "verdicts.jsonl", [verdict("c1", 4.0, line=1), verdict("c1", 7.5, judge="gemini", line=2)])
    assert disputes(store).entries == [
        Dispute(
            "night-1", "c1", "dental", "qwen", "humanness", {"gemini": 7.5, "codex": 4.0}, 5.0, 3.5, "gemini", "codex"
        )
    ]
    assert disputes(store, parse("flow=other")).total == 0


# names


def test_judges_with_names_that_were_made_to_be_confused_stay_apart(store: Store) -> None:
    put(store, "calls.jsonl", [call(f"c{n}") for n in range(3)])
    known = [("codex", "aaaaaaa"), ("codex", "bbbbbbb"), ("codex#aaaaaa", None), ("correctness", None)]
    scores = [verdict(f"c{n}", float(n + line), judge=judge, prompt_hash=prompt, line=10 * n + line)
              for n in range(3) for line, (judge, prompt) in enumerate(known)]  # fmt: skip
    put(store, "verdicts.jsonl", scores)
    assert len(set(judges_shown(store).values())) == 5
    found = {judge.judge: judge.mean.mean for judge in judges(store)}
    assert found == {"codex#aaaaaa": 3.0, "codex#aaaaaa#": 1.0, "codex#bbbbbb": 2.0, "correctness#": 4.0}
    assert all(len(judge.agreement) == 4 for judge in judges(store))
    assert len(agreement(store)) == 10


def test_names_are_told_apart_by_as_little_as_it_takes() -> None:
    assert unique_names({1: "a", 2: "b", 3: "a", 4: "a#"}, {"b"}) == {1: "a", 2: "b#", 3: "a#", 4: "a##"}


def test_a_judge_says_the_version_of_its_prompt(store: Store) -> None:
    put(store, "calls.jsonl", [call(f"c{n}") for n in range(3)])
    versions = ("2", "2", None)
    put(store, "verdicts.jsonl", [verdict(f"c{n}", 1.0, prompt_version=versions[n], line=n) for n in range(3)])
    assert [judge.prompt_version for judge in judges(store)] == ["2"]


@pytest.mark.parametrize("rows", ["spread>=3", "highest:gemini lowest=codex", "scores.codex<5 | !aspect=humanness"])
def test_what_is_said_of_rows_chooses_among_disputes(rows: str, tmp_path: Path) -> None:
    with world(5, size=60).store(tmp_path / "store.db") as store:
        every = disputes(store)
        found = disputes(store, rows=parse(rows), limit=2)
    wanted = [each for each in every.entries if matches(parse(rows) or And(()), asdict(each), ())]
    assert 0 < len(wanted) < every.total
    assert (found.total, list(found.entries), found.agreed) == (len(wanted), wanted[:2], every.agreed)
    for each in every.entries:
        assert each.scores[each.highest] == max(each.scores.values())
        assert each.scores[each.lowest] == min(each.scores.values())
        tied = sorted(judge for judge, score in each.scores.items() if score == each.scores[each.lowest])
        assert each.lowest == tied[0]


@pytest.mark.parametrize("key", ["run", "conversation", "flow", "agent", "aspect", "spread", "correctness", "highest",
                                 "lowest", "scores.codex"])  # fmt: skip
@pytest.mark.parametrize("down", [False, True])
def test_the_first_disputes_in_an_order_are_the_first_of_all(key: str, down: bool, ordered: Store) -> None:
    def place(each: Dispute) -> tuple[str, str] | float | None:
        found = each.scores.get("codex") if key == "scores.codex" else getattr(each, key)
        return (found.casefold(), found) if isinstance(found, str) else found

    with ordered.snapshot():
        found = FoundDisputes(ordered)
        every = found.listed(None)
        first = found.listed(4, Order(key, down))
    known = sorted((each for each in every if place(each) is not None), key=place, reverse=down)  # type: ignore[arg-type]
    assert first == (known + [each for each in every if place(each) is None])[:4]


@pytest.mark.parametrize("order", [None, Order("conversation"), Order("aspect", down=True), Order("scores.gemini")])
def test_the_first_disputes_are_those_of_any_aspect(order: Order | None, store: Store) -> None:
    spreads = {"humanness": (1.0, 6.0, 3.0), "tact": (5.0, 2.0, 3.0), "warmth": (4.0, 3.0, 9.0)}
    put(store, "calls.jsonl", [call(name) for name in "abc"])
    put(store, "verdicts.jsonl", [
        verdict(name, score, judge=judge, aspect=aspect, line=1)
        for aspect, of_calls in spreads.items() for name, spread in zip("abc", of_calls, strict=True)
        for judge, score in (("codex", 0.0), ("gemini", spread))
    ])  # fmt: skip
    with store.snapshot():
        found = FoundDisputes(store)
        every = found.listed(None, order)
        assert {each.aspect: each.spread for each in every if each.conversation == "a"} == {
            aspect: of_calls[0] for aspect, of_calls in spreads.items()
        }
        assert [found.listed(n, order) for n in range(1, 10)] == [every[:n] for n in range(1, 10)]


@pytest.mark.parametrize("words", ["gemini", "night-1 | dental", "!x_% humanness", "é", "nowhere"])
def test_words_are_looked_for_in_all_names_of_a_dispute(words: str, ordered: Store) -> None:
    names = ("run", "conversation", "flow", "agent", "aspect", "highest", "lowest")
    every, found = disputes(ordered), disputes(ordered, rows=parse(words))
    wanted = [each for each in every.entries if matches(parse(words) or And(()), asdict(each), names)]
    assert (found.total, list(found.entries)) == (len(wanted), wanted)


@pytest.fixture(scope="module")
def ordered(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with world(5, size=60).store(tmp_path_factory.mktemp("ordered") / "store.db") as store:
        yield store
