"""The registry of actions: complete, without clashes, and with a reason wherever a key does not apply."""

from __future__ import annotations

import itertools

import pytest

from riff_tui.tui.actions.action import Action
from riff_tui.tui.actions.context import KINDS, ActionContext
from riff_tui.tui.actions.registry import ACTIONS, action, action_for, key_table
from riff_tui.views.spec import ScreenKind

TAKEN = {f"ctrl+{letter}" for letter in "abhijmsqz"}
CONTEXTS = [
    ActionContext(kind=kind, rows=rows, below=below, column=column, depth=depth, graph=graph)
    for kind, rows, below, column, depth, graph in itertools.product(
        KINDS, (0, 3), ("", "states"), ("", "stall"), (1, 3), (False, True)
    )
]


@pytest.mark.parametrize("kind", KINDS)
def test_a_key_means_one_thing_on_a_screen(kind: ScreenKind) -> None:
    keys = [key for each in ACTIONS if kind in each.kinds for key in each.keys]
    assert len(keys) == len(set(keys))


def test_every_action_has_a_key_and_a_sentence() -> None:
    assert len({each.id for each in ACTIONS}) == len(ACTIONS)
    for each in ACTIONS:
        assert each.keys
        assert each.title
        assert each.help.endswith(".")


def test_no_key_is_bound_that_terminals_and_multiplexers_own() -> None:
    assert not TAKEN & {key.lower() for each in ACTIONS for key in each.keys}


@pytest.mark.parametrize(
    ("id", "context", "reason"),
    [
        ("open", ActionContext(rows=0), "no row"),
        ("open", ActionContext(view="states", kind="state", loading=True), "not read yet"),
        ("mark", ActionContext(view="states", kind="state", loading=True), "not read yet"),
        ("columns", ActionContext(view="states", kind="state", loading=True), "not read yet"),
        ("open", ActionContext(view="skipped", rows=3), "nothing lies below"),
        ("sort", ActionContext(kind="conversation", rows=3), "order in which it happened"),
        ("sort", ActionContext(rows=3), "has no order"),
        ("sort", ActionContext(view="worklist", rows=3, column="Why"), "ranked"),
        ("pick_flow", ActionContext(kind="conversation"), "has one flow"),
        ("pick_run", ActionContext(view="skipped"), "belongs to no flow"),
        ("next_match", ActionContext(), "filter was typed"),
        ("previous_match", ActionContext(kind="conversation"), "search was typed"),
        ("next", ActionContext(), "only in a conversation"),
        ("next", ActionContext(kind="conversation", siblings=1), "no other"),
        ("back", ActionContext(), "no earlier"),
        ("forward", ActionContext(), "no later"),
        ("close", ActionContext(), "first screen"),
        ("view:neighbors", ActionContext(), "cursor on a state"),
        ("next_bad", ActionContext(), "no rows"),
        ("left", ActionContext(kind="conversation", rows=3), "not cells"),
        ("dump", ActionContext(), "no dump"),
    ],
)
def test_a_key_that_does_not_apply_says_why(id: str, context: ActionContext, reason: str) -> None:
    assert reason in action(id).unavailable(context)


def test_words_follow_the_situation() -> None:
    assert action("open").label_in(ActionContext(below="states")) == "states"
    assert action("open").label_in(ActionContext(below="states", graph=True)) == "centre"
    assert action("quit_or_back").label_in(ActionContext(depth=1)) == "quit"
    assert action("quit_or_back").label_in(ActionContext(depth=2)) == "back"


def test_the_key_table_has_a_line_for_every_action() -> None:
    assert len(key_table()) == len(ACTIONS)
    assert ("j ↓", "Move one row down.") in key_table()


def test_an_unknown_action_is_an_error() -> None:
    with pytest.raises(KeyError):
        action("dance")
    assert isinstance(action("help"), Action)


@pytest.mark.parametrize("kind", KINDS)
def test_a_key_that_actions_share_means_what_the_screen_is_about(kind: ScreenKind) -> None:
    for each in ACTIONS:
        found = action_for(each.id, ActionContext(kind=kind))
        assert set(found.keys) & set(each.keys)
        assert found is each or kind in found.kinds
