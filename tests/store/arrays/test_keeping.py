"""What is packed is what the rows say, whatever is written, and a small store packs nothing."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.support.earlier_schema import earlier_store, stepped
from tests.support.facts import call, fresh, put, verdict
from tests.support.packed_stores import packed, small_groups
from tests.support.random_stores import World, world
from tests.surface.arrays import encode, read_calls
from tests.surface.store import (
    Grouping,
    Skipped,
    Store,
    StoreError,
    Writer,
    chunks,
    examine,
    open_store,
    packed_groups,
    state_sums,
    writer,
)
from tests.surface.tui import parse

__all__ = ["small_groups"]
pytestmark = pytest.mark.usefixtures("small_groups")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "calls.db"


def groups(store: Store) -> list[int]:
    return packed_groups(store.execute_sql)


def everything(store: Store) -> dict[Any, list[Any]]:
    """Every column of every call."""
    with store.snapshot():
        calls = read_calls(store, None, errored=True)
        figures = {name: calls.values(name) for name in ("duration_s", "success", "quality", "lost", "caller_ok")}
        keys = {name: calls.keys(name) for name in ("id", "flow", "run", "persona", "final_state")}
        scores = {pair: calls.scores(*pair) for pair in calls.judged()}
        unscored = {(*pair, "unscored"): calls.unscored(*pair) for pair in calls.judged()}
    columns: dict[Any, Any] = {**figures, **keys, **scores, **unscored}
    return {name: [None if each != each else each for each in column.tolist()] for name, column in columns.items()}


def test_columns_are_the_same_from_what_is_packed_and_from_rows(path: Path) -> None:
    made = world(5, 60)
    with made.store(path) as rows:
        assert groups(rows) == []
        told = everything(rows)
    with packed(made, path) as store:
        assert groups(store) == [0, 1, 2, 3, 4, 5, 6]
        assert everything(store) == told


def test_what_changes_is_read_from_rows_until_it_is_packed_again(path: Path) -> None:
    made = world(6, 40)
    packed(made, path).close()
    first = made.calls[9]
    with open_store(path, write=True) as store:
        put(store, "more.jsonl", [verdict(first.conversation_id, 9.5, run=first.run_id, judge="late", flow=first.flow,
                                          agent=first.agent_model, trial=first.trial)])  # fmt: skip
        assert groups(store) == [0, 2, 3, 4]
        judges = dict(store.execute_sql("SELECT name, id FROM judge"))
        aspects = dict(store.execute_sql("SELECT name, id FROM aspect"))
        late = aspects["humanness"], judges["late"]
        with store.snapshot():
            calls = read_calls(store, None, errored=True)
            before = calls.scores(*late).tolist()
        assert [place for place, score in enumerate(before) if score == 9.5] == [9]
        Writer(store).pack()
        assert groups(store) == [0, 1, 2, 3, 4]
        with store.snapshot():
            assert str(read_calls(store, None, errored=True).scores(*late).tolist()) == str(before)


@pytest.mark.parametrize("seed", range(3))
def test_whatever_is_written_columns_follow(seed: int, path: Path) -> None:
    chance = random.Random(seed)
    parts: list[World] = [world(seed * 10 + number, 14) for number in range(4)]
    with fresh(path) as store:
        for _ in range(12):
            number = chance.randrange(4)
            name, part = f"{number}.jsonl", parts[number]
            match chance.randrange(4):
                case 0:
                    put(store, name, part.calls[: chance.randrange(15)], sha256=str(chance.random()))
                case 1:
                    put(store, f"v{name}", part.verdicts, sha256=str(chance.random()))
                case 2:
                    put(store, f"again-{name}", part.calls, order=[name, f"again-{name}"], sha256=str(chance.random()))
                case 3:
                    Writer(store).pack()
            assert examine(store).wrong == []
        Writer(store).pack()
        told = everything(store)
        store.execute_sql("DELETE FROM column_chunk")
        assert everything(store) == told


def test_a_file_that_does_not_go_in_leaves_what_is_packed(path: Path) -> None:
    with fresh(path) as store:
        put(store, "a.jsonl", [call(f"c-{number}") for number in range(20)])
        Writer(store).pack()

        def broken() -> Any:
            yield call("c-3", line=2)
            yield Skipped("skipped", 1, "no", None)
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            put(store, "a.jsonl", broken(), sha256="bb")
        assert groups(store) == [0, 1]
        assert examine(store).wrong == []


def test_packing_tells_how_far_it_is(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer, "_GROUPS", 2)
    world(7, 50).store(path).close()
    told: list[tuple[int, int]] = []
    with open_store(path, write=True) as store:
        Writer(store).pack(lambda done, total: told.append((done, total)))
        assert told == [(done, len(groups(store))) for done in range(0, len(groups(store)), 2)]
    assert len(told) > 1


def test_a_small_store_packs_nothing(path: Path) -> None:
    with fresh(path) as store:
        put(store, "a.jsonl", [call(f"c-{number}") for number in range(11)])
        Writer(store).pack()
        assert groups(store) == []


def test_keys_that_no_call_has_any_more_are_not_packed(path: Path) -> None:
    with fresh(path) as store:
        for name in ("a", "b"):
            put(store, f"{name}.jsonl", [call(f"{name}-{number}") for number in range(16)])
        put(store, "a.jsonl", [call(f"a-{number}") for number in range(16)], sha256="bb")
        Writer(store).pack()
        assert groups(store) == [2, 3, 4, 5]
        assert examine(store).wrong == []
        assert sorted(everything(store)["id"]) == list(range(17, 49))


def test_doctor_finds_what_is_packed_otherwise_than_it_is(path: Path) -> None:
    packed(world(7, 30), path).close()
    with open_store(path, write=True) as store:
        store.execute_sql("UPDATE conversation SET duration_s = 99 WHERE id = 10")
        assert examine(store).wrong == ["columns: what is packed of the calls with keys 8 to 15 differs from them"]


DAMAGE = (
    "UPDATE aspect_score SET value = value + 1e-9 WHERE conversation_id = 10 AND value IS NOT NULL",
    "UPDATE aspect_score SET value = NULL WHERE conversation_id = 10",
    "DELETE FROM aspect_score WHERE conversation_id = 10",
    "UPDATE state_score SET progress = 1 - progress WHERE conversation_id = 10",
    "UPDATE state_score SET slow = CASE WHEN slow IS NULL THEN 0.0 END WHERE conversation_id = 10",
    "UPDATE state_score SET revisit = revisit + 1 WHERE conversation_id BETWEEN 10 AND 11",
    "UPDATE transition SET n = n + 1 WHERE conversation_id = 10",
    "DELETE FROM transition WHERE conversation_id = 10",
    "UPDATE conversation SET started_at = started_at + 1 WHERE id = 10",
    "UPDATE conversation SET trial = (SELECT o.trial + 1 FROM conversation o WHERE o.id = 21 - conversation.id)"
    " WHERE id IN (10, 11)",
    "UPDATE column_chunk SET n = n + 1 WHERE row_group = 1 AND name = 'state.progress'",
    "UPDATE column_chunk SET n = n + 1 WHERE row_group = 1 AND name = 'state.state'",
    "UPDATE column_chunk SET name = 'score.01.1' WHERE row_group = 1 AND name = 'score.1.1'",
    "UPDATE column_chunk SET body = x'00' WHERE row_group = 1 AND name = 'call.trial'",
    "DELETE FROM column_chunk WHERE row_group = 1 AND name = 'call.trial'",
    "UPDATE column_chunk SET name = 'score.99.1' WHERE row_group = 1 AND name = 'call.lost'",
    "UPDATE column_chunk SET body ="
    " (SELECT o.body FROM column_chunk o WHERE o.row_group = 1 AND o.name = 'state.state')"
    " WHERE row_group = 1 AND name = 'state.segment'",
)


@pytest.mark.parametrize("damage", DAMAGE)
def test_doctor_finds_any_value_that_is_packed_otherwise(path: Path, damage: str) -> None:
    packed(world(7, 30), path).close()
    with open_store(path, write=True) as store:
        before = store.execute_sql("SELECT total_changes()")
        store.execute_sql(damage)
        assert store.execute_sql("SELECT total_changes()") != before
        assert "columns: what is packed of the calls with keys 8 to 15 differs from them" in examine(store).wrong


@pytest.mark.parametrize("counts", [[2.0**40] * 8, [2.0**21] * 8, [-1.0] * 8, [0.0] * 8], ids=str)
def test_counts_of_rows_that_no_store_has_are_refused_before_room_is_made(counts: list[float], path: Path) -> None:
    packed(world(7, 30), path).close()
    with open_store(path, write=True) as store:
        store.execute_sql(
            "UPDATE column_chunk SET body = ? WHERE row_group = 1 AND name = 'state.rows'", (encode(np.array(counts)),)
        )
        with pytest.raises(StoreError, match="a packed column is damaged"):
            state_sums(store, parse("trial>=0"), Grouping(("flow", "state")))
        assert "columns: what is packed of the calls with keys 8 to 15 differs from them" in examine(store).wrong


def spans(store: Store) -> list[int]:
    return [
        place for (place,) in store.execute_sql("SELECT row_group FROM column_chunk WHERE name = 'span' ORDER BY 1")
    ]


def test_sums_of_a_span_go_with_any_call_that_they_are_of_and_come_back(path: Path) -> None:
    made = world(9, 70)
    packed(made, path).close()
    first = made.calls[30]
    with open_store(path, write=True) as store:
        assert spans(store) == [-2, -1]
        put(store, "more.jsonl", [verdict(first.conversation_id, 9.5, run=first.run_id, judge="late", flow=first.flow,
                                          agent=first.agent_model, trial=first.trial)])  # fmt: skip
        assert spans(store) == [-1]
        assert examine(store).wrong == []
        Writer(store).pack()
        assert spans(store) == [-2, -1]
        put(store, "again.jsonl", made.calls[:1], order=["calls.jsonl", "again.jsonl"])
        assert len(spans(store)) < 2
        Writer(store).pack()
        assert examine(store).wrong == []


SUMS_DAMAGED = (
    "UPDATE column_chunk SET body = x'00' WHERE row_group = -1 AND name = 'persona.State.n'",
    "DELETE FROM column_chunk WHERE row_group = -1 AND name = 'scenario.Call.success'",
    "DELETE FROM column_chunk WHERE row_group = -1 AND name = 'span'",
)


@pytest.mark.parametrize("damage", SUMS_DAMAGED)
def test_doctor_finds_damaged_sums(path: Path, damage: str) -> None:
    packed(world(9, 70), path).close()
    with open_store(path, write=True) as store:
        store.execute_sql(damage)
        assert examine(store).wrong == ["columns: what the calls with keys 0 to 23 add up to differs from them"]


def test_doctor_finds_sums_that_are_not_those_of_their_calls(path: Path) -> None:
    packed(world(9, 40), path).close()
    with open_store(path, write=True) as store:
        assert spans(store) == [-1]
        store.execute_sql("UPDATE conversation SET success = 1 - success WHERE id < 24")
        store.execute_sql("DELETE FROM column_chunk WHERE row_group BETWEEN 0 AND 2")
        Writer(store).pack()
        assert "columns: what the calls with keys 0 to 23 add up to differs from them" in examine(store).wrong


@pytest.mark.parametrize("key", [10, 29], ids=["packed", "not packed"])
@pytest.mark.parametrize(
    ("packed_as", "damage", "problem"),
    [
        ("revisit = 0", "revisit = x'00'", "values: {} rows of state_score have values that do not fit their columns"),
        ("slow = 0.0", "slow = 'no'", "values: {} rows of state_score have values that do not fit their columns"),
        ("slow = 9e999", "slow = 9e999", "values: {} rows of state_score have values that do not fit their columns"),
        ("segment_id = 99", "segment_id = 99", "references: {} rows of state_score point nowhere"),
        ("segment_id = -1", "segment_id = -1", "references: {} rows of state_score point nowhere"),
    ],
)
def test_doctor_finds_what_no_ingest_writes_though_it_is_packed_alike(
    path: Path, key: int, packed_as: str, damage: str, problem: str
) -> None:
    packed(world(7, 30), path).close()
    with open_store(path, write=True) as store:
        for said in (packed_as, damage):
            store.execute_sql(f"UPDATE state_score SET {said} WHERE conversation_id = {key}")
            if said is packed_as:
                store.execute_sql("DELETE FROM column_chunk")
                Writer(store).pack()
        assert set(groups(store)) == {0, 1, 2}
        [[rows]] = store.execute_sql(f"SELECT COUNT(*) FROM state_score WHERE conversation_id = {key}")
        assert rows
        assert problem.format(rows) in examine(store).wrong


def test_doctor_finds_rows_of_calls_with_keys_that_no_call_can_have(path: Path) -> None:
    packed(world(7, 30), path).close()
    with open_store(path, write=True) as store:
        for key in ("'none'", "-5", "15.5", "99"):
            store.execute_sql(f"INSERT INTO transition VALUES ({key}, 1, 1, 1)")
        wrong = examine(store).wrong
        assert "values: 2 rows of transition have values that do not fit their columns" in wrong
        assert "references: 4 rows of transition point nowhere" in wrong


def test_doctor_has_the_engine_add_up_what_is_packed_and_looks_at_no_row_of_it(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with packed(world(7, 64), path) as store:
        (last,) = groups(store)[-1:]
        asked, answer = [], store.execute_sql

        def execute_sql(sql: str, values: Any = ()) -> Any:
            rows = answer(sql, values)
            asked.append((sql, values, len(rows)))
            return rows

        monkeypatch.setattr(store, "execute_sql", execute_sql)
        with store.snapshot():
            assert examine(store).wrong == []
        read = [each for each in asked if " >= ? AND " in each[0]]
        of_packed = [rows for _, values, rows in read if values[-2] < (last + 1) * 8]
        assert len(of_packed) == 6 * (last + 1)
        assert set(of_packed) == {1}


def test_an_older_store_of_many_calls_is_packed_when_it_is_migrated(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    earlier = earlier_store(path)
    monkeypatch.setattr(chunks, "GROUP_CALLS", 2)
    monkeypatch.setattr(chunks, "FEWEST_CALLS", 3)
    with stepped(), open_store(earlier, write=True) as store:
        assert groups(store) == [0, 1]
        assert examine(store).wrong == []
