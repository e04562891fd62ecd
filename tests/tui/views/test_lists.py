"""The lists: calls, runs, judges, archetypes and what was skipped, with the keys that scripts rely on."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.support.view_answers import call, flow_cell, measure
from tests.surface.store import ArchetypeCell, JudgeSummary, RunSummary, SkippedEntry
from tests.surface.tui import CONVERSATIONS_COLUMNS as COLUMNS
from tests.surface.tui import archetypes, row, runs, skipped
from tests.surface.tui import conversations_conversations as conversations
from tests.surface.tui import judges_judges as judges


def test_a_call_is_one_line_with_the_keys_of_the_data_interface() -> None:
    line = row(call())
    expected = {
        "run", "conversation", "flow", "agent", "persona", "scenario", "trial", "started_at", "completed",
        "stop_reason", "final_state", "final_status", "errored", "correctness",
    }  # fmt: skip
    assert expected <= set(line.record)
    assert set(line.record) == {column.key for column in COLUMNS}
    assert line.record["started_at"] == "2026-06-22T02:00:07Z"
    assert line.where == "run=nightly conversation=c-0007"
    assert line.severity == {"correctness": "bad", "completed": "bad", "": "bad"}


def test_nothing_of_an_errored_call_is_held_against_the_flow() -> None:
    assert row(call(errored=True, correctness=0.0)).severity == {"errored": "warn"}
    # A failed call is marked also where nothing in its own columns is bad.
    assert row(call(correctness=10.0, completed=True, success=False)).severity == {"": "bad"}
    assert row(call(correctness=10.0, completed=True, success=True)).severity == {}


def test_the_list_takes_its_rows_as_they_come() -> None:
    lines = [row(call(conversation=name)) for name in ("b", "a")]
    assert conversations(lines).rows is lines


def test_runs_stand_latest_first_and_those_without_a_time_last() -> None:
    table = runs(
        [
            RunSummary("old", None, "abc", "main", 1_000_000, 1, 9, 0, measure(0.5, 9), measure(6.0, 9)),
            RunSummary("timeless", None, None, None, None, 1, 2, 1, measure(0.5, 2), measure(6.0, 2)),
            RunSummary("new", "nightly", "def", "main", 2_000_000, 2, 9, 0, measure(0.5, 9), measure(6.0, 9)),
        ]
    )
    assert [line.record["run"] for line in table.rows] == ["new", "old", "timeless"]
    known = {
        "run",
        "label",
        "commit",
        "branch",
        "started_at",
        "flows",
        "n",
        "excluded",
        "success_rate",
        "quality",
        "failed",
    }
    assert set(table.rows[0].record) == {*known, "written_by", "caller_failed", "success_overall", "intervals"}
    assert (table.rows[0].record["success_rate"], table.rows[0].record["quality"]) == (0.5, 6.0)
    assert table.rows[0].record["started_at"] == "1970-01-01T00:00:02Z"


@pytest.mark.parametrize(("excluded", "mark"), [(9, None), (10, "warn"), (24, "warn"), (25, "bad")])
def test_a_run_of_which_many_calls_errored_is_marked(excluded: int, mark: str | None) -> None:
    n = 100 - excluded
    (line,) = runs([RunSummary("r", None, None, None, 1, 1, n, excluded, measure(0.5, n), measure(6.0, n))]).rows
    assert line.severity.get("excluded") == mark


def test_each_version_of_a_judges_prompt_is_a_row_with_its_agreements() -> None:
    table = judges(
        [
            JudgeSummary("codex", "m", "v2", 9, 1, measure(4.0, 9), {"gemini": 0.5, "correctness": None}),
            JudgeSummary("codex", "m", "v1", 9, 0, measure(5.0, 9), {}),
        ]
    )
    assert [(line.record["prompt_hash"], line.record["mean"]) for line in table.rows] == [("v2", 4.0), ("v1", 5.0)]
    assert table.rows[0].record["agreement"] == {"correctness": None, "gemini": 0.5}
    assert len({line.id for line in table.rows}) == 2
    column = table.column("agreement.gemini")
    assert column is not None
    assert [column.value(line.record) for line in table.rows] == [0.5, None]


def test_means_of_judges_who_scored_other_calls_are_said_not_to_compare() -> None:
    def told(shared: int) -> bool:
        one = JudgeSummary("codex", "m", "v1", 9, 0, measure(4.0, 9), {"gemini": 0.5}, shared={"gemini": shared})
        return any("judge's own calls" in note for note in judges([one, replace(one, judge="gemini")]).notes)

    assert told(3)
    assert not told(9)


def test_an_archetype_names_its_worst_flow_and_leads_to_all_of_its_flows() -> None:
    table = archetypes(
        [
            ArchetypeCell("inquiry", 1, flow_cell("", n=9), None, None),
            ArchetypeCell("booking", 2, flow_cell("", n=20), flow_cell("apartment_viewing"), None),
        ]
    )
    assert [line.record["archetype"] for line in table.rows] == ["inquiry", "booking"]
    assert table.rows[1].record["worst_flow"] == "apartment_viewing"
    assert table.rows[1].where == "archetype=booking"
    assert {"archetype", "flows", "n", "excluded", "operability", "correctness", "completion", "worst_flow",
            "worst_success_rate", "cohesion"} <= set(table.rows[0].record)  # fmt: skip


def test_skipped_inputs_keep_the_order_of_files_and_lines() -> None:
    entries = [
        SkippedEntry("a.jsonl", 3, "skipped", "not JSON", None),
        SkippedEntry("a.jsonl", 9, "mismatch", "correctness brought 1, computed 0", "c-1"),
    ]
    table = skipped(entries)
    assert [line.record["line"] for line in table.rows] == [3, 9]
    assert [line.severity for line in table.rows] == [{"": "bad"}, {}]
