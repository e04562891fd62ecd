"""A filter finds the same calls and rows of states in columns as it does in SQL and in Python."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.examples import examples
from tests.support.packed_stores import packed, set_small_groups
from tests.support.random_predicates import predicates
from tests.support.random_stores import World, record_of, rows_of, world
from tests.surface.arrays import Masks, read_calls
from tests.surface.arrays import blocks_blocks as blocks
from tests.surface.store import (
    CALL_NAMES,
    And,
    Conversation,
    InState,
    Not,
    Or,
    Predicate,
    Scope,
    Store,
    Term,
    field_of,
    matches,
    packed_groups,
)
from tests.surface.tui import filters_render as render
from tests.surface.tui import parse


@pytest.fixture(scope="module")
def made() -> World:
    return world(7, 61)


@pytest.fixture(scope="module")
def store(made: World, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """A store of which the last calls are not packed."""
    with pytest.MonkeyPatch.context() as patch:
        set_small_groups(patch)
        with packed(made, tmp_path_factory.mktemp("masks") / "store.db") as opened:
            assert len(packed_groups(opened.execute_sql)) == 7
            yield opened


nested = st.recursive(
    predicates, lambda parts: st.one_of(st.builds(InState, parts), st.builds(Not, parts)), max_leaves=2
)


@settings(max_examples=examples(50))
@given(predicate=nested)
def test_columns_find_the_calls_that_sql_finds(predicate: Predicate, store: Store) -> None:
    columns_find_what_sql_finds(predicate, store)


def columns_find_what_sql_finds(predicate: Predicate, store: Store) -> None:
    with store.snapshot():
        masks = Masks(store)
        found = [key for block in blocks(store) for key in block.ids[masks.calls(predicate, block)].tolist()]
    query = Conversation.select(Conversation.id).where(Scope(store).condition(predicate))
    assert found == sorted(key for (key,) in store.execute(query)), predicate


_NAMES = "SELECT c.id, r.name, c.name FROM conversation c JOIN run r ON r.id = c.run_id"


def holds_of_row(predicate: Predicate, facts: Any, made: World, row: Mapping[str, Any]) -> bool:
    """Tell whether a row of a call's states is as the predicate says."""
    match predicate:
        case Term(name) if name is not None and field_of(name).level == "state":
            return matches(predicate, row, ())
        case Term():
            return matches(predicate, record_of(facts, made.judged(facts)), CALL_NAMES)
        case Not(part):
            return not holds_of_row(part, facts, made, row)
        case And(parts):
            return all(holds_of_row(part, facts, made, row) for part in parts)
        case Or(parts):
            return any(holds_of_row(part, facts, made, row) for part in parts)
        case InState(part):
            return any(holds_of_row(part, facts, made, other) for other in rows_of(facts))


@settings(max_examples=examples(30))
@given(predicate=predicates)
def test_columns_find_the_rows_of_states_that_python_finds(predicate: Predicate, made: World, store: Store) -> None:
    wanted = [
        (facts.run_id, facts.conversation_id, row["state"])
        for facts in made.calls
        for row in rows_of(facts)
        if holds_of_row(predicate, facts, made, row)
    ]
    calls = {key: (run, name) for key, run, name in store.execute_sql(_NAMES)}
    states = dict(store.execute_sql("SELECT id, name FROM state"))
    found = []
    with store.snapshot():
        masks = Masks(store)
        for block in blocks(store):
            rows = np.flatnonzero(masks.rows(predicate, block))
            keys = block.ids[block.calls_of("state")[rows]].tolist()
            there = block.keys_of("state", "state")[rows].tolist()
            found += [(*calls[key], states[state]) for key, state in zip(keys, there, strict=True)]
    assert sorted(found) == sorted(wanted), render(predicate)


@pytest.mark.parametrize(
    "expression", ["failure=none", "last_ok=start", "missed_step:b", "code=x", "noted", "verdict=fail", "yield_rate<1"]
)
def test_what_no_column_holds_is_asked_of_the_store(expression: str, store: Store) -> None:
    with store.snapshot():
        found = read_calls(store, parse(expression), errored=True).keys("id").tolist()
        wanted = store.execute(Conversation.select(Conversation.id).where(Scope(store).condition(parse(expression))))
    assert found == sorted(key for (key,) in wanted)


@pytest.mark.parametrize("name", ["went_to", "came_from"])
@pytest.mark.parametrize("asked", ["=collect", "!=collect", ":co", "=·", "!=·", "=nowhere", ":/t$/"])
@pytest.mark.parametrize("state", ["state=greet", "!state=greet", "stall=1 state=collect"])
def test_columns_find_the_steps_that_sql_finds(name: str, asked: str, state: str, store: Store) -> None:
    columns_find_what_sql_finds(parse(f"({state} {name}{asked})"), store)  # type: ignore[arg-type]
