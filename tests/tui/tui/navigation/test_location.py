"""Places, the way down and up, back and forward."""

from __future__ import annotations

import pytest

from tests.support.fake_catalog import FakeCatalog, flow_table, walked
from tests.surface.explorer import (
    START,
    History,
    Location,
    about_calls,
    below,
    calls_of_step,
    center_on,
    choose,
    count_text,
    crumbs,
    descend,
    fixed_fields,
    is_within,
    keep_steps,
    narrow,
    recentred,
    state_of,
)
from tests.surface.tui import Filter, Request, Row, Table, parse


def test_the_walk_goes_from_flows_down_to_a_state() -> None:
    stack = walked(0, 0, 0)
    assert [place.view for place in stack] == ["flows", "segments", "states", "neighbors"]
    assert crumbs(stack) == ["flows", "viewing @ gemini", "collect", "collect_details"]
    assert stack[-1].scope.text == "flow=viewing agent=gemini segment=collect state=collect_details"


def test_what_was_typed_about_calls_holds_below_and_what_was_typed_about_rows_does_not() -> None:
    table = flow_table()
    place = Location("flows", filter=Filter("persona:angry operability<4"))
    down = descend(place, table, table.rows[0])
    assert down is not None
    assert down.scope.text == "persona:angry flow=apartment_scheduler_0"
    assert crumbs((place, down))[0] == "flows [persona:angry operability<4]"


def test_a_row_without_a_way_down_opens_nothing() -> None:
    row = Row("a", {})
    assert below(Table("flows", "", (), [row]), row) == ""
    assert below(Table("skipped", "", (), []), Row("a", {}, where="flow=a")) == ""
    assert descend(Location("skipped"), Table("skipped", "", (), []), Row("a", {}, where="flow=a")) is None


def test_the_worklist_leads_to_the_place_of_each_entry() -> None:
    table = FakeCatalog().show("worklist", Request())
    found = [descend(Location("worklist"), table, row) for row in table.rows]
    assert [(place.view, place.scope.text) for place in found if place] == [
        ("segments", "flow=viewing agent=gemini"),
        ("states", "flow=viewing segment=collect"),
        ("neighbors", "flow=viewing state=collect_details"),
    ]


def test_a_level_leads_to_its_flows_and_a_judge_to_the_judges() -> None:
    def down(factor: str, level: str | None, where: str) -> Location | None:
        row = Row("a", {"factor": factor, "level": level}, where=where)
        return descend(Location("effects"), Table("effects", "", (), [row]), row)

    flow = down("flow", "viewing", "flow=viewing")
    assert flow is not None
    assert (flow.view, flow.scope.text, flow.crumb) == ("flows", "flow=viewing", "viewing")
    judge = down("judge", "codex", "judge=codex")
    assert judge is not None
    assert (judge.view, judge.scope.text) == ("judges", "judge=codex")
    assert down("flow", None, "") is None


def test_a_row_about_a_state_has_a_graph() -> None:
    table = FakeCatalog().show("states", Request())
    place = state_of(Location("states"), table, table.rows[1])
    assert place is not None
    assert (place.view, place.crumb, place.graph) == ("neighbors", "confirm", True)
    flows = FakeCatalog().show("flows", Request())
    assert state_of(Location("flows"), flows, flows.rows[0]) is None
    assert state_of(Location("flows"), flows, None) is None


def test_a_neighbour_takes_the_middle_within_the_same_flow() -> None:
    place = center_on(Location("neighbors", scope=Filter("flow=viewing segment=collect state=a persona=calm")), "so so")
    assert place.scope.text == 'flow=viewing persona=calm state="so so"'


def test_one_goes_back_and_forward_through_where_one_was() -> None:
    first, second = walked(0), walked(0, 1)
    history = History().go(first).go(second)
    assert history.back().stack == first
    assert history.back().back().back().stack == START
    assert history.back().forward().forward().stack == second
    assert history.back().go(walked(1)).forward().stack == walked(1)
    assert history.up().stack == first
    assert History().up() == History()


def test_a_moved_cursor_is_no_step_to_go_back_over() -> None:
    history = History().go(walked(0))
    altered = history.alter(Location("segments", crumb=history.here.crumb, scope=history.here.scope, row="x", index=3))
    assert altered.back().stack == START
    assert altered.go(walked(0)) == altered


def test_names_in_a_scope_are_replaced_field_by_field() -> None:
    def narrowed(scope: str, by: str) -> str:
        return Filter.of(narrow(parse(scope), parse(by))).text

    assert narrowed("flow=a agent=b", "agent=c state=d") == "flow=a agent=c state=d"
    assert narrowed('flow="a b"', "persona:calm") == 'flow="a b" persona:calm'
    assert narrowed("agent=·", "agent=x") == "agent=x"
    assert narrowed("judge=a flow=b", "judge=c | judge=d") == "flow=b (judge=c | judge=d)"
    assert keep_steps(parse("flow=a state=b persona:calm"), ("flow",)) == parse("flow=a persona:calm")
    assert fixed_fields(parse('flow="a b" stall>0.3 agent=·')) == {"flow", "agent"}
    assert is_within(parse("flow=a state=b"), parse("flow=a"))
    assert not is_within(parse("flow=a"), parse("flow=a state=b"))


def test_a_group_that_is_left_alone_still_speaks_of_one_state() -> None:
    group = keep_steps(parse("flow=a (state:b stall=1)"), ())
    assert Filter.of(group).text == "(state:b stall=1)"
    assert Filter.of(narrow(group, parse("flow=c"))).text == "(state:b stall=1) flow=c"


@pytest.mark.parametrize("typed", ["stall>0.3", "a | b", "(a b)", "(a b) | c", "(a | b)", "  a  b "])
@pytest.mark.parametrize("scope", ["", "flow=a"])
def test_a_typed_filter_keeps_its_words_and_its_place(scope: str, typed: str) -> None:
    place = Location("states", scope=Filter(scope), filter=Filter(typed))
    assert place.where.text[place.typed_from :].startswith(typed)
    assert place.where.predicate == parse(place.where.text)
    assert scope or place.where.text == typed


def test_a_filter_that_ties_calls_to_rows_is_not_carried_down() -> None:
    assert about_calls(parse("persona:angry | operability<4"), flow_table()) is None


def entry(order: str) -> tuple[Table, Row]:
    """A worklist with one state that is listed for a reason."""
    row = Row("a", {"list": "states", "flow": "f", "state": "s"}, where="flow=f state=s", order=order)
    return Table("worklist", "", (), [row]), row


def test_an_entry_leads_to_other_calls_than_those_it_is_about_and_keeps_its_graph() -> None:
    table, row = entry("correctness")
    missed = row._replace(leads="flow=f missed_step=s")
    place = Location("worklist", filter=Filter("flow=f agent=a missed>0.5"))
    calls = descend(place, table, missed)
    assert calls is not None
    assert (calls.view, calls.scope.text) == ("conversations", "flow=f agent=a missed_step=s")
    graph = state_of(place, table, missed)
    assert graph is not None
    assert graph.scope.text == "flow=f agent=a state=s"
    # The other calls need not have come to the state that one was in.
    calls = descend(Location("worklist", scope=Filter("flow=f state=s persona=p")), table, missed)
    assert calls is not None
    assert calls.scope.text == "persona=p flow=f missed_step=s"


def test_the_calls_of_an_entry_of_the_worklist_are_sorted_by_its_reason_until_another_order_is_chosen() -> None:
    calls = descend(Location("worklist"), *entry("-latency_p95"))
    assert calls is not None
    assert (calls.view, calls.order) == ("neighbors", "-latency_p95")
    listed = choose((*START, Location("worklist"), calls), "conversations")[-1]
    assert listed.order == "-latency_p95"
    assert choose((*START, Location("worklist"), calls), "states")[-1].order == "-stall"
    assert count_text(listed, Table("conversations", "", (), [Row("x", {})]), None) == ", highest lat_p95 first"
    sorted_again = History((((*START, listed)),)).sort("-turn_count").here
    assert sorted_again.order == "-turn_count"
    assert History((((*START, listed)),)).sort("").here.chosen_order == ""


def test_a_kept_order_gives_way_to_the_reason_that_one_came_for() -> None:
    calls = descend(Location("worklist"), *entry("-lost"))
    assert calls is not None
    assert History(((*START, calls),)).ordered({"neighbors": "trial"}).here.order == "-lost"
    assert History(((*START, Location("conversations")),)).ordered({"conversations": "trial"}).here.order == "trial"
    assert count_text(calls, Table("conversations", "", (), [Row("x", {})]), None) == ", lost first"


def test_another_state_in_the_middle_leaves_the_segment_of_the_one_before() -> None:
    way = (
        Location("flows"),
        Location("segments", "viewing @ gemini", Filter("flow=viewing agent=gemini")),
        Location("states", "action", Filter("flow=viewing agent=gemini segment=action")),
        Location("neighbors", "book", Filter("flow=viewing agent=gemini segment=action state=book")),
    )
    stack = recentred(way, center_on(way[-1], "collect"))
    assert crumbs(stack) == ["flows", "viewing @ gemini", "collect"]
    assert stack[-1].scope == Filter("flow=viewing agent=gemini state=collect")
    beside = recentred((*way[:2], way[-1]), center_on(way[-1], "collect"))
    assert crumbs(beside) == ["flows", "viewing @ gemini", "collect"]


@pytest.mark.parametrize(
    ("scope", "typed", "wanted"),
    [
        ("flow=f state=a", "", "flow=f errored=false (state=a went_to=b)"),
        ("flow=f agent=m segment=s state=a", "", "flow=f agent=m errored=false (state=a went_to=b)"),
        ("flow=f state=a", "stall=1 persona=x word", "flow=f persona=x errored=false (state=a went_to=b stall=1)"),
        ("flow=f state=a (state=x stall=1)", "", "flow=f (state=x stall=1) errored=false (state=a went_to=b)"),
    ],
)
def test_a_step_of_a_graph_leads_to_its_calls_among_those_that_the_graph_is_of(
    scope: str, typed: str, wanted: str
) -> None:
    row = Row("out b", {"direction": "out", "state": "b"}, leads="flow=f errored=false (state=a went_to=b)")
    found = calls_of_step(Location("neighbors", "a", Filter(scope), Filter(typed)), row)
    assert (found.view, found.crumb, found.scope) == ("conversations", "a → b", Filter(wanted))


def test_where_calls_begin_and_end_leads_to_these() -> None:
    here = Location("neighbors", "a", Filter("flow=f state=a"))
    start = Row("in:start", {"direction": "in", "state": None}, leads="flow=f errored=false (state=a came_from=·)")
    end = Row("out:ended", {"direction": "out", "state": None}, leads="flow=f errored=false (state=a went_to=·)")
    assert (calls_of_step(here, start).crumb, calls_of_step(here, end).crumb) == ("(start) → a", "a → end")
    assert calls_of_step(here, end).scope == Filter("flow=f errored=false (state=a went_to=·)")
