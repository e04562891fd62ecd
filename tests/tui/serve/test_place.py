"""What the address of a page leads to, and that nothing in it becomes an option of the explorer."""

from __future__ import annotations

import pytest

from tests.surface.tui import Place, UsageError, read_place


def test_the_address_without_a_view_leads_to_where_one_was_last() -> None:
    place = read_place("", [("fontsize", "20")])
    assert (place.arguments, place.query) == ([], "")


def test_a_link_is_the_arguments_of_the_command() -> None:
    place = read_place("matrix", [("where", "flow:'a b'"), ("by", "run"), ("by", "agent"), ("sort", "-n")])
    assert place.arguments == ["--where=flow:'a b'", "--by=run", "--by=agent", "--sort=-n", "--", "flows"]
    assert place.query == "view=flows&where=flow%3A%27a+b%27&by=run&by=agent&sort=-n"


def test_a_link_to_two_sides_names_both() -> None:
    assert read_place("compare", [("b", "run-2"), ("a", "-x")]).arguments == ["--", "compare", "-x", "run-2"]


def test_no_value_is_taken_for_an_option() -> None:
    arguments = read_place("conversation", [("where", "--store=/etc/passwd"), ("at", "--debug")]).arguments
    assert arguments == ["--where=--store=/etc/passwd", "--at=--debug", "--", "conversation"]


@pytest.mark.parametrize(
    ("view", "query", "complaint"),
    [
        ("moon", [], "no view is called 'moon'"),
        ("flows", [("ping", "http://evil.example")], "a link has no 'ping'"),
        ("flows", [("delay", "1")], "a link has no 'delay'"),
        ("flows", [("store", "other.db")], "a link has no 'store'"),
        ("", [("where", "flow:a")], "where belongs to a view"),
        ("flows", [("where", "a" * 5_000)], "longer than"),
        ("flows", [("where", "a\x00b")], "do not print"),
    ],
)
def test_what_no_link_says_is_refused(view: str, query: list[tuple[str, str]], complaint: str) -> None:
    with pytest.raises(UsageError, match=complaint):
        read_place(view, query)


def test_a_place_says_what_it_was_read_from() -> None:
    place = Place("compare", (("where", "n>2"),), ("a", "b"))
    assert place.query == "view=compare&where=n%3E2&a=a&b=b"
