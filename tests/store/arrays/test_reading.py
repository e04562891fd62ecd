"""Columns hold what the rows of calls do."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.support.random_stores import World, selected, world
from tests.surface.arrays import CallReader, read_calls
from tests.surface.store import Store
from tests.surface.tui import parse


@pytest.fixture(scope="module")
def made() -> World:
    return world(3, 60)


@pytest.fixture(scope="module")
def store(made: World, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    with made.store(tmp_path_factory.mktemp("columns") / "store.db") as opened:
        yield opened


def listed(column: Any) -> list[float | None]:
    return [None if value != value else value for value in column.tolist()]


@pytest.mark.parametrize("expression", ["", "persona=hurried", "humanness>5", "state=greet stall=1"])
def test_columns_are_those_of_the_calls_that_match_in_the_order_of_their_keys(
    expression: str, made: World, store: Store
) -> None:
    wanted = [
        facts for facts in selected(made, parse(expression)) if not facts.errored and facts.caller_ok is not False
    ]
    with store.snapshot():
        calls = read_calls(store, parse(expression))
        assert calls.n == len(wanted)
        assert listed(calls.values("started_at")) == [facts.started_at for facts in wanted]
        assert listed(calls.values("completed")) == [facts.completed for facts in wanted]
        assert calls.keys("trial").tolist() == [facts.trial for facts in wanted]
        names: dict[int, str | None] = {0: None, **dict(store.execute_sql("SELECT id, name FROM persona"))}
        assert [names[key] for key in calls.keys("persona").tolist()] == [facts.persona for facts in wanted]
        assert (np.diff(calls.keys("id")) > 0).all()


def test_scores_of_judges_and_computed_ones_stand_side_by_side(made: World, store: Store) -> None:
    rows = store.execute_sql("SELECT conversation_id, aspect_id, judge_id, value FROM aspect_score")
    with store.snapshot():
        calls = read_calls(store, None, errored=True)
        keys = calls.keys("id").tolist()
        assert calls.judged() == sorted({row[1:3] for row in rows})
        for aspect, judge in calls.judged():
            given = {row[0]: row[3] for row in rows if row[1:3] == (aspect, judge)}
            assert listed(calls.scores(aspect, judge)) == [given.get(key) for key in keys]
            unscored = [key in given and given[key] is None for key in keys]
            assert calls.unscored(aspect, judge).tolist() == unscored
    assert calls.n == len(made.calls)


@pytest.mark.parametrize("expression", ["", "persona=hurried"])
def test_columns_that_are_read_ahead_are_the_same(expression: str, store: Store) -> None:
    with store.snapshot():
        alone = read_calls(store, parse(expression))
        reader = CallReader(store, ("errored", "flow", "quality"))
        for calls in (reader.read(parse(expression)), reader.read(parse(expression))):
            assert calls.keys("id").tolist() == alone.keys("id").tolist()
            assert calls.keys("flow").tolist() == alone.keys("flow").tolist()
            assert listed(calls.values("quality")) == listed(alone.values("quality"))
            assert listed(calls.values("duration_s")) == listed(alone.values("duration_s"))
            assert calls.judged() == alone.judged()
            for pair in alone.judged():
                assert listed(calls.scores(*pair)) == listed(alone.scores(*pair))
                assert calls.unscored(*pair).tolist() == alone.unscored(*pair).tolist()
        missing = max(aspect for aspect, _ in alone.judged()) + 1
        assert listed(reader.read(None).scores(missing, 1)) == listed(read_calls(store, None).scores(missing, 1))


def test_a_store_without_calls_has_empty_columns(tmp_path: Path) -> None:
    with world(1, 0).store(tmp_path / "store.db") as empty:
        calls = read_calls(empty, None)
        assert (calls.n, calls.values("quality").size, calls.judged()) == (0, 0, [])
        assert CallReader(empty, ("errored",)).read(None).n == 0
