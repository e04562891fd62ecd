"""How far judges are apart, and which disputes a filter means: arrays against single records."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.surface.store import AspectSpreads, Predicate, Term, holds_of, matches, scores_of, spreads_of
from tests.surface.tui import parse

JUDGES = ("ada", "ada#2", "bob")
SCORES = st.one_of(st.none(), st.sampled_from((0.0, 3.1, 3.2, 7.5, 10.0)))
CALLS = st.lists(st.tuples(*[SCORES] * len(JUDGES)), max_size=12)


def found(calls: list[tuple[float | None, ...]], without: tuple[int, ...] = ()) -> AspectSpreads:
    scores = [scores_of(np.array([call[place] for call in calls], float)) for place in range(len(JUDGES))]
    return AspectSpreads("humanness", JUDGES, scores, spreads_of(scores, np.arange(len(calls)), without))


def record(call: tuple[float | None, ...]) -> dict[str, object]:
    """What the row of a dispute says, for the calls that two judges scored."""
    scores = {judge: score for judge, score in zip(JUDGES, call, strict=True) if score is not None}
    return {
        "aspect": "humanness",
        "spread": round(max(scores.values()) - min(scores.values()), 9),
        "highest": min(scores, key=lambda judge: (-scores[judge], judge)),
        "lowest": min(scores, key=lambda judge: (scores[judge], judge)),
        "scores": scores,
    }


@given(CALLS)
def test_spreads_are_the_highest_less_the_lowest_where_two_scored(calls: list[tuple[float | None, ...]]) -> None:
    spreads = found(calls).spreads
    apart = spreads.spreads.at(np.arange(len(calls))).tolist()
    for call, spread, highest, lowest in zip(calls, apart, spreads.highest, spreads.lowest, strict=True):
        if sum(score is not None for score in call) < 2:
            assert math.isnan(spread)
        else:
            row = record(call)
            assert (spread, JUDGES[highest], JUDGES[lowest]) == (row["spread"], row["highest"], row["lowest"])


def test_calls_that_are_left_out_have_no_spread() -> None:
    spreads = found([(1.0, 2.0, None), (1.0, 5.0, None)], without=(1, 7)).spreads.spreads
    assert (spreads.n, spreads.at(np.array([0])).tolist()) == (1, [1.0])


@pytest.mark.parametrize(
    "where",
    [
        "spread>3", "spread=0", "spread!=0.1", "highest=ada", "lowest!=bob", "!(highest:ada lowest=bob)",
        "scores>7", "scores!=10", "scores.ada>=7", "scores.ada!=10", "scores.nobody=1",
        "aspect=humanness | spread>9", "aspect!=humanness", "!scores.ada<7 spread>0",
        Term("scores.bob", "missing"), Term("scores.bob", "measured"),
    ],
)  # fmt: skip
@given(calls=CALLS)
def test_a_filter_means_of_columns_what_it_means_of_rows(
    where: str | Predicate, calls: list[tuple[float | None, ...]]
) -> None:
    rows = parse(where) if isinstance(where, str) else where
    assert rows is not None
    holds = holds_of(rows, found(calls), lambda _: np.zeros(len(calls), bool)).tolist()
    for call, held in zip(calls, holds, strict=True):
        if sum(score is not None for score in call) > 1:
            assert held is matches(rows, record(call), ())
