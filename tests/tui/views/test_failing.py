"""The failure matrix and causes as tables: what leads where, what is marked, what is said."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.support.packed_stores import packed, small_groups
from tests.support.random_stores import world
from tests.surface.store import Cause, Causes, Example, FailureCell, FailureMatrix, Lift
from tests.surface.tui import Request, causes, failure_matrix, failure_text, phrase, show

__all__ = ["small_groups"]

CELL = FailureCell("viewing", "greet", "collect", 40, 0.8, 50, {"dead end": 30, "loop": 10}, Example("night-1", "c 7"))
CAUSE = Cause(
    flow="viewing", stop_reasons={None: 30, "loop": 11}, last_ok={"(start)": 41}, first_failed="greet",
    kind="guard error", kinds={"guard error": 41}, who={"agent": 41}, detail="heard",
    error="KeyError: *", n=41, share=0.5, agents={"thrifty": 41}, scenarios={None: 41},
    personas={"calm": 40, "hurried": 1}, commits={"abc": 41},
    first_run="night-1", last_run="night-2", example=Example("night-1", "c-1"),
)  # fmt: skip
LIFT = Lift("agent", "thrifty", 41, 1.0, 100, 0.25, 0.001)


def matrix(*cells: FailureCell) -> FailureMatrix:
    flows = {cell.flow for cell in cells}
    states = ["greet", "collect", "book"]
    return FailureMatrix(cells, dict.fromkeys(flows, states), dict.fromkeys(flows, 50), dict.fromkeys(flows, 100))


def test_a_cell_leads_to_its_calls_and_is_marked_where_many_fail_at_its_end() -> None:
    few = replace(CELL, last_ok="(start)", first_failed="(none found)", n=1, taken=None)
    rows = failure_matrix(matrix(CELL, few)).rows
    assert rows[0].where == "flow=viewing last_ok=greet first_failed=collect"
    assert rows[1].where == 'flow=viewing last_ok="(start)" first_failed="(none found)"'
    assert (rows[0].record["rate"], rows[1].record["rate"]) == (0.8, None)
    assert (rows[0].severity, rows[1].severity) == ({"rate": "bad", "": "bad"}, {})
    (thin,) = failure_matrix(matrix(replace(CELL, n=4, taken=4))).rows
    assert thin.severity == {}
    assert rows[0].record["example"] == 'run=night-1 conversation="c 7"'
    assert rows[0].display == {"kinds": "dead end 30, loop 10", "example": "c 7"}


def test_there_is_a_grid_of_one_flow_alone() -> None:
    other = replace(CELL, first_failed="book")
    assert failure_matrix(matrix(CELL, other)).figure is not None
    assert failure_matrix(matrix(CELL)).figure is None
    several = failure_matrix(matrix(CELL, replace(other, flow="grooming")))
    assert several.figure is None
    assert "Of several flows there is no grid: filter by one, flow=F." in several.notes


def test_a_cause_leads_to_exactly_its_calls() -> None:
    (row,) = causes(Causes([CAUSE], 82, 100)).rows
    assert row.where == (
        'flow=viewing first_failed=greet failure_detail=heard failure_error="KeyError: *"'
        ' (failure="guard error" | failure="tool error")'
    )
    assert row.record["signature"] == "viewing: greet, guard error heard: KeyError: *"
    assert (row.record["scenarios"], row.display["personas"]) == ({"·": 41}, "calm 40, hurried 1")
    assert (row.record["stop_reasons"], row.display["stop_reasons"]) == ({"·": 30, "loop": 11}, "· 30, loop 11")
    assert (row.record["last_ok"], row.record["who"]) == ({"(start)": 41}, {"agent": 41})
    assert row.display["kind"] == "guard error heard"


def test_a_cause_of_several_ways_to_end_names_them_and_is_not_divided_by_their_details() -> None:
    kinds = {"hand-off": 30, "dead end": 11}
    ended = replace(CAUSE, kind="hand-off", kinds=kinds, detail=None, error=None)
    (row,) = causes(Causes([ended], 82, 100)).rows
    assert row.display["kind"] == "hand-off, dead end"
    ends = 'failure=loop | failure=hand-off | failure="dead end" | failure="off contract"'
    assert row.where == f"flow=viewing first_failed=greet ({ends})"


def test_causes_are_marked_by_their_share() -> None:
    shares = [0.1, 0.09, 0.02, 0.019]
    rows = causes(Causes([replace(CAUSE, share=share) for share in shares], 82, 100)).rows
    assert [row.severity.get("") for row in rows] == ["bad", "warn", "warn", None]


def test_what_people_marked_is_counted_and_named_by_its_code() -> None:
    marked = replace(CELL, n=30, kinds={"marked": 12, "dead end": 18})
    assert "Of 50 failed calls people marked 12; a mark comes before what events show." in (
        failure_matrix(matrix(marked)).notes
    )
    assert not any("marked" in note for note in failure_matrix(matrix(CELL)).notes)
    cause = replace(CAUSE, kind="marked", kinds={"marked": 41}, detail="wrong day", error=None)
    table = causes(Causes([cause, replace(cause, detail=None), CAUSE], 123, 200))
    assert "Of 123 failed calls people marked 82; a mark comes before what events show." in table.notes
    coded, plain, _ = table.rows
    assert [row.display["kind"] for row in table.rows] == ['"wrong day"', "marked", "guard error heard"]
    assert coded.record["signature"] == 'viewing: greet, "wrong day"'
    ends = "flow=viewing first_failed=greet"
    assert coded.where == f'{ends} failure_detail="wrong day" failure_error=· failure=marked'
    assert plain.where == f"{ends} failure_detail=· failure_error=· failure=marked"


def test_causes_of_one_call_each_that_are_put_together_lead_to_all_of_them() -> None:
    parts = [replace(CAUSE, n=1, first_failed=state) for state in ("greet", "collect")]
    several = replace(CAUSE, first_failed="(several)", detail=None, error=None, n=2, parts=parts)
    (row,) = causes(Causes([several], 82, 100)).rows
    assert row.display["kind"] == "2 causes of one call each"
    single = [causes(Causes([part], 82, 100)).rows[0].where for part in parts]
    assert row.where == f"({single[0]}) | ({single[1]})"


def test_what_stands_out_is_said_once_for_the_same_calls() -> None:
    twice = replace(CAUSE, lift=[LIFT, replace(LIFT, dimension="scenario", name="move"), replace(LIFT, name="x", n=30)])
    plain, told = causes(Causes([CAUSE, twice], 82, 100)).rows
    assert (plain.record["stands_out"], plain.record["lift"]) == (None, [])
    assert told.record["stands_out"] == "all 41 are thrifty (25% of calls); 30 of 41 are x (25% of calls)"
    assert [each["name"] for each in told.record["lift"]] == ["thrifty", "move", "x"]
    assert phrase(LIFT, 41) == "all 41 are thrifty (25% of calls)"


def test_a_call_says_in_words_where_it_failed() -> None:
    call = {"kind": "tool error", "detail": "find", "last_ok": "greet", "first_failed": "book"}
    assert failure_text(call) == "Failed in book: tool error find, after greet"
    assert failure_text(call | {"last_ok": "(start)"}) == "Failed in book: tool error find, from the start"
    assert failure_text(call | {"kind": "none"}) == "Failed, and no event shows where"
    marked = call | {"kind": "marked", "detail": "wrong day"}
    assert failure_text(marked) == "Failed in book (marked): wrong day, after greet"
    assert failure_text(marked | {"detail": None}) == "Failed in book (marked), after greet"
    step = call | {"kind": "missing action", "detail": None}
    assert failure_text(step) == "Failed in book: missing action, after greet"


@pytest.mark.usefixtures("small_groups")
def test_steps_are_counted_of_what_is_asked_for_and_not_of_all_to_say_how_many_rows_there_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with packed(world(7, 60), tmp_path / "calls.db") as store:
        asked: list[str] = []
        answer = store.execute_sql

        def execute_sql(sql: str, values: Any = ()) -> Any:
            asked.extend(value for value in values if str(value).startswith("transition."))
            return answer(sql, values)

        monkeypatch.setattr(store, "execute_sql", execute_sql)
        everything = show(store, "failure-matrix", Request())
        assert everything.rows
        once = sorted(asked)
        assert once
        asked.clear()
        of_flow = show(store, "failure-matrix", Request(where=f"flow={everything.rows[0].record['flow']}"))
        assert sorted(asked) == once
        assert of_flow.counts.total == everything.counts.total
