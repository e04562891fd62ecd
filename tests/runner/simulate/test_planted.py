"""What was planted is found by the thresholds of the worklist (docs/metrics.md, section 6), and nothing else is."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from itertools import pairwise

import pytest

from tests.support.simulated_calls import generate
from tests.surface.ingest import (
    Conversation,
    SlotFilled,
    StateEntered,
    compute_flow_aspects,
    compute_state_aspects,
    read_stream,
)
from tests.surface.runner import planted
from tests.surface.store import StateAspects

Rows = dict[tuple[str, str], list[StateAspects]]
FOLLOWING = {"collect_contact", "collect_preferences", "collect_viewing_time", "collect_complaint", "collect_address"}


def rows_of(calls: Iterable[Conversation]) -> Rows:
    rows: Rows = defaultdict(list)
    for call in calls:
        for row in compute_state_aspects(call.events, call.contract, call.completed):
            rows[call.flow, row.state].append(row)
    return rows


def mean(values: Iterable[float | None]) -> float:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else 0.0


def reasons(rows: list[StateAspects]) -> set[str]:
    long, progress = mean(row.dwell_turns for row in rows) > 3, mean(row.progress for row in rows)
    found = {
        "stall": mean(row.stall for row in rows) >= 0.25,
        "escalation": mean(row.escalation for row in rows) >= 0.25,
        "dwell": long and progress < 0.7,
        "latency": mean(row.latency_p95_ms for row in rows) > 8000,
        "guard_error": mean(row.guard_error for row in rows) >= 0.5,
    }
    return {reason for reason, holds in found.items() if holds}


def assert_found(calls: Iterable[Conversation]) -> None:
    accused = {cell: found for cell, rows in rows_of(calls).items() if (found := reasons(rows))}
    assert set(accused) == {(weakness.flow, weakness.state) for weakness in planted()}
    for weakness in planted():
        assert weakness.kind in accused[weakness.flow, weakness.state]


def test_the_thresholds_find_what_was_planted_and_accuse_no_other_state(measured: list[Conversation]) -> None:
    assert_found(measured)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_so_they_do_for_other_seeds(seed: int) -> None:
    assert_found(call for call in generate(conversations=1600, seed=seed) if not call.errored)


def test_states_without_a_weakness_are_clearly_healthy(measured: list[Conversation]) -> None:
    sick = {(weakness.flow, weakness.state) for weakness in planted()}
    for cell, rows in rows_of(measured).items():
        if cell not in sick:
            assert len(rows) >= 20, cell
            assert mean(row.progress for row in rows) >= 0.9, cell
            assert mean(row.stall for row in rows) <= 0.1, cell
            assert mean(row.escalation for row in rows) <= 0.1, cell
            assert mean(row.dwell_turns for row in rows) < 2.5, cell
            assert mean(row.latency_p95_ms for row in rows) < 4000, cell
            assert mean(row.guard_error for row in rows) < 0.1, cell


def test_a_planted_weakness_is_clearly_over_its_threshold(measured: list[Conversation]) -> None:
    rows = rows_of(measured)
    assert mean(row.stall for row in rows["dog_grooming", "listen_owner"]) > 0.28
    assert mean(row.escalation for row in rows["apartment_scheduler", "book_viewing"]) > 0.3
    assert mean(row.progress for row in rows["dental_clinic", "collect_insurance"]) < 0.66
    assert mean(row.dwell_turns for row in rows["dental_clinic", "collect_insurance"]) > 3.5
    assert mean(row.latency_p95_ms for row in rows["apartment_viewing", "search_units"]) > 10_000
    assert mean(row.guard_error for row in rows["austin_plumbing", "check_coverage"]) > 0.9


def test_a_weakness_of_one_agent_hits_that_agent_hardest(measured: list[Conversation]) -> None:
    def escalation(agent: str) -> float:
        calls = (call for call in measured if call.agent_model == agent)
        return mean(row.escalation for row in rows_of(calls)["apartment_scheduler", "book_viewing"])

    others = [escalation(agent) for agent in ("sim-steady", "sim-swift", "sim-deliberate")]
    assert escalation("sim-thrifty") > max(others)


def test_a_run_may_make_a_weakness_worse(measured: list[Conversation]) -> None:
    def stall(runs: set[str]) -> float:
        calls = (call for call in measured if call.run_id in runs)
        return mean(row.stall for row in rows_of(calls)["apartment_scheduler", "book_viewing"])

    names = sorted({call.run_id or "" for call in measured if (call.run_id or "").startswith("nightly")})
    assert stall(set(names[-3:])) > stall(set(names[:6])) + 0.1


def test_who_says_everything_first_leaves_later_states_little_to_fill_and_gets_through(
    measured: list[Conversation],
) -> None:
    for persona, low in (("front_loader", True), ("patient", False)):
        calls = [call for call in measured if call.persona == persona]
        rows = [row for (_, state), cell in rows_of(calls).items() if state in FOLLOWING for row in cell]
        assert mean(row.progress for row in rows) >= 0.9
        assert (mean(row.slot_fill_rate for row in rows) < 0.3) == low
    filled = [event for call in measured for event in call.events if isinstance(event, SlotFilled)]
    assert {"greeting", "wake", "greet_owner"} <= {event.state for event in filled}


def test_every_cell_of_flow_and_agent_is_thick_and_agents_differ(measured: list[Conversation]) -> None:
    cells: dict[tuple[str, str], list[dict[str, float | None]]] = defaultdict(list)
    for call in measured:
        cells[call.flow, call.agent_model].append(compute_flow_aspects(call))
    assert len(cells) == 8 * 4
    assert min(map(len, cells.values())) >= 30
    worst = min(cells, key=lambda cell: mean(aspects["correctness"] for aspects in cells[cell]))
    assert worst[0] in {"dog_grooming", "apartment_scheduler"}
    for agent in ("sim-steady", "sim-swift", "sim-thrifty", "sim-deliberate"):
        assert mean(aspects["correctness"] for aspects in cells["generic_inquiry", agent]) > 7


def test_streams_are_without_defects_and_time_runs_forward(conversations: list[Conversation]) -> None:
    for call in conversations:
        assert not read_stream(call.events, call.contract).defects
        moments = [event.t for event in call.events if event.t is not None]
        assert len(moments) == len(call.events)
        assert all(earlier <= later for earlier, later in pairwise(moments))
        assert moments[-1] <= (call.duration_s or 0)


def test_a_hub_is_entered_again_and_again(measured: list[Conversation]) -> None:
    calls = [call for call in measured if call.flow == "ceo_command_center" and call.completed]
    for call in calls:
        entered = [event.state for event in call.events if isinstance(event, StateEntered)]
        assert entered.count("command_hub") >= 3
