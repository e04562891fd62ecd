"""The timeline and the flow table: what a row says, where it leads, and what must not be compared."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from riff_store.answers.quality import COMPUTED, FlowQuality, QualityCell, RunQuality
from riff_store.database import Store, open_store
from riff_tui.catalog import show
from riff_tui.request import Request
from riff_tui.views.flow_table import flow_table
from riff_tui.views.timeline import LINES, timeline
from tests.support.facts import call, fresh, put, verdict


@pytest.fixture
def store(tiny: Path) -> Iterator[Store]:
    with open_store(tiny) as opened:
        yield opened


def run(name: str, **given: float | None) -> RunQuality:
    quality = {COMPUTED: 8.0, **given}
    rows = {judge: 0 if value is None else 3 for judge, value in quality.items()}
    return RunQuality(name, None, None, 3, 30, 0, quality, rows)


def test_rows_have_the_keys_of_the_data_interface(store: Store) -> None:
    first = show(store, "timeline", Request()).rows[0].record
    assert {"run", "started_at", "commit", "flows", "n", "quality"} <= first.keys()
    assert COMPUTED in first["quality"]
    flow = show(store, "flow-table", Request()).rows[0].record
    assert {"flow", "cells"} <= flow.keys()
    assert all({"agent", "judge", "quality", "n"} <= cell.keys() for cell in flow["cells"])


def test_a_row_leads_to_the_matrix_of_its_run_or_flow(store: Store) -> None:
    for view in ("timeline", "flow-table"):
        for row in show(store, view, Request()).rows:
            below = show(store, "flows", Request(where=row.where))
            assert sum(cell.record["n"] for cell in below.rows) == row.record["n"]
    assert [row.where for row in show(store, "timeline", Request()).rows] == ["run=run-1", "run=run-2"]


def test_both_say_that_quality_is_comparable_only_down_a_column(store: Store) -> None:
    for view in ("timeline", "flow-table"):
        assert any("comparable only down a column" in note for note in show(store, view, Request()).notes)


def test_computed_is_there_without_any_judge() -> None:
    for table in (timeline([]), timeline([run("a")])):
        assert table.column(f"quality.{COMPUTED}") is not None


def test_a_mean_over_fewer_rows_than_the_run_has_is_said_to_be_one() -> None:
    part = RunQuality("b", None, None, 3, 30, 0, {COMPUTED: 8.0, "codex": 5.0}, {COMPUTED: 3, "codex": 1})
    assert not any(note.startswith("Judged in part") for note in timeline([run("a", codex=5.0)]).notes)
    assert timeline([run("a", codex=None), part]).notes[-1].endswith("rows only: codex 1 of 3 in b.")
    assert timeline([part] * 7).notes[-1].endswith(", 2 more.")


def test_agents_and_judges_whose_names_hold_dots_are_kept_apart() -> None:
    cells = [QualityCell("a.b", "c", 1.0, 9, 9), QualityCell("a", "b.c", 2.0, 9, 9)]
    table = flow_table([FlowQuality("f", 18, 0, cells)])
    values = [column.value(table.rows[0].record) for column in table.columns if column.path]
    assert values == [2.0, 1.0]


def test_rows_can_be_found_by_quality_and_sorted_by_a_column(store: Store) -> None:
    assert [row.id for row in show(store, "timeline", Request(where="quality.codex<5")).rows] == ["run=run-1"]
    assert [row.id for row in show(store, "timeline", Request(where="quality.codex=·")).rows] == ["run=run-2"]
    down = show(store, "timeline", Request(sort=f"-quality.{COMPUTED}")).rows
    assert [row.id for row in down] == ["run=run-2", "run=run-1"]


def test_the_lines_go_in_time_through_the_runs_that_are_shown_and_no_others(tmp_path: Path) -> None:
    with fresh(tmp_path / "calls.db") as store:
        runs = {"a": 3, "b": 1, "c": None, "d": 2, "e": 4}
        for number, (name, day) in enumerate(runs.items()):
            at = None if day is None else day * 86_400_000_000
            put(store, f"/in/{name}.jsonl", [call(f"c-{number}", run=name, started_at=at)])
            judged = verdict(f"c-{number}", 9.0 if name == "e" else float(day or 8), run=name, judge="warm")
            put(store, f"/in/h-{name}.jsonl", [judged])

        def line(where: str = "", sort: str | None = None, limit: int | None = None) -> str:
            figure = show(store, "timeline", Request(where=where, sort=sort, limit=limit)).figure
            return figure.draw()[-1] if figure else ""

        assert line().split()[:2] == ["warm", line(sort="-run").split()[1]]
        assert line().split()[1][0] == "▁"
        assert line().split()[1].index("█") == 3, "e is the last that says when it was, and the best"
        assert len(line(where="!run=e").split()[1]) == 4
        assert line(where="!run=e").split()[1][-1] == "█"
        assert line(limit=2) == ""
        assert LINES not in show(store, "timeline", Request(limit=2)).notes
