"""Calls sorted on columns stand as the database sorts them, by every column that there is."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.packed_stores import packed, set_small_groups
from tests.support.random_stores import World, world
from tests.surface.store import Store, UsageError, calls_of, conversation_ids, ordered_ids
from tests.surface.tui import parse

KEYS = [
    "trial", "started_at", "duration_s", "completed", "errored", "error_count", "defects", "success", "quality",
    "flow", "agent", "run", "persona", "scenario", "caller", "stop_reason", "final_status", "commit",
    "archetype", "correctness", "latency_p95", "humanness", "humanness.codex", "stall", "revisit", "dwell_turns",
    "slot_fill_rate", "conversation", "error", "failure", "first_failed", "verdict",
]  # fmt: skip


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Store, Store]]:
    """The same calls, packed and not."""
    made: World = world(3, 80)
    folder = tmp_path_factory.mktemp("ordering")
    with pytest.MonkeyPatch.context() as patch:
        set_small_groups(patch)
        with packed(made, folder / "packed.db") as columns, made.store(folder / "rows.db") as rows:
            yield columns, rows


def named(store: Store) -> dict[int, tuple[object, ...]]:
    """What tells each call from all others, by its key."""
    calls = calls_of(store, conversation_ids(store))
    return {call.id: (call.run, call.flow, call.conversation, call.agent, call.trial) for call in calls}


@pytest.mark.parametrize("expression", ["", "state=greet", "persona=hurried", "persona=nobody"])
def test_calls_stand_as_the_database_sorts_them(expression: str, stores: tuple[Store, Store]) -> None:
    columns, rows = stores
    calls = parse(expression) if expression else None
    here, there = named(columns), named(rows)
    for sort in (*KEYS, *(f"-{key}" for key in KEYS)):
        expected = [there[key] for key in conversation_ids(rows, calls, sort)]
        listed = ordered_ids(columns, calls, sort)
        assert [here[key] for key in listed] == expected, sort
        assert [here[key] for key in listed[3:9]] == expected[3:9]
        window = conversation_ids(columns, calls, sort, limit=4, offset=2)
        assert [here[key] for key in window] == expected[2:6]


def test_a_call_is_found_where_it_stands(stores: tuple[Store, Store]) -> None:
    from tests.surface.arrays import SortedCalls

    listed = ordered_ids(stores[0], parse("errored=no"), "-persona")
    assert isinstance(listed, SortedCalls)
    assert [listed.place_of(key) for key in listed] == list(range(len(listed)))
    assert listed.place_of(10**9) is None
    assert listed[-1] == list(listed)[-1]
    with pytest.raises(IndexError):
        listed[len(listed)]


def test_a_column_that_calls_lack_is_refused(stores: tuple[Store, Store]) -> None:
    with pytest.raises(UsageError):
        ordered_ids(stores[0], None, "loudness")
