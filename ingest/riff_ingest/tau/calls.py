"""Turn one simulation into the form that every source delivers (docs/formats.md)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from riff_ingest.contract import Contract
from riff_ingest.conversation import Conversation
from riff_ingest.events import LONGEST
from riff_ingest.sources.coercion import parse_time
from riff_ingest.sources.lines import BrokenInput
from riff_ingest.tau.ending import CALLER_FAILED, ending_of, final_status
from riff_ingest.tau.judges import Spoken, verdicts
from riff_ingest.tau.records import Simulation, Task
from riff_ingest.tau.run import Run
from riff_ingest.tau.steps import Reference, family_of, is_of_another_task, references_of, steps_of
from riff_ingest.tau.text import cost_of, walk_messages
from riff_ingest.tau.tick_records import NO_TICKS
from riff_ingest.tau.tools import TRANSFER
from riff_ingest.tau.voice import walk_ticks
from riff_ingest.tau.walk import LONGEST_ERROR, Walked
from riff_ingest.tool_segments import ToolSegments
from riff_ingest.tool_states import DERIVED, ToolStates
from riff_store.facts import JudgedScore

OF_ANOTHER_TASK = "checked by the reference actions of another task than the one that it names"
NO_REWARD = "not scored"

_PASSED = 1e-6
_PERSONA = re.compile(r"\[PERSONA:([^\]]*)\]")
_JUDGED = ("review", "user_only_review", "auth_classification", "hallucination_check")
_FILLED = ("reward_info", "messages", "agent_usage", "effect_timeline", *_JUDGED)
_TICKS, _NO_TICKS = re.compile(rb"\s*\[\s*[^\]\s]"), re.compile(rb"\s*(?:null|\[\s*\])?\s*")


@dataclass(slots=True)
class ReadCall:
    """Hold a conversation, where its turns stand, and what did not fit together in its record."""

    conversation: Conversation
    spoken: list[Spoken]
    mismatches: list[str] = field(default_factory=list)


def conversation_of(run: Run, task: Task | None, simulation: Simulation, segments: ToolSegments) -> ReadCall:
    """Return the conversation of a simulation of a run; raise `BrokenInput` for one without an id.

    `segments` are the phases of tools as users set them.
    """
    if simulation.id in (None, ""):
        raise BrokenInput("it has no id")
    references = references_of(simulation, task)
    walked = _walk(run, simulation, references, segments)
    ending, states = ending_of(simulation.termination_reason), walked.states
    is_voice = has_ticks(simulation)
    solo = run.is_solo or (not is_voice and bool(simulation.messages) and not walked.has_caller)
    reward = simulation.reward_info.reward if simulation.reward_info else None
    errored = ending.errored or simulation.reward_info is None
    scenario = None if simulation.task_id is None else str(simulation.task_id)
    call = Conversation(
        conversation_id=str(simulation.id),
        flow=f"{run.domain}/{family_of(scenario, references)}",
        run_id=run.id,
        run_label=run.label,
        commit=run.commit,
        agent_model=run.agent,
        persona=_persona(simulation, scenario),
        scenario=scenario,
        trial=simulation.trial or 0,
        started_at=_time(simulation.start_time),
        duration_s=walked.duration_s if is_voice else _seconds(simulation.duration),
        completed=ending.completed,
        stop_reason=ending.stop_reason,
        final_state=states.state,
        final_status=final_status(simulation.termination_reason, walked.last_words),
        errored=errored,
        error=_error(simulation) if errored else None,
        caller=None if run.is_solo else run.caller,
        caller_ok=False if simulation.termination_reason == CALLER_FAILED else None,
        errors=[
            {"kind": "tool", "message": each.error, "t": each.t, "tool": each.name}
            for each in states.tool_calls
            if each.by == "agent" and each.error is not None
        ],
        contract=_contract(states, references),
        turns=states.turns,
        events=states.events,
        tool_calls=states.tool_calls,
        expected_steps=steps_of(references, states.tool_calls, solo=solo),
        origin=DERIVED,
        defects=dict(walked.defects),
        passed=None if reward is None else abs(reward - 1) <= _PASSED,
        measured=_measured(simulation),
        voice=walked.voice,
        interaction=walked.interaction,
        filled=_filled(run, simulation),
        unique=True,
    )
    checked = references if references and references[0].matched is not None else []
    return ReadCall(call, walked.spoken, [OF_ANOTHER_TASK] if checked and is_of_another_task(checked, task) else [])


def judged(read: ReadCall, simulation: Simulation, lines: Iterable[int]) -> Iterator[JudgedScore]:
    """Yield what judges said of a simulation, each under the next number of `lines`."""
    given: Mapping[str, Any] = {name: getattr(simulation, name) for name in ("mode", *_JUDGED)} | {
        "reward_info": {"nl_assertions": simulation.reward_info.nl_assertions} if simulation.reward_info else None
    }
    return verdicts(given, read.conversation, read.spoken, lines)


def _walk(run: Run, simulation: Simulation, references: list[Reference], segments: ToolSegments) -> Walked:
    kinds = {each.name: each.kind for each in references if each.kind is not None}
    walked = Walked(ToolStates(segments), kinds)
    if has_ticks(simulation):
        walk_ticks(simulation, run, walked)
        return walked
    if not _NO_TICKS.fullmatch(simulation.ticks):
        walked.defects[NO_TICKS] += 1
    start = simulation.start_time
    walk_messages(simulation.messages or [], parse_time(start) if start else None, walked)
    return walked


def has_ticks(simulation: Simulation) -> bool:
    """Tell whether a simulation is one of voice."""
    return _TICKS.match(simulation.ticks) is not None


def _contract(states: ToolStates, references: list[Reference]) -> Contract:
    """Return a contract by which a hand-over to a human that the task does not ask for is an escalation."""
    escalated = TRANSFER in states.states and all(each.name != TRANSFER for each in references)
    return Contract(escalation_terminals=[TRANSFER] if escalated else [])


def _persona(simulation: Simulation, scenario: str | None) -> str | None:
    """Return who called: the voice that was drawn, else what the name of the task says."""
    environment = simulation.speech_environment
    drawn = environment.get("persona_name") if isinstance(environment, dict) else None
    if isinstance(drawn, str) and drawn:
        return drawn
    named = _PERSONA.search(scenario or "")
    return named[1] if named else None


def _error(simulation: Simulation) -> str:
    """Return why a call does not count."""
    said = simulation.info.get("error") if isinstance(simulation.info, dict) else None
    if isinstance(said, str) and said.strip():
        return said.strip()[:LONGEST_ERROR]
    reason = simulation.termination_reason
    return reason if reason is not None and ending_of(reason).errored else NO_REWARD


def _measured(simulation: Simulation) -> dict[str, float]:
    cost = _agent_cost(simulation)
    return {} if cost is None else {"agent_cost": cost}


def _agent_cost(simulation: Simulation) -> float | None:
    """Return what the agent cost, in USD; 0 stands for a price that nobody knew, unless it was told apart."""
    if simulation.agent_usage is not None:
        cost = simulation.agent_usage.cost
    elif simulation.agent_cost is None and simulation.messages:
        cost = cost_of(simulation.messages, "assistant")
    else:
        cost = simulation.agent_cost or None
    return cost if cost is not None and 0 <= cost <= LONGEST else None


def _filled(run: Run, simulation: Simulation) -> int:
    """Return how much of a simulation is filled in; of two alike the one that was scored again has more."""
    parts = [bool(getattr(simulation, name)) for name in _FILLED]
    return 2 * (sum(parts) + has_ticks(simulation)) + run.is_rescored


def _seconds(duration: float | None) -> float | None:
    """Return a duration that was measured; 0 stands for none."""
    return duration if duration is not None and 0 < duration <= LONGEST else None


def _time(text: str | None) -> str | None:
    return text if text and parse_time(text) is not None else None
