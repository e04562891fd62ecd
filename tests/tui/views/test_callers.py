"""Success without and with the calls whose caller failed stands side by side, and only where there are some."""

from __future__ import annotations

from dataclasses import replace

from tests.support.view_answers import flow_cell, measure
from tests.surface.store import FlowCell, RunSummary
from tests.surface.tui import Table, flows, left_out, runs


def failing(flow: str, failed: int, overall: float) -> FlowCell:
    cell = flow_cell(flow, n=10, excluded=failed + 1, success_rate=0.5)
    return cell._replace(caller_failed=failed, overall=measure(overall, 10 + failed, rate=True))


def shown(table: Table) -> list[str]:
    return [
        column.title for column in table.columns if column.shown and column.key in ("caller_failed", "success_overall")
    ]


def test_a_matrix_without_failed_callers_offers_their_columns_and_says_nothing() -> None:
    table = flows([flow_cell("a", excluded=2, success_rate=0.5)])
    assert shown(table) == []
    assert {"caller_failed", "success_overall"} <= {column.key for column in table.columns}
    assert (table.rows[0].record["caller_failed"], table.rows[0].record["success_overall"]) == (0, 0.5)
    assert not any(note.startswith("Callers") for note in table.notes)


def test_success_with_the_calls_of_failed_callers_stands_beside_that_without() -> None:
    table = flows([failing("a", 10, 0.4), flow_cell("b", n=10, success_rate=0.5)])
    assert shown(table) == ["caller failed", "overall"]
    assert [row.record["success_overall"] for row in table.rows] == [0.4, 0.5]
    assert [row.record["success_rate"] for row in table.rows] == [0.5, 0.5]
    assert "success_overall" in table.rows[0].record["intervals"]
    assert "success_overall" not in table.rows[1].record["intervals"]
    assert (
        "Callers: 10 calls of 31 are in no mean because their caller failed: success 50% without them (adjusted),"
        " 43% with them (overall)." in table.notes
    )


def test_excluded_calls_are_told_apart_by_whose_fault_it_was() -> None:
    assert left_out(flows([failing("a", 2, 0.4)])) == [
        "Excluded: 3 calls are not counted in averages: 1 errored, 2 whose caller failed (a qwen-flash 3)."
    ]
    assert left_out(flows([failing("a", 1, 0.4)._replace(excluded=1)])) == [
        "Excluded: 1 call is not counted in averages: 1 whose caller failed (a qwen-flash 1)."
    ]


def test_runs_say_the_same() -> None:
    run = RunSummary("r", None, None, None, None, 1, 9, 1, measure(0.5, 10, rate=True), measure(6.0, 9))
    assert shown(runs([run])) == []
    table = runs([replace(run, caller_failed=1, overall=measure(0.4, 10, rate=True))])
    assert shown(table) == ["overall", "caller failed"]
    assert "Callers: 1 call of 10 is in no mean because its caller failed: " in table.notes[1]
    assert table.notes[1].endswith("success 50% without it (adjusted), 40% with it (overall).")
