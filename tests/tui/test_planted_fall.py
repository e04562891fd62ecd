"""A flow that falls in the last run, wherever one may look for it; and runs of one quality, whatever their size."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.edited_store import microseconds, record
from tests.surface.ingest import ingest
from tests.surface.runner import simulate_simulate as simulate
from tests.surface.store import FlowEdit, Store, Writer, open_store
from tests.surface.tui import ExitCode, Request, run, show

FLOW, OTHER = "generic_inquiry", "austin_plumbing"
BEFORE, LAST = "nightly-2026-06-19", "nightly-2026-06-22"
EDITED = microseconds("2026-06-20T10:00:00Z")


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Ten runs of two flows as they were played."""
    folder = tmp_path_factory.mktemp("played")
    simulate(folder, flows=(FLOW, OTHER), conversations=800, seed=7)
    return folder


@pytest.fixture(scope="module")
def fallen(played: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same, but half of the calls of a flow that were served in the last run were not; both flows were edited."""
    folder = tmp_path_factory.mktemp("fallen") / "runs"
    shutil.copytree(played, folder)
    path = folder / LAST / f"flow-transcripts-{FLOW}.jsonl"
    calls = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    served = [call for call in calls if call["final_state"] in call["contract"]["success_terminals"]]
    for call in served[::2]:
        hang_up(call)
    path.write_text("".join(f"{json.dumps(call)}\n" for call in calls), encoding="utf-8")
    edits = [FlowEdit(flow, flow, EDITED, "Ada", "Shorten the greeting", "p") for flow in (FLOW, OTHER)]
    return record(stored(folder, folder.parent / "fallen.db"), edits)


@pytest.fixture
def store(fallen: Path) -> Iterator[Store]:
    with open_store(fallen) as opened:
        yield opened


def hang_up(call: dict[str, Any]) -> None:
    """Let the caller go before the last step, so that nothing is served."""
    last = max(place for place, event in enumerate(call["events"]) if event["type"] == "state_exited")
    call["final_state"] = call["events"][last]["state"]
    call["events"] = call["events"][:last]
    call |= {"completed": False, "stop_reason": "caller_hangup", "final_status": None}


def stored(folder: Path, path: Path) -> Path:
    with open_store(path, write=True, create=True) as opened:
        ingest([folder], Writer(opened), with_text=False)
    return path


def row(store: Store, view: str, where: str, **asked: Any) -> dict[str, Any]:
    (found,) = show(store, view, Request(where=where, **asked)).rows
    return {**found.record, "marks": found.severity}


def test_the_timeline_names_the_flow_and_marks_this_run_alone(store: Store) -> None:
    rows = {row.record["run"]: row for row in show(store, "timeline", Request()).rows}
    assert {name: row.record["moved"] for name, row in rows.items() if row.record["moved"]} == {LAST: FLOW}
    assert rows[LAST].severity["moved"] == "bad"
    assert [name for name, row in rows.items() if row.severity] == [LAST]
    (change,) = rows[LAST].record["changes"]
    assert change["verdict"] == "worse"
    assert change["success_after"] < 0.6 < 0.8 < change["success_before"]


def test_the_timeline_of_the_flow_falls_with_success_and_quality_and_so_does_its_line(store: Store) -> None:
    table = show(store, "timeline", Request(where=f"flow={FLOW}"))
    before, last = table.rows[-2].record, table.rows[-1].record
    assert (last["run"], last["verdict"]) == (LAST, "worse")
    assert last["intervals"]["success_rate"][1] < before["intervals"]["success_rate"][0]
    assert last["intervals"]["quality.(computed)"][1] < before["intervals"]["quality.(computed)"][0]
    assert table.figure is not None
    drawn = next(line.split()[1] for line in table.figure.draw() if line.startswith("success"))
    assert min(drawn) == drawn[-1] < drawn[-2]


def test_the_matrix_has_the_fall_in_the_runs_of_the_flow(store: Store) -> None:
    trend = row(store, "flows", f"flow={FLOW}", by=("flow",), trend=True)["trend"]
    assert trend[-1] == min(trend) < 0.6


def test_the_edit_before_it_is_told_from_that_of_the_flow_that_stayed(store: Store) -> None:
    fell, stayed = (row(store, "edits", f"flow={flow}") for flow in (FLOW, OTHER))
    assert (fell["previous_run"], fell["next_run"], fell["verdict"]) == (BEFORE, LAST, "worse")
    assert fell["success_change"] < -0.2
    assert fell["change"] < -1
    assert fell["marks"] == {"success_change": "bad", "": "bad"}
    assert (stayed["verdict"], stayed["marks"]) == ("noise", {})


def test_the_comparison_and_the_gate_find_the_same(fallen: Path, store: Store) -> None:
    compared = {
        (row.record["flow"], row.record["aspect"]): row.record["verdict"]
        for row in show(store, "compare", Request(sides=("previous", "latest"))).rows
    }
    assert compared[FLOW, "success_rate"] == compared[FLOW, "quality"] == "worse"
    assert compared[OTHER, "success_rate"] == "noise"
    sides = ("--baseline", BEFORE, "--candidate", LAST, "--store", str(fallen))
    assert run(["gate", *sides, "--where", f"flow={FLOW}"]) == ExitCode.GATE_FAILED
    assert run(["gate", *sides, "--where", f"flow={OTHER}"]) == ExitCode.OK


def test_quality_does_not_depend_on_how_many_calls_were_made(played: Path, tmp_path: Path) -> None:
    simulate(tmp_path / "few", flows=(FLOW, OTHER), conversations=96, seed=8)
    found = []
    for name, folder in (("few", tmp_path / "few"), ("many", played)):
        with open_store(stored(folder, tmp_path / f"{name}.db")) as opened:
            found.append({row.record["run"]: row.record for row in show(opened, "timeline", Request()).rows})
    few, many = found
    assert few.keys() == many.keys()
    for name, one in few.items():
        for key in ("success_rate", "quality.(computed)"):
            (low, high), (least, most) = one["intervals"][key], many[name]["intervals"][key]
            assert low <= most
            assert least <= high
