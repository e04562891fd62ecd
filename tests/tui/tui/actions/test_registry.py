"""The registry of actions: complete, without clashes, and with a reason wherever a key does not apply."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.controls import controls_at
from tests.support.fake_catalog import FakeCatalog, conversation_table, flow_table
from tests.surface.explorer import ACTIONS, KINDS, Action, Location, action, action_for
from tests.surface.tui import Column, Request, Row, ScreenKind, Table

TAKEN = {f"ctrl+{letter}" for letter in "abhijmsqz"}
SKIPPED = Table("skipped", "", [Column("path", "Path", kind="name")], [Row("a", {"path": "a"})])
TWO_FLOWS = Location("side_by_side", of="flows", pair=("flow=a", "flow=b"))
METRICS = Table("side_by_side", "", [Column("metric", "Metric", kind="name")], [Row("success", {"metric": "success"})])
ENTRIES = FakeCatalog().show("worklist", Request())
A_TREND = Table("flows", "", [Column("trend", "runs", kind="object")], [Row("a", {"trend": []})])
ONE_CALL = Table("flows", "", (), [Row("a", {})])
VIEWS: dict[ScreenKind, str] = {"list": "flows", "state": "neighbors", "conversation": "conversation"}


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
    keys = {key.lower(): each.id for each in ACTIONS for key in each.keys}
    assert {key: keys[key] for key in TAKEN & keys.keys()} == {"ctrl+z": "suspend"}


@pytest.mark.parametrize(
    ("id", "at", "reason"),
    [
        ("open", {}, "no row"),
        ("open", {"here": "neighbors", "loading": True}, "not read yet"),
        ("mark", {"here": "neighbors", "loading": True}, "not read yet"),
        ("columns", {"here": "neighbors", "loading": True}, "not read yet"),
        ("open", {"here": "skipped", "table": SKIPPED}, "nothing is below"),
        ("open", {"here": TWO_FLOWS, "table": METRICS}, "q goes back to their list, where Enter opens one"),
        ("sort", {"here": "conversation", "table": conversation_table()}, "order in which it happened"),
        ("sort", {"table": A_TREND}, "has no order"),
        ("sort", {"here": "worklist", "table": ENTRIES}, "ranked"),
        ("pick_flow", {"here": "conversation"}, "has one flow"),
        ("pick_run", {"here": "skipped"}, "belongs to no flow"),
        ("next_match", {}, "filter was typed"),
        ("previous_match", {"here": "conversation"}, "search was typed"),
        ("next", {}, "only in a conversation"),
        ("next", {"here": "conversation", "depth": 2, "listed": ONE_CALL}, "no other"),
        ("back", {}, "no earlier"),
        ("forward", {}, "no later"),
        ("close", {}, "first screen"),
        ("view:neighbors", {}, "cursor on a state"),
        ("next_bad", {}, "no rows"),
        ("left", {"here": "conversation", "table": conversation_table()}, "not cells"),
        ("dump", {}, "no dump"),
    ],
)
def test_a_key_that_does_not_apply_says_why(id: str, at: dict[str, Any], reason: str) -> None:
    assert reason in action(id).enabled(controls_at(**at))


def test_words_follow_the_situation() -> None:
    table = flow_table()
    assert action("open").label_in(controls_at(table=table)) == "segments"
    assert action("open").label_in(controls_at(table=table, graph=True)) == "centre"
    assert action("quit_or_back").label_in(controls_at(depth=1)) == "quit"
    assert action("quit_or_back").label_in(controls_at(depth=2)) == "back"


def test_an_unknown_action_is_an_error() -> None:
    with pytest.raises(KeyError):
        action("dance")
    assert isinstance(action("help"), Action)


@pytest.mark.parametrize("kind", KINDS)
def test_a_key_that_actions_share_means_what_the_screen_is_about(kind: ScreenKind) -> None:
    controls = controls_at(VIEWS[kind])
    for each in ACTIONS:
        found = action_for(each.id, controls)
        assert set(found.keys) & set(each.keys)
        assert found is each or kind in found.kinds
