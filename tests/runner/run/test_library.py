"""Make runs from a script."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

import riff_ingest.runner
from riff_ingest.runner import AgentCall, load_flow, run_flows
from tests.surface.runner import FlowChoice, read_run
from tests.surface.store import UsageError

TIME = "2026-06-22T03:00:00Z"


def books(call: AgentCall, text: str) -> str:
    """Go on to the next state with whatever it takes."""
    machine = call.machine
    state = call.flow.states[machine.state or ""]
    for slot in state.required_slots:
        machine.collect(slot, text)
    way = state.forward
    machine.commit_transition(way if isinstance(way, str) else next(iter(way.values())))
    return f"Let us go on with {machine.state}."


def test_a_function_is_an_agent_and_the_calls_come_back() -> None:
    end = run_flows(["dental_clinic"], books, trials=2, clock=TIME)
    assert end.tally.total.calls == len(end.conversations) == end.plan.document.planned
    assert {call.flow for call in end.conversations} == {"dental_clinic"}
    assert {call.agent_model for call in end.conversations} == {"books"}
    assert {call.caller for call in end.conversations} == {"scripted"}


def test_with_a_directory_the_calls_are_in_its_files(tmp_path: Path) -> None:
    end = run_flows(
        [load_flow("dental_clinic")], books, out=tmp_path / "tonight", scenarios=["something-hurts"], trials=2
    )
    assert end.conversations == ()
    document = read_run(tmp_path / "tonight")
    assert document is not None
    assert (document.settings.flows, document.settings.scenarios) == (("dental_clinic",), ("something-hurts",))
    assert document.settings.limits["max_turns"] == 40
    assert len(document.flows["dental_clinic"].sha256) == 64


async def test_it_works_where_an_event_loop_runs_already() -> None:
    end = run_flows(["dental_clinic"], books, clock=TIME)
    await asyncio.sleep(0)
    assert end.tally.total.calls > 0


@pytest.mark.parametrize("flow", ["dental_clinic", load_flow("dental_clinic")])
def test_one_flow_need_not_be_a_list(flow: FlowChoice) -> None:
    assert {call.flow for call in run_flows(flow, books, clock=TIME).conversations} == {"dental_clinic"}


def test_a_flow_that_is_unknown_is_refused() -> None:
    with pytest.raises(UsageError, match="dental_clinic"):
        run_flows(["dental_clinik"], books)


def test_everything_that_is_offered_is_there() -> None:
    for name in riff_ingest.runner.__all__:
        assert getattr(riff_ingest.runner, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = riff_ingest.runner.nothing
