"""Each fault that was planted in an agent of eight states comes first, with the right state, slot or tool."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from riff_ingest import Conversation, store_conversations
from riff_store import Store, open_store
from tests.support.planted_faults import TOLD_BY, Fault
from tests.surface.tui import ExitCode, Request, Table, run, show

UNFILLED = Fault(45, unfilled="phone")
ALWAYS_FAILS = Fault(80, fails={"create_booking": "booking service said no: slot taken"})
MISHEARD = Fault(40, misheard={"phone": "555-9999"})
MISFIT = {"create_booking": "invalid arguments: phone must be digits"}
SLOW = Fault(24, slow={"offer": 8.0})
DIES = Fault(30, dies="check_slots")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "planted.db"


@pytest.fixture
def store(path: Path) -> Iterator[Store]:
    with open_store(path, write=True, create=True) as opened:
        yield opened


def worklist(store: Store, calls: Iterable[Conversation]) -> Table:
    store_conversations(store, calls)
    return show(store, "worklist", Request())


def listed(table: Table, name: str) -> list[Mapping[str, Any]]:
    """Return the rows of one list of the worklist."""
    return [row.record for row in table.rows if row.record["list"] == name]


def first(table: Table) -> tuple[str, str, int, int]:
    """Return flow and state to fix first, and how many of how many calls fail there."""
    found = table.extras["first"]
    return found["flow"], found["state"], found["failed"], found["n"]


def causes(store: Store) -> list[tuple[str, str, str | None, int]]:
    rows = [row.record for row in show(store, "causes", Request()).rows]
    return [(row["first_failed"], row["kind"], row["detail"], row["n"]) for row in rows]


def test_a_sound_agent_has_nothing_to_fix(store: Store) -> None:
    table = worklist(store, Fault().calls())
    assert (table.lead, table.rows, causes(store)) == ("No call failed.", [], [])


def test_a_required_slot_that_is_never_filled(store: Store) -> None:
    table = worklist(store, UNFILLED.calls())
    assert first(table) == ("salon", "collect_details", 45, 80)
    assert table.lead.startswith("Fix first: salon/collect_details. 45 of 80 calls fail there")
    assert "success could rise from 44 % to at most 100 %" in table.lead
    assert [(row["state"], row["reasons"]) for row in listed(table, "states")] == [
        ("collect_details", ["missing slot 45"])
    ]
    assert causes(store) == [("collect_details", "missing slot", "phone", 45)]


def test_a_last_tool_that_always_fails_though_the_agent_says_it_is_done(store: Store) -> None:
    table = worklist(store, ALWAYS_FAILS.calls())
    assert first(table) == ("salon", "book", 80, 80)
    assert "success could rise from 0 % to" in table.lead
    assert causes(store) == [("book", "tool error", "create_booking", 80)]


def test_another_number_than_the_caller_gave(store: Store) -> None:
    table = worklist(store, MISHEARD.calls())
    assert first(table) == ("salon", "collect_details", 40, 80)
    assert causes(store) == [("collect_details", "wrong slot", "phone", 40)]


@pytest.mark.parametrize("told_by", TOLD_BY)
def test_wrong_arguments_and_a_hand_off_are_the_fault_of_the_state_that_called(store: Store, told_by: str) -> None:
    fault = Fault(27, fails=MISFIT, misfit=True, handed_over=True, told_by=told_by)
    table = worklist(store, fault.calls())
    assert first(table) == ("salon", "book", 27, 80)
    assert causes(store) == [("book", "tool error", "create_booking", 27)]


def test_a_slow_state_is_listed_though_nobody_fails_there(store: Store) -> None:
    table = worklist(store, SLOW.calls())
    assert table.lead == "No call failed."
    ((state, failed, reasons),) = [(row["state"], row["failed"], row["reasons"]) for row in listed(table, "states")]
    assert (state, failed) == ("offer", 0)
    assert any(reason.startswith("slow 0.3") for reason in reasons)


def test_a_program_that_dies_is_errored_and_never_failed(store: Store) -> None:
    table = worklist(store, DIES.calls())
    assert (table.lead, table.rows, causes(store)) == ("No call failed.", [], [])
    assert "Excluded: 30 errored calls are not counted in averages." in table.notes
    (row,) = show(store, "flows", Request()).rows
    assert (row.record["n"], row.record["excluded"], row.record["success_rate"]) == (50, 30, 1.0)


def test_one_state_of_each_of_three_flows_that_loses_a_few_of_many_calls(store: Store) -> None:
    lost = {"clinic": "identify", "garage": "check_slots", "salon": "offer"}
    flows = [Fault(80, of=533, loses=state).calls(flow) for flow, state in lost.items()]
    table = worklist(store, (call for calls in flows for call in calls))
    assert {(row["flow"], row["state"], row["failed"]) for row in listed(table, "states")} == {
        (flow, state, 80) for flow, state in lost.items()
    }
    assert (
        {row["flow"] for row in listed(table, "flows")} == {row["flow"] for row in listed(table, "segments")} == {*lost}
    )
    flow, state, *counted = first(table)
    assert (lost[flow], counted) == (state, [80, 533])
    assert table.lead.startswith(f"Fix first: {flow}/{state}. 80 of 533 calls fail there")


@pytest.mark.parametrize(
    "fault",
    [UNFILLED, ALWAYS_FAILS, MISHEARD, Fault(27, fails=MISFIT, misfit=True, handed_over=True), DIES],
    ids=["unfilled", "always fails", "misheard", "misfit", "dies"],
)
def test_the_gate_stops_it(path: Path, fault: Fault) -> None:
    store_conversations(path, [*Fault().calls(run="before"), *fault.calls(run="after")])
    sides = ["--baseline", "before", "--candidate", "after", "--store", str(path)]
    assert run(["gate", *sides]) == ExitCode.GATE_FAILED


def test_the_gate_stops_slow_turns_where_it_is_asked_to(path: Path) -> None:
    store_conversations(path, [*Fault().calls(run="before"), *SLOW.calls(run="after")])
    sides = ["--baseline", "before", "--candidate", "after", "--store", str(path)]
    assert run(["gate", *sides, "--max-drop", "slow=2%"]) == ExitCode.GATE_FAILED
