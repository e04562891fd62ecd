"""What lies below a row of a dump: a command that runs as it is and prints rows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.every_dump import as_text, drills, every_dump, printed_by
from tests.surface.store import open_store
from tests.surface.tui import Request, show, spec_of

MOST = 4
"""So many rows of a long dump stand for all of them, from both ends."""


def ends(found: list[dict[str, Any]], most: int) -> list[dict[str, Any]]:
    return found if len(found) <= 2 * most else [*found[:most], *found[-most:]]


def assert_that_all_run(path: Path, most: int) -> None:
    ran: set[tuple[str, ...]] = set()
    with open_store(path) as store:
        for view, request in every_dump(store, str(path)):
            for drill in ends(drills(json.loads(as_text(store, view, request))["rows"]), most):
                argv = drill["argv"]
                assert (argv[0], argv[argv.index("--store") + 1]) == ("riff-tui", str(path))
                if tuple(argv) in ran:
                    continue
                ran.add(tuple(argv))
                code, text = printed_by(argv)
                found = json.loads(text)
                assert (code, found["view"], bool(found["rows"])) == (0, drill["view"], True), (view, request, argv)
                assert found["filter"] == drill["where"]
    assert ran


def test_every_command_below_a_row_of_a_small_store_runs(tiny: Path) -> None:
    assert_that_all_run(tiny, 2)


@pytest.mark.nightly
def test_every_command_below_a_row_of_the_demo_runs(demo: Path) -> None:
    assert_that_all_run(demo, MOST)


def test_names_that_try_to_act_stay_one_argument(hostile: Path) -> None:
    assert_that_all_run(hostile, 1)


def test_a_filter_of_calls_holds_below_and_a_name_of_the_row_replaces_its_own(tiny: Path) -> None:
    with open_store(tiny) as store:
        table = show(store, "states", Request(where="flow=viewing persona=hurried", store="x y.db"))
        row = next(row for row in table.rows if row.record["state"] == "greet")
        drill = table.record_of(row)["drill"]
    where = "flow=viewing persona=hurried state=greet"
    assert drill == {
        "view": "neighbors",
        "where": where,
        "argv": ["riff-tui", "dump", "neighbors", "--where", where, "--store", "x y.db", "--format", "json"],
    }


def test_what_leads_nowhere_has_nothing_below(tiny: Path) -> None:
    with open_store(tiny) as store:
        for view in ("skipped", "flow-table"):
            table = show(store, view, Request())
            assert all("drill" in table.record_of(row) for row in table.rows) is bool(spec_of(view).screen.below)


def test_grids_keep_their_columns(tiny: Path) -> None:
    with open_store(tiny) as store:
        assert "drill" not in as_text(store, "states", Request(), "csv")
        assert '"drill": {"view": "neighbors"' in as_text(store, "states", Request(), "jsonl")


def test_what_lies_below_makes_a_dump_no_longer_than_it_has_to(demo: Path) -> None:
    with open_store(demo) as store:
        rows = [json.loads(line) for line in as_text(store, "states", Request(), "jsonl").splitlines()]
    with_drill = sum(len(json.dumps(row)) for row in rows)
    assert with_drill < 1.4 * sum(len(json.dumps({**row, "drill": None})) for row in rows)
