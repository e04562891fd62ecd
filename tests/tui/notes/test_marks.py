"""A verdict, a code and a remark take the place of what the same person said before, and of nothing else."""

from __future__ import annotations

import itertools

from tests.surface.store import Annotation, CallNames, counted, standing
from tests.surface.tui import Mark, Spot, Writer, code_meant, give_code, give_remark, give_verdict, remark_at

CALL = CallNames("night-1", "viewing", "model-a", "c-1", 0)
FIRST, LATER = Spot(2, "greet"), Spot(5, "collect")


class Notes:
    """Every line that was written, in order."""

    def __init__(self) -> None:
        self.lines: list[Annotation] = []
        self._clock = itertools.count(1)

    def of(self, author: str = "ann") -> Writer:
        return Writer.of(author, CALL, next(self._clock), standing(self.lines))

    def write(self, mark: Mark) -> str:
        self.lines += mark.lines
        return mark.remark

    @property
    def said(self) -> list[tuple[str, int | None, str | None, str | None, str | None]]:
        return [(line.author, line.turn, line.verdict, line.code, line.note) for line in counted(standing(self.lines))]


def test_a_verdict_that_stands_is_not_written_again() -> None:
    notes = Notes()
    notes.write(give_verdict(notes.of(), FIRST, "fail"))
    assert notes.write(give_verdict(notes.of(), FIRST, "fail")) == "fail is there already"
    assert len(notes.lines) == 1


def test_who_thinks_again_says_so_in_a_new_line() -> None:
    notes = Notes()
    notes.write(give_verdict(notes.of(), FIRST, "fail"))
    notes.write(give_verdict(notes.of(), LATER, "fail"))
    notes.write(give_verdict(notes.of(), Spot(), "pass"))
    assert [line.verdict for line in notes.lines] == ["fail", "fail", "pass"]
    assert notes.said == [("ann", None, "pass", None, None)]


def test_a_code_fails_a_call_that_has_no_verdict() -> None:
    notes = Notes()
    assert notes.write(give_code(notes.of(), FIRST, "wrong day")) == "and so fail"
    assert notes.said == [("ann", 2, "fail", "wrong day", None)]
    assert notes.write(give_code(notes.of(), FIRST, "rude")) == ""
    assert [line.verdict for line in notes.lines] == ["fail", None]


def test_a_code_stays_where_it_is_when_the_verdict_changes() -> None:
    notes = Notes()
    notes.write(give_code(notes.of(), FIRST, "wrong day"))
    assert notes.write(give_verdict(notes.of(), Spot(), "pass")) == "wrong day stays"
    assert sorted(notes.said, key=str) == [("ann", 2, None, "wrong day", None), ("ann", None, "pass", None, None)]
    assert notes.write(give_code(notes.of(), LATER, "rude")) == "your verdict stays pass"


def test_a_code_that_is_given_again_elsewhere_moves() -> None:
    notes = Notes()
    notes.write(give_code(notes.of(), FIRST, "wrong day"))
    assert notes.write(give_code(notes.of(), FIRST, "wrong day")) == "wrong day is there already"
    assert notes.write(give_code(notes.of(), LATER, "wrong day")) == "moved here"
    assert notes.said == [("ann", 5, "fail", "wrong day", None)]


def test_a_remark_is_edited_where_it_stands_and_others_are_added() -> None:
    notes = Notes()
    notes.write(give_remark(notes.of(), FIRST, "asks twise"))
    assert remark_at(notes.of(), FIRST) == "asks twise"
    notes.write(give_remark(notes.of(), FIRST, "asks twice"))
    notes.write(give_remark(notes.of(), LATER, "rude"))
    notes.write(give_remark(notes.of(), LATER, ""))
    notes.write(give_remark(notes.of(), LATER, "rude"))
    assert [line.note for line in notes.lines] == ["asks twise", "asks twice", "rude"]
    assert [note for *_, note in notes.said] == ["asks twice", "rude"]


def test_what_others_said_is_left_alone() -> None:
    notes = Notes()
    notes.write(give_verdict(notes.of("bob"), FIRST, "fail"))
    notes.write(give_remark(notes.of("bob"), FIRST, "rude"))
    assert remark_at(notes.of(), FIRST) == ""
    notes.write(give_verdict(notes.of(), Spot(), "pass"))
    assert [(author, verdict, note) for author, _, verdict, _, note in notes.said] == [
        ("bob", "fail", None),
        ("bob", None, "rude"),
        ("ann", "pass", None),
    ]


def test_what_was_said_of_a_call_of_the_same_name_is_not_about_this_one() -> None:
    notes = Notes()
    notes.lines.append(Annotation("x", "c-1", "ann", run="night-2", verdict="pass", at=100))
    assert notes.write(give_verdict(notes.of(), Spot(), "pass")) == ""


def test_a_code_that_differs_in_case_or_blanks_is_the_one_in_use() -> None:
    assert code_meant("  Wrong  DAY ", ["rude", "wrong day"]) == "wrong day"
    assert code_meant("Rude", ["rude", "Rude"]) == "Rude"
    assert code_meant("wrong\x1b[2J date", ["wrong day"]) == "wrong[2J date"
    assert len(code_meant("x" * 200, [])) == 80
