"""What to work on: how many failed calls each place is blamed for, what comes first, and in which order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from scipy import stats

from tests.support.facts import call, fresh, put, state
from tests.support.random_stores import world
from tests.support.recorded_queries import recorded_queries
from tests.surface.store import (
    Annotation,
    ConversationFacts,
    ExpectedStep,
    Failure,
    FirstToFix,
    Store,
    Totals,
    add_notes,
    chance_of,
    first_to_fix,
    flow_cells,
    is_handover,
    segment_cells,
    state_cells,
    worklist,
)
from tests.surface.tui import parse


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with fresh(tmp_path / "store.db") as opened:
        yield opened


def calls(
    flow: str, n: int, failed: int = 0, place: str = "listen", kind: str = "dead end", **given: object
) -> list[ConversationFacts]:
    """Calls of a flow that all came to three states, of which the first ones failed in one of them."""
    agent = str(given.pop("agent", "a"))
    states = [state(name, **(given if name == place else {})) for name in ("greet", "listen", "book")]  # type: ignore[arg-type]
    return [
        call(
            f"{flow}-{place}-{agent}-{number}", flow=flow, agent=agent, states=states,
            success=number >= failed, aspects={"correctness": 0.0 if number < failed else 10.0},
            failure=Failure("greet", place, kind) if number < failed else None,
        )
        for number in range(n)
    ]  # fmt: skip


def ranked(store: Store, where: str = "") -> list[tuple[str | None, str | None, int]]:
    return [(cell.keys["flow"], cell.keys["state"], cell.failed) for cell in worklist(store, parse(where)).states]


# The state to fix first


def test_the_state_that_most_failed_calls_are_blamed_on_comes_first_with_what_fixing_it_could_bring(
    store: Store,
) -> None:
    put(store, "calls.jsonl", [
        *calls("dog", 30, 18), *calls("dog", 10, 1, place="book", agent="b"), *calls("cat", 40, 9),
        call("x", flow="dog", errored=True),
    ])  # fmt: skip
    assert first_to_fix(store) == FirstToFix("dog", "listen", 18, 40, 21 / 40, 21 / 40 + 18 / 40, ["a", "b"], ["a"])
    assert first_to_fix(store, parse("flow=nowhere")) is None
    # In a flow with its failed calls in as many states as there are, none of these stands out.
    other = first_to_fix(store, parse("flow=cat"))
    assert other is not None
    assert (other.state, other.failed, other.n, other.success_at_most) == ("listen", 9, 40, 1.0)


def test_what_to_fix_first_is_of_the_calls_that_a_filter_leaves(store: Store) -> None:
    put(store, "calls.jsonl", [*calls("dog", 30, 18), *calls("dog", 30, 9, place="book", agent="b")])
    found = {where: first_to_fix(store, parse(where)) for where in ("", "agent=b", "first_failed=book")}
    assert {where: (first.state, first.failed, first.n) for where, first in found.items() if first} == {
        "": ("listen", 18, 60), "agent=b": ("book", 9, 30), "first_failed=book": ("book", 9, 9),
    }  # fmt: skip


@pytest.mark.parametrize(("n", "failed", "stands_out"), [(4, 4, False), (5, 5, True), (12, 12, True)])
def test_a_state_of_fewer_than_five_calls_is_never_the_first(
    store: Store, n: int, failed: int, stands_out: bool
) -> None:
    put(store, "calls.jsonl", [*calls("few", n, failed), *calls("many", 60, 0)])
    assert (first_to_fix(store) is not None) is stands_out


@pytest.mark.parametrize(("failed", "stands_out"), [(19, False), (20, True)])
def test_nothing_stands_out_where_less_than_two_percent_of_calls_fail(
    store: Store, failed: int, stands_out: bool
) -> None:
    put(store, "calls.jsonl", calls("dog", 1000, failed))
    assert (first_to_fix(store) is not None) is stands_out
    assert worklist(store).states[0].failed == failed


@pytest.mark.parametrize(
    ("n", "failed", "named"),
    [(8, 8, "turn"), (8, 4, "turn"), (20, 1, "turn"), (4, 4, None), (100, 1, None), (8, 0, None)],
)
def test_the_only_state_there_is_needs_not_be_worse_than_others(
    store: Store, n: int, failed: int, named: str | None
) -> None:
    put(store, "calls.jsonl", [
        call(
            f"{number}", states=[state("turn")], success=number >= failed,
            failure=Failure(None, "turn", "dead end") if number < failed else None,
        )
        for number in range(n)
    ])  # fmt: skip
    first = first_to_fix(store)
    assert (None if first is None else first.state) == named
    if first is not None:
        assert (first.failed, first.n, first.success_at_most) == (failed, n, 1.0)


@pytest.mark.parametrize(("greet", "listen", "named"), [(7, 8, "listen"), (8, 4, "greet"), (6, 5, None)])
def test_a_flow_that_mostly_fails_names_the_state_that_most_of_its_calls_failed_in(
    store: Store, greet: int, listen: int, named: str | None
) -> None:
    """Of 15 calls, each of which may fail in each of two states: 15 and 12 are surely more than half, 11 are not."""

    def of_flow(flow: str) -> Iterator[ConversationFacts]:
        for number in range(15):
            place = "greet" if number < greet else "listen" if number < greet + listen else None
            yield call(
                f"{flow}-{number}", flow=flow, states=[state("greet"), state("listen")], success=place is None,
                failure=Failure(None, place, "dead end") if place else None,
            )  # fmt: skip

    put(store, "calls.jsonl", [*of_flow("dog"), *of_flow("cat")])
    first = first_to_fix(store)
    assert (None if first is None else (first.flow, first.state)) == (None if named is None else ("cat", named))


def test_nothing_stands_out_where_states_fail_as_many_calls_as_chance_would_have_it(store: Store) -> None:
    alike = [
        facts for place, failed in (("greet", 6), ("listen", 7), ("book", 5))
        for facts in calls("dog", 20, failed, place=place, agent=place)
    ]  # fmt: skip
    put(store, "calls.jsonl", alike)
    found = worklist(store)
    assert found.first is None
    # The list names them all the same.
    assert [cell.failed for cell in found.states] == [7, 6, 5]
    put(store, "more.jsonl", calls("dog", 20, 18, place="book", agent="worse"))
    first = first_to_fix(store)
    assert first is not None
    assert first.state == "book"


@pytest.mark.parametrize(("hits", "n", "share"), [(0, 5, 0.1), (3, 5, 0.1), (20, 60, 0.2), (60, 60, 0.3), (7, 9, 0.0)])
def test_the_chance_of_so_many_hits_is_binomial(hits: int, n: int, share: float) -> None:
    wanted = 1.0 if hits <= n * share else stats.binom.sf(hits - 1, n, share)
    assert chance_of(hits, n, share) == pytest.approx(wanted, rel=1e-9)


# The three lists


def test_places_are_ranked_by_failed_calls_then_by_their_share_and_thin_ones_come_last(store: Store) -> None:
    put(store, "calls.jsonl", [
        *calls("many", 40, 9), *calls("most", 10, 9), *calls("few", 10, 2), *calls("thin", 4, 4), *calls("well", 9, 0),
    ])  # fmt: skip
    found = worklist(store)
    assert [(cell.keys["flow"], cell.failed) for cell in found.flows] == [
        ("most", 9), ("many", 9), ("few", 2), ("thin", 4)
    ]  # fmt: skip
    assert [cell.keys["flow"] for cell in found.states] == ["most", "many", "few", "thin"]
    assert [(cell.keys["flow"], cell.failed) for cell in found.segments][:3] == [("most", 9), ("many", 9), ("thin", 4)]


def test_no_bound_hides_a_state_that_fails_calls_and_those_that_are_slow_or_heavy_come_after_them(store: Store) -> None:
    put(store, "calls.jsonl", [
        *calls("one", 50, 1), *calls("slow", 50, slow=0.2), *calls("heavy", 50, dwell_turns=3.5),
        *calls("neither", 50, slow=0.19, dwell_turns=3.0), *calls("stalled", 50, stall=1),
    ])  # fmt: skip
    assert ranked(store) == [("one", "listen", 1), ("heavy", "listen", 0), ("slow", "listen", 0)]
    assert [cell.keys["flow"] for cell in worklist(store).flows] == ["one"]


def test_flows_are_ranked_as_a_whole_where_there_are_more_than_forty_pairs(store: Store) -> None:
    put(store, "calls.jsonl", [each for nr in range(40) for each in calls("dog", 5, 1, agent=f"a{nr:02}")])
    assert {*worklist(store).flows[0].keys} == {"flow", "agent"}
    put(store, "more.jsonl", calls("dog", 5, 1, agent="b"))
    (flow,) = worklist(store).flows
    assert (flow.keys, flow.failed) == ({"flow": "dog"}, 41)
    assert worklist(store).blamed == {("dog",): {"listen": 41}}


def test_each_list_is_cut_at_its_limit(store: Store) -> None:
    put(store, "calls.jsonl", [facts for number in range(12) for facts in calls(f"f{number:02}", 5, 1)])
    found = worklist(store)
    assert [len(found.flows), len(found.segments), len(found.states)] == [10, 10, 10]
    found = worklist(store, limit=2)
    assert [cell.keys["flow"] for cell in found.states] == ["f00", "f01"]


def test_counts_all_calls_and_follows_the_filter(store: Store) -> None:
    put(store, "calls.jsonl", [
        *calls("a", 5, 2), *calls("b", 5, 5), call("broken", flow="b", errored=True),
        call("clumsy", flow="b", caller_ok=False), call("unknown", flow="b", aspects={}),
    ])  # fmt: skip
    assert worklist(store).totals == Totals(measured=10, failed=7, flows=2, calls=11, excluded=2, caller_failed=1)
    narrowed = worklist(store, parse("flow=a"))
    assert ([cell.keys["flow"] for cell in narrowed.flows], narrowed.totals.excluded) == (["a"], 0)
    assert worklist(store, parse("flow=none")).totals == Totals()


def test_failed_calls_without_events_are_counted_by_flow(store: Store) -> None:
    bare = [
        call(f"bare-{number}", flow="dog", success=False, failure=Failure(None, None, "none")) for number in range(3)
    ]
    put(store, "calls.jsonl", [*bare, *calls("dog", 5, 2), *calls("cat", 5, 1)])
    found = worklist(store)
    assert (found.nowhere, found.blamed) == ({"dog": 3}, {("cat", "a"): {"listen": 1}, ("dog", "a"): {"listen": 2}})


# What is blamed adds up


def summed(store: Store, where: str = "") -> dict[str, tuple[int, ...]]:
    """By flow its failed calls less those without any place, and what its states, segments and pairs add up to."""
    scope = parse(where)
    found: dict[str, list[int]] = {}
    nowhere = worklist(store, scope).nowhere
    for flow in flow_cells(store, scope, ("flow",)):
        name = flow.keys["flow"] or ""
        found[name] = [flow.failed - nowhere.get(name, 0)]
    for cells in (
        state_cells(store, scope),
        segment_cells(store, scope),
        state_cells(store, scope, by=("flow", "state", "agent")),
    ):
        for name, sums in found.items():
            own: Sequence[int] = [cell.failed for cell in cells if cell.keys["flow"] == name]
            sums.append(sum(own))
    return {name: tuple(sums) for name, sums in found.items()}


def test_what_people_mark_moves_a_failed_call_to_the_state_that_they_marked(store: Store) -> None:
    ended = {"terminals": {"human": "escalation"}, "outcome_positions": {"human": 3}}
    marked = calls("dog", 12, 6, kind="tool error")
    for each in marked[:2]:
        each.terminals, each.outcome_positions = ended["terminals"], ended["outcome_positions"]  # type: ignore[assignment]
    bare = call("bare", flow="dog", states=[state("greet")], success=False, failure=Failure(None, None, "none"))
    put(store, "calls.jsonl", [*marked, bare])
    assert ranked(store) == [("dog", "listen", 6)]
    notes = [("dog-listen-a-0", "human"), ("dog-listen-a-2", "greet"), ("dog-listen-a-9", "greet"), ("bare", "greet")]
    add_notes(
        store,
        [Annotation(f"n{at}", name, "ann", state=at_state, code="curt") for at, (name, at_state) in enumerate(notes)],
    )
    assert ranked(store) == [("dog", "listen", 4), ("dog", "greet", 2), ("dog", "human", 1)]
    assert worklist(store).states[1].blames == {"marked": 2}
    assert summed(store) == {"dog": (7, 7, 7, 7)}
    assert summed(store, "failure=marked") == {"dog": (3, 3, 3, 3)}


# Steps that tasks ask for


def task(
    number: int, called: bool, correctness: float, *, step: str = "enable_roaming", matched: bool = True
) -> ConversationFacts:
    """Return a call of a task that asks for two steps, which ended, as all of them do, in a hand-over."""
    kind = "wrong action" if called else "missing action"
    return call(
        f"{step}-{number}", flow="telecom", aspects={"correctness": correctness, "completion": 10.0}, origin="derived",
        success=correctness == 10.0, failure=None if correctness == 10.0 else Failure("opening", step, kind),
        states=[state("transfer_to_human_agents", stall=1, lost=1, progress=0, latency_p95_ms=9000.0)],
        expected=[
            ExpectedStep(step, "agent", called, matched if called else None),
            ExpectedStep("get_line", "agent", True, True),
        ],
    )  # fmt: skip


def test_where_tasks_ask_for_steps_the_missed_ones_stand_there_and_no_end_of_calls(store: Store) -> None:
    put(store, "calls.jsonl", [task(number, number == 0, 10.0 if number < 2 else 0.0) for number in range(8)])
    found = worklist(store)
    [missed] = found.states
    assert missed.keys["state"] == "enable_roaming"
    assert missed.steps is not None
    assert (missed.steps.missed_failed, missed.steps.failed, missed.steps.expected) == (6, 6, 8)
    assert (missed.failed, missed.blames) == (6, {"missing action": 6})
    assert (found.by_steps, found.handovers) == (["telecom"], [])


def test_a_hand_over_that_tasks_ask_for_is_told_of_and_on_no_list(store: Store) -> None:
    put(store, "calls.jsonl", [task(number, False, 0.0, step="transfer_to_human_agents") for number in range(5)])
    found = worklist(store)
    assert found.states == []
    assert [cell.keys["state"] for cell in found.handovers] == ["transfer_to_human_agents"]
    assert found.first is None


@pytest.mark.parametrize(
    ("state", "hands_over"),
    [
        ("transfer_to_human_agents", True),
        ("transfer_to_agent", True),
        ("user:transfer_to_human_agents", True),
        ("transfer_money_to_savings", False),
        ("list_human_agents", False),
    ],
)
def test_a_hand_over_is_told_by_its_name(state: str, hands_over: bool) -> None:
    assert is_handover(state) is hands_over


def test_what_to_fix_first_is_the_step_that_most_failed_calls_missed(store: Store) -> None:
    put(store, "calls.jsonl", [
        *(task(number, number > 35, 10.0 if number > 35 else 0.0) for number in range(60)),
        *(task(number, True, 0.0, step="pay", matched=False) for number in range(5)),
    ])  # fmt: skip
    first = first_to_fix(store)
    assert first is not None
    assert (first.flow, first.state, first.failed, first.n) == ("telecom", "enable_roaming", 36, 65)
    assert (first.success, first.success_at_most) == (24 / 65, 24 / 65 + 36 / 65)
    assert (first.agents, first.failing) == (["model-a"], ["model-a"])
    assert first.steps is not None
    assert first.steps.missed_failed == 36
    assert [cell.keys["state"] for cell in worklist(store).states] == ["enable_roaming", "pay"]


def test_states_that_fail_calls_and_steps_that_failed_calls_missed_are_ranked_side_by_side(store: Store) -> None:
    put(store, "steps.jsonl", [task(number, False, 0.0) for number in range(6)])
    put(store, "calls.jsonl", calls("dog", 20, 5))
    assert [cell.keys["state"] for cell in worklist(store).states] == ["enable_roaming", "listen"]
    put(store, "calls.jsonl", calls("dog", 20, 17), sha256="bb")
    found = worklist(store)
    assert [cell.keys["state"] for cell in found.states] == ["listen", "enable_roaming"]
    assert found.first is not None
    assert (found.first.state, found.first.steps) == ("listen", None)


def test_a_step_missed_in_calls_that_passed_is_no_cause(store: Store) -> None:
    step = ExpectedStep("check", "agent", False, None)
    put(store, "calls.jsonl", [call(f"c{number}", expected=[step]) for number in range(6)])
    assert worklist(store).states == []


def test_a_hand_over_is_on_no_list_where_states_are_tools_and_on_it_where_a_flow_has_a_state_of_that_name(
    store: Store,
) -> None:
    def ended(name: str, in_state: str, origin: str) -> ConversationFacts:
        states = [state("opening", to={in_state: 1}), state(in_state, stall=1, lost=1, progress=0)]
        return call(name, flow=origin, origin=origin, states=states)

    put(store, "calls.jsonl", [
        *(ended(f"handed-{number}", "transfer_to_human", "derived") for number in range(9)),
        *(ended(f"ended-{number}", "find_line", "derived") for number in range(6)),
    ])  # fmt: skip
    assert ranked(store) == [("derived", "find_line", 6)]
    put(store, "own.jsonl", [ended(f"own-{number}", "transfer_to_human", "observed") for number in range(7)])
    assert ranked(store) == [("observed", "transfer_to_human", 7), ("derived", "find_line", 6)]


@pytest.mark.parametrize("limit", [0, 1, 2, 5])
@pytest.mark.parametrize("where", ["", "persona=hurried", "flow=dental"])
def test_the_first_of_each_list_are_the_first_of_the_whole_list(tmp_path: Path, limit: int, where: str) -> None:
    made = world(5, 90)
    with fresh(tmp_path / "store.db") as store:
        put(store, "/in/a.jsonl", [*made.calls, *made.verdicts])
        among = parse(where) if where else None
        whole, some = worklist(store, among, None), worklist(store, among, limit)
    assert (some.flows, some.segments, some.states) == (
        whole.flows[:limit], whole.segments[:limit], whole.states[:limit]
    )  # fmt: skip
    assert some.listed == whole.listed == (len(whole.flows), len(whole.segments), len(whole.states))
    assert (some.first, some.totals, some.nowhere, some.by_steps) == (
        whole.first, whole.totals, whole.nowhere, whole.by_steps
    )  # fmt: skip


def test_of_many_flows_only_those_that_are_listed_are_measured(tmp_path: Path) -> None:
    with fresh(tmp_path / "store.db") as store:
        facts = [each for number in range(50) for each in calls(f"flow-{number:02d}", 6, failed=6)]
        put(store, "/in/a.jsonl", facts)
        with recorded_queries(store) as queries:
            found = worklist(store, None, 3)
    assert [len(each) for each in (found.flows, found.segments, found.states)] == [3, 3, 3]
    assert found.listed == (50, 50, 50)
    of_aspects = [query for query in queries if "aspect_total" in query or "aspect_rollup" in query]
    assert of_aspects
    assert all("flow_id" in query.partition("WHERE")[2] for query in of_aspects)
