"""Sums that are kept while files come, change and go are those that summing every row anew gives."""

from __future__ import annotations

import random
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from tests.support.facts import call, fresh, put, source, state, verdict
from tests.surface.store import ASPECTS, ROLLUPS, SUMMED, Grouping, Item, Store, Summed, Writer, rollups, rows_of_sums

FILES = ("/in/a.jsonl", "/in/b.jsonl", "/in/judged.jsonl")


@pytest.mark.parametrize("seed", range(6))
def test_sums_that_were_added_up_batch_by_batch_are_those_of_all_rows(tmp_path: Path, seed: int) -> None:
    draw = random.Random(seed)
    with fresh(tmp_path / "calls.db") as store:
        for number in range(12):
            writer = Writer(store)
            writer.order(FILES)
            with writer.batch():
                for path in draw.sample(FILES, draw.randrange(1, 4)):
                    writer.put_file(source(path, f"{number}"), _items(draw, path))
            assert _sums(store) == _summed_anew(store)
            for summed in SUMMED:
                assert _by_run(store, summed) == _by_run(store, summed, depth="base")
            asked = {"among": {"aspect": [2]}}
            assert _by_run(store, ASPECTS, **asked) == _by_run(store, ASPECTS, **asked, depth="base")


def test_a_call_alone_in_its_cell_has_no_sums_by_run_until_another_comes(tmp_path: Path) -> None:
    with fresh(tmp_path / "calls.db") as store:
        put(store, "/in/a.jsonl", [call("c-1"), call("c-2", run="night-2")])
        assert store.execute_sql("SELECT COUNT(*) FROM state_rollup") == [(0,)]
        put(store, "/in/b.jsonl", [call("c-3")])
        assert store.execute_sql("SELECT run_id, n FROM state_rollup") == [(1, 2), (1, 2)]
        put(store, "/in/a.jsonl", [], sha256="bb")
        assert store.execute_sql("SELECT COUNT(*) FROM state_rollup") == [(0,)]
        assert store.execute_sql("SELECT n FROM state_total") == [(1,), (1,)]


def test_verdicts_that_come_later_and_go_again_leave_no_empty_sums(tmp_path: Path) -> None:
    with fresh(tmp_path / "calls.db") as store:
        put(store, "/in/a.jsonl", [call("c-1")])
        before = _sums(store)
        put(store, "/in/judged.jsonl", [verdict("c-1", 6.0)])
        assert _sums(store) != before
        put(store, "/in/judged.jsonl", [], sha256="bb")
        assert _sums(store) == before


class _TakenBack(Exception):
    """End a transaction without writing."""


def _items(draw: random.Random, path: str) -> list[Item]:
    if path == "/in/judged.jsonl":
        scores = (None, 0.1, 6.3, 10.0)
        return [
            verdict(f"c-{draw.randrange(9)}", draw.choice(scores), judge=f"judge-{draw.randrange(3)}", line=line)
            for line in range(1, draw.randrange(2, 12))
        ]
    return [_call(draw, line) for line in range(1, draw.randrange(2, 8))]


def _call(draw: random.Random, line: int) -> Item:
    return call(
        f"c-{draw.randrange(9)}",
        line=line,
        flow=f"flow-{draw.randrange(2)}",
        run=draw.choice(("night-1", "night-2")),
        started_at=draw.choice((None, draw.randrange(10**15))),
        errored=draw.random() < 0.2,
        caller_ok=draw.choice((None, True, False)),
        aspects={"correctness": 10.0, "completion": draw.choice((0.0, 10.0)), "latency_p95": draw.random() * 9},
        states=[state("greet", latency_p95_ms=draw.random() * 900, to={"booked": 1}), state("collect", stall=None)],
    )


def _summed_anew(store: Store) -> dict[str, list[tuple[Any, ...]]]:
    """Sum every cell anew in a transaction that is taken back."""
    with suppress(_TakenBack), store.writing():
        rollups.recompute_all(store.connection)
        found = _sums(store)
        raise _TakenBack
    return found


def _by_run(store: Store, summed: Summed, **given: Any) -> dict[tuple[Any, ...], list[Any]]:
    """Return the sums by all keys, each of which is in one place."""
    found: dict[tuple[Any, ...], list[Any]] = {}
    size, group = len(summed.sums), Grouping(("flow", "agent", "run"))
    for row in rows_of_sums(store, summed, summed.sums, None, group, summed.keys, **given):
        assert row[:-size] not in found
        found[row[:-size]] = [round(value, 6) if isinstance(value, float) else value for value in row[-size:]]
    return found


def _sums(store: Store) -> dict[str, list[tuple[Any, ...]]]:
    """Return every sum; squares, which are floats, without the last of their digits."""
    tables = (str(model._meta.table_name) for model in ROLLUPS)
    rows = {table: store.execute_sql(f"SELECT * FROM {table} ORDER BY 1, 2, 3, 4, 5") for table in tables}
    return {
        table: [tuple(round(value, 6) if isinstance(value, float) else value for value in row) for row in found]
        for table, found in rows.items()
    }
