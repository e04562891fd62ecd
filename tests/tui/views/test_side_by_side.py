"""Two rows against each other: which metric differs most, who is better, what is not known."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.hostile import HOSTILE
from tests.support.view_answers import call, flow_cell, measure, segment_cell, state_cell
from tests.surface.store import ArchetypeCell, RunSummary
from tests.surface.tui import (
    RULE,
    Column,
    Row,
    Table,
    archetypes,
    flows,
    label,
    row,
    runs,
    segments,
    side_by_side,
    spec_of,
    states,
)
from tests.surface.tui import conversations_conversations as conversations
from tests.surface.tui import sinks_render as render

COLUMNS = (
    Column("flow", "Flow", kind="name"),
    Column("score", "score", unit="0-10", better="higher"),
    Column("stall", "stall", unit="share", better="lower", decimals=2),
    Column("latency_p95", "lat_p95", unit="s", better="lower"),
    Column("turns", "turns", unit="turns"),
    Column("completed", "completed", kind="flag", better="higher"),
    Column("n", "n", kind="count", thin=True),
    Column("label", "Label", kind="text"),
)


def record(**values: Any) -> dict[str, Any]:
    return {"flow": "a", "n": 10, **values}


def compared(first: dict[str, Any], second: dict[str, Any], **options: Any) -> Table:
    table = Table("flows", "", COLUMNS, [])
    return side_by_side(table, Row("1", first, **options), Row("2", second))


def by_metric(table: Table) -> dict[str, dict[str, Any]]:
    return {found.id: dict(found.record) for found in table.rows}


def printed(table: Table, form: str = "text", **options: Any) -> str:
    out = io.StringIO()
    render(table, form, out, **options)
    return out.getvalue()


def test_what_differs_most_on_its_own_scale_comes_first() -> None:
    table = compared(
        record(score=5.0, stall=0.1, latency_p95=1.0, turns=4.0, completed=True),
        record(score=6.0, stall=0.6, latency_p95=4.0, turns=16.0, completed=True),
    )
    # Three quarters of 16 turns, half of the whole share, a fifth of 15 s, a tenth of ten points, nothing.
    assert [found.id for found in table.rows] == ["turns", "stall", "latency_p95", "score", "completed"]
    assert [found.record["delta"] for found in table.rows] == [12.0, 0.5, 3.0, 1.0, 0]
    assert RULE in table.notes


@pytest.mark.parametrize("key", ["success_rate", "success"])
def test_success_comes_first_however_much_more_the_rest_differs(key: str) -> None:
    columns = (*COLUMNS, Column(key, "success", unit="share", better="higher"))
    a, b = Row("1", record(turns=4.0, stall=0.9, **{key: 0.5})), Row("2", record(turns=16.0, stall=0.1, **{key: 0.52}))
    found = side_by_side(Table("flows", "", columns, []), a, b)
    assert [each.id for each in found.rows][:3] == [key, "stall", "turns"]


def test_a_step_in_what_has_no_end_does_not_push_a_large_share_from_the_top() -> None:
    table = compared(record(stall=0.1, turns=0.0), record(stall=0.4, turns=1.0))
    assert [found.id for found in table.rows][:2] == ["stall", "turns"]


def test_b_is_higher_or_lower_and_never_better_or_worse_for_nothing_is_tested() -> None:
    found = by_metric(
        compared(
            record(score=5.0, stall=0.5, latency_p95=2.0, turns=4.0, completed=False),
            record(score=6.0, stall=0.6, latency_p95=2.001, turns=3.0, completed=True),
        )
    )
    assert {key: each["direction"] for key, each in found.items()} == {
        "score": "higher", "stall": "higher", "latency_p95": "same", "turns": "lower", "completed": "other"
    }  # fmt: skip


def test_no_difference_has_a_colour_however_large_it_is() -> None:
    table = compared(record(score=0.0, stall=0.0, turns=4.0), record(score=10.0, stall=1.0, turns=9.0))
    assert not any(found.severity for found in table.rows)
    assert any(note.startswith("Nothing here is tested") for note in table.notes)


def test_a_change_that_no_digit_shows_is_none() -> None:
    found = compared(record(stall=0.30001), record(stall=0.30002)).rows[0]
    assert (found.record["direction"], found.display["delta"]) == ("same", "0")
    assert found.record["delta"] != 0


def test_what_one_side_lacks_comes_last_and_is_no_difference() -> None:
    table = compared(
        record(score=None, stall=0.1, turns=None, label="x"), record(score=9.0, stall=0.1, turns=None, label="y")
    )
    assert [found.id for found in table.rows][:2] == ["stall", "label"]
    found = by_metric(table)
    for key in ("score", "turns"):
        assert found[key]["delta"] is None
        assert found[key]["direction"] is None
    lines = printed(table).splitlines()
    assert next(line for line in lines if line.startswith("score")).split()[:5] == ["score", "·", "9.0", "·", "·"]


def test_words_that_differ_are_told_and_those_that_do_not_are_left_out() -> None:
    differing = by_metric(compared(record(label="x"), record(label="y")))
    assert differing["label"]["direction"] == "other"
    assert "label" not in by_metric(compared(record(label="x"), record(label="x")))
    assert "label" in by_metric(compared(record(label=None), record(label="x")))


def test_records_keep_unrounded_numbers_n_and_intervals_of_both() -> None:
    first = record(stall=1 / 3, intervals={"stall": [0.1, 0.6]})
    table = compared(first, {**record(stall=0.5), "n": 3})
    found = by_metric(table)["stall"]
    assert (found["a"], found["b"], found["delta"]) == (1 / 3, 0.5, 0.5 - 1 / 3)
    assert (found["n_a"], found["n_b"]) == (10, 3)
    assert (found["interval_a"], found["interval_b"]) == ([0.1, 0.6], None)
    assert "10–60%" in printed(table)
    assert "10-60%" in printed(table, ascii_only=True)
    document = json.loads(printed(table, "json"))
    assert (document["a"], document["b"]) == ({"flow": "a"}, {"flow": "a"})


def test_few_calls_behind_a_side_are_marked_and_said() -> None:
    table = compared({**record(stall=0.5), "n": 2}, record(stall=0.5), thin=True)
    assert table.rows[0].display["n_a"] == "2~"
    assert "n_b" not in table.rows[0].display
    assert any("behind a, marked ~" in note for note in table.notes)


def test_a_cell_keeps_the_mark_that_it_had() -> None:
    table = compared(record(stall=0.5), record(stall=0.0), severity={"stall": "bad"})
    assert table.rows[0].severity["a"] == "bad"
    assert "b" not in table.rows[0].severity


def real_tables() -> dict[str, Table]:
    worst = state_cell("f", "s1", n=4, stall=0.5, progress=0.5)
    return {
        "flows": flows([flow_cell("f", "x", operability=4.0, judges={"j": 3.0}), flow_cell("f", "y", correctness=9.0)]),
        "states": states([worst, state_cell("f", "s2", stall=0.1, progress=0.9)]),
        "segments": segments([segment_cell("f", "x", worst, stall=0.3), segment_cell("f", "y", worst, stall=0.1)]),
        "conversations": conversations(
            [row(call()), row(call(conversation="c-0008", completed=True, persona="calm", turn_count=9.0))]
        ),
        "runs": runs(
            [
                RunSummary("r1", "old", "abc", "main", 1, 1, 9, 0, measure(0.5, 9), measure(6.0, 9)),
                RunSummary("r2", "new", "def", "main", 2, 2, 9, 0, measure(0.9, 9), measure(8.0, 9)),
            ]
        ),
        "archetypes": archetypes(
            [
                ArchetypeCell("booking", 2, flow_cell("", n=9), None, None),
                ArchetypeCell("inquiry", 1, flow_cell("", n=9), None, None),
            ]
        ),
    }


@pytest.mark.parametrize("view", ["flows", "states", "segments", "conversations", "runs", "archetypes"])
def test_rows_of_any_list_can_be_compared(view: str) -> None:
    table = real_tables()[view]
    first, second = table.rows
    found = side_by_side(table, first, second)
    assert spec_of(view).unlike == ""
    assert found.rows
    assert len({each.id for each in found.rows}) == len(found.rows)
    names = [label(table, each, (first, second)) for each in (first, second)]
    assert names[0] != names[1]
    assert found.figure is not None
    drawn = found.figure.draw(width=30)
    assert drawn[0].startswith("a  ")
    assert drawn[1].startswith("b  ")
    back = by_metric(side_by_side(table, second, first))
    for key, each in by_metric(found).items():
        assert each["delta"] is None or each["delta"] == -back[key]["delta"]


def test_names_tell_only_what_differs() -> None:
    table = real_tables()["flows"]
    assert [label(table, each, table.rows) for each in table.rows] == ["x", "y"]
    assert [label(table, each) for each in table.rows] == ["f @ x", "f @ y"]
    calls = real_tables()["conversations"]
    assert [label(calls, each, calls.rows) for each in calls.rows] == ["c-0007", "c-0008"]


def test_calls_have_neither_n_nor_intervals_to_show() -> None:
    calls = real_tables()["conversations"]
    found = side_by_side(calls, *calls.rows)
    assert not {"n_a", "n_b", "interval_a", "interval_b"} & {column.key for column in found.columns}
    assert by_metric(found)["completed"]["direction"] == "other"
    assert by_metric(found)["persona"]["direction"] == "other"


@pytest.mark.parametrize(("view", "reason"), [("worklist", "unlike"), ("skipped", "nothing to compare")])
def test_some_rows_cannot_be_compared_and_it_says_why(view: str, reason: str) -> None:
    assert reason in spec_of(view).unlike


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_names_stay_text(text: str) -> None:
    table = compared(record(label=text, stall=0.1), {**record(label="y", stall=0.2), "flow": text})
    assert all(ord(character) >= 32 or character == "\n" for character in printed(table))


VALUES = st.none() | st.floats(allow_nan=True, allow_infinity=True) | st.integers(-(10**6), 10**6) | st.booleans()


@given(st.lists(st.tuples(VALUES, VALUES), min_size=len(COLUMNS), max_size=len(COLUMNS)))
def test_whatever_stands_in_the_records_there_is_a_table(pairs: list[tuple[Any, Any]]) -> None:
    keys = [column.key for column in COLUMNS]
    first, second = (dict(zip(keys, side, strict=True)) for side in zip(*pairs, strict=True))
    table = compared(first, second)
    lacking = [found.record["delta"] is None for found in table.rows if found.id not in ("flow", "label")]
    assert lacking == sorted(lacking)
    for form in ("text", "markdown", "json", "csv"):
        assert printed(table, form)
