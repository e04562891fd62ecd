"""What people noted on a call stands at the moment that it is about, on the screen and in every dump."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from tests.support.golden import printed
from tests.support.view_answers import detail
from tests.surface.store import Note
from tests.surface.tui import Table, conversation, glyphs, transcript_lines

NOTES = (
    Note("n-1", "ann@example.org", 1, "asked twice", turn=2, verdict="fail", code="wrong day"),
    Note("n-2", "bob", 2, None, state="collect_details", verdict="fail"),
    Note("n-3", "bob", 3, "fine all in all", verdict="pass"),
    Note("n-4", "bob", 4, "after the end", turn=99),
)


def noted(notes: Sequence[Note] = NOTES, **given: Any) -> Table:
    return conversation(replace(detail(), notes=notes), **given)


def read(table: Table, *, ascii_only: bool = False) -> list[str]:
    told = transcript_lines(table.rows, (), 78, glyphs(ascii_only))
    return ["".join(text for text, _ in each.line).rstrip() for each in told]


def test_a_note_stands_below_its_turn_else_where_its_state_begins() -> None:
    lines = read(noted())
    turn = next(index for index, line in enumerate(lines) if "Tuesday, call" in line)
    state = next(index for index, line in enumerate(lines) if "collect_details" in line)
    assert lines[turn + 1].strip() == "✎ ann: asked twice [fail · wrong day]"
    assert lines[state + 1].strip() == "✎ bob: [fail]"
    assert sum("✎" in line for line in lines) == 2
    assert sum(line.lstrip().startswith("# ") for line in read(noted(), ascii_only=True)) == 2


def test_what_one_person_said_at_a_moment_is_one_line() -> None:
    notes = [
        Note("n-1", "ann", 1, None, turn=2, verdict="fail"),
        Note("n-2", "bob", 2, "rude", turn=2),
        Note("n-3", "ann", 3, "asked twice", turn=2, code="wrong day"),
    ]
    said = [line.strip() for line in read(noted(notes)) if "✎" in line]
    assert said == ["✎ ann: asked twice [fail · wrong day]", "✎ bob: rude"]


def test_dumps_hold_the_notes_of_a_moment() -> None:
    rows = json.loads(printed(noted(), "json"))["rows"]
    assert [row["notes"] for row in rows if row["notes"]] == [["bob: [fail]"], ["ann: asked twice [fail · wrong day]"]]
    assert "asked twice" in printed(noted(), "markdown")
    assert "✎ ann: asked twice [fail · wrong day]" in printed(noted(), "text")
    assert "notes" not in json.loads(printed(conversation(detail()), "json"))["rows"][0]


def test_words_of_notes_are_left_out_with_those_of_the_call() -> None:
    posted = printed(noted(text=False), "markdown")
    assert "asked twice" not in posted
    assert "ann" not in posted
    assert "wrong day" in posted


def test_of_a_long_note_the_beginning_stands_at_its_moment() -> None:
    note = Note("n-1", "ann", 1, "no end " * 200, turn=2)
    lines = read(noted([note]))
    assert sum("no end" in line for line in lines) < 6
    assert any(line.endswith("…") for line in lines)
