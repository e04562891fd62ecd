"""What a caller's way leads to: as far as the flow tells, and where the lines of a case were said."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.surface.runner import CallCase, ScriptedLine, flow_names, plan_cases, touchable
from tests.surface.runner import flow_files_load_flow as load_flow


def case_of(flow: str, scenario: str) -> CallCase:
    (case,) = plan_cases([load_flow(flow)], scenarios=[scenario])
    return case


def test_the_tasks_of_a_scenario_decide_where_its_way_leads() -> None:
    routine, urgent = (touchable(case_of("dental_clinic", name)) for name in ("checkup", "emergency"))
    assert {item for item in urgent - routine if item[0] in ("edge", "terminal", "tool")} == {
        ("edge", "collect_complaint > page_dentist"),
        ("edge", "page_dentist > dentist_paged"),
        ("terminal", "dentist_paged"),
        ("tool", "page_on_call_dentist"),
    }
    assert ("terminal", "visit_booked") in routine - urgent
    assert ("slot", "insurer") in routine
    assert ("guard", "passed patient_identified") in routine & urgent
    assert not any(name.startswith("failed ") for _, name in routine | urgent)


@pytest.mark.parametrize("flow", flow_names())
def test_it_is_all_declared_by_the_flows_file(flow: str) -> None:
    loaded = load_flow(flow)
    assert loaded.described is not None
    declared = set(loaded.described.items())
    for case in plan_cases([loaded]):
        assert touchable(case) <= declared


def test_the_states_in_which_the_lines_of_a_case_were_said_count_as_well() -> None:
    case = case_of("dog_grooming", "regular")
    said = ["confirm_groom", "confirm_groom", "offer_appointment", "nowhere"]
    lines = tuple(ScriptedLine("well", state) for state in said)
    with_lines = replace(case, scenario=replace(case.scenario, script=lines))
    assert touchable(with_lines) - touchable(case) == {("edge", "confirm_groom > offer_appointment")}
