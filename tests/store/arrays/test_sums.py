"""Sums of columns are those of the rows, whatever they are of and by."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.packed_stores import packed, set_small_groups
from tests.support.random_stores import World, world
from tests.surface.arrays import Cells, grouping
from tests.surface.store import (
    Grouping,
    Store,
    aspect_sums,
    blame_counts,
    call_counts,
    call_sums,
    lost_in_states,
    of_calls,
    open_store,
    repeats,
    state_sums,
    step_counts,
)
from tests.surface.tui import parse


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Store, Store]]:
    """The same calls, packed and not."""
    made: World = world(11, 70)
    folder = tmp_path_factory.mktemp("sums")
    with pytest.MonkeyPatch.context() as patch:
        set_small_groups(patch)
        with packed(made, folder / "packed.db") as columns, made.store(folder / "rows.db") as rows:
            yield columns, rows


def exact(sums: Any) -> Any:
    """Sums as they are compared: whole numbers exactly, squares as doubles."""
    if isinstance(sums, dict):
        return {name: exact(part) for name, part in sums.items()}
    if isinstance(sums, tuple):
        return tuple(pytest.approx(part, rel=1e-12) if isinstance(part, float) else part for part in sums)
    return sums


FILTERS = [
    "persona=hurried", "correctness<10 persona!=none", "humanness>5 | duration_s>1", "state=greet stall=1",
    "errored", "caller_ok=no", "persona=nobody", "scenario=s1 run=night-1", "segment=collect",
]  # fmt: skip


@pytest.mark.parametrize("expression", FILTERS)
@pytest.mark.parametrize("by", [("flow", "agent"), ("persona",), ("run", "scenario", "archetype"), ()])
def test_calls_and_scores_add_up_to_the_same(expression: str, by: tuple[str, ...], stores: tuple[Store, Store]) -> None:
    columns, rows = stores
    group, calls = Grouping(by), parse(expression)
    for sums in (call_counts, call_sums, aspect_sums):
        assert sums(columns, calls, group) == exact(sums(rows, calls, group))


@pytest.mark.parametrize("expression", FILTERS)
@pytest.mark.parametrize("by", [("flow", "state"), ("persona", "segment"), ("agent",)])
def test_states_and_steps_add_up_to_the_same(expression: str, by: tuple[str, ...], stores: tuple[Store, Store]) -> None:
    columns, rows = stores
    group, calls = Grouping(by), parse(expression)
    for sums in (state_sums, step_counts, lost_in_states):
        assert sums(columns, calls, group) == exact(sums(rows, calls, group))


@pytest.mark.parametrize("expression", ["persona=hurried", "scenario=s1", "persona!=hurried flow=booking"])
def test_what_is_sliced_is_read_from_sums_and_of_no_call(expression: str, tmp_path: Path) -> None:
    asked, agents, states = parse(expression), Grouping(("flow", "agent")), Grouping(("flow", "state"))

    def told(store: Store) -> list[Any]:
        return [call_sums(store, asked, agents), aspect_sums(store, asked, agents), state_sums(store, asked, states)]

    with pytest.MonkeyPatch.context() as patch:
        set_small_groups(patch)
        packed(world(11, 70), tmp_path / "calls.db").close()
        with open_store(tmp_path / "calls.db", write=True) as store:
            before = told(store)
            store.execute_sql(
                "UPDATE column_chunk SET body = x'00' WHERE row_group BETWEEN 0 AND 5 AND name <> 'call.id'"
            )
            assert told(store) == before


OF_VISITS = [
    "stall>0",
    "stall=0 persona!=none",
    "dwell_turns>=2 stall<1",
    "stall!=1",
    "stall=none",
    "to_states=confirm",
]


@pytest.mark.parametrize("expression", [*OF_VISITS, "stall=1 | persona=hurried", *FILTERS])
@pytest.mark.parametrize("by", [("flow", "state"), ("persona",), ()])
def test_failures_are_blamed_on_the_same(expression: str, by: tuple[str, ...], stores: tuple[Store, Store]) -> None:
    columns, rows = stores
    asked, group = parse(expression), Grouping(by)
    assert asked is not None
    for calls in (asked, of_calls(asked)):
        assert blame_counts(columns, calls, group) == blame_counts(rows, calls, group)


@pytest.mark.parametrize("expression", ["", *FILTERS])
@pytest.mark.parametrize("by", [("flow", "agent"), ("run",), ("persona", "scenario")])
def test_repeats_are_as_steady_in_columns(expression: str, by: tuple[str, ...], stores: tuple[Store, Store]) -> None:
    columns, rows = (repeats(store, parse(expression), by) for store in stores)
    assert columns == rows


numbers = st.integers(-(2**60), 2**60)


@given(st.lists(st.tuples(st.integers(0, 3), numbers | st.integers(0, 10))), st.booleans())
def test_whole_numbers_add_up_to_the_last_digit(rows: list[tuple[int, int]], many: bool) -> None:
    with pytest.MonkeyPatch.context() as patch:
        if many:
            patch.setattr(grouping, "_MANY_CODES", -1000)
        values = [float(value) for _, value in rows]
        cells = Cells([np.array([key for key, _ in rows], np.int64)] * 2, len(rows))
        found = dict(zip(cells.keys, cells.add_whole(np.array(values)).tolist(), strict=True))
    wanted: dict[Any, int] = {}
    for (key, _), value in zip(rows, values, strict=True):
        cell = (key or None, key or None)
        wanted[cell] = wanted.get(cell, 0) + int(value)
    assert found == {cell: (total + 2**63) % 2**64 - 2**63 for cell, total in wanted.items()}
