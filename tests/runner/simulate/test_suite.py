"""Which calls there are: evenly spread, the same for the same seed, and comparable from run to run."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.simulated_calls import generate
from tests.surface.ingest import Conversation
from tests.surface.runner import Override, SimulatedRun, Suite, agents, flow_names, personas, plan, weak_points
from tests.surface.runner import cast_runs as runs
from tests.surface.runner import flow_file_load_flow as load_flow
from tests.surface.store import UsageError


def spread(values: list[str | None]) -> int:
    counts = Counter(values).values()
    return max(counts) - min(counts)


def test_a_full_round_holds_every_flow_agent_persona_and_run_once(conversations: list[Conversation]) -> None:
    cells = Counter((call.flow, call.agent_model, call.persona, call.run_id) for call in conversations)
    assert len(cells) == len(flow_names()) * len(agents()) * len(personas()) * len(runs()) == 1600
    assert set(cells.values()) == {1}
    assert {call.trial for call in conversations} == {0}


@given(
    st.integers(1, 400), st.lists(st.sampled_from(flow_names()), min_size=1, max_size=8, unique=True), st.integers(0, 9)
)
def test_any_number_of_calls_is_dealt_out_evenly(count: int, flows: list[str], seed: int) -> None:
    suite = plan(flows, count, seed)
    cases = [case for run in suite.runs for flow in suite.flows for case in suite.cases(run, flow)]
    assert sorted(case.number for case in cases) == list(range(count))
    if count >= len(flows):
        assert spread([case.stage.flow.flow for case in cases]) <= 1
    if count >= len(flows) * len(agents()):
        assert spread([case.agent.name for case in cases]) <= len(flows)


def test_runs_hold_the_same_callers_of_the_same_trial() -> None:
    calls = list(generate(flows=["dog_grooming", "dental_clinic"], conversations=800))
    per_run = {run.id: Counter[tuple[object, ...]]() for run in runs()}
    for call in calls:
        per_run[call.run_id or ""][call.flow, call.agent_model, call.persona, call.scenario, call.trial] += 1
    one, *others = per_run.values()
    assert set(one.values()) == {1}
    assert all(other == one for other in others)
    assert {call.trial for call in calls} == {0, 1}


def test_a_scenario_belongs_to_one_persona(conversations: list[Conversation]) -> None:
    personas_of: dict[tuple[str, str | None], set[str | None]] = {}
    for call in conversations:
        personas_of.setdefault((call.flow, call.scenario), set()).add(call.persona)
    assert {len(found) for found in personas_of.values()} == {1}


def test_the_same_seed_gives_the_same_calls_and_another_gives_others() -> None:
    assert list(generate(conversations=60, seed=3)) == list(generate(conversations=60, seed=3))
    assert list(generate(conversations=60, seed=3)) != list(generate(conversations=60, seed=4))


def test_a_call_does_not_depend_on_how_many_others_there_are() -> None:
    few = {call.conversation_id: call.turns for call in generate(conversations=40)}
    many = {call.conversation_id: call.turns for call in generate(conversations=90)}
    assert all(many[name] == turns for name, turns in few.items())


def test_calls_of_a_run_start_after_it_and_in_order(conversations: list[Conversation]) -> None:
    for run in runs():
        calls = sorted((call for call in conversations if call.run_id == run.id), key=lambda call: call.conversation_id)
        times = [call.started_at or "" for call in calls]
        assert times == sorted(times)
        assert all(time.endswith("Z") for time in times)
        assert times[0] >= run.start.strftime("%Y-%m-%dT%H:%M:%SZ")
        assert {(call.commit, call.branch) for call in calls} == {(run.commit, run.branch)}


def test_a_run_of_ones_own_can_carry_a_regression() -> None:
    start = runs()[0].start
    override = Override(flow="generic_inquiry", state="lookup_answer", kind="stall", strength=1.0)
    later = SimulatedRun("later", "later", "0000000", "main", start, [override])
    flow, agent = load_flow("generic_inquiry"), agents()[0]
    assert weak_points(flow, later, agent) == {("lookup_answer", "stall"): 1.0}
    suite = Suite(("generic_inquiry",), 40, 0, (SimulatedRun("first", "first", "0000000", "main", start), later))
    assert {case.run.id for run in suite.runs for case in suite.cases(run, "generic_inquiry") if case.weak} == {"later"}


@pytest.mark.parametrize(
    ("flows", "count", "reason"),
    [(["dog_walking"], 10, "no built-in flow 'dog_walking'"), ([], 10, "no flow"), (None, 0, "cannot simulate 0")],
)
def test_what_cannot_be_simulated_is_refused_at_once(flows: list[str] | None, count: int, reason: str) -> None:
    with pytest.raises(UsageError, match=reason):
        generate(flows=flows, conversations=count)
