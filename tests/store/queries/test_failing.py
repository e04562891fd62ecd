"""Failed calls by where they first went wrong, by cause, and as fields of a filter."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.facts import call, fresh, put, state
from tests.surface.store import (
    ConversationFacts,
    Example,
    Failure,
    FailureCell,
    Store,
    causes,
    conversations,
    count_conversations,
    failure_matrix,
    segment_cells,
)
from tests.surface.tui import ask, parse
from tests.surface.tui import causes as shown_causes

STALL = Failure("greet", "collect", "dead end")
STATES = [state("greet", to={"collect": 1}, position=0), state("collect", stall=1, lost=1, position=1)]


def failed(name: str, failure: Failure = STALL, turns: float = 5.0, **given: Any) -> ConversationFacts:
    settings: dict[str, Any] = {"failure": failure, "aspects": {"turn_count": turns}, "states": STATES, "terminals": {}}
    return call(name, **(settings | given))


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with fresh(tmp_path / "calls.db") as opened:
        yield opened


def test_cells_count_failed_calls_beside_those_that_took_the_step(store: Store) -> None:
    good = [call(f"good-{number}", states=[*STATES[:1], state("collect", position=1)]) for number in range(3)]
    tool = Failure("greet", "collect", "tool error", "find", "timeout after * s")
    early = Failure(None, "greet", "dead end")
    calls = [failed("long"), failed("short", turns=2.0), failed("tool", tool), failed("early", early)]
    put(store, "calls.jsonl", [*good, *calls, failed("broken", failure=STALL, errored=True)])
    found = failure_matrix(store)
    assert found.cells[0] == FailureCell(
        "viewing", "greet", "collect", 3, 0.75, 7, {"dead end": 2, "tool error": 1}, Example("night-1", "short")
    )
    assert found.cells[1] == FailureCell(
        "viewing", "(start)", "greet", 1, 0.25, 7, {"dead end": 1}, Example("night-1", "early")
    )
    assert (found.failed, found.calls) == ({"viewing": 4}, {"viewing": 7})
    assert found.states == {"viewing": ["greet", "collect"]}


def test_calls_of_which_no_event_tells_have_a_cell_of_their_own(store: Store) -> None:
    put(store, "calls.jsonl", [failed("1", Failure(None, None, "none"), states=[])])
    (cell,) = failure_matrix(store).cells
    assert (cell.last_ok, cell.first_failed, cell.taken, cell.kinds) == ("(start)", "(none found)", None, {"none": 1})


def test_a_step_that_fewer_are_known_to_have_taken_has_no_count(store: Store) -> None:
    put(store, "calls.jsonl", [failed("1", states=[state("collect")])])
    assert failure_matrix(store).cells[0].taken is None


def test_a_step_of_the_task_that_went_wrong_was_taken_from_no_state(store: Store) -> None:
    good = [call(f"good-{number}", states=[*STATES[:1], state("collect", position=1)]) for number in range(3)]
    put(store, "calls.jsonl", [*good, failed("1", Failure("greet", "collect", "missing step"))])
    (cell,) = failure_matrix(store).cells
    assert (cell.taken, cell.kinds) == (None, {"missing step": 1})
    assert [each.conversation for each in conversations(store, parse('failure="missing step"'))] == ["1"]


@pytest.mark.parametrize(
    ("where", "wanted"),
    [
        ("last_ok=greet", ["guard", "stall"]),
        ('last_ok="(start)"', ["none", "start"]),
        ('first_failed="(none found)"', ["none"]),
        ("first_failed:coll", ["guard", "stall"]),
        ("first_failed!=collect", ["none", "start"]),
        ('first_failed=collect failure="dead end"', ["stall"]),
        ('failure:error failure_detail=has_date failure_error:"no date"', ["guard"]),
        ("failure_detail=·", ["good", "none", "stall", "start"]),
        ("failure=·", ["good"]),
        ('!failure="dead end"', ["good", "guard", "none"]),
        ('failure="none"', ["none"]),
        ("failed=1", ["guard", "none", "stall", "start"]),
        ("failed=0", ["good"]),
        ("failed=·", ["unknown"]),
        ("failed!=1", ["good"]),
        ("who=backend failed_tool=find", ["guard"]),
        ("failure=stall", []),
    ],
)
def test_filters_speak_of_where_a_call_first_went_wrong(store: Store, where: str, wanted: list[str]) -> None:
    calls = [
        call("good"),
        call("unknown", aspects={}),
        call("broken", errored=True),
        failed("stall"),
        failed("guard", Failure("greet", "collect", "guard error", "has_date", "no date in *", "backend", "find")),
        failed("start", Failure(None, "greet", "dead end")),
        failed("none", Failure(None, None, "none")),
    ]
    put(store, "calls.jsonl", calls)
    found = [each.conversation for each in conversations(store, parse(where))]
    assert [name for name in found if name not in ("unknown", "broken") or name in wanted] == wanted


def test_calls_tell_where_they_failed_and_sort_by_it(store: Store) -> None:
    put(store, "calls.jsonl", [call("good"), failed("b"), failed("a", Failure(None, None, "none"))])
    found = conversations(store, sort="first_failed")
    assert [(each.conversation, each.last_ok, each.first_failed, each.failure) for each in found] == [
        ("a", "(start)", "(none found)", "none"),
        ("b", "greet", "collect", "dead end"),
        ("good", None, None, None),
    ]
    assert [each.conversation for each in conversations(store, sort="-failure")] == ["a", "b", "good"]


def test_of_a_segment_that_no_call_came_to_the_member_that_most_calls_are_blamed_on_is_the_worst(store: Store) -> None:
    missed = [Failure("greet", name, "missing action", segment="action") for name in ("send", "pay", "pay")]
    put(store, "calls.jsonl", [failed(f"{at}", each, states=STATES) for at, each in enumerate(missed)])
    (action,) = [cell for cell in segment_cells(store) if cell.keys["segment"] == "action"]
    assert (action.n, action.failed, action.worst.keys["state"]) == (0, 3, "pay")


def test_causes_are_groups_of_calls_that_went_wrong_alike_the_largest_first(store: Store) -> None:
    one, other = (Failure("greet", "collect", "tool error", "find", words) for words in ("timeout", "refused"))
    calls = [failed(f"t-{number}", one, turns=9 - number, run=f"night-{3 - number}") for number in range(3)]
    elsewhere = Failure(None, "collect", "tool error", "find", "timeout", "backend")
    calls += [failed("r", other, agent="model-b", scenario="move"), failed("stop", elsewhere, stop_reason="hangup")]
    put(store, "calls.jsonl", [*calls, call("good")])
    found = causes(store)
    # How calls stopped, from where they came and whose fault it was is counted in a group and does not divide it.
    assert [(cause.n, cause.error, cause.stop_reasons) for cause in found.groups] == [
        (4, "timeout", {None: 3, "hangup": 1}), (1, "refused", {None: 1})
    ]  # fmt: skip
    first, second = found.groups
    assert (first.kind, first.kinds, first.detail, first.share) == ("tool error", {"tool error": 4}, "find", 0.8)
    assert (first.last_ok, first.who) == ({"greet": 3, "(start)": 1}, {"agent": 3, "backend": 1})
    assert first.example == Example("night-1", "stop")
    assert (first.first_run, first.last_run) == ("night-1", "night-3")
    assert (first.agents, second.agents, second.scenarios) == ({"model-a": 4}, {"model-b": 1}, {"move": 1})
    assert (found.failed, found.calls) == (5, 6)


def test_a_cause_holds_what_is_of_one_class(store: Store) -> None:
    def at(kind: str, detail: str | None = None, state: str = "collect") -> Failure:
        return Failure("greet", state, kind, detail)

    calls = [failed(f"dead-{number}", at("dead end", reason)) for number, reason in enumerate(("max_turns", "hangup"))]
    calls += [
        failed("loop", at("loop")),
        failed("handed", at("hand-off")),
        failed("there", at("hand-off", None, "greet")),
    ]
    calls += [failed(f"slot-{kind}", at(f"{kind} slot", "name")) for kind in ("wrong", "missing")]
    calls += [failed("date", at("missing slot", "date")), failed("end", at("off contract", "denied"))]
    put(store, "calls.jsonl", calls)
    assert [(cause.n, cause.first_failed, cause.kinds, cause.detail) for cause in causes(store).groups] == [
        (5, "collect", {"dead end": 2, "hand-off": 1, "loop": 1, "off contract": 1}, None),
        (2, "collect", {"missing slot": 1, "wrong slot": 1}, "name"),
        (1, "collect", {"missing slot": 1}, "date"),
        (1, "greet", {"hand-off": 1}, None),
    ]


def test_causes_of_one_call_each_are_put_together_by_no_more_than_a_filter_can_name(store: Store) -> None:
    kinds = ("loop", "hand-off", "dead end", "off contract")
    put(store, "calls.jsonl", [
        failed(f"{number}", Failure("greet", f"state-{number}", kinds[number % 4])) for number in range(61)
    ])  # fmt: skip
    found = causes(store)
    assert [(cause.n, cause.first_failed) for cause in found.groups] == [
        (20, "(several)"), (20, "(several)"), (20, "(several)"), (1, "state-9")
    ]  # fmt: skip
    wheres = [row.where for row in shown_causes(found).rows]
    assert [count_conversations(store, parse(where)) for where in wheres] == [20, 20, 20, 1]


def test_causes_are_of_the_calls_that_a_filter_says_who_failed(store: Store) -> None:
    backend = Failure("greet", "collect", "dead end", who="backend")
    put(store, "calls.jsonl", [failed("1"), failed("2"), failed("3", backend)])
    assert [(row["n"], row["who"]) for row in ask(store, "causes", "who=backend")] == [(1, {"backend": 1})]
    assert [row["n"] for row in ask(store, "causes", "last_ok=greet")] == [3]


def test_what_stands_out_in_a_group_is_more_than_chance_among_all_calls_of_its_flow(store: Store) -> None:
    good = [call(f"good-{number}", agent=f"model-{number % 4}", persona="calm") for number in range(80)]
    bad = [failed(f"bad-{number}", agent="model-1", persona="calm") for number in range(10)]
    elsewhere = [call(f"other-{number}", flow="grooming", agent="model-1") for number in range(50)]
    put(store, "calls.jsonl", [*good, *bad, *elsewhere])
    (cause,) = causes(store).groups
    (lift,) = cause.lift
    assert (lift.dimension, lift.name, lift.n, lift.share) == ("agent", "model-1", 10, 1.0)
    assert (lift.n_all, lift.share_all) == (30, 30 / 90)
    assert lift.p < 0.001


def test_what_may_be_chance_does_not_stand_out(store: Store) -> None:
    good = [call(f"good-{number}", agent=f"model-{number % 4}") for number in range(80)]
    bad = [failed(f"bad-{number}", agent=f"model-{number % 3}") for number in range(12)]
    few = [failed(f"few-{number}", Failure(None, "greet", "dead end"), agent="model-3") for number in range(4)]
    put(store, "calls.jsonl", [*good, *bad, *few])
    assert [cause.lift for cause in causes(store).groups] == [(), ()]
