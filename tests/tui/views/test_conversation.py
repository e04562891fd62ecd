"""A conversation is told as it went, and nobody's words leave it unasked."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.golden import printed
from tests.support.strategies import JSON
from tests.support.view_answers import DOCUMENT, detail
from tests.surface.tui import NO_TEXT_KEPT, SHOWN_RESULT, TEXT_LEFT_OUT, Redactor, Table, conversation, moments, spans
from tests.surface.tui import sinks_render as render


def test_rows_follow_each_other_as_they_happened() -> None:
    rows = conversation(detail()).rows
    assert [(row.record["t"], row.record["kind"], row.record["state"]) for row in rows] == [
        (0.0, "state", "greet"),
        (0.0, "state", "collect_details"),
        (0.0, "turn", "collect_details"),
        (2.4, "turn", "collect_details"),
        (2.5, "guard", "collect_details"),
        (2.5, "guard", "collect_details"),
        (2.6, "slot", "collect_details"),
        (3.0, "tool", "collect_details"),
    ]
    assert [row.record["detail"] for row in rows] == [
        None,
        "from greet: greeted",
        None,
        None,
        "has_date is false",
        "has_name raised: KeyError: 'name'",
        "date = Tuesday",
        'find_slots({"day": "Tuesday"}) failed: timeout',
    ]
    assert [row.id for row in rows if row.severity] == ["6", "8"]


BLAMED: dict[str, Any] = {
    "success": False, "first_failed": "collect_details", "last_ok": "greet", "failure": "tool error",
    "failure_detail": "find_slots", "failure_error": "timeout", "failed_tool": "find_slots", "who": "backend",
    "turn": 2, "t": 3.0, "listed": "tool_calls", "place": 0,
}  # fmt: skip


def test_the_blame_of_a_failed_call_names_its_row_which_is_marked_and_where_the_screen_opens() -> None:
    table = conversation(detail(**BLAMED))
    blame = table.extras["blame"]
    assert blame == {
        "state": "collect_details", "kind": "tool error", "detail": "find_slots", "error": "timeout",
        "who": "backend", "tool": "find_slots", "moment": {"turn": 2, "t": 3.0, "row": 7},
    }  # fmt: skip
    blamed = table.rows[blame["moment"]["row"]]
    assert blamed.record["kind"] == "tool"
    assert (blamed.severity[""], table.begin) == ("bad", blamed.id)
    assert conversation(detail()).extras["blame"] is None


def test_the_line_of_a_state_says_what_first_failed_there_and_the_last_one_how_the_call_ended() -> None:
    rows = conversation(detail(**BLAMED)).rows
    assert {row.id: row.record["blame"] for row in rows if "blame" in row.record} == {
        "2": "first failed here: tool error find_slots"
    }
    assert [row.record.get("ended", "")[:7] for row in rows] == [*[""] * 7, "ended: "]
    assert not any("blame" in row.record for row in conversation(detail()).rows)


def said(*turns: tuple[str, str]) -> list[float | None]:
    """When the text of each turn, said a second after the one before, was said first, if it was."""
    listed = [{"role": role, "text": text, "t": float(at)} for at, (role, text) in enumerate(turns)]
    rows = conversation(replace(detail(), document={"turns": listed})).rows
    return [row.record.get("as_at") for row in rows if row.record["kind"] == "turn"]


def test_a_turn_that_says_nothing_new_says_when_it_was_said() -> None:
    booking = "Booking around three on Friday now."
    turns = [
        ("agent", f"Okay. {booking}"), ("caller", "Can we move on?"), ("agent", f"Sorry, I need this. {booking}"),
        ("agent", f"Hmm. {booking.upper()}"), ("caller", booking), ("agent", "Okay."),
    ]  # fmt: skip
    assert said(*turns) == [None, None, None, 0.0, None, None]


@pytest.mark.parametrize(
    ("moment", "row"),
    [
        ({"listed": "events", "place": 5}, 5),
        # Leaving a state has no row: what came next stands for it.
        ({"listed": "events", "place": 1}, 1),
        ({"listed": "turns", "place": 1}, 3),
        # Without an entry it is the end of the call; what a person marked is at the turn that was noted.
        ({"listed": None, "place": None}, 7),
        ({"listed": None, "place": None, "failure": "marked", "turn": 1}, 2),
    ],
)
def test_the_moment_of_a_blame_is_the_row_of_what_happened(moment: dict[str, Any], row: int) -> None:
    table = conversation(detail(**(BLAMED | moment)))
    assert table.extras["blame"]["moment"]["row"] == row


def test_the_blame_says_no_words_of_anybody_without_text() -> None:
    table = conversation(detail(**(BLAMED | {"failure_error": "no slot on Tuesday"})), text=False)
    assert (table.extras["blame"]["kind"], table.extras["blame"]["detail"]) == ("tool error", "find_slots")
    answer = {"failure": "missing answer", "failure_detail": "it is Tuesday", "failure_error": "no Tuesday"}
    unsaid = conversation(detail(**(BLAMED | answer)), text=False)
    for each in (table, unsaid):
        assert "Tuesday" not in json.dumps([dict(each.extras), list(each.notes), each.title])


def test_at_one_time_the_caller_comes_first_and_what_the_agent_says_last() -> None:
    events = [
        {"type": "slot_filled", "slot": "name", "value": "Ana", "state": "ask", "t": 3.0},
        {"type": "state_exited", "state": "ask", "t": 3.0},
        {"type": "state_entered", "state": "book", "t": 3.0},
    ]
    turns = [{"role": "caller", "text": "Ana.", "t": 3.0}, {"role": "agent", "text": "Thanks.", "t": 3.0}]
    tools = [{"name": "book", "t": 3.0}]
    happened = moments({"events": events, "turns": turns, "tool_calls": tools})
    assert [moment.entry.get("role", moment.kind) for moment in happened] == [
        "caller",
        "tool",
        "slot",
        "state",
        "agent",
    ]


def test_extras_hold_what_is_known_of_the_call() -> None:
    extras = conversation(detail()).extras
    assert extras["call"]["started_at"] == "2026-06-22T02:00:07Z"
    assert extras["turns"][1] == {
        "t": 2.4, "role": "caller", "state": None, "latency_ms": None, "text": "Tuesday, call 555-123-4567.",
    }  # fmt: skip
    assert extras["visits"][0]["stall"] == 1
    assert extras["slots"] == [{"t": 2.6, "state": "collect_details", "slot": "date", "value": "Tuesday"}]
    assert [guard["error"] for guard in extras["guards"]] == [None, "KeyError: 'name'"]
    assert extras["tool_calls"][0]["arguments"] == {"day": "Tuesday"}
    assert extras["aspects"] == {"computed": {"correctness": 0.0, "latency_p95": None}, "judged": [], "stored": {}}


def test_without_text_no_word_of_anybody_is_in_the_table() -> None:
    table = conversation(detail(error="caller said Tuesday"), text=False)
    held = json.dumps([[dict(row.record) for row in table.rows], dict(table.extras), list(table.notes)])
    for word in ("Tuesday", "which day", "KeyError", "timeout", "555", "greeted"):
        assert word not in held
    assert TEXT_LEFT_OUT in table.notes
    assert [guard["error"] for guard in table.extras["guards"]] == [None, True]


def test_what_an_agent_should_have_said_is_among_the_words() -> None:
    missed = {
        "failure": "missing answer",
        "failure_detail": "four 555-123-4567",
        "first_failed": "ask",
        "last_ok": "greet",
    }
    for asked, said in (
        ({}, "missing answer four 555-123-4567"),
        ({"redact": Redactor()}, "missing answer four [phone 1]"),
        ({"text": False}, "missing answer"),
    ):
        table = conversation(detail(**missed), **asked)  # type: ignore[arg-type]
        assert f"Failed in ask: {said}, after greet." in table.notes
        blamed = said.removeprefix("missing answer").strip() or None
        assert table.extras["blame"]["detail"] == table.extras["call"]["detail"] == blamed


def test_redacted_text_keeps_the_words_and_loses_the_number() -> None:
    table = conversation(detail(), redact=Redactor())
    assert table.rows[3].record["text"] == "Tuesday, call [phone 1]."
    assert table.extras["turns"][1]["text"] == "Tuesday, call [phone 1]."


def test_a_call_without_a_transcript_says_what_to_do() -> None:
    table = conversation(detail(document=None))
    assert (list(table.rows), table.figure) == ([], None)
    assert NO_TEXT_KEPT in table.notes


def test_turns_without_times_stand_where_the_events_put_them() -> None:
    document = {
        "turns": [
            {"role": "agent", "text": "a1"}, {"role": "caller", "text": "c1"}, {"role": "agent", "text": "a2"},
            {"role": "caller", "text": "c2"},
        ],
        "events": [
            {"type": "state_entered", "state": "greet"},
            {"type": "turn_complete", "latency_ms": 100},
            {"type": "state_exited", "state": "greet", "to_state": "collect"},
            {"type": "state_entered", "state": "collect"},
            {"type": "turn_complete", "latency_ms": 200},
        ],
    }  # fmt: skip
    told = [(moment.kind, moment.entry.get("text"), moment.state) for moment in moments(document)]
    assert told == [
        ("state", None, "greet"),
        ("turn", "a1", "greet"),
        ("state", None, "collect"),
        ("turn", "c1", "collect"),
        ("turn", "a2", "collect"),
        ("turn", "c2", "collect"),
    ]
    latencies = [moment.entry.get("latency_ms") for moment in moments(document) if moment.kind == "turn"]
    assert latencies == [100, None, 200, None]


def test_tools_and_words_without_times_stand_in_the_states_that_they_led_to() -> None:
    document = {
        "turns": [
            {"role": "caller", "text": "a pizza", "state": "opening"},
            {"role": "agent", "text": "which one?", "state": "choose"},
            {"role": "caller", "text": "the small one", "state": "choose"},
            {"role": "agent", "text": "done", "state": "user:pay"},
        ],
        "events": [
            {"type": "state_entered", "state": "opening"},
            {"type": "state_exited", "state": "opening", "to_state": "choose"},
            {"type": "state_entered", "state": "choose"},
            {"type": "turn_complete"},
            {"type": "state_exited", "state": "choose", "to_state": "user:pay"},
            {"type": "state_entered", "state": "user:pay"},
            {"type": "turn_complete"},
        ],
        "tool_calls": [{"name": "choose"}, {"name": "choose"}, {"name": "pay", "by": "caller"}],
    }
    assert [(moment.kind, moment.state) for moment in moments(document)] == [
        ("state", "opening"),
        ("turn", "opening"),
        ("state", "choose"),
        ("tool", "choose"),
        ("tool", "choose"),
        ("turn", "choose"),
        ("turn", "choose"),
        ("state", "user:pay"),
        ("tool", "user:pay"),
        ("turn", "user:pay"),
    ]


def test_visits_without_times_have_no_timeline_although_the_call_took_some() -> None:
    events = [{"type": "state_entered", "state": "opening"}, {"type": "state_entered", "state": "choose"}]
    assert spans({"events": events}, 42.0) == []
    assert len(spans({"events": [{**events[0], "t": 0}, events[1]]}, 42.0)) == 2


def test_events_alone_still_show_the_turns() -> None:
    document = {"turns": [], "events": DOCUMENT["events"]}
    turns = [row.record for row in conversation(detail(document)).rows if row.record["kind"] == "turn"]
    assert [(turn["t"], turn["role"], turn["latency_ms"]) for turn in turns] == [(0.91, "agent", 910.0)]


def test_a_clock_that_jumps_back_changes_no_order() -> None:
    document = {
        "events": [
            {"type": "state_entered", "t": 5.0, "state": "a"},
            {"type": "slot_filled", "t": 1.0, "slot": "x", "value": 1, "state": "a"},
        ],
        "turns": [{"role": "agent", "t": 3.0, "text": "hello"}, {"role": "agent", "t": 9.0, "text": "bye"}],
    }
    assert [moment.kind for moment in moments(document)] == ["turn", "state", "slot", "turn"]


def happened(document: dict[str, Any]) -> list[str]:
    """What the moments of a call are about, in their order."""
    names = ("text", "name", "slot", "state")
    return [next(moment.entry[key] for key in names if key in moment.entry) for moment in moments(document)]


def call_with(times: list[float | None], *tools: dict[str, Any]) -> dict[str, Any]:
    """Two states with a turn of each side in each; the times are those of the four turns."""
    said = zip(("c1", "a1", "c2", "a2"), ("caller", "agent") * 2, ("ask", "ask", "book", "book"), times, strict=True)
    return {
        "turns": [{"text": text, "role": role, "state": state, "t": t} for text, role, state, t in said],
        "events": [
            {"type": "state_entered", "state": "ask", "t": 0.0},
            {"type": "turn_complete", "t": times[1]},
            {"type": "state_exited", "state": "ask", "t": 5.0},
            {"type": "state_entered", "state": "book", "t": 5.0},
            {"type": "turn_complete", "t": times[3]},
        ],
        "tool_calls": list(tools),
    }


@pytest.mark.parametrize(
    "times",
    [[1.0, 2.0, 6.0, 7.0], [1.0, 900.0, 6.0, 7.0], [1.0, 2.0, 0.5, 0.7], [None, 2.0, None, 7.0]],
)
def test_words_stay_in_the_states_in_which_they_were_said_whatever_the_clock_says(times: list[float | None]) -> None:
    # What the caller says in a state that is entered for it has no event of its own: it comes with the answer.
    assert happened(call_with(times)) == ["ask", "c1", "a1", "book", "c2", "a2"]


@pytest.mark.parametrize(
    ("tool", "before"),
    [
        ({"seq": 4}, "book"),
        ({"t": 7.0, "seq": 4}, "book"),
        ({"t": 1.5}, "a1"),
        ({"state": "ask"}, "c1"),
        ({"state": "book"}, "c2"),
        ({"t": 1.0, "state": "book", "seq": 9}, None),
    ],
)
def test_a_tool_stands_where_it_says_else_at_its_time_else_in_its_state(
    tool: dict[str, Any], before: str | None
) -> None:
    found = happened(call_with([1.0, 2.0, 6.0, 7.0], {"name": "look", **tool}))
    place = found.index("look")
    assert found[place + 1 : place + 2] == ([] if before is None else [before])


def test_tools_keep_their_order_also_where_one_has_no_time() -> None:
    tools: list[dict[str, Any]] = [{"name": "x", "t": 6.5}, {"name": "y"}, {"name": "z", "t": 1.5}]
    found = happened(call_with([1.0, 2.0, 6.0, 7.0], *tools))
    assert [each for each in found if each in "xyz"] == ["x", "y", "z"]


def test_what_the_source_says_otherwise_stands_beside_our_figure() -> None:
    kept = {"correctness": 3.25, "reward": 0.5, "call_successful": True, "broken": "x"}
    table = conversation(detail({**DOCUMENT, "stored": kept}), text=False)
    assert table.extras["aspects"]["stored"] == {"correctness": 3.25, "reward": 0.5, "call_successful": True}
    facts = "\n".join(table.notes)
    assert " (stored 3.25)" in facts
    assert "Stored: reward 0.5 · call_successful yes" in facts
    assert conversation(detail()).extras["aspects"]["stored"] == {}


def test_a_figure_of_the_source_has_no_fewer_decimals_than_ours() -> None:
    call = detail({**DOCUMENT, "stored": {"turn_taking": 0.5}})
    call = replace(call, aspects={**call.aspects, "turn_taking": 0.0})
    assert "turn_taking 0.00 (stored 0.50)" in "\n".join(conversation(call, text=False).notes)


def test_a_negative_latency_is_not_measured() -> None:
    document = {"turns": [{"role": "agent", "text": "x", "t": 0.0, "latency_ms": -5}]}
    assert conversation(detail(document)).rows[0].record["latency_ms"] is None


def test_visits_become_spans_and_the_last_one_stays_open() -> None:
    found = [(span.state, span.start, span.end, span.open) for span in spans(DOCUMENT, 60.0)]
    assert found == [("greet", 0.0, 0.0, False), ("collect_details", 0.0, 60.0, True)]


ENTRY = st.dictionaries(
    st.sampled_from(
        ["type", "t", "state", "to_state", "reason", "slot", "value", "guard", "result", "error", "role", "text",
         "latency_ms", "name", "arguments", "by"]
    ),
    JSON | st.sampled_from(
        ["state_entered", "state_exited", "turn_complete", "slot_filled", "guard_evaluated", "agent"]
    ),
)  # fmt: skip
DOCUMENTS = st.dictionaries(
    st.sampled_from(["turns", "events", "tool_calls", "slots", "errors"]), st.lists(ENTRY, max_size=8) | JSON
)


@given(document=DOCUMENTS, text=st.booleans(), redact=st.booleans(), ascii_only=st.booleans())
def test_any_document_of_a_strangers_store_can_be_shown(
    document: dict[str, Any], text: bool, redact: bool, ascii_only: bool
) -> None:
    table = conversation(detail(document), text=text, redact=Redactor() if redact else None)
    for format in ("text", "markdown", "json", "csv"):
        render(table, format, io.StringIO(), ascii_only=ascii_only)
    if table.figure is not None:
        assert all(len(line) <= 60 for line in table.figure.draw(ascii_only=True, width=60))


@pytest.mark.parametrize("width", [20, 40, 78, 200])
def test_the_timeline_keeps_its_width(width: int) -> None:
    figure = conversation(detail()).figure
    assert figure is not None
    assert all(len(line) <= width for line in figure.draw(width=width))


def test_the_timeline_reads_like_the_call() -> None:
    figure = conversation(detail()).figure
    assert figure is not None
    assert figure.draw(ascii_only=True, width=60) == [
        "                0 s    10     20     30     40     50     60",
        "greet           #",
        "collect_details ###########################################>",
        "                 !has_name +date",
        "+ slot filled   ! guard error   > the call ended here",
    ]


def test_text_reads_a_call_line_by_line_in_a_hundred_columns() -> None:
    table = conversation(detail({"turns": [{"role": "agent", "t": 0.4, "text": "word " * 60}], "events": []}))
    lines = printed(table, "text").splitlines()
    assert max(map(len, lines)) <= 100
    assert lines[0] == table.title
    assert lines[1].startswith("flow ")
    said = [line for line in lines if "word word" in line]
    assert len(said) > 3
    assert said[0].startswith("    0.4  agent   word")
    assert "t(s)" not in printed(table, "text")
    assert "t(s)" in printed(table, "markdown")


def test_a_call_says_who_its_caller_was_and_that_it_failed() -> None:
    failed: dict[str, Any] = {"errored": True, "error": "caller: gave 555-123-4567 for a date", "caller_ok": False}
    table = conversation(detail(caller="gpt", **failed), redact=Redactor())
    assert "caller gpt failed: gave [phone 1] for a date" in table.notes[0]
    assert "Excluded: its caller failed, so the call is not counted in averages." in table.notes
    assert conversation(detail(caller="gpt", **failed), text=False).notes[0].endswith(" · caller gpt failed")
    assert conversation(detail(caller_ok=False, errored=True)).notes[0].endswith(" · caller failed")
    assert conversation(detail(caller="scripted", caller_ok=True)).notes[0].endswith("caller scripted kept to its part")


def test_an_errored_call_says_why_and_keeps_what_was_said_in_it_to_itself() -> None:
    errored: dict[str, Any] = {"errored": True, "error": "agent: no line for 555-123-4567"}
    said = "Errored: agent: no line for [phone 1]; the call is not counted in averages."
    assert said in conversation(detail(**errored), redact=Redactor()).notes
    unsaid = "Errored: the agent or its backend was broken; the call is not counted in averages."
    assert unsaid in conversation(detail(**errored), text=False).notes
    assert unsaid in conversation(detail(errored=True)).notes


def test_visits_that_ended_as_the_call_began_have_no_timeline() -> None:
    at_once = [{"type": "state_entered", "state": "a", "t": 0}, {"type": "state_exited", "state": "a", "t": 0}]
    document = {"turns": [{"role": "agent", "text": "Hello", "t": 5.0}], "events": at_once}
    assert conversation(detail(document=document)).figure is None


def answered(result: Any, **how: Any) -> Table:
    call = {"name": "find", "t": 1.0, "arguments": {}, "result": result}
    return conversation(detail(document={"tool_calls": [call]}), **how)


def test_a_tool_call_says_what_came_back_in_short_and_its_row_has_all_of_it() -> None:
    slots = {"slots": [f"{hour}:00" for hour in range(24)], "line": "two\nlines"}
    table = answered(slots)
    assert table.rows[0].record["detail"].startswith('find({}) → {"slots": ["0:00", ')
    assert len(table.rows[0].record["detail"]) <= len("find({}) → ") + SHOWN_RESULT
    assert table.rows[0].record["result"] == table.extras["tool_calls"][0]["result"] == slots
    assert answered(0).rows[0].record["detail"] == "find({}) → 0"
    assert "result" not in answered(None).rows[0].record


def test_what_a_tool_answered_is_somebodys_words() -> None:
    table = answered({"note": "call 555-123-4567"}, redact=Redactor())
    assert table.rows[0].record["detail"] == 'find({}) → {"note": "call [phone 1]"}'
    assert table.extras["tool_calls"][0]["result"] == {"note": "call [phone 1]"}
    assert answered("Tuesday", text=False).extras["tool_calls"][0]["result"] is None
    assert answered("Tuesday", text=False).rows[0].record["detail"] == "find()"


def test_a_request_that_was_sent_again_stands_among_the_moments_and_is_nobodys_failure() -> None:
    errors = [
        {"kind": "retried", "message": "429 for 555-123-4567", "t": 2.5},
        {"kind": "tool", "message": "x", "t": 1},
    ]
    document = {"turns": [{"role": "agent", "text": "Hello", "t": 5.0}], "errors": errors}
    first, second = conversation(detail(document=document), redact=Redactor()).rows
    assert (first.record["kind"], first.record["t"], second.record["kind"]) == ("retried", 2.5, "turn")
    assert first.record["detail"] == "a request was sent again, for 429 for [phone 1]"
    assert not first.severity
    assert conversation(detail(document=document), text=False).rows[0].record["detail"] == "a request was sent again"
