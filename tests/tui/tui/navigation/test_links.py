"""A link leads to the place that it was copied from, below the places that one would have come through."""

from __future__ import annotations

import shlex

import pytest

from tests.support.fake_catalog import walked
from tests.surface.explorer import START, Location, Stack, choose, crumbs, link, open_link
from tests.surface.store import conjuncts
from tests.surface.tui import Filter, FilterError, parse


def followed(stack: Stack) -> Stack:
    """The stack that opens when the link to a place is pasted into a shell."""
    program, command, view, *rest = shlex.split(link(stack[-1]))
    assert (program, command) == ("riff-tui", "ui")
    options = dict(zip(rest[::2], rest[1::2], strict=True))
    assert set(options) <= {"--where"}
    return open_link(view, options.get("--where", ""))


def test_it_opens_where_the_command_line_says() -> None:
    assert open_link("flows", " dent ") == (Location("flows", filter=Filter("dent")),)
    assert open_link("states", "") == (*START, Location("states"))
    assert open_link("states", "stall>0.3 agent=qwen")[-1] == Location("states", filter=Filter("stall>0.3 agent=qwen"))
    assert open_link("runs", "flow=a")[-1] == Location("runs", filter=Filter("flow=a"))
    assert open_link("neighbors", "flow=a state=b")[-1] == Location(
        "neighbors", crumb="b", scope=Filter("flow=a state=b")
    )
    assert open_link("conversation", "c-12")[-1] == Location("conversation", crumb="conversation", scope=Filter("c-12"))
    with pytest.raises(FilterError):
        open_link("states", "stall>")


@pytest.mark.parametrize(
    ("view", "where", "path"),
    [
        ("segments", "flow=a agent=b", ["flows", "a @ b"]),
        ("segments", "flow=a stall>0.3", ["flows", "a [stall>0.3]"]),
        ("states", "flow=a agent=b segment=c", ["flows", "a @ b", "c"]),
        ("states", "flow=a (x | y)", ["flows", "a", "states [(x | y)]"]),
        ("neighbors", "flow=a segment=c state=d", ["flows", "a", "c", "d"]),
        ("conversations", "flow=a state=d run=r", ["flows", "a", "d", "conversations [run=r]"]),
        ("neighbors", "state=d", ["flows", "d"]),
    ],
)
def test_it_lies_below_the_places_that_one_would_have_come_through(view: str, where: str, path: list[str]) -> None:
    assert crumbs(open_link(view, where)) == path


@pytest.mark.parametrize("rows", [(), (0,), (0, 0), (0, 0, 0), (0, 0, 0, 0)])
def test_a_link_from_the_walk_leads_back_to_where_it_was_copied(rows: tuple[int, ...]) -> None:
    stack = walked(*rows)
    found = followed(stack)
    assert found[-1].view == stack[-1].view
    assert set(conjuncts(found[-1].where.predicate)) == set(conjuncts(stack[-1].where.predicate))
    if stack[-1].view != "conversation":
        assert crumbs(found) == crumbs(stack)


def test_a_link_to_the_calls_of_a_state_lies_below_the_state() -> None:
    stack = choose(walked(0, 0, 0), "conversations", parse("persona:calm"))
    found = followed(stack)
    assert set(conjuncts(found[-1].where.predicate)) == set(conjuncts(stack[-1].where.predicate))
    assert crumbs(found) == ["flows", "viewing @ gemini", "collect", "collect_details", "conversations [persona:calm]"]


def test_a_link_names_the_order_and_a_store_that_is_not_the_default_one() -> None:
    place = Location("states", scope=Filter('flow="it\'s"'), filter=Filter("a | b"), sort="-hum:codex")
    assert link(place, "my runs.db") == (
        "riff-tui ui states --where 'flow=\"it'\"'\"'s\" (a | b)' --sort -hum:codex --store 'my runs.db'"
    )
    assert shlex.split(link(place))[4] == place.where.text
