"""Two runs of voice calls: how their sides shared the line is compared over calls, and gated where it is asked for."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support import spoken_calls
from tests.support.facts import call, fresh, put
from tests.support.golden import assert_golden, printed
from tests.surface.store import Interaction, Store, open_store
from tests.surface.tui import ExitCode, Request, run, show

Captured = pytest.CaptureFixture[str]
TASKS = 12
QUICK = Interaction(calls=1, response=3, response_latency=3.0, yielded=2, yield_latency=1.0, agent_interruptions=1)
DEAF = Interaction(calls=1, response=3, response_latency=3.3, no_yield=2, agent_interruptions=1)


@pytest.fixture(scope="module")
def location(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Run `after` no longer gives way in the first nine tasks; nothing else is different beyond chance."""
    path = tmp_path_factory.mktemp("line") / "calls.db"
    with fresh(path) as store:
        for name in ("before", "after"):
            put(store, f"/in/{name}.json", (made(name, task) for task in range(TASKS)))
    return path


def made(name: str, task: int) -> Any:
    heard = DEAF if name == "after" and task < 9 else QUICK
    started = 1_782_000_000_000_000 + (86_400_000_000 if name == "after" else 0)
    return call(f"{name}-{task}", run=name, scenario=f"task-{task}", interaction=heard, started_at=started)


@pytest.fixture
def store(location: Path) -> Iterator[Store]:
    with open_store(location) as opened:
        yield opened


def rows(store: Store, *sides: str, where: str = "") -> dict[tuple[str, str], dict[str, Any]]:
    table = show(store, "compare", Request(sides=sides or ("before", "after"), where=where))  # type: ignore[arg-type]
    return {(row.record["flow"], row.record["aspect"]): dict(row.record) for row in table.rows}


def test_what_surely_fell_is_worse_and_the_rest_is_noise(store: Store) -> None:
    found = rows(store)
    fell = found["viewing", "yield_rate"]
    assert (fell["a"], fell["b"], fell["effect"]) == (1.0, 0.25, -0.75)
    assert (fell["verdict"], fell["test"], fell["pairs"]) == ("worse", "permutation", TASKS)
    assert (fell["events_a"], fell["events_b"], fell["n_a"], fell["n_b"]) == (24, 24, 12, 12)
    assert fell["low"] < -0.75 < fell["high"] < 0
    assert {key[1]: row["verdict"] for key, row in found.items() if row["events_a"] is not None} == {
        "yield_rate": "worse",
        "response_latency_mean": "worse",
        "yield_latency_mean": "noise",
        "response_rate": "noise",
        "agent_interruption_rate": "noise",
    }


def test_what_never_happened_has_no_row(store: Store) -> None:
    assert not [key for key in rows(store) if key[1].startswith("selectivity")]


def test_figures_are_those_of_the_matrix(tmp_path: Path) -> None:
    with spoken_calls.made(tmp_path / "calls.db") as store:
        # Nothing but the run tells the sides apart, so the calls in pairs are all that have a record.
        compared = rows(store, *spoken_calls.RUNS, where="agent=swift trial=0")
        for side, name in zip("ab", spoken_calls.RUNS, strict=True):
            asked = Request(where=f"run={name} agent=swift", by=("flow",))
            for row in show(store, "flows", asked).rows:
                for aspect in ("response_rate", "response_latency_mean", "agent_interruption_rate"):
                    assert compared[row.record["flow"], aspect][side] == row.record[aspect]


def test_a_comparison_reads_as_it_did(store: Store) -> None:
    table = show(store, "compare", Request(sides=("before", "after"), where="aspect=yield_rate | aspect=quality"))
    assert_golden(printed(table, "text"), "dumps/compare-interaction.txt")


def test_few_events_are_marked(tmp_path: Path) -> None:
    with fresh(tmp_path / "few.db") as store:
        for name in ("before", "after"):
            put(store, f"/in/{name}.json", [call(f"{name}-{i}", run=name, interaction=QUICK) for i in range(3)])
        table = show(store, "compare", Request(sides=("before", "after"), where="aspect=yield_rate"))
    assert [(row.thin, row.display["events_a"]) for row in table.rows] == [(True, "6~")]


@pytest.mark.parametrize(
    ("asked", "code"),
    [
        ((), ExitCode.OK),
        (("--max-drop", "yield_rate=0.1"), ExitCode.GATE_FAILED),
        (("--max-drop", "yield_rate=10%"), ExitCode.GATE_FAILED),
        (("--max-drop", "r_y=0.8"), ExitCode.OK),
        (("--max-drop", "agent_interruption_rate=0"), ExitCode.OK),
        (("--max-drop", "response_latency_mean=5%"), ExitCode.USAGE),
        (("--max-drop", "selectivity_vocal_tic=0"), ExitCode.USAGE),
    ],
)
def test_a_gate_checks_it_where_it_is_asked_to(asked: tuple[str, ...], code: int, location: Path) -> None:
    assert run(["gate", "--store", str(location), "--baseline", "before", "--candidate", "after", *asked]) == code


def test_a_gate_writes_what_was_asked_for_and_nothing_else(location: Path, capsys: Captured) -> None:
    asked = ["--max-drop", "yield_rate=0.1", "--max-drop", "agent_interruption_rate=0.5", "--format", "json"]
    run(["gate", "--store", str(location), "--baseline", "before", "--candidate", "after", *asked])
    checks = {row["aspect"]: row for row in json.loads(capsys.readouterr().out)["rows"]}
    assert checks.keys() == {"success_rate", "completion", "errors", "yield_rate", "agent_interruption_rate"}
    assert checks["yield_rate"]["standing"] == "failed"
    assert checks["yield_rate"]["allowed"] == 0.1
    assert checks["agent_interruption_rate"]["standing"] == "held"
