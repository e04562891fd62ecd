"""What Tab makes of the beginning of a filter."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.surface.store import Term
from tests.surface.tui import NAMED, CompletionTarget, fields, named, names, parse, wanted

FLOWS = ("dental_clinic", "austin dental", "weather", 'so "so"')


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", CompletionTarget(0, "")),
        ("st", CompletionTarget(0, "st")),
        ("flow:den", CompletionTarget(0, "den", "flow", ":")),
        ("stall>0.3 agent=q", CompletionTarget(10, "q", "agent", "=")),
        ("conv:c-1", None),
        ("FLOW!=x", CompletionTarget(0, "x", "flow", "!=")),
        ('a | (flow="dent al', CompletionTarget(5, "dent al", "flow", "=")),
        ("!age", CompletionTarget(1, "age")),
        ("x !(ru", CompletionTarget(4, "ru")),
        ("stall>0", None),
        ("flow:/den", None),
        ("flow:/den fl", None),
        ('flow=":" ag', CompletionTarget(9, "ag")),
        ("/den fl", None),
        ("/a b/ fl", CompletionTarget(6, "fl")),
        ("flow:'a b' ag", CompletionTarget(11, "ag")),
        ('"st', None),
        ("flow:a|ag", CompletionTarget(7, "ag")),
        ('flow="a \\" b" ag', CompletionTarget(14, "ag")),
        ('agent="x y"', CompletionTarget(0, "x y", "agent", "=")),
        ("flow='a \\' ag", CompletionTarget(0, "a \\' ag", "flow", "=")),
        ("it's ag", CompletionTarget(5, "ag")),
        ("/a b/", None),
    ],
)
def test_the_term_before_the_cursor_is_what_is_finished(text: str, found: CompletionTarget | None) -> None:
    assert wanted(text, len(text)) == found


def test_only_what_stands_before_the_cursor_counts() -> None:
    assert wanted("flow:dental stall>0.3", 8) == CompletionTarget(0, "den", "flow", ":")


def test_fields_of_the_rows_come_first_and_those_of_other_views_not_at_all() -> None:
    assert fields(CompletionTarget(0, "sta"), {"state", "stall"}) == ["state:", "stall", "started_at"]
    assert fields(CompletionTarget(0, "worst"), {"flow"}) == []
    assert fields(CompletionTarget(0, "worst"), {"worst_state"}) == ["worst_state:"]
    assert fields(CompletionTarget(0, "p95"), ()) == ["latency_p95"]
    assert fields(CompletionTarget(0, "zz"), ()) == []


def test_names_that_begin_alike_go_before_those_that_hold_it_and_are_quoted_where_they_must_be() -> None:
    assert names(CompletionTarget(0, "DENT", "flow", ":"), FLOWS) == ["flow=dental_clinic", 'flow="austin dental"']
    assert names(CompletionTarget(0, "w", "flow", "!="), FLOWS) == ["flow!=weather"]
    assert names(CompletionTarget(0, "so", "flow", "="), FLOWS) == ['flow="so \\"so\\""']


def test_a_bare_word_becomes_the_name_that_holds_it() -> None:
    known = [("flow", FLOWS), ("agent", ["weatherman"])]
    assert named(CompletionTarget(0, "weather"), known) == ["flow=weather", "agent=weatherman"]
    assert named(CompletionTarget(0, "w"), known) == []


@given(st.text(max_size=30), st.sampled_from(NAMED))
def test_what_is_offered_is_a_filter_for_just_that_name(name: str, field: str) -> None:
    [offered] = names(CompletionTarget(0, "", field, ":"), [name])
    assert parse(offered) == Term(field, "=", name.encode("utf-8", "backslashreplace").decode())


@given(st.text('ab:=!()|"/\\ <', max_size=20))
def test_any_beginning_of_a_filter_can_be_asked_about(text: str) -> None:
    found = wanted(text, len(text))
    assert found is None or text[found.start :].strip("\"'").endswith(found.word)
