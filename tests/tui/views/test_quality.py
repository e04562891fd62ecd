"""The timeline and the flow table: what a row says, where it leads, and what must not be compared."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, SupportsIndex

import pytest

from tests.support.facts import call, fresh, put, verdict
from tests.support.view_answers import measure
from tests.surface.store import VOCABULARY_COMPUTED as COMPUTED
from tests.surface.store import (
    ChangeVerdict,
    FlowChange,
    FlowQuality,
    Measure,
    QualityCell,
    RunChanges,
    RunQuality,
    Store,
    SuccessChange,
    Timeline,
    open_store,
)
from tests.surface.tui import LINES, PAGE, Request, Row, Severity, flow_table, show, timeline


@pytest.fixture
def store(tiny: Path) -> Iterator[Store]:
    with open_store(tiny) as opened:
        yield opened


def run(name: str, change: SuccessChange | None = None, moved: Sequence[FlowChange] = (), **given: Measure) -> Row:
    quality = {COMPUTED: measure(8.0, 30), **given}
    answer = RunQuality(name, None, None, 3, 30, 0, measure(0.5, 30, rate=True), quality, change, moved)
    return timeline(whole([answer])).rows[0]


def whole(runs: Sequence[RunQuality]) -> Timeline:
    changes = [RunChanges(run.change, run.moved) for run in runs]
    judges = dict.fromkeys(judge for run in runs for judge in run.quality if judge != COMPUTED)
    edits = [run.edit for run in runs]
    return Timeline(runs, changes, edits, list(judges), sum(run.n for run in runs), measure(None))


def changed(effect: float, verdict: ChangeVerdict) -> SuccessChange:
    return SuccessChange(effect, 30, 30, 0.01, 0.02, verdict)


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
    assert timeline(whole([])).column(f"quality.{COMPUTED}") is not None
    row = run("a")
    assert row.record["quality"] == {COMPUTED: 8.0}
    assert row.record["intervals"].keys() == {"success_rate", f"quality.{COMPUTED}"}


def test_a_mean_of_some_of_the_calls_says_of_how_many() -> None:
    row = run("a", codex=measure(5.0, 12), few=measure(5.0, 3), every=measure(5.0, 30), none=measure(None))
    assert row.counts == {"quality.codex": (12, False), "quality.few": (3, True)}
    assert (row.is_thin("quality.few"), row.is_thin("quality.codex")) == (True, False)
    assert row.record["quality_n"] == {COMPUTED: 30, "codex": 12, "few": 3, "every": 30, "none": 0}


def test_only_a_change_that_is_more_than_chance_has_a_verdict_and_a_colour() -> None:
    noise, worse, better = (run("a", changed(-0.2, verdict)) for verdict in ("noise", "worse", "better"))
    assert (noise.display["change"], noise.severity) == ("-20 pp", {})
    assert (worse.display["change"], worse.severity) == ("-20 pp worse", {"change": "bad", "": "bad"})
    assert (better.display["change"], better.severity) == ("-20 pp better", {"change": "good", "": "good"})
    assert (worse.record["change"], worse.record["verdict"], worse.record["p_adjusted"]) == (-0.2, "worse", 0.02)
    assert run("a").record["change"] is None


def test_a_run_names_the_flows_that_changed_and_is_marked_for_the_worst() -> None:
    half, less = measure(0.5, 10, rate=True), measure(0.1, 10, rate=True)
    up = FlowChange("up", less, half, changed(0.4, "better"))
    down = FlowChange("down", half, less, changed(-0.4, "worse"))
    row = run("a", changed(0.0, "noise"), [up, down])
    assert row.display["moved"] == "up +40 pp better, down -40 pp worse"
    assert row.record["moved"] == "up, down"
    assert row.severity == {"moved": "bad", "": "bad"}
    assert run("a", None, [up]).severity == {"moved": "good", "": "good"}
    assert [(each["flow"], each["success_after"], each["verdict"]) for each in row.record["changes"]] == [
        ("up", 0.5, "better"), ("down", 0.1, "worse"),
    ]  # fmt: skip


def test_a_strict_judge_marks_nothing_and_little_quality_does() -> None:
    def marks(quality: float) -> dict[str, Severity]:
        pooled = [QualityCell(None, COMPUTED, measure(quality, 18)), QualityCell(None, "strict", measure(4.0, 18))]
        return dict(flow_table([FlowQuality("f", 18, 0, [], pooled)]).rows[0].severity)

    assert marks(9.0) == {"": "ok"}
    assert marks(4.0) == {f"pooled.{COMPUTED}": "bad", "": "bad"}


def test_agents_and_judges_whose_names_hold_dots_are_kept_apart() -> None:
    cells = [QualityCell("a.b", "c", measure(1.0, 9)), QualityCell("a", "b.c", measure(2.0, 8))]
    table = flow_table([FlowQuality("f", 18, 0, cells, [])])
    values = [column.value(table.rows[0].record) for column in table.columns if column.path]
    assert values == [2.0, 8, 1.0, 9]
    assert table.rows[0].record["cells"] == [
        {"agent": "a.b", "judge": "c", "quality": 1.0, "n": 9},
        {"agent": "a", "judge": "b.c", "quality": 2.0, "n": 8},
    ]


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
        assert line().split()[1] == "▂▂▃▇▇", "e is the last that says when it was, and c has no time"
        assert line(where="!run=e").split()[1] == "▂▂▃▇"
        assert line(limit=2) == ""
        assert LINES not in show(store, "timeline", Request(limit=2)).notes


class _Looked(list[RunQuality]):
    """Runs, and which of them a row was made of."""

    def __init__(self, runs: Sequence[RunQuality]) -> None:
        super().__init__(runs)
        self.at: set[SupportsIndex] = set()

    def __getitem__(self, key: Any) -> Any:
        if not isinstance(key, slice):
            self.at.add(key)
        return super().__getitem__(key)


def test_of_many_runs_rows_are_made_of_those_that_are_shown() -> None:
    quality = {COMPUTED: measure(8.0, 30)}
    answers = [
        RunQuality(f"night-{at}", None, None, 3, 30, 0, measure(at / 2000, 30, rate=True), quality)
        for at in range(2000)
    ]
    looked = _Looked(answers)
    table = timeline(whole(answers)._replace(runs=looked))
    assert not looked.at
    shown = table.rows[:20]
    assert [row.record["run"] for row in shown] == [f"night-{at}" for at in range(20)]
    assert len(looked.at) <= PAGE
    assert shown[12].record["trend"] == [at / 2000 for at in range(3, 13)]
    assert table.rows[-1].record["run"] == "night-1999"
