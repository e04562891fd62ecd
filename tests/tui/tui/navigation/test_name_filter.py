"""What picking a flow, an agent or a run makes of a place."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.fake_catalog import FakeCatalog, walked
from tests.surface.explorer import (
    START,
    Location,
    Stack,
    calls_around,
    choose,
    crumbs,
    descend,
    fixed_fields,
    fixed_value,
    keep_steps,
    pick,
    picked_name,
    set_name,
    without_field,
)
from tests.surface.tui import Filter, Request, Row, Table, parse


def told(stack: Stack) -> list[tuple[str, str, str]]:
    return [(place.view, place.scope.text, place.filter.text) for place in stack]


@pytest.mark.parametrize(
    ("expression", "name", "after"),
    [
        ("", "weather", "flow=weather"),
        ("stall>0.3", "weather", "stall>0.3 flow=weather"),
        ("flow:we stall>0.3", "weather", "stall>0.3 flow=weather"),
        ("flow=a", None, ""),
        ("a | b", "so so", '(a | b) flow="so so"'),
        ("words  as   typed", None, "words  as   typed"),
        ("!flow=a", None, "!flow=a"),
    ],
)
def test_a_name_is_put_into_what_was_typed_and_taken_out_again(expression: str, name: str | None, after: str) -> None:
    assert set_name(Filter(expression), "flow", name).text == after


def test_in_a_list_of_everything_the_name_goes_into_the_filter() -> None:
    stack = pick(START, "agent", "qwen")
    assert told(stack) == [("flows", "", "agent=qwen")]
    assert told(pick(stack, "agent", None)) == told(START)
    assert picked_name(stack[-1], "agent") == "qwen"
    assert picked_name(stack[-1], "flow") is None


def test_below_a_flow_another_one_brings_its_own_segments_and_states() -> None:
    states = pick(walked(0, 0), "flow", "weather")
    assert told(states) == [("flows", "", ""), ("states", "agent=gemini flow=weather", "")]
    assert crumbs(states) == ["flows", "weather @ gemini › states"]
    segments = pick(walked(0), "agent", "qwen")
    assert told(segments) == [("flows", "", ""), ("segments", "flow=viewing agent=qwen", "")]
    assert crumbs(segments) == ["flows", "viewing @ qwen"]
    assert crumbs(pick(walked(0), "agent", None)) == ["flows", "viewing"]


def test_a_state_keeps_its_graph_for_another_agent_and_has_none_in_another_flow() -> None:
    state = pick(walked(0, 0, 0), "agent", "qwen")
    assert told(state)[-1] == ("neighbors", "flow=viewing segment=collect state=collect_details agent=qwen", "")
    assert crumbs(state)[-1] == "viewing @ qwen › collect_details"
    run = pick(walked(0, 0, 0), "run", "r1")
    assert told(run)[-1][1].endswith("run=r1")
    assert [place.view for place in run] == ["flows", "segments", "states", "neighbors"]
    assert [place.view for place in pick(walked(0, 0, 0), "flow", "weather")] == ["flows", "states"]


def test_what_depends_on_a_flow_goes_with_it_and_conditions_on_calls_stay() -> None:
    scope = parse("flow=a agent=b segment=c state=d run=e persona:f")
    assert without_field(scope, "flow") == parse("agent=b run=e persona:f")
    assert without_field(scope, "run") == parse("flow=a agent=b segment=c state=d persona:f")


def test_the_names_to_pick_from_are_those_of_the_calls_that_are_left() -> None:
    table = FakeCatalog().show("segments", Request())
    place = Location(
        "segments", scope=Filter("flow=viewing agent=gemini"), filter=Filter("persona:angry stall>0.3 run=r1")
    )
    assert calls_around(place, "agent", table).text == "flow=viewing persona:angry run=r1"
    assert calls_around(place, "run", table).text == "flow=viewing agent=gemini persona:angry"
    assert calls_around(place, "flow", None).text == "agent=gemini"


names = st.text(min_size=1, max_size=8).filter(lambda text: not {"\ud800"} & set(text))


@given(st.lists(st.sampled_from([0, 1]), max_size=3), st.sampled_from(["flow", "agent", "run"]), names)
def test_wherever_one_is_a_picked_name_holds_until_it_is_taken_off(rows: list[int], field: str, name: str) -> None:
    stack = pick(walked(*rows), field, name)
    assert picked_name(stack[-1], field) == name.encode("utf-8", "backslashreplace").decode()
    assert picked_name(pick(stack, field, None)[-1], field) is None


# Runs, archetypes and judges as places


def row(field: str, name: str) -> tuple[Table, Row]:
    found = Row(name, {field: name}, where=f"{field}={name}")
    return Table(f"{field}s", "", (), [found]), found


@pytest.mark.parametrize(("field", "below"), [("run", "flows"), ("archetype", "flows"), ("judge", "agreement")])
def test_a_run_an_archetype_and_a_judge_lead_to_what_they_hold(field: str, below: str) -> None:
    place = descend(Location(f"{field}s"), *row(field, "x1"))
    assert place is not None
    assert (place.view, place.scope.text, place.crumb) == (below, f"{field}=x1", "x1")


def test_a_run_holds_all_the_way_down_and_goes_along_to_other_views() -> None:
    place = descend(Location("runs"), *row("run", "r1"))
    assert place is not None
    stack = (*START, Location("runs"), place, Location("segments", "viewing", Filter("run=r1 flow=viewing")))
    states = choose(stack, "states")
    assert told(states)[-1] == ("states", "run=r1 flow=viewing", "")
    assert [each.view for each in states] == ["flows", "runs", "flows", "segments", "states"]
    assert told(choose(states, "states"))[-1] == ("states", "run=r1", "")
    assert told(choose(choose(states, "states"), "states"))[-1] == ("states", "", "")
    assert told(choose(states, "worklist"))[-1] == ("worklist", "run=r1 flow=viewing", "")
    assert choose(states, "skipped") == (*START, Location("skipped"))
    assert told(choose(states, "flows")) == [("flows", "", ""), ("flows", "run=r1", "")]
    assert choose(choose(states, "flows"), "flows") == START
    assert keep_steps(parse("run=r1 flow=a"), ()) == parse("run=r1")
    assert fixed_fields(parse("archetype=a run=b")) == {"archetype", "run"}


def test_from_a_conversation_other_views_are_of_what_its_list_was_of() -> None:
    stack = (*walked(0, 0, 0), Location("conversation", "c-1", Filter("run=r1 conversation=c-1")))
    assert fixed_value(choose(stack, "states")[-1].scope.predicate, "segment") == "collect"
