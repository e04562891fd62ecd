"""The steps that a task asks for beside those that the call took: missed ones named, differing arguments told."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from tests.support import voice_answers
from tests.support.view_answers import detail
from tests.surface.store import AskedStep, CallDetail
from tests.surface.tui import UNICODE, Table, conversation, transcript_lines
from tests.surface.tui import sinks_render as render

ASKED = {"line": "L1", "gb": 2.0}
STEPS = (
    AskedStep("user:toggle_data", "caller", True, True),
    AskedStep("refuel", "agent", True, False),
    AskedStep("enable_roaming", "agent", False, None),
)


def tool(name: str, t: float | None, arguments: Any, by: str = "agent") -> dict[str, Any]:
    return {"name": name, "t": t, "by": by, "arguments": arguments}


def asked(name: str, arguments: Any, by: str = "agent") -> dict[str, Any]:
    return {"name": name, "by": by, "arguments": arguments}


DOCUMENT: Mapping[str, object] = {
    "turns": [{"role": "agent", "text": "Hi.", "t": 0.0}],
    "tool_calls": [
        tool("toggle_data", 2.0, {}, "caller"),
        tool("refuel", 3.0, {"line": "L9", "gb": 7}),
        tool("refuel", 4.0, {"line": "L1", "gb": 5}),
    ],
    "expected_steps": [
        asked("toggle_data", {}, "caller"),
        asked("refuel", ASKED),
        asked("enable_roaming", {"line": "L1"}),
    ],
}


def shown(steps: Sequence[AskedStep] = STEPS, correctness: float | None = 0.0, **given: Any) -> Table:
    return conversation(call(steps, correctness), **given)


def call(steps: Sequence[AskedStep], correctness: float | None = 0.0, **known: Any) -> CallDetail:
    return replace(detail(DOCUMENT, **known), steps=steps, aspects={"correctness": correctness})


def told(table: Table) -> list[tuple[float | None, str | None, str]]:
    rows = [row.record for row in table.rows if row.record["kind"] == "step"]
    return [(record["t"], record["role"], record["detail"]) for record in rows]


def test_the_path_of_the_task_stands_behind_what_happened_with_what_differed() -> None:
    table = shown()
    assert told(table) == [
        (None, None, "1 of 3 expected steps taken"),
        (2.0, "caller", "1 user:toggle_data: called"),
        (4.0, "agent", '2 refuel: called with wrong arguments, asked {"gb": 2.0}, given {"gb": 5}'),
        (None, "agent", '3 enable_roaming: never called, asked {"line": "L1"}'),
    ]
    assert "Steps: 1 of 3 expected steps taken · missed enable_roaming · wrong arguments refuel." in table.notes
    assert table.extras["expected_steps"][1] == {
        "state": "refuel", "by": "agent", "called": True, "matched": False, "t": 4.0, "asked": ASKED,
        "given": {"line": "L1", "gb": 5},
    }  # fmt: skip
    assert [row.id for row in table.rows] == [str(number) for number in range(1, len(table.rows) + 1)]


@pytest.mark.parametrize(("correctness", "known", "marked"), [
    (0.0, {}, ["2 refuel", "3 enable_roaming"]), (10.0, {}, []), (None, {}, []), (0.0, {"errored": True}, []),
])  # fmt: skip
def test_what_was_missed_is_marked_in_failed_calls_and_a_hint_in_others(
    correctness: float | None, known: dict[str, Any], marked: list[str]
) -> None:
    table = conversation(call(STEPS, correctness, **known))
    steps = [row for row in table.rows if row.record["kind"] == "step"]
    assert [row.record["detail"].partition(":")[0] for row in steps if row.severity.get("detail") == "bad"] == marked
    assert told(table) == told(shown())


def test_without_text_nothing_of_the_arguments_is_told() -> None:
    table = shown(text=False)
    assert [text for *_, text in told(table)][2:] == [
        "2 refuel: called with wrong arguments",
        "3 enable_roaming: never called",
    ]
    assert {(step["asked"], step["given"]) for step in table.extras["expected_steps"]} == {(None, None)}
    redacted = shown(text=True, redact=lambda text: text.replace("L1", "[line]"))
    assert told(redacted)[3][2] == '3 enable_roaming: never called, asked {"line": "[line]"}'


def test_a_call_without_a_transcript_tells_its_steps_still() -> None:
    table = conversation(replace(detail(None), steps=STEPS, aspects={}))
    assert told(table)[1:] == [
        (None, "caller", "1 user:toggle_data: called"),
        (None, "agent", "2 refuel: called with wrong arguments"),
        (None, "agent", "3 enable_roaming: never called"),
    ]
    assert told(conversation(detail())) == []


def test_a_step_under_another_name_than_its_tool_is_found_by_its_state() -> None:
    document = {"events": [{"type": "state_entered", "state": "pay_1234", "t": 7.0}]}
    steps = [AskedStep("pay_1234", "agent", True, None)]
    table = conversation(replace(detail(document), steps=steps, aspects={}))
    assert told(table)[1] == (7.0, "agent", "1 pay_1234: called, arguments not compared")


def test_steps_of_one_name_keep_their_own_arguments() -> None:
    step = AskedStep("find", "agent", True, True)
    document = {
        "tool_calls": [tool("find", 1.0, {"id": 1}), tool("find", 2.0, {"id": 2})],
        "expected_steps": [asked("find", {"id": 2}), asked("find", {"id": 1})],
    }
    table = conversation(replace(detail(document), steps=[step, step], aspects={}))
    assert [t for t, *_ in told(table)[1:]] == [2.0, 1.0]


@pytest.mark.parametrize("kept", ["x", 7, [1], [{"name": 5, "arguments": "x"}], None, [{"by": None}]])
def test_what_a_store_of_others_holds_stops_nothing(kept: object) -> None:
    document = {"expected_steps": kept, "tool_calls": [{"name": "refuel", "arguments": [1]}]}
    assert len(told(conversation(replace(detail(document), steps=STEPS)))) == 4


def test_steps_are_read_in_lines_below_a_rule() -> None:
    table = shown()
    lines = [
        "".join(text for text, _ in each.line).rstrip()
        for each in transcript_lines(table.rows, (), 60, UNICODE)
        if each.row is not None and table.rows[each.row].record["kind"] == "step"
    ]
    assert lines == [
        "        ── 1 of 3 expected steps taken ────────────────────",
        "    2.0  caller  1 user:toggle_data: called",
        "    4.0  agent   ! 2 refuel: called with wrong arguments,",
        '                   asked {"gb": 2.0}, given {"gb": 5}',
        "         agent   ! 3 enable_roaming: never called, asked",
        '                   {"line": "L1"}',
    ]


def test_a_voice_call_has_its_steps_behind_its_turns() -> None:
    found = replace(detail(voice_answers.document()), steps=STEPS, aspects={"correctness": 0.0})
    table = conversation(found)
    kinds = [row.record["kind"] for row in table.rows]
    assert (kinds[-4:], kinds.count("step"), kinds[0]) == (["step"] * 4, 4, "turn")
    out = io.StringIO()
    render(table, "markdown", out)
    assert "enable_roaming: never called" in out.getvalue()
