"""Runs of one's own: two of them pair call by call, and differ in what was planted alone."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.support.simulated_calls import generate
from tests.surface.ingest import Conversation, compute_flow_aspects
from tests.surface.runner import custom_run, flow_names, weakened
from tests.surface.store import UsageError

COUNT = 640


def calls(name: str, seed: int, **weaken: float) -> list[Conversation]:
    return list(generate(conversations=COUNT, seed=seed, run=custom_run(name, seed, weaken)))


def pairing(call: Conversation) -> tuple[object, ...]:
    return call.flow, call.agent_model, call.persona, call.scenario, call.trial


def success(found: list[Conversation], flow: str) -> float:
    values = [compute_flow_aspects(call)["correctness"] for call in found if call.flow == flow and not call.errored]
    return sum(value == 10 for value in values) / len(values)


def test_two_runs_hold_the_same_pairs_each_once() -> None:
    one, other = calls("nightly-1", 1), calls("nightly-2", 2)
    assert {call.run_id for call in one} == {"nightly-1"}
    assert {call.run_id for call in other} == {"nightly-2"}
    assert Counter(map(pairing, one)) == Counter(map(pairing, other))
    assert set(Counter(map(pairing, one)).values()) == {1}
    assert {call.flow for call in one} == set(flow_names())
    assert [call.turns for call in one] != [call.turns for call in other]


def test_with_one_seed_only_the_weakened_flow_is_another() -> None:
    def played(found: list[Conversation], flow: str) -> list[object]:
        return [call.events for call in found if call.flow == flow]

    one, other = calls("nightly-1", 1), calls("nightly-2", 1, dental_clinic=0.4)
    assert {flow for flow in flow_names() if played(one, flow) != played(other, flow)} == {"dental_clinic"}


@pytest.mark.parametrize("flow", flow_names())
def test_a_weakened_flow_loses_that_share_of_its_calls(flow: str) -> None:
    one = list(generate(flows=[flow], conversations=COUNT, seed=1, run=custom_run("a", 1)))
    other = list(generate(flows=[flow], conversations=COUNT, seed=2, run=custom_run("b", 2, {flow: 0.5})))
    assert success(other, flow) == pytest.approx(0.5 * success(one, flow), abs=0.08)


def test_a_run_of_ones_own_is_the_same_for_the_same_seed() -> None:
    assert calls("nightly-1", 3, generic_inquiry=0.2) == calls("nightly-1", 3, generic_inquiry=0.2)
    assert custom_run("nightly-1", 3) == custom_run("nightly-1", 3)
    assert custom_run("nightly-1", 1).start < custom_run("nightly-1", 2).start


@pytest.mark.parametrize("name", ["", "../up", "a/b", ".hidden", "-rf", "a b", "\x1b[2J", "x" * 81])
def test_an_id_that_is_no_file_name_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match="an id has up to 80 letters"):
        custom_run(name)


@pytest.mark.parametrize("share", [-0.1, 1.1, float("nan"), float("inf")])
def test_a_share_that_is_none_is_refused(share: float) -> None:
    with pytest.raises(UsageError, match="it takes a share from 0 to 1"):
        weakened("dental_clinic", share)


def test_what_is_not_simulated_cannot_be_weakened() -> None:
    with pytest.raises(UsageError, match="no built-in flow 'dog_walking'"):
        custom_run("a", 0, {"dog_walking": 0.1})
    with pytest.raises(UsageError, match="cannot weaken dental_clinic, which is not simulated"):
        generate(flows=["dog_grooming"], run=custom_run("a", 0, {"dental_clinic": 0.1}))
