"""The doctor's eyes: a store that is whole is called so, and each way of being broken is found and named."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from tests.support.facts import call, fresh, put, verdict
from tests.surface.store import Health, Item, Skipped, ToolAspects, examine, open_store


@pytest.fixture
def store(tmp_path: Path) -> Path:
    path = tmp_path / "store.db"
    with fresh(path) as opened:
        items: list[Item] = [
            call("c-1", tools=[ToolAspects("find", "collect", 2, 1)]),
            call("c-2", errored=True),
            Skipped("skipped", 3, "not JSON"),
            verdict("c-1", 4.0),
        ]
        put(opened, "/runs/night-1/calls.jsonl", items)
    return path


def examined(path: Path) -> Health:
    with open_store(path) as opened:
        return examine(opened)


def broken(path: Path, statement: str) -> list[str]:
    connection = sqlite3.connect(path)
    connection.execute(statement)
    connection.commit()
    connection.close()
    return examined(path).wrong


def test_a_whole_store_is_called_so_and_counted(store: Path) -> None:
    health = examined(store)
    assert (health.wrong, health.readable) == ([], True)
    assert set(health.checks) == {"integrity", "values", "references", "sums"}
    assert health.size == store.stat().st_size
    wanted = {
        "files": 1,
        "calls": 2,
        "errored": 1,
        "verdicts": 1,
        "notes": 0,
        "flows": 1,
        "agents": 1,
        "runs": 1,
        "skipped": 1,
    }
    assert {title: health.counts[title] for title in wanted} == wanted


@pytest.mark.parametrize(
    ("statement", "problem"),
    [
        ("UPDATE call_rollup SET n = n + 1", "sums: calls: 2 cells differ from their rows"),
        ("UPDATE aspect_rollup SET total = total + 1 WHERE aspect_id = 1", "sums: aspects: 2 cells"),
        ("DELETE FROM state_rollup", "sums: states: 2 cells"),
        ("UPDATE transition_total SET n = 99", "sums: transition totals: 4 cells"),
        ("UPDATE tool_rollup SET errors = 0", "sums: tools: 2 cells"),
        ("UPDATE tool_total SET n = 99", "sums: tool totals: 2 cells"),
        ("DELETE FROM state_total", "sums: state totals: 2 cells"),
        ("DELETE FROM agent", "references: 2 rows of conversation point nowhere"),
        ("UPDATE judged_score SET flow_name = 'dental'", "references: 1 verdicts are joined to a call of another name"),
        (
            "UPDATE source_file SET last_call = first_call",
            "references: 1 calls are none of those that their file brought",
        ),
        (
            "UPDATE judged_score SET conversation_name = 'c-1'",
            "references: 1 verdicts are joined to a call of another name",
        ),
        (
            "UPDATE judged_score SET conversation_id = NULL",
            "references: 1 scores of judges have no verdict behind them",
        ),
    ],
)
def test_what_does_not_fit_together_is_found(store: Path, statement: str, problem: str) -> None:
    assert any(found.startswith(problem) for found in broken(store, statement))


@pytest.mark.parametrize(
    ("statement", "problem"),
    [
        ("UPDATE state_total SET n = 9", "sums: state totals: 4 cells"),
        (
            "INSERT INTO transition_rollup (flow_id, agent_id, run_id, from_state_id, to_state_id, n)"
            " SELECT flow_id, agent_id, 1, from_state_id, to_state_id, n FROM transition_total",
            "sums: transitions: 2 cells",
        ),
    ],
)
def test_a_call_alone_in_its_run_is_in_totals_and_in_no_sums_by_run(
    tmp_path: Path, statement: str, problem: str
) -> None:
    path = tmp_path / "calls.db"
    with fresh(path) as opened:
        put(opened, "/runs/night-1/calls.jsonl", [call("c-1")])
    assert examined(path).wrong == []
    assert any(found.startswith(problem) for found in broken(path, statement))


@pytest.mark.parametrize("table", ["conversation", "state_total"])
def test_a_damaged_page_is_described_and_not_raised(store: Path, table: str) -> None:
    connection = sqlite3.connect(store)
    (page,) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (table,)).fetchone()
    (size,) = connection.execute("PRAGMA page_size").fetchone()
    connection.close()
    with store.open("r+b") as file:
        file.seek((page - 1) * size)
        file.write(b"\xff" * size)
    health = examined(store)
    assert health.wrong
    assert not health.readable
