"""The worklist says where to go and why, in words that can be checked against the matrices."""

from __future__ import annotations

import io
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.support.facts import call, fresh, put, state
from tests.support.view_answers import flow_cell, segment_cell, state_cell
from tests.surface.store import Failure, FirstToFix, SegmentCell, StateCell, StepCounts, Totals, Worklist
from tests.surface.tui import EMPTY_STORE, Request, Table, parse, reason_texts, show, worklist
from tests.surface.tui import WORKLIST_SPEC as SPEC
from tests.surface.tui import sinks_render as render

MANY = Totals(measured=391, failed=306, flows=2, calls=391, excluded=1)
FIRST = FirstToFix("dog_grooming", "listen_owner", 294, 391, 0.217, 0.969, ["a", "b"], ["a", "b"])


def answer(*states: StateCell, **given: Any) -> Worklist:
    settings: dict[str, Any] = {
        "flows": [], "segments": [], "states": states, "totals": MANY, "blamed": {}, "nowhere": {},
        "measured": {"apartment_scheduler": 11, "f": 3},
    }  # fmt: skip
    return Worklist(**(settings | given))


def viewing(*states: StateCell, **given: Any) -> Worklist:
    return answer(
        *states,
        flows=[flow_cell("apartment_scheduler", "gemini-2.5-f", n=11, success_rate=5 / 11, correctness=0.0)],
        segments=[
            segment_cell(
                "apartment_scheduler", "action", state_cell("apartment_scheduler", "book_viewing"),
                n=11, stall=4 / 11, escalation=7 / 11, progress=0.0,
                blames={"hand-off": 4, "missing slot": 1, "dead end": 1},
            )
        ],
        blamed={("apartment_scheduler", "gemini-2.5-f"): {"book_viewing": 5, "greet": 1}},
        first=FIRST,
        **given,
    )  # fmt: skip


ROOT_CAUSES = (
    state_cell("apartment_scheduler", "book_viewing", n=11, stall=4 / 11, escalation=7 / 11, progress=0.0,
               dwell_turns=3.6, blames={"hand-off": 3, "tool error": 2}),
    state_cell("dog_grooming", "listen_owner", n=9, stall=3 / 9, escalation=4 / 9, progress=2 / 9, dwell_turns=2.6,
               slot_fill_rate=0.0, blames={"dead end": 4}),
)  # fmt: skip


def test_markdown_has_the_shape_that_people_paste() -> None:
    out = io.StringIO()
    render(worklist(viewing(*ROOT_CAUSES)), "markdown", out)
    assert out.getvalue().splitlines() == [
        "# What to work on (flow → segment → state)",
        "",
        "Fix first: **dog_grooming/listen_owner**. 294 of 391 calls fail there; if fixed, success could rise from 22 %"
        " to at most 97 %.",
        "",
        "## Weakest flows",
        "",
        "|   | Flow                | Agent        | failed | n  | success | correctness |",
        "|---|---------------------|--------------|--------|----|---------|-------------|",
        "| ! | apartment_scheduler | gemini-2.5-f | 6      | 11 | 45%     | 0.0         |",
        "",
        "## Weakest segments",
        "",
        "|   | Flow                | Segment | failed | n  | stall | escal | progress | worst member |",
        "|---|---------------------|---------|--------|----|-------|-------|----------|--------------|",
        "| ! | apartment_scheduler | action  | 6      | 11 | 36%   | 64%   | 0%       | book_viewing |",
        "",
        "## Root-cause states",
        "",
        "|   | Flow                | State        | failed | n  | why"
        "                                                               |",
        "|---|---------------------|--------------|--------|----|-"
        "------------------------------------------------------------------|",
        "| ! | apartment_scheduler | book_viewing | 5      | 11 | tool error 2 · stall 36% · handed over 64%"
        " · dwell 3.6            |",
        "| ! | dog_grooming        | listen_owner | 4      | 9  | stall 33% · handed over 44%"
        " · slot_fill 0.0 (stuck, 22 % move on) |",
        "",
        "Signs: ! bad.",
        "",
        "Excluded: 1 errored call is not counted in averages.",
        "Drill: `riff-tui dump states --where 'flow=dog_grooming'`",
    ]


def test_a_record_holds_the_metrics_that_its_reasons_name() -> None:
    first, segment, state, stuck = worklist(viewing(*ROOT_CAUSES)).rows
    assert first.record == {
        "list": "flows", "rank": 1, "flow": "apartment_scheduler", "agent": "gemini-2.5-f", "segment": None,
        "state": None, "failed": 6, "n": 11, "share": 6 / 11, "reasons": ["correctness 0.0", "5 in book_viewing"],
        "correctness": 0.0, "success_rate": pytest.approx(5 / 11),
    }  # fmt: skip
    assert (segment.record["failed"], segment.record["worst_state"]) == (6, "book_viewing")
    assert state.record["reasons"] == ["tool error 2", "stall 0.36", "escalates 0.64", "dwell 3.6"]
    assert (state.record["failed"], state.record["n"], state.record["share"]) == (5, 11, 5 / 11)
    assert {"stall", "escalation", "dwell_turns"} <= set(state.record)
    assert "slot_fill_rate" not in state.record
    assert stuck.record["slot_fill_rate"] == 0.0
    assert stuck.record["progress"] == pytest.approx(2 / 9)


def test_each_place_leads_down_and_a_state_to_the_calls_that_failed_there() -> None:
    flow, segment, state = worklist(viewing(ROOT_CAUSES[0])).rows
    assert flow.where == "flow=apartment_scheduler agent=gemini-2.5-f"
    assert segment.where == "flow=apartment_scheduler segment=action"
    assert (state.where, state.leads) == (
        "flow=apartment_scheduler state=book_viewing", "flow=apartment_scheduler first_failed=book_viewing",
    )  # fmt: skip
    assert [SPEC.view_below(row) for row in (flow, segment, state)] == ["segments", "states", "conversations"]
    (slow,) = worklist(answer(state_cell("f", "s", slow=0.3))).rows
    assert (slow.leads, SPEC.view_below(slow)) == ("", "neighbors")


@pytest.mark.parametrize(("progress", "speaks"), [(0.69, True), (0.7, False), (None, False)])
def test_low_slot_fill_speaks_only_where_calls_are_stuck(progress: float | None, speaks: bool) -> None:
    cell = state_cell("f", "s", stall=0.3, progress=progress, slot_fill_rate=0.1)
    assert ("slot_fill_rate" in reason_texts(cell)) is speaks


@pytest.mark.parametrize(
    ("values", "reasons"),
    [
        ({"stall": 0.25}, ["stall 0.25"]),
        ({"stall": 0.2, "escalation": 0.25}, ["escalates 0.25"]),
        ({"dwell_turns": 3.5}, ["dwell 3.5"]),
        ({"dwell_turns": 3.0}, []),
        ({"latency_p95": 8.0}, []),
        ({"latency_p95": 8.25}, ["lat_p95 8.3 s"]),
        ({"slow": 0.2}, ["slow 0.2"]),
        ({"slow": 0.19}, []),
        ({"guard_error": 0.5}, ["guard errors 0.5"]),
        ({"slot_fill_rate": 0.1, "progress": 0.5}, ["slot_fill 0.1 (stuck, 50 % move on)"]),
        ({"slot_fill_rate": 0.1, "progress": 0.7}, []),
        # What its failed calls failed by, unless the shares of stalls and escalations show it.
        ({"stall": 0.2, "blames": {"dead end": 2, "missing slot": 1}}, ["dead end 2", "missing slot 1"]),
        ({"stall": 0.25, "blames": {"dead end": 2, "missing slot": 1}}, ["missing slot 1", "stall 0.25"]),
    ],
)
def test_reasons_begin_at_the_thresholds_of_the_worklist(values: dict[str, Any], reasons: list[str]) -> None:
    assert list(reason_texts(state_cell("f", "s", **values)).values()) == reasons


MISSED = StepCounts("caller", expected=8, missed=8, wrong=0, failed=7, missed_failed=7, wrong_failed=0)


def test_steps_that_the_task_asked_for_and_failed_calls_missed_are_a_reason() -> None:
    cell = state_cell("telecom", "user:toggle_roaming", n=0, steps=MISSED, blames={"missing action": 5})
    assert list(reason_texts(cell).values()) == ["never called in 7 of 7 failed calls that should have"]
    (row,) = worklist(answer(cell)).rows
    assert {key: row.record[key] for key in ("by", "expected", "missed", "expected_failed", "missed_failed")} == {
        "by": "caller", "expected": 8, "missed": 1.0, "expected_failed": 7, "missed_failed": 1.0,
    }  # fmt: skip
    assert (row.thin, row.record["n"], row.record["failed"]) == (False, 8, 7)
    assert (row.where, row.leads) == (
        'flow=telecom state="user:toggle_roaming"', 'flow=telecom missed_step="user:toggle_roaming" failed=1',
    )  # fmt: skip
    assert SPEC.view_below(row) == "conversations"


def test_steps_taken_with_other_arguments_are_a_reason_in_failed_calls() -> None:
    steps = StepCounts("agent", expected=9, missed=1, wrong=6, failed=6, missed_failed=1, wrong_failed=5)
    assert list(reason_texts(state_cell("airline", "book_reservation", steps=steps)).values()) == [
        "never called in 1 of 6 failed calls that should have",
        "called with wrong arguments in 5 of 6 failed calls",
    ]


def test_the_first_line_tells_of_a_missed_step_what_fixing_it_could_bring() -> None:
    first = FirstToFix("telecom", "user:toggle_roaming", 7, 16, 3 / 16, 10 / 16, ["a", "b"], ["a"], MISSED)
    table = worklist(answer(first=first))
    assert table.lead == (
        "Fix first: telecom/user:toggle_roaming. Never called in 7 of 7 failed calls that should have; if fixed,"
        " success could rise from 19 % to at most 63 %. Of 2 agents a alone fails there."
    )
    assert {"flow", "state", "failed", "n", "success", "success_at_most"} <= table.extras["first"].keys()
    assert table.extras["first"]["missed_failed"] == 1.0


def test_the_first_line_has_words_for_less_than_a_whole_percent() -> None:
    first = FirstToFix("flow", "state", 499, 500, 0.001, 0.999, ["a"], ["a"])
    assert "success could rise from less than 1 % to almost 100 %." in worklist(answer(first=first)).lead


@pytest.mark.parametrize(
    ("totals", "said"),
    [
        (Totals(), "No calls yet."),
        (Totals(flows=1, excluded=3), "No call counts: 3 are excluded."),
        (Totals(flows=1, excluded=1), "No call counts: 1 is excluded."),
        (Totals(measured=9, flows=1, calls=9), "No call failed."),
        (Totals(measured=1, flows=1, calls=40),
         "No call failed, as far as is known (success is known of 1 of 40 calls)."),
        (Totals(4273, 123, 24, 4273), "Nothing stands out: 123 of 4,273 calls in 24 flows failed."),
        (Totals(1, 1, 1, 1), "Nothing stands out: 1 of 1 call in 1 flow failed."),
    ],
)  # fmt: skip
def test_the_first_line_says_that_nothing_stands_out(totals: Totals, said: str) -> None:
    table = worklist(answer(totals=totals))
    assert (table.lead, table.extras) == (said, {"first": None})


def test_the_first_line_and_the_way_down_carry_the_filter_and_the_store() -> None:
    scope = parse("agent=a run=night flow=dog_grooming")
    table = worklist(viewing(*ROOT_CAUSES), scope, "/data/it's mine.db")
    assert table.lead.startswith("Fix first (agent=a run=night flow=dog_grooming): dog_grooming/listen_owner. 294 of")
    (drill,) = [note for note in table.notes if note.startswith("Drill: ")]
    words = shlex.split(drill.removeprefix("Drill: "))
    assert words[:3] == ["riff-tui", "dump", "states"]
    assert dict(zip(words[3::2], words[4::2], strict=True)) == {
        "--where": "flow=dog_grooming agent=a run=night", "--store": "/data/it's mine.db",
    }  # fmt: skip
    nothing = worklist(answer(totals=Totals(measured=9, flows=1, calls=9)), scope)
    assert nothing.lead == "No call failed (agent=a run=night flow=dog_grooming)."


def test_says_where_states_are_ranked_by_steps_and_what_is_left_out() -> None:
    handover = state_cell("telecom", "transfer_to_human_agents", n=0, steps=MISSED)
    notes = worklist(answer(totals=Totals(9, 2, 1, 9), by_steps=list("abcde"), handovers=[handover])).notes
    assert notes == [
        "Steps: in flows whose tasks ask for steps (a, b, c and 2 more) states are ranked by the failed calls that"
        " missed the step: a stall in a derived state is where a call ended, not why.",
        "Not listed: steps that hand over to a human, telecom/transfer_to_human_agents (missed in 7 of 7 failed"
        " calls).",
    ]


def test_failed_calls_without_events_have_a_row_that_leads_to_them() -> None:
    found = answer(state_cell("dog", "greet", blames={"dead end": 2}), nowhere={"dog": 1_200})
    segment, _, row = worklist(found).rows
    assert [segment.record[key] for key in ("list", "segment", "failed")] == ["segments", "(none found)", 1_200]
    assert (row.record["list"], row.record["rank"]) == ("states", 2)
    assert (row.record["state"], row.record["failed"], row.record["n"]) == ("(none found)", 1_200, 1_200)
    assert row.display["place"] == "dog/(none found)"
    assert row.display["summary"] == "no events show where  1,200 of 1,200 failed"
    assert row.leads == 'flow=dog failure="none"'
    assert SPEC.view_below(row) == "conversations"


def test_thin_places_carry_their_mark() -> None:
    blames = {"missing slot": 3}
    segments: Sequence[SegmentCell] = [segment_cell("f", "action", state_cell("f", "s"), n=3, stall=0.5, blames=blames)]
    rows = worklist(
        answer(
            state_cell("f", "s", n=4, stall=0.5, blames=blames),
            flows=[flow_cell("f", n=2, correctness=3.0)],
            segments=segments,
        )
    ).rows
    assert [row.thin for row in rows] == [True, True, True]
    assert [row.display["summary"] for row in rows] == [
        "correctness 3.0  (agent qwen-flash, n 2~)  1 failed",
        "stall 0.5  missing slot 3  (worst: s, n 3~)  3 of 3 failed",
        "missing slot 3 · stall 0.5 (n 4~)  3 of 4 failed",
    ]


def test_flows_that_are_ranked_as_a_whole_name_no_agent() -> None:
    cell = flow_cell("f", n=20, success_rate=0.9)
    whole = type(cell)(**{**{name: getattr(cell, name) for name in cell._fields}, "keys": {"flow": "f"}})
    (row,) = worklist(answer(flows=[whole], blamed={("f",): {"greet": 2}})).rows
    assert (row.record["agent"], row.where) == (None, "flow=f")
    assert row.display["summary"] == "success 90%  (n 20)  2 failed, 2 in greet"


def test_an_empty_worklist_drills_nowhere_and_tells_how_calls_come_in() -> None:
    table = worklist(answer(totals=Totals()))
    assert (list(table.rows), list(table.notes), table.lead) == ([], [EMPTY_STORE], "No calls yet.")


# Over a store


def test_no_list_is_empty_while_calls_fail(tmp_path: Path) -> None:
    def asked(where: str = "") -> Table:
        return show(store, "worklist", Request(where=where))

    def failed_by(table: Table) -> Mapping[str, list[tuple[Any, int]]]:
        found: dict[str, list[tuple[Any, int]]] = {}
        for row in table.rows:
            place = row.record["state"] or row.record["segment"] or row.record["flow"]
            found.setdefault(row.record["list"], []).append((place, row.record["failed"]))
        return found

    with fresh(tmp_path / "calls.db") as store:
        assert asked().lead == "No calls yet."
        put(store, "good.jsonl", [call(f"good-{number}", flow="dog") for number in range(4)])
        assert (asked().lead, failed_by(asked())) == ("No call failed.", {})
        slot = Failure("greet", "collect", "missing slot", "name")
        put(store, "one.jsonl", [call("one", flow="dog", success=False, failure=slot)])
        put(
            store,
            "bare.jsonl",
            [call("bare", flow="cat", states=[], success=False, failure=Failure(None, None, "none"))],
        )
        assert failed_by(asked()) == {
            "flows": [("dog", 1), ("cat", 1)], "segments": [("collect", 1), ("(none found)", 1)],
            "states": [("collect", 1), ("(none found)", 1)],
        }  # fmt: skip
        assert asked().lead == "Nothing stands out: 2 of 6 calls in 2 flows failed."
        assert asked("flow=dog agent=model-a").lead == (
            "Nothing stands out: 1 of 5 calls in 1 flow failed (flow=dog agent=model-a)."
        )
        for row in asked().rows:
            if row.leads:
                assert len(show(store, "conversations", Request(where=row.leads)).rows) == row.record["failed"]


def test_a_state_that_nobody_fails_in_is_listed_where_it_is_slow(tmp_path: Path) -> None:
    with fresh(tmp_path / "calls.db") as store:
        slow = [call(f"slow-{number}", states=[state("greet", slow=0.5)]) for number in range(6)]
        put(store, "calls.jsonl", slow)
        (row,) = show(store, "worklist", Request()).rows
        assert (row.record["state"], row.record["failed"], row.record["reasons"]) == ("greet", 0, ["slow 0.5"])
