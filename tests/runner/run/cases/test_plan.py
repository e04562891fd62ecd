"""The calls of a run: in which order, who calls, and what each caller knows."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.surface.runner import CallCase, RunScenario, SpokenFact, flow_names, personas, plan_cases
from tests.surface.runner import flow_files_load_flow as load_flow
from tests.surface.store import UsageError

FLOWS = {name: load_flow(name) for name in flow_names()}
VIEWING, DENTAL = FLOWS["apartment_viewing"], FLOWS["dental_clinic"]


def names(cases: list[CallCase]) -> list[tuple[str, str, str, int]]:
    return [(case.flow.name, case.scenario.name, case.persona.name, case.trial) for case in cases]


def test_every_case_is_tried_once_before_any_is_tried_again() -> None:
    cases = plan_cases([VIEWING, DENTAL], trials=3)
    assert [case.trial for case in cases] == [0] * 6 + [1] * 6 + [2] * 6
    first, second, third = ([name[:3] for name in names(cases[at : at + 6])] for at in (0, 6, 12))
    assert first == second == third
    assert len({case.conversation_id for case in cases}) == len(cases)


def test_each_scenario_has_one_persona_in_turn_whichever_are_chosen() -> None:
    dealt = [persona.name for persona in personas()[:3]]
    assert [case.persona.name for case in plan_cases([VIEWING])] == dealt
    assert [case.persona.name for case in plan_cases([VIEWING], scenarios=["lease-ends"])] == dealt[2:]


def test_personas_that_are_named_call_for_every_scenario() -> None:
    cases = plan_cases([VIEWING], personas=["hurried", "patient"])
    assert [name[1:3] for name in names(cases)][:2] == [("sees-online-ad", "hurried"), ("sees-online-ad", "patient")]
    assert len(cases) == 3 * 2
    assert len(plan_cases([VIEWING], personas="all")) == 3 * len(personas())


def test_a_scenarios_own_persona_counts_before_those_that_are_named() -> None:
    own = replace(VIEWING, scenarios=(replace(VIEWING.scenarios[0], persona="noisy_line"), *VIEWING.scenarios[1:]))
    assert [case.persona.name for case in plan_cases([own], personas=["patient"])] == [
        "noisy_line", "patient", "patient"
    ]  # fmt: skip


def test_a_scenario_of_a_file_is_played_beside_those_of_the_flow() -> None:
    mended = RunScenario("night-3", says=("Hello again.",), facts={"name": SpokenFact("ana", "Ana")}, persona="hurried")
    cases = plan_cases([VIEWING], scenarios=[mended, "relocating"])
    assert [name[1] for name in names(cases)] == ["relocating", "night-3"]
    assert cases[1].facts["name"] == SpokenFact("ana", "Ana")
    assert set(cases[1].facts) == set(VIEWING.slots)
    with pytest.raises(UsageError, match="two scenarios are called 'night-3'"):
        plan_cases([VIEWING], scenarios=[mended, mended])


def test_names_that_nothing_has_are_refused_with_those_there_are() -> None:
    with pytest.raises(UsageError, match=r"no scenario 'relocatin' in these flows; did you mean relocating\?"):
        plan_cases([VIEWING], scenarios=["relocatin"])
    with pytest.raises(UsageError, match=r"no persona 'x'; there are patient, front_loader"):
        plan_cases([VIEWING], personas=["x"])
    with pytest.raises(UsageError, match="at least one trial"):
        plan_cases([VIEWING], trials=0)
    with pytest.raises(UsageError, match="no call to make"):
        plan_cases([VIEWING], scenarios=[])


def test_a_scenario_of_one_flow_leaves_the_others_out() -> None:
    assert names(plan_cases([VIEWING, DENTAL], scenarios=["emergency"])) == [
        ("dental_clinic", "emergency", "hurried", 0)
    ]


@given(
    st.permutations(flow_names()).map(lambda order: order[:3]),
    st.integers(1, 2),
    st.sampled_from([None, "all"]),
    st.integers(0, 5),
)
def test_what_a_caller_knows_depends_on_the_case_alone(order: list[str], trials: int, cast: None, seed: int) -> None:
    for case in plan_cases([FLOWS[name] for name in order], trials=trials, personas=cast, seed=seed):
        alone = plan_cases([FLOWS[case.flow.name]], scenarios=[case.scenario.name], trials=case.trial + 1, seed=seed)
        assert case.facts == alone[-1].facts
        assert set(case.facts) == set(case.flow.slots)
        assert all(fact.say for fact in case.facts.values())


def test_facts_differ_from_try_to_try_and_from_seed_to_seed() -> None:
    first, second = plan_cases([VIEWING], scenarios=["relocating"], trials=2)
    (other,) = plan_cases([VIEWING], scenarios=["relocating"], seed=301)
    assert first.facts != second.facts
    assert first.facts != other.facts
