"""What stands at the head of a call on a small terminal."""

from __future__ import annotations

from tests.surface.explorer import PALETTES, conversation_lines
from tests.surface.tui import UNICODE, Row, Table

JUDGES = ("sim-strict", "sim-warm", "sim-wavering")


def told(judges: tuple[str, ...], width: int, **call: object) -> list[str]:
    judged = [{"judge": judge, "score": 3.3} for judge in judges]
    extras = {
        "call": {"stop_reason": "terminal"} | call,
        "aspects": {"computed": {"correctness": 10.0}, "judged": judged},
    }
    table = Table("conversation", "", (), (), extras=extras)
    lines = conversation_lines(table, width, UNICODE, PALETTES["ansi"])
    return ["".join(text for text, _ in line) for line in lines]


def test_every_score_of_a_dispute_is_on_the_first_screen_of_the_call() -> None:
    assert len(told(JUDGES[:1], 80)) == 2
    lines = told(JUDGES, 80)
    assert len(lines) == 3
    assert all(f"{judge} 3.3" in lines[2] for judge in JUDGES)
    assert len(told(JUDGES, 120)) == 2


def test_why_a_call_is_in_no_mean_comes_first_where_its_caller_failed() -> None:
    ended = {"final_state": "booked", "final_status": "viewing_booked", "caller": "gpt-5-mini"}
    failed = told((), 100, **ended, errored=True, caller_ok=False, error="caller: repeats itself")
    assert failed[0].strip().startswith("terminal in booked · caller gpt-5-mini failed: repeats itself · status")
    assert "status viewing_booked · caller gpt-5-mini kept to its part" in told((), 120, **ended, caller_ok=True)[0]
    assert "caller" not in told((), 80, errored=True)[0]


def test_nothing_that_has_no_room_is_cut_to_another_figure() -> None:
    judged = [{"judge": judge, "aspect": "humanness", "score": 2.8} for judge in JUDGES]
    failed = {"kind": "dead end", "detail": "max_turns", "first_failed": "book_viewing", "last_ok": "collect_slot"}
    extras = {"call": {"stop_reason": "max_turns"} | failed, "aspects": {"computed": {}, "judged": judged}}
    table = Table("conversation", "", (), (), extras=extras)
    for width, told in ((70, ""), (80, " · strict 2.8"), (90, " · strict 2.8 · warm 2.8")):
        lines = conversation_lines(table, width, UNICODE, PALETTES["ansi"], is_short=True)
        first = "".join(text for text, _ in lines[0])
        assert first == f"!dead end (max_turns) in book_viewing, after collect_slot{told}"


def test_steps_of_the_task_have_a_line_that_names_those_that_were_missed() -> None:
    steps = [
        {"state": "user:toggle", "by": "caller", "called": False, "matched": None},
        {"state": "refuel", "by": "agent", "called": True, "matched": True},
    ]
    extras = {"call": {"stop_reason": "terminal"}, "expected_steps": steps}
    bad = Row("1", {"kind": "step"}, severity={"detail": "bad"})
    palette = PALETTES["dark"]
    for rows, style in (([bad], palette.bad), ([], None)):
        lines = conversation_lines(Table("conversation", "", (), rows, extras=extras), 80, UNICODE, palette)
        assert list(lines[-1]) == [(" 1 of 2 expected steps taken · missed user:toggle", style)]


def test_steps_that_were_missed_are_named_on_two_lines_where_one_is_too_short() -> None:
    names = ["user:grant_app_permission", "refuel_data", "user:toggle_roaming", *[f"enable_{n}" for n in range(20)]]
    for missed in (3, 20):
        steps = [{"state": name, "by": "agent", "called": False, "matched": None} for name in names[:missed]]
        extras = {"call": {}, "expected_steps": steps}
        lines = conversation_lines(Table("conversation", "", (), (), extras=extras), 80, UNICODE, PALETTES["ansi"])
        first, second = ("".join(text for text, _ in line) for line in lines[-2:])
        assert first.startswith(f" 0 of {missed} expected steps taken · missed user:grant_app_permission")
        assert second.startswith("   ")
        assert "user:toggle_roaming" in second
        assert second.endswith("…") == (missed == 20)
        assert len(second) <= 79


def test_verdicts_of_one_judge_are_told_by_what_it_judged() -> None:
    judged = [
        {"judge": "retell", "aspect": "call_successful", "score": 0.0},
        {"judge": "retell", "aspect": "user_sentiment", "score": None},
        {"judge": "task", "aspect": "task", "score": 10.0},
        {"judge": "warm", "aspect": "humanness", "score": 7.0},
    ]
    table = Table("conversation", "", (), (), extras={"call": {}, "aspects": {"computed": {}, "judged": judged}})
    last = "".join(text for text, _ in conversation_lines(table, 120, UNICODE, PALETTES["ansi"])[-1])
    assert "retell call_successful 0.0  user_sentiment unscored  task 10.0  warm 7.0" in last


def test_scores_of_many_judges_take_as_many_lines_as_they_need() -> None:
    judged = [
        {"judge": "tau2-review", "aspect": "agent", "score": 0.0},
        {"judge": "tau2-auth", "aspect": "authentication", "score": 10.0},
        {"judge": "tau2-hallucination", "aspect": "user", "score": 10.0},
        {"judge": "tau2-review", "aspect": "user", "score": 5.0},
        {"judge": "tau2-user-review", "aspect": "user", "score": None},
    ]
    table = Table("conversation", "", (), (), extras={"call": {}, "aspects": {"computed": {}, "judged": judged}})
    lines = ["".join(text for text, _ in line) for line in conversation_lines(table, 80, UNICODE, PALETTES["ansi"])]
    assert [line.strip() for line in lines[2:]] == [
        "tau2-auth authentication 10.0  tau2-hallucination user 10.0",
        "tau2-review agent 0.0  user 5.0  tau2-user-review user unscored",
    ]


def test_what_people_noted_stands_at_the_head_of_the_call() -> None:
    note = {"verdict": None, "labels": ["agent", "vad"], "code": "vad", "note": "Talks over\x1b[2J the caller."}
    extras = {"call": {}, "aspects": {}, "annotations": [note, note]}
    table = Table("conversation", "", (), (), extras=extras)
    last = "".join(text for text, _ in conversation_lines(table, 80, UNICODE, PALETTES["ansi"])[-1])
    assert last.startswith(" 2 notes · agent, vad: Talks over")
    assert "\x1b" not in last
