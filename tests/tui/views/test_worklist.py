"""The worklist says where to go and why, in words that can be checked against the matrices."""

from __future__ import annotations

import io
from typing import Any

import pytest

from tests.support.view_answers import flow_cell, segment_cell, state_cell
from tests.surface.store import FirstToMend, StateCell, StepCounts, Worklist
from tests.surface.tui import WORKLIST_SPEC as SPEC
from tests.surface.tui import reason_texts, worklist
from tests.surface.tui import sinks_render as render


def answer(*states: StateCell) -> Worklist:
    return Worklist(
        flows=[flow_cell("apartment_scheduler", "gemini-2.5-f", n=11, correctness=0.0)],
        segments=[
            segment_cell(
                "apartment_scheduler", "action", state_cell("apartment_scheduler", "book_viewing"),
                n=11, stall=4 / 11, escalation=7 / 11, progress=0.0,
            )
        ],
        states=states,
        excluded=1,
        first=FirstToMend("dog_grooming", "listen_owner", 294, 391, 0.217, 0.969, ["a", "b"], ["a", "b"]),
    )  # fmt: skip


ROOT_CAUSES = (
    state_cell("apartment_scheduler", "book_viewing", n=11, stall=4 / 11, escalation=7 / 11, progress=0.0,
               dwell_turns=3.6),
    state_cell("dog_grooming", "listen_owner", n=9, stall=3 / 9, escalation=4 / 9, progress=2 / 9, dwell_turns=2.6,
               slot_fill_rate=0.0),
)  # fmt: skip


def test_markdown_has_the_shape_that_people_paste() -> None:
    out = io.StringIO()
    render(worklist(answer(*ROOT_CAUSES)), "markdown", out)
    assert out.getvalue().splitlines() == [
        "# What to work on (flow → segment → state)",
        "",
        "dog_grooming/listen_owner lost 294 of 391 calls (all agents); mended, completion could rise from 22 % to at"
        " most 97 %.",
        "",
        "## Weakest flows",
        "  x apartment_scheduler        correctness 0.0  (agent gemini-2.5-f, n 11)  5 failed",
        "",
        "## Weakest segments",
        "  ! apartment_scheduler/action  stall 0.36  escal 0.64  progress 0.0  (worst: book_viewing)  lost 3 of 11",
        "",
        "## Root-cause states",
        "  * apartment_scheduler/book_viewing  stall 0.36 · escalates 0.64 · dwell 3.6  lost 1 of 11",
        "  * dog_grooming/listen_owner         stall 0.33 · escalates 0.44 · slot_fill 0.0 (stuck, prog 0.22)"
        "  lost 1 of 9",
        "",
        "Excluded: 1 errored call is not counted in averages.",
        "Drill: riff-tui dump states --where 'flow=dog_grooming'",
    ]


def test_a_record_holds_the_metrics_that_its_reasons_name() -> None:
    first, _, state, stuck = worklist(answer(*ROOT_CAUSES)).rows
    assert first.record == {
        "list": "flows", "rank": 1, "flow": "apartment_scheduler", "agent": "gemini-2.5-f", "segment": None,
        "state": None, "lost": 2, "n": 11, "reasons": ["correctness 0.0"], "correctness": 0.0,
        "success_rate": pytest.approx(0.5), "failed_calls": 5,
    }  # fmt: skip
    assert state.record["reasons"] == ["stall 0.36", "escalates 0.64", "dwell 3.6"]
    assert {"stall", "escalation", "dwell_turns"} <= set(state.record)
    assert "slot_fill_rate" not in state.record
    assert stuck.record["slot_fill_rate"] == 0.0
    assert stuck.record["progress"] == pytest.approx(2 / 9)


def test_each_place_leads_down() -> None:
    flow, segment, state = worklist(answer(ROOT_CAUSES[0])).rows
    assert flow.where == "flow=apartment_scheduler agent=gemini-2.5-f"
    assert segment.where == "flow=apartment_scheduler segment=action"
    assert state.where == "flow=apartment_scheduler state=book_viewing"


@pytest.mark.parametrize(("progress", "speaks"), [(0.69, True), (0.7, False), (None, False)])
def test_low_slot_fill_speaks_only_where_calls_are_stuck(progress: float | None, speaks: bool) -> None:
    cell = state_cell("f", "s", stall=0.3, progress=progress, slot_fill_rate=0.1)
    assert ("slot_fill_rate" in reason_texts(cell)) is speaks


@pytest.mark.parametrize(
    ("values", "reasons"),
    [
        ({"stall": 0.25}, ["stall 0.25"]),
        ({"stall": 0.2, "escalation": 0.25}, ["escalates 0.25"]),
        ({"dwell_turns": 3.5, "progress": 0.8}, []),
        ({"dwell_turns": 3.5, "progress": 0.5}, ["dwell 3.5"]),
        ({"latency_p95": 8.0}, []),
        ({"latency_p95": 8.25}, ["lat_p95 8.3 s"]),
        ({"guard_error": 0.5}, ["guard errors 0.5"]),
        ({"slot_fill_rate": 0.1, "progress": 0.5}, ["slot_fill 0.1 (stuck, prog 0.5)"]),
        ({"slot_fill_rate": 0.1, "progress": 0.7}, []),
    ],
)
def test_reasons_begin_at_the_thresholds_of_the_worklist(values: dict[str, Any], reasons: list[str]) -> None:
    assert list(reason_texts(state_cell("f", "s", **values)).values()) == reasons


MISSED = StepCounts("caller", expected=8, missed=8, wrong=0, failed=7, missed_failed=7, wrong_failed=0)


def test_steps_that_the_task_asked_for_and_failed_calls_missed_are_a_reason() -> None:
    cell = state_cell("telecom", "user:toggle_roaming", n=0, steps=MISSED)
    assert list(reason_texts(cell).values()) == ["never called in 7 of 7 failed calls that should have"]
    (row,) = worklist(Worklist([], [], [cell], 0)).rows
    assert {key: row.record[key] for key in ("by", "expected", "missed", "expected_failed", "missed_failed")} == {
        "by": "caller", "expected": 8, "missed": 1.0, "expected_failed": 7, "missed_failed": 1.0,
    }  # fmt: skip
    assert (row.thin, row.record["n"]) == (False, 8)
    assert (row.where, row.leads, row.order) == (
        'flow=telecom state="user:toggle_roaming"', 'flow=telecom missed_step="user:toggle_roaming"', "correctness",
    )  # fmt: skip
    assert SPEC.view_below(row) == "conversations"


def test_steps_taken_with_other_arguments_are_a_reason_in_failed_calls() -> None:
    steps = StepCounts("agent", expected=9, missed=1, wrong=6, failed=6, missed_failed=1, wrong_failed=5)
    assert list(reason_texts(state_cell("airline", "book_reservation", steps=steps)).values()) == [
        "never called in 1 of 6 failed calls that should have",
        "called with wrong arguments in 5 of 6 failed calls",
    ]


def test_the_first_line_tells_of_a_missed_step_what_mending_it_could_bring() -> None:
    first = FirstToMend("telecom", "user:toggle_roaming", 0, 16, 1.0, None, ["a", "b"], ["a"], MISSED, 3 / 16, 10 / 16)
    table = worklist(Worklist([], [], [], 0, first))
    assert table.lead == (
        "telecom/user:toggle_roaming was never called in 7 of 7 failed calls that should have (1 of 2 agents);"
        " mended, success could rise from 19 % to at most 63 %."
    )
    assert table.headline == "telecom/user:toggle_roaming missed in 7 of 7 failed calls"
    assert {"flow", "state", "lost", "n", "completion", "completion_at_most"} <= table.extras["first"].keys()
    assert table.extras["first"]["missed_failed"] == 1.0


def test_says_where_states_are_ranked_by_steps_and_what_is_left_out() -> None:
    handover = state_cell("telecom", "transfer_to_human_agents", n=0, steps=MISSED)
    notes = worklist(Worklist([], [], [], 0, by_steps=list("abcde"), handovers=[handover])).notes
    assert notes == [
        "Steps: in flows whose tasks ask for steps (a, b, c and 2 more) states are ranked by the failed calls that"
        " missed the step: a stall in a derived state says where a call ended, not why.",
        "Not listed: steps that hand over to a human, telecom/transfer_to_human_agents (missed in 7 of 7 failed"
        " calls).",
    ]


def test_thin_places_carry_their_mark() -> None:
    rows = worklist(
        Worklist(
            [flow_cell("f", n=2, correctness=3.0)],
            [segment_cell("f", "action", state_cell("f", "s"), n=3, stall=0.5)],
            [state_cell("f", "s", n=4, stall=0.5)],
            0,
        )
    ).rows
    assert [row.thin for row in rows] == [True, True, True]
    assert [row.display["summary"] for row in rows] == [
        "correctness 3.0  (agent qwen-flash, n 2~)  1 failed",
        "stall 0.5  escal ·  progress ·  (worst: s, n 3~)  lost 3 of 3",
        "stall 0.5 (n 4~)  lost 1 of 4",
    ]


def test_an_empty_worklist_drills_nowhere() -> None:
    table = worklist(Worklist([], [], [], 0))
    assert (list(table.rows), list(table.notes)) == ([], [])
