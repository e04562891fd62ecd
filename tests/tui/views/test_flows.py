"""The flow matrix puts what callers would suffer from most on top and never invents a number."""

from __future__ import annotations

import io

import pytest

from tests.support.view_answers import flow_cell
from tests.surface.tui import UNITS, Bounds, Column, Row, columns, flows
from tests.surface.tui import sinks_render as render


def test_a_record_has_the_keys_of_the_data_interface_and_unrounded_values() -> None:
    (row,) = flows([flow_cell("f", excluded=2, operability=3.14159, correctness=6.789, judges={"codex": 1.25})]).rows
    expected = {
        "flow", "agent", "n", "excluded", "operability", "correctness", "completion", "errors", "latency_p95",
        "latency_mean", "turn_count", "humanness", "success_rate", "quality", "blend", "lost",
    }  # fmt: skip
    assert expected <= set(row.record)
    assert row.record["operability"] == 3.14159
    assert row.record["correctness"] == pytest.approx(6.789)
    assert row.record["completion"] is None
    assert row.record["humanness"] == {"codex": 1.25}
    assert row.record["intervals"]["correctness"] == [pytest.approx(6.789), pytest.approx(6.789)]
    assert "completion" not in row.record["intervals"]
    assert set(row.record["intervals"]) == {"correctness", "humanness.codex", "success_rate", "quality"}


def test_a_judge_that_scored_one_flow_only_is_unmeasured_in_the_other() -> None:
    table = flows([flow_cell("a", judges={"codex": 1.0}), flow_cell("b", judges={"gemini": 2.0})])
    assert [row.record["humanness"] for row in table.rows] == [
        {"codex": 1.0, "gemini": None},
        {"codex": None, "gemini": 2.0},
    ]
    column = table.column("humanness.codex")
    assert column is not None
    assert column.title == "hum:codex"
    assert [column.value(row.record) for row in table.rows] == [1.0, None]


def test_a_row_is_marked_for_its_own_failures_as_far_as_the_interval_agrees() -> None:
    def marks(success_rate: float, n: int = 100) -> tuple[str | None, str | None]:
        (row,) = flows([flow_cell("f", n=n, success_rate=success_rate, operability=4.0, blend=6.0)]).rows
        return row.severity.get(""), row.severity.get("success_rate")

    assert marks(0.3) == ("bad", "bad")
    assert marks(0.45) == ("warn", "warn")  # its interval reaches beyond 0.5
    assert marks(0.65) == ("ok", None)
    assert marks(0.9) == ("ok", None)
    assert marks(0.0, n=1) == ("ok", None)


def test_a_row_of_which_many_calls_errored_is_marked_and_shows_how_many() -> None:
    def marks(excluded: int) -> tuple[str | None, str | None, bool]:
        table = flows([flow_cell("f", n=100 - excluded, excluded=excluded, success_rate=0.95), flow_cell("g")])
        (shown,) = [column.shown for column in table.columns if column.key == "excluded"]
        return table.rows[0].severity.get("excluded"), worst(table.rows[0]), shown

    assert marks(9) == (None, "ok", False)
    assert marks(10) == ("warn", "warn", True)
    assert marks(25) == ("bad", "bad", True)


def worst(row: Row) -> str | None:
    return row.severity.get("")


def test_the_bounds_of_marks_can_be_set() -> None:
    (row,) = flows([flow_cell("f", n=100, success_rate=0.8)], bounds=Bounds(bad=9.0, warn=9.5)).rows
    assert row.severity[""] == "bad"


def test_a_capped_operability_is_no_failure_and_says_that_it_is_capped() -> None:
    table = flows(
        [flow_cell("f", operability=4.0, blend=9.1, success_rate=0.95, n=100), flow_cell("g", operability=9.0)]
    )
    assert [row.severity.get("operability") for row in table.rows] == ["capped", None]
    assert any(note.startswith("Capped: 1 of 2 operabilities") for note in table.notes)
    out = io.StringIO()
    render(table, "text", out)
    assert " 4.0^ " in out.getvalue()


def test_a_row_leads_to_its_calls_whatever_the_names_hold() -> None:
    (row,) = flows([flow_cell("a flow", 'say "hi"')]).rows
    assert row.where.startswith('flow="a flow" agent=')
    (split,) = flows([flow_cell("f", keys={"persona": None})], ("flow", "persona")).rows
    assert split.where == "flow=f persona=·"


def test_keys_stand_in_the_order_asked_for() -> None:
    table = flows([flow_cell("f", keys={"run": "r1"})], ("run", "agent"))
    assert [column.key for column in table.columns[:3]] == ["run", "agent", "operability"]
    assert table.title.startswith("Evaluation matrix: (run × agent) ×")
    assert table.rows[0].record["run"] == "r1"


def test_markdown_has_the_shape_that_people_paste() -> None:
    table = flows(
        [
            flow_cell(
                "apartment_scheduler", "gemini-2.5-f", n=11, operability=0.3, correctness=0.0, completion=0.0,
                errors=0.0, latency_p95=11.1, turn_count=7.9,
            ),
            flow_cell(
                "property_trouble_ticket", n=24, operability=1.8, correctness=0.0, completion=4.2, errors=0.3,
                latency_p95=4.2, turn_count=5.0, judges={"codex": 1.1, "dashscope": 0.8, "gemini": 2.2},
            ),
        ]
    )  # fmt: skip
    out = io.StringIO()
    render(table, "markdown", out)
    lines = out.getvalue().splitlines()
    assert lines[0] == "# Evaluation matrix: (flow × agent) × aspects (computed) + humanness × judge"
    assert [cell.strip() for cell in lines[2].strip("|").split("|")] == [
        "Flow", "Agent", "**operability**", "correctness", "completion", "errors", "lat_p95", "turn_count", "success",
        "quality", "n", "hum:codex", "hum:dashscope", "hum:gemini",
    ]  # fmt: skip
    assert [cell.strip() for cell in lines[5].strip("|").split("|")] == [
        "property_trouble_ticket", "qwen-flash", "**1.8**", "0.0", "4.2", "0.3", "4.2", "5.0", "0.5", "4.0", "24",
        "1.1", "0.8", "2.2",
    ]  # fmt: skip
    assert lines[7].startswith("Units: correctness, completion, errors, humanness 0-10, higher is better · latency")


def test_the_note_on_units_has_those_of_aspects_that_were_added_to_the_matrix(monkeypatch: pytest.MonkeyPatch) -> None:
    assert flows([flow_cell("f")]).notes == [f"{UNITS}."]
    pace = Column("pace", "pace", unit="words/s", better="lower")
    talk, hidden = Column("talk", "talk", unit="share"), Column("calm", "calm", shown=False)
    monkeypatch.setattr(columns, "ASPECTS", (*columns.ASPECTS, pace, talk, hidden))
    assert flows([flow_cell("f")]).notes == [f"{UNITS} · pace words/s, lower is better · talk share."]
