"""A call that stalled becomes a case: frozen it stalls again or says where it went another way, open it can succeed."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from riff_ingest import store_conversations
from tests.support.hearing_agent import HearingAgent
from tests.support.simulated_calls import generate
from tests.support.toy_calls import play
from tests.surface.ingest import StateEntered, StateExited
from tests.surface.runner import (
    AgentCall,
    AgentReply,
    CallCase,
    CaseFile,
    FrozenCaller,
    ScriptedCaller,
    StopReason,
    plan_cases,
)
from tests.surface.runner import flow_files_load_flow as load_flow
from tests.surface.store import conversations, open_store
from tests.surface.tui import call_where, case_where, parse

SEVERAL = 12


class RecordedAgent:
    """Be in the state in which the agent of the recorded call was, line by line; `mended` goes on where that broke."""

    name = "recorded"

    def __init__(self, case: CaseFile, *, mended: bool) -> None:
        self._states = [line.state or "" for line in case.lines]
        self._mended = mended
        self._broke = case.broke.state if case.broke else ""

    async def check(self) -> None:
        """Be there."""

    async def begin(self, call: AgentCall) -> RecordedSession:
        """Begin a call."""
        return RecordedSession(call, iter([*self._states, self._broke]), self._broke if self._mended else "")

    async def close(self) -> None:
        """Hold nothing."""


class RecordedSession:
    """Be the recorded agent in one call."""

    def __init__(self, call: AgentCall, states: Iterator[str], mended: str) -> None:
        self._call = call
        self._states = states
        self._mended = mended
        self._enter(next(states))

    async def greet(self) -> AgentReply | None:
        """Say hello first, as the simulated agents do."""
        return AgentReply("Hello.")

    async def reply(self, text: str) -> AgentReply:
        """Be where the recorded agent was, or beyond where it stayed."""
        following = next(self._states)
        if following == self._call.state == self._mended:
            [following, *_] = sorted(self._call.flow.successors[following] - self._call.flow.contract.escalations())
        self._enter(following)
        return AgentReply("Go on.")

    async def end(self, reason: StopReason) -> str | None:
        """Report nothing."""
        return None

    def _enter(self, state: str) -> None:
        if state != self._call.state:
            if self._call.state:
                self._call.emit(StateExited(self._call.state, state))
            self._call.emit(StateEntered(state))


@pytest.fixture(scope="module")
def stalled(tmp_path_factory: pytest.TempPathFactory) -> list[CaseFile]:
    path = tmp_path_factory.mktemp("demo") / "demo.db"
    store_conversations(path, generate(flows=["dog_grooming", "apartment_scheduler"], conversations=200))
    with open_store(path) as store:
        found = conversations(store, parse("failure='dead end'"), limit=SEVERAL)
        assert len(found) == SEVERAL
        return [case_where(store, call_where(call)) for call in found]


def planned(case: CaseFile) -> CallCase:
    flow = load_flow(case.flow)
    [made] = plan_cases([flow], scenarios=[case.scenario(flow)])
    return made


async def test_frozen_a_call_stalls_where_it_stalled(stalled: list[CaseFile]) -> None:
    for case in stalled:
        made = await play(RecordedAgent(case, mended=False), FrozenCaller(), case=planned(case))
        assert case.broke is not None
        told = made.conversation
        assert (told.stop_reason, told.final_state, told.completed, told.errored) == (
            "hangup",
            case.broke.state,
            False,
            False,
        )
        assert [turn.text for turn in told.turns if turn.role == "caller"] == [line.text for line in case.lines]


async def test_frozen_an_agent_that_was_mended_goes_another_way_and_the_call_says_where(
    stalled: list[CaseFile],
) -> None:
    diverged = 0
    for case in stalled:
        assert case.broke is not None
        broken = [line.state for line in case.lines].count(case.broke.state)
        made = await play(RecordedAgent(case, mended=True), FrozenCaller(), case=planned(case))
        if broken < 2:
            continue
        diverged += 1
        told = made.conversation
        assert (told.stop_reason, told.errored, told.caller_ok) == ("diverged", True, False)
        place = [line.state for line in case.lines].index(case.broke.state) + 2
        assert told.error is not None
        assert told.error.startswith(f"caller: diverged at turn {place}: the agent is in ")
        assert told.error.endswith(f" where {case.broke.state} was recorded")
    assert diverged > SEVERAL // 2


async def test_open_an_agent_that_listens_reaches_the_goal(stalled: list[CaseFile]) -> None:
    for case in stalled:
        made = await play(HearingAgent(), ScriptedCaller(), case=planned(case))
        assert made.conversation.completed is True, made.conversation.turns
        said = " ".join(turn.text for turn in made.conversation.turns if turn.role == "caller")
        assert all(str(fact.say or fact.value).casefold() in said.casefold() for fact in case.facts.values())
