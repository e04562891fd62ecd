"""Turn one simulation into the form that every source delivers (docs/formats/tau.md)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from riff_ingest.conversation import (
    DERIVED,
    ROLES,
    TIMES_RUN_BACK,
    Contract,
    Conversation,
    ExpectedAnswer,
    ReferenceStep,
    ToolCall,
)  # fmt: skip
from riff_ingest.events import LONGEST
from riff_ingest.lenient_json import is_deep
from riff_ingest.lines import BrokenInput
from riff_ingest.segments import ToolSegments
from riff_ingest.sources.tau.judges import CALLER_FAILED, Spoken, ending_of, final_status, spoken, verdicts
from riff_ingest.sources.tau.records import Action, Message, Run, Simulation, Task, is_made_up, time_of
from riff_ingest.sources.tau.ticks import NO_TICKS
from riff_ingest.sources.tau.walk import (
    DISCOVERED,
    LONGEST_ERROR,
    TRANSFER,
    Walked,
    answers_to,
    first_word,
    told_changes,
    tool_of,
    walk_ticks,
    writes,
)
from riff_ingest.tool_states import ToolStates
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
    """Describe a conversation, where its turns are, and what did not fit together in its record."""

    conversation: Conversation
    spoken: list[Spoken]
    mismatches: list[str] = field(default_factory=list)


def is_whole(reward: float) -> bool:
    """Return whether a reward is that of a task that was done."""
    return abs(reward - 1) <= _PASSED


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
    passed = None if reward is None else is_whole(reward)
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
        started_at=simulation.start_time if time_of(simulation.start_time) is not None else None,
        duration_s=walked.duration_s if is_voice else _seconds(simulation.duration),
        completed=ending.completed,
        stop_reason=ending.stop_reason,
        unknown_end=ending.completed is None and ending.stop_reason is not None,
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
        expected_steps=steps_of(references, states.tool_calls, solo=solo) if references or task is not None else None,
        expected_answers=answers_of(simulation, task),
        channel="voice" if is_voice else "text",
        origin=DERIVED,
        defects=dict(walked.defects),
        passed=passed,
        needs_verdict=passed is None,
        stored={"reward": reward} if reward and not passed else {},
        measured=_measured(simulation),
        voice=walked.voice,
        interaction=walked.interaction,
        filled=_filled(run, simulation),
        unique=True,
    )
    checked = references if references and references[0].matched is not None else []
    return ReadCall(call, walked.spoken, [OF_ANOTHER_TASK] if checked and is_of_another_task(checked, task) else [])


def judged(read: ReadCall, simulation: Simulation, lines: Iterable[int]) -> Iterator[JudgedScore]:
    """Yield what judges said about a simulation, each under the next number of `lines`."""
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
    walk_messages(simulation.messages or [], time_of(simulation.start_time), walked)
    return walked


def has_ticks(simulation: Simulation) -> bool:
    """Return whether a simulation is one of voice."""
    return _TICKS.match(simulation.ticks) is not None


def _contract(states: ToolStates, references: list[Reference]) -> Contract:
    """Return a contract by which a hand-over to a human that the task does not ask for is an escalation."""
    escalated = TRANSFER in states.states and all(each.name != TRANSFER for each in references)
    return Contract(escalation_terminals=[TRANSFER] if escalated else [])


def _persona(simulation: Simulation, scenario: str | None) -> str | None:
    """Return who called: the voice that was drawn, else what the name of the task reports."""
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
    """Return what the agent cost, in USD; 0 represents a price that nobody knew, unless it was distinguished."""
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
    """Return a duration that was measured; 0 represents none."""
    return duration if duration is not None and 0 < duration <= LONGEST else None


# Compare what a call did with the reference actions of its task (docs/metrics.md, section 9).
NO_WRITE, SEVERAL = "no-write", "multi"


class Reference(NamedTuple):
    """Describe a reference action of the task that a call was to do.

    `matched` and `kind` (of its tool) are by the call's checks, `None` without checks.
    """

    action: Action
    matched: bool | None = None
    kind: str | None = None

    @property
    def name(self) -> str:
        """Return the tool that the action calls."""
        return tool_of(self.action.name or "", self.action.arguments)

    @property
    def by(self) -> str:
        """Return the side that is to do it."""
        return ROLES.get(self.action.requestor or "assistant", "agent")


def references_of(simulation: Simulation, task: Task | None) -> list[Reference]:
    """Return the reference actions that a call was checked by, if it was not those of its task."""
    checks = simulation.reward_info.action_checks if simulation.reward_info else None
    checked = [
        Reference(check.action, check.action_match, check.tool_type)
        for check in checks or ()
        if check.action is not None and check.action.name
    ]
    return checked or [Reference(action) for action in actions_of(task)]


def actions_of(task: Task | None) -> list[Action]:
    """Return the reference actions of a task."""
    criteria = task.evaluation_criteria if task else None
    return [action for action in (criteria.actions if criteria else None) or () if action.name]


def is_of_another_task(references: Sequence[Reference], task: Task | None) -> bool:
    """Return whether a call was checked by other actions than those of the task that it names."""
    named = [(action.name, action.arguments) for action in actions_of(task)]
    return task is not None and [(each.action.name, each.action.arguments) for each in references] != named


def family_of(task_id: str | None, references: Sequence[Reference]) -> str:
    """Return the family of a task: the word in square brackets before its id, else what its references do."""
    if task_id and task_id.startswith("[") and (end := task_id.find("]")) > 1:
        return task_id[1:end]
    verbs = {first_word(each.name) for each in references if writes(each.name, each.kind)}
    if len(verbs) == 1:
        return verbs.pop()
    return SEVERAL if verbs else NO_WRITE


def steps_of(references: Sequence[Reference], calls: Sequence[ToolCall], *, solo: bool) -> list[ReferenceStep]:
    """Return which reference actions were called, by whom, and whether the arguments were those.

    A step is of the side that it asks for, but of the other one where only that called the tool, and of the agent if
    there was nobody else.
    """
    called = {(call.name, call.by) for call in calls}
    called |= {(tool_of(call.name, call.arguments), call.by) for call in calls if call.name == DISCOVERED}
    found = []
    for each in references:
        name, by, arguments = each.name, "agent" if solo else each.by, each.action.arguments
        other = "caller" if by == "agent" else "agent"
        if not solo and (name, by) not in called and (name, other) in called:
            by = other
        matched = each.matched if each.matched is not None else any(matches(each.action, call) for call in calls)
        found.append(
            ReferenceStep(
                name,
                by,
                (name, by) in called,
                matched,
                None if is_deep(arguments) else arguments,
                each.action.compare_args,
                told_changes(name, each.kind),
            )
        )
    return found


def answers_of(simulation: Simulation, task: Task | None) -> list[ExpectedAnswer]:
    """Return what the agent was to say, and whether it did, as far as the call was checked for it."""
    checks = simulation.reward_info.communicate_checks if simulation.reward_info else None
    checked = [ExpectedAnswer(check.info, check.met) for check in checks or () if check.info]
    criteria = task.evaluation_criteria if task else None
    return checked or [ExpectedAnswer(info) for info in (criteria.communicate_info if criteria else None) or ()]


def matches(action: Action, call: ToolCall) -> bool:
    """Return whether a call is a reference action, as the benchmark compares them.

    The arguments are compared that the action names, else those that the call gives: one that it leaves out differs
    in nothing, and a call without any is the action.
    """
    if action.name != call.name:
        return False
    given, wanted = _arguments(call.arguments), _arguments(action.arguments)
    keys = given.keys() if action.compare_args is None else set(action.compare_args)
    if not keys:
        return True
    return {key: given[key] for key in given if key in keys} == {key: wanted[key] for key in wanted if key in keys}


def _arguments(given: Any) -> Mapping[str, Any]:
    return given if isinstance(given, Mapping) else {}


# Walk through the messages of a text call.
_EPOCH = datetime(1970, 1, 1)
_SECOND, _MILLISECOND, _MICROSECOND = timedelta(seconds=1), timedelta(milliseconds=1), timedelta(microseconds=1)
_TOOL = "tool"


def walk_messages(messages: Sequence[Message], start: int | None, walked: Walked) -> None:
    """Collect the messages of a call that began at `start`, in microseconds since the epoch, if that is known.

    A turn is a message with words; what a message reports comes before its calls of tools. The agent's latency is the
    time since the message before, whoever it is of.
    """
    moments = [_moment(message.timestamp) for message in messages]
    first = next((at for at in moments if at is not None), None) if start is None else _at(start)
    before: datetime | None = None
    for place, (message, at) in enumerate(zip(messages, moments, strict=True)):
        side = ROLES.get(message.role or "")
        if side is not None:
            t = (at - first) / _SECOND if at is not None and first is not None and at >= first else None
            if at is not None and first is not None and at < first:
                walked.defects[TIMES_RUN_BACK] += 1
            walked.states.begin(t)
            if side == "caller":
                walked.has_caller = True
                walked.last_words = message.content
            if text := spoken(message.content):
                latency = (
                    (at - before) / _MILLISECOND if at is not None and before is not None and side == "agent" else None
                )
                walked.states.say(side, text, t, latency)  # which leaves out one that is below 0
                walked.spoken.append(Spoken(place, place + 1, side))
            if message.tool_calls:
                answers = answers_to(message.tool_calls, _answers(messages, place + 1))
                for call, answer in zip(message.tool_calls, answers, strict=True):
                    walked.call(call, answer, message.role or "", t)
        before = at


def cost_of(messages: Sequence[Message], role: str) -> float | None:
    """Return what the messages of a side cost, in USD; `None` if one of them does not say or none was above 0."""
    costs = [message.cost for message in messages if message.role == role]
    known = [cost for cost in costs if cost is not None]
    return sum(known) if len(known) == len(costs) and any(cost > 0 for cost in known) else None


def _answers(messages: Sequence[Message], start: int) -> list[Message]:
    """Return what tools answered from a place on, up to the next message that calls any."""
    found: list[Message] = []
    for place in range(start, len(messages)):
        message = messages[place]
        if message.tool_calls:
            break
        if message.role == _TOOL:
            found += message.tool_messages if message.tool_messages else [message]
    return found


def _at(microseconds: int) -> datetime | None:
    try:
        return _EPOCH + microseconds * _MICROSECOND
    except OverflowError:
        return None


def _moment(timestamp: datetime | None) -> datetime | None:
    """Return a time in UTC, as which one without a zone is taken; `None` for a made-up one and one beyond calendars."""
    if timestamp is None or is_made_up(timestamp):
        return None
    if timestamp.tzinfo is None:
        return timestamp
    try:
        return timestamp.astimezone(UTC).replace(tzinfo=None)
    except OverflowError:
        return None
