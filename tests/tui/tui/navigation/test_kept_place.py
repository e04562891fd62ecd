"""The place that keys of views keep: how narrow each view is, what the same key widens, and what is said of it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.fake_catalog import walked
from tests.surface.explorer import START, Location, Stack, choose, crumbs, fixed_fields, is_within, take_off, widening
from tests.surface.tui import Filter, parse, views

PLACE = "flow=viewing agent=gemini"
CHOSEN = [spec.name for spec in views() if spec.screen.help and spec.screen.kind == "list"]


def in_run() -> Stack:
    """A state of a flow of a run."""
    scopes = ("run=r1", "run=r1 flow=viewing agent=gemini", "run=r1 flow=viewing agent=gemini state=collect_details")
    ways = (("flows", "r1"), ("segments", "viewing @ gemini"), ("neighbors", "collect_details"))
    below = [Location(*way, Filter(scope)) for way, scope in zip(ways, scopes, strict=True)]
    return (*START, Location("runs"), *below)


@pytest.mark.parametrize(
    ("view", "scope", "trail"),
    [
        ("flows", "", "flows"),
        ("segments", PLACE, "flows › flow viewing  agent gemini › segments"),
        ("states", f"{PLACE} segment=collect", "flows › viewing @ gemini › segment collect › states"),
        (
            "conversations",
            f"{PLACE} segment=collect state=collect_details",
            "flows › viewing @ gemini › collect › state collect_details › conversations",
        ),
        (
            "timeline",
            f"{PLACE} state=collect_details",
            "flows › flow viewing  agent gemini  state collect_details › timeline",
        ),
        ("skipped", "", "flows › skipped"),
    ],
)
def test_a_view_chosen_by_its_key_is_narrowed_as_far_as_it_can_be(view: str, scope: str, trail: str) -> None:
    chosen = choose(walked(0, 0, 0), view)
    assert (chosen[-1].view, chosen[-1].scope.text) == (view, scope)
    assert " › ".join(crumbs(chosen)) == trail


@pytest.mark.parametrize("view", [view for view in CHOSEN if view != "skipped"])
def test_whatever_view_is_opened_from_a_flow_it_is_of_that_flow_and_agent_and_run(view: str) -> None:
    chosen = choose(in_run(), view)[-1]
    rows = {"run"} if view in ("runs", "timeline") else {"flow", "agent"} if view == "flows" else set()
    assert {"flow", "agent", "run"} - rows <= fixed_fields(chosen.scope.predicate)
    assert not rows & fixed_fields(chosen.scope.predicate)


def test_the_breadcrumb_names_flow_agent_run_and_state() -> None:
    trail = crumbs(choose(in_run(), "worklist"))
    assert trail == ["flows", "r1", "flow viewing  agent gemini › worklist"]
    trail = crumbs(choose(in_run(), "causes"))
    assert trail == ["flows", "r1", "flow viewing  agent gemini  state collect_details › causes"]


@pytest.mark.parametrize(
    "of", ["state=s", "first_failed=s", "(state=s went_to=t)", "missed_step=s failed=1", "last_ok=s"]
)
def test_the_worklist_is_of_a_flow_wherever_in_a_call_of_one_of_its_states_its_key_is_pressed(of: str) -> None:
    calls = Location("conversations", "s", Filter(f"flow=a agent=b persona=calm {of}"))
    call = Location("conversation", "c", Filter("run=r conversation=c"))
    for above in ((), (Location("worklist"),)):
        chosen = choose((*START, *above, calls, call), "worklist", parse("flow=a agent=b"))
        assert set(chosen[-1].scope.text.split()) == {"flow=a", "agent=b", "persona=calm"}
        assert [place.view for place in chosen] == ["flows", "worklist"]
        again = choose(chosen, "worklist")
        assert [place.view for place in again] == ["flows", "worklist"]


def test_the_same_key_again_widens_step_by_step_and_says_so() -> None:
    first = choose(walked(0, 0, 0), "timeline")
    second = choose(first, "timeline")
    third = choose(second, "timeline")
    assert [stack[-1].scope.text for stack in (second, third)] == [PLACE, ""]
    assert widening(walked(0, 0, 0), first) == ""
    assert widening(first, second) == "timeline of flow viewing, agent gemini; [ goes back"
    assert widening(second, third) == "timeline of the whole store; [ goes back"
    assert choose(third, "timeline") == third
    assert widening(third, third) == "timeline: already the whole store"


def test_the_last_chip_comes_off_one_by_one() -> None:
    stack: Stack | None = choose(in_run(), "causes")
    trails = []
    while stack is not None:
        trails.append(crumbs(stack)[-1])
        stack = take_off(stack)
    assert trails == [
        "flow viewing  agent gemini  state collect_details › causes",
        "flow viewing  agent gemini › causes",
        "flow viewing › causes",
        "causes",
    ]
    assert take_off(walked(0, 0)) is None


def test_the_same_key_again_leaves_the_flows_above() -> None:
    once = choose(walked(0, 0), "states")
    assert [place.view for place in once] == ["flows", "segments", "states"]
    assert [place.view for place in choose(once, "states")] == ["flows", "states"]


def test_conditions_typed_here_go_along_and_are_in_the_breadcrumb() -> None:
    chosen = choose(START, "states", parse("persona:angry"))
    assert chosen[-1].scope.text == "persona:angry"
    assert crumbs(chosen) == ["flows", "persona:angry › states"]


def test_from_a_call_of_a_list_of_everything_other_views_are_of_its_flow_and_agent() -> None:
    stack = (*START, Location("disputes"), Location("conversation", "c-1", Filter("run=r1 conversation=c-1")))
    assert choose(stack, "timeline", parse(PLACE))[-1].scope.text == PLACE


@given(st.lists(st.sampled_from([0, 1]), max_size=3), st.lists(st.sampled_from(CHOSEN), min_size=1, max_size=6))
def test_whatever_keys_are_pressed_each_is_as_narrow_or_wider_and_the_same_one_ends_at_everything(
    rows: list[int], keys: list[str]
) -> None:
    stack = walked(*rows)
    for view in keys:
        before = stack[-1].scope.predicate
        stack = choose(stack, view)
        assert is_within(before, stack[-1].scope.predicate)
        assert stack[0] == START[0]
    for _ in range(4):
        stack = choose(stack, keys[-1])
    assert not stack[-1].scope
