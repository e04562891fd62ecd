"""Notes of people stand with their call, and their words leave it as those of callers do."""

from __future__ import annotations

import io
from dataclasses import replace

from tests.support.view_answers import detail
from tests.surface.store import Note
from tests.surface.tui import Redactor, conversation
from tests.surface.tui import sinks_render as render

NOTE = Note("n-1", "ann@example.org", 1_783_245_600_000_000, "Tells ann@x.org twice.", labels=("agent", "rude"))
PLACED = Note("n-2", "bo", None, None, turn=3, state="ask", verdict="fail", code="rude", labels=("agent", "rude"))


def test_a_note_says_who_wrote_when_what_it_is_filed_under_and_where() -> None:
    table = conversation(replace(detail(), notes=[NOTE, PLACED]))
    assert table.notes[2:4] == [
        "Note by ann@example.org (2026-07-05, agent, rude): Tells ann@x.org twice.",
        "Note by bo on turn 3 in ask (fail, agent, rude)",
    ]
    assert [each["id"] for each in table.extras["annotations"]] == ["n-1", "n-2"]
    assert table.extras["annotations"][0]["note"] == "Tells ann@x.org twice."


def test_words_of_a_note_are_left_out_or_redacted_like_those_of_the_call() -> None:
    silent = conversation(replace(detail(), notes=[NOTE]), text=False)
    assert "Note (2026-07-05, agent, rude)" in silent.notes
    assert silent.extras["annotations"][0] | {"author": None, "note": None} == silent.extras["annotations"][0]
    redacted = conversation(replace(detail(), notes=[NOTE]), redact=Redactor())
    assert "@" not in str(redacted.notes) + str(redacted.extras["annotations"])


def test_a_hostile_note_does_not_reach_the_terminal() -> None:
    hostile = Note("n", "ann\x1b[2J", None, "clear\x1b[2J\u202e the\nscreen", labels=("\x07bell",))
    stream = io.StringIO()
    render(conversation(replace(detail(), notes=[hostile])), "text", stream)
    assert "screen" in stream.getvalue()
    assert not set("\x1b\x07\u202e") & set(stream.getvalue())
