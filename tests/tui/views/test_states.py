"""The state and segment matrices: the node to fix on top, thin evidence marked, the bad member named."""

from __future__ import annotations

import io

import pytest

from tests.support.view_answers import segment_cell, state_cell
from tests.surface.store import StateCell, StepCounts
from tests.surface.tui import STATES_SPEC as SPEC
from tests.surface.tui import segments, states, successors
from tests.surface.tui import sinks_render as render


def test_a_state_record_has_the_keys_of_the_data_interface() -> None:
    (row,) = states([state_cell("f", "s", stall=0.5, to_states={"t": 3}, blames={"loop": 2, "dead end": 1})]).rows
    assert set(row.record) == {
        "flow", "state", "segment", "n", "progress", "stall", "escalation", "revisit", "dwell_turns", "latency_p95",
        "guard_error", "slot_fill_rate", "slow", "to_states", "intervals", "failed", "lost",
    }  # fmt: skip
    assert (row.record["to_states"], row.record["failed"]) == ({"t": 3}, 3)
    assert row.record["progress"] is None
    assert row.where == "flow=f state=s"


def test_the_agent_is_a_key_where_it_was_asked_for() -> None:
    table = states([state_cell("f", "s", keys={"agent": "a"})], by=("agent",))
    assert table.rows[0].record["agent"] == "a"
    assert table.rows[0].where == "flow=f state=s agent=a"
    assert [column.key for column in table.columns[:3]] == ["flow", "state", "agent"]


def test_expected_steps_show_where_some_task_has_them() -> None:
    counts = StepCounts("caller", expected=8, missed=8, wrong=0, failed=4, missed_failed=4, wrong_failed=0)
    cells = [state_cell("f", "s", steps=counts), state_cell("f", "t")]
    table = states(cells)
    assert {row.record["state"]: row.record["missed"] for row in table.rows} == {"s": 1.0, "t": None}
    assert {row.record["state"]: row.record["missed_failed"] for row in table.rows} == {"s": 1.0, "t": None}
    assert [column.key for column in table.columns if column.shown][-3:] == ["expected", "missed", "wrong_args"]
    assert [note.partition(":")[0] for note in table.notes] == ["Units", "Steps"]
    assert [note.partition(":")[0] for note in states(cells[1:]).notes] == ["Units"]
    assert states(cells[1:]).column("missed") is None


def test_steps_of_other_flows_show_nowhere_in_a_flow_whose_tasks_ask_for_none() -> None:
    counts = StepCounts("caller", expected=8, missed=8, wrong=0, failed=4, missed_failed=4, wrong_failed=0)
    cells = [state_cell("asks", "s", steps=counts), state_cell("plain", "t")]
    assert states(cells, flows={"plain"}).column("missed") is None
    assert states(cells, flows={"asks"}).column("missed") is not None


def test_a_state_in_which_calls_come_to_their_end_is_not_marked_for_it() -> None:
    ended, lost = states([state_cell("f", "closing", progress=0.0, stall=stall) for stall in (0.0, 0.02)]).rows
    assert "progress" not in ended.severity
    assert lost.severity["progress"] == "bad"


def test_marks_follow_the_thresholds_and_low_slot_fill_is_no_fault_while_calls_progress() -> None:
    well, warn, bad = (
        states([state_cell("f", "s", stall=stall, progress=progress, slot_fill_rate=0.1)]).rows[0].severity
        for stall, progress in ((0.14, 0.9), (0.15, 0.7), (0.25, 0.2))
    )
    assert well == {}
    assert warn == {"stall": "warn", "": "warn"}
    assert bad == {"stall": "bad", "progress": "bad", "slot_fill_rate": "bad", "": "bad"}


def test_successors_are_told_by_count() -> None:
    cells = [state_cell("f", "s", stall=0.5, to_states={"b": 2, "a": 2, "c": 5}), state_cell("f", "t")]
    assert successors(states(cells).rows) == ["s → c 5, a 2, b 2"]
    split = [state_cell("f", "s", to_states={"b": 1}, keys={"agent": "qwen"})]
    assert successors(states(split, by=("agent",)).rows) == ["s (qwen) → b 1"]


def test_markdown_of_states_has_the_shape_that_people_paste() -> None:
    table = states(
        [
            state_cell(
                "ceo_command_center", "status_query", n=2, progress=0.0, stall=1.0, escalation=0.0, revisit=0.0,
                dwell_turns=5.0, latency_p95=3.1,
            ),
            state_cell(
                "dog_grooming", "listen_owner", n=9, progress=2 / 9, stall=3 / 9, escalation=4 / 9, revisit=0.0,
                dwell_turns=2.6, latency_p95=1.7, slot_fill_rate=0.0,
            ),
        ]
    )  # fmt: skip
    out = io.StringIO()
    render(table, "markdown", out)
    title, _, *lines = out.getvalue().splitlines()
    assert title == "# Per-state quality: all flows (worst first)"
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[:4]]
    assert cells[0] == [
        "Flow", "State", "n", "progress", "stall", "escal", "revisit", "dwell", "lat_p95(s)", "slot_fill",
    ]  # fmt: skip
    assert cells[2:] == [
        ["ceo_command_center", "status_query", "2~", "0.0", "**1.0**", "0.0", "0.0", "5.0", "3.1", "·"],
        ["dog_grooming", "listen_owner", "9", "0.22", "**0.33**", "0.44", "0.0", "2.6", "1.7", "0.0"],
    ]


@pytest.mark.parametrize(
    ("failed", "missed_failed", "mark"), [(8, 2, "bad"), (8, 1, "warn"), (8, 0, None), (0, 0, None)]
)
def test_a_step_is_marked_for_the_failed_calls_that_missed_it_and_never_for_others(
    failed: int, missed_failed: int, mark: str | None
) -> None:
    counts = StepCounts("agent", 10, missed=9, wrong=0, failed=failed, missed_failed=missed_failed, wrong_failed=0)
    (row,) = states([state_cell("f", "s", steps=counts)]).rows
    assert row.severity.get("missed") == mark
    wrong = StepCounts("agent", 10, missed=0, wrong=9, failed=failed, missed_failed=0, wrong_failed=missed_failed)
    (row,) = states([state_cell("f", "s", steps=wrong)]).rows
    assert row.severity.get("wrong_args") == mark


@pytest.mark.parametrize(
    ("mean", "stall", "n", "row", "cell"),
    [
        (0.1, 1.0, 9, "bad", "bad"),
        (0.1, 0.2, 9, "warn", "warn"),
        (0.3, 0.2, 9, "bad", "warn"),
        (0.1, 1.0, 4, None, None),
        (0.1, 0.1, 9, None, None),
    ],
)
def test_a_bad_member_marks_its_segment_whatever_the_mean_says(
    mean: float, stall: float, n: int, row: str | None, cell: str | None
) -> None:
    table = segments([segment_cell("f", "action", state_cell("f", "query", n=n, stall=stall), stall=mean)])
    assert (table.rows[0].severity.get(""), table.rows[0].severity.get("worst_state")) == (row, cell)


def test_a_state_whose_step_failed_calls_missed_leads_to_these_calls() -> None:
    def led(missed: int, wrong: int) -> tuple[str, str, str]:
        counts = StepCounts("agent", 10, missed=5, wrong=5, failed=5, missed_failed=missed, wrong_failed=wrong)
        table = states([state_cell("f", "book", keys={"agent": "a"}, steps=counts)], by=("agent",))
        (row,) = table.rows
        assert row.where == "flow=f state=book agent=a"
        return SPEC.view_below(row), row.leads, row.order

    assert led(2, 3) == ("conversations", "flow=f missed_step=book agent=a failed=1", "correctness")
    assert led(0, 3) == ("conversations", "flow=f wrong_step=book agent=a failed=1", "correctness")
    assert led(0, 0) == ("neighbors", "", "")


def test_a_segment_names_the_member_that_its_mean_would_hide() -> None:
    worst = state_cell("f", "status_query", n=2, stall=1.0)
    table = segments([segment_cell("f", "action", worst, stall=0.3, progress=0.9)])
    (row,) = table.rows
    assert row.display["worst_state"] == "status_query (stall 100%, n 2)"
    assert row.posted["worst_state"] == "status_query (stall 1.0, n 2)"
    assert (row.record["worst_state"], row.record["worst_stall"], row.record["worst_n"]) == ("status_query", 1.0, 2)
    assert row.where == "flow=f segment=action"
    assert [column.title for column in table.columns if column.shown][-1] == "worst member"
    (n,) = (column.help for column in table.columns if column.key == "n")
    assert n.startswith("Calls that came to a state of it, of all its states together")
    assert set(row.record) == {
        "flow", "segment", "n", "progress", "stall", "escalation", "revisit", "dwell_turns", "latency_p95",
        "guard_error", "slot_fill_rate", "slow", "worst_state", "worst_stall", "worst_n", "intervals", "failed", "lost",
        "cohesion", "least_state", "most_state",
    }  # fmt: skip


def test_of_many_cells_rows_are_made_of_those_that_are_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    figures: list[str] = []
    figure = StateCell.figure

    def counting(cell: StateCell, metric: str) -> float | None:
        figures.append(metric)
        return figure(cell, metric)

    monkeypatch.setattr(StateCell, "figure", counting)
    table = states([state_cell("f", f"s{at}", stall=0.1) for at in range(2000)])
    assert not figures
    assert [row.record["state"] for row in table.rows[:2]] == ["s0", "s1"]
    assert len(table.rows[:2]) == figures.count("stall") == 2
