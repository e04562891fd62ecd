"""Turn the trajectories of the first tau-bench into calls (docs/formats/tau-bench.md)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import takewhile
from pathlib import Path
from typing import Any, NamedTuple

from riff_ingest.conversation import DERIVED, Contract, Conversation, ExpectedAnswer, ReferenceStep
from riff_ingest.lenient_json import is_deep, number_of, object_of, objects_of, value_in
from riff_ingest.lenient_json import text_of as text_or_number
from riff_ingest.platforms import UNKNOWN, CallRecord, Candidate, read_call_records
from riff_ingest.segments import NO_SEGMENTS, ToolSegments
from riff_ingest.source import text_of
from riff_ingest.sources.tau.calls import Reference, family_of, is_whole
from riff_ingest.sources.tau.judges import spoken
from riff_ingest.sources.tau.records import Action
from riff_ingest.sources.tau.walk import LONGEST_ERROR, TRANSFER, phase_of, told_changes
from riff_ingest.tool_states import ToolStates
from riff_store.facts import Skipped

TAU_BENCH = "tau-bench"
NAMELESS = "call of a tool without a name"

_STOP = "###STOP###"
_ERRORS = ("Error:", "Unknown action")
_ACTION, _ANSWER, _RESPOND = "Action:", "API output: ", "respond"
_LISTED = "#Available tools"
_DOMAINS = ("airline", "retail")
_RUN = re.compile(
    r"(?P<strategy>tool-calling|few-shot|act|react)-(?P<model>.+)-\d+(?:\.\d+)?_range_-?\d+--?\d+"
    r"_user-(?P<user>.+)-(?:llm|react|verify|reflection|human)_\d{10}"
)
_OF_TOOLS = "tool-calling"


class RunName(NamedTuple):
    """Describe what the name of a file reports: the agent, who played the caller, and the domain."""

    agent: str = UNKNOWN
    caller: str | None = None
    domain: str | None = None


def named_by(stem: str) -> RunName:
    """Return what is known by the name that the benchmark gives its files."""
    if found := _RUN.fullmatch(stem):
        strategy = "" if found["strategy"] == _OF_TOOLS else f" {found['strategy']}"
        return RunName(f"{found['model']}{strategy}", found["user"])
    agent, _, domain = stem.rpartition("-")
    return RunName(agent or UNKNOWN, None, domain) if domain in _DOMAINS else RunName()


def read_trajectories(
    path: Path, segments: ToolSegments, is_result: Callable[[Any], bool]
) -> Iterator[tuple[int, Conversation] | Skipped]:
    """Yield the calls of a file; of a task and trial that it has several times the last that has any messages."""
    run = text_of(path.name.removesuffix(".gz")).removesuffix(".jsonl").removesuffix(".json") or UNKNOWN
    named, tasks = named_by(run), dict[str, Any]()

    def sketch(value: Any) -> Candidate | None:
        given = object_of(value)
        if text_or_number(given.get("task_id")) is None or "traj" not in given:
            return None
        if task := object_of(object_of(given.get("info")).get("task")):
            tasks.setdefault(_scenario(given), {"actions": task.get("actions"), "traj": given["traj"]})
        return Candidate(
            _name(given), bool(given["traj"]), words=given["traj"] and [given["traj"], given.get("reward")]
        )

    for record in read_call_records(path, sketch, is_result):
        if isinstance(record, CallRecord):
            call = conversation_of(record.value, named, segments, task=tasks.get(_scenario(record.value)))
            call.run_id = call.run_label = run
            yield record.number, call
        else:
            yield record


def conversation_of(
    result: Mapping[str, Any],
    named: RunName,
    segments: ToolSegments = NO_SEGMENTS,
    *,
    task: Mapping[str, Any] | None = None,
    clock: Callable[[int], float | None] = lambda place: None,
) -> Conversation:
    """Return the call of a trajectory; `task` is that of another trial, for one that broke before it had any.

    Trajectories have no times; `clock` makes some of the places of messages, from 1, for those who count in them.
    """
    info, messages = object_of(result.get("info")), objects_of(result.get("traj"))
    own = object_of(info.get("task"))
    actions = [
        Action(name, arguments=None if is_deep(each.get("kwargs")) else each.get("kwargs"))
        for each in objects_of((own or task or {}).get("actions"))
        if isinstance(name := each.get("name"), str) and name
    ]
    walked = _Walk(ToolStates(segments), clock)
    walked.take(messages)
    states, error = walked.states, text_or_number(info.get("error"))
    reward = None if error else number_of(result.get("reward"), lowest=-1e6, highest=1e6)
    passed = None if reward is None else is_whole(reward)
    is_known = isinstance((own or task or {}).get("actions"), list)
    steps = _steps(actions, states) if is_known and own else None
    asked = any(action.name == TRANSFER for action in actions)
    completed, stop, status = walked.end(is_scored=bool(info.get("reward_info")))
    family = family_of(None, [Reference(action) for action in actions]) if is_known else UNKNOWN
    return Conversation(
        conversation_id=_name(result),
        flow=f"{_domain(messages or objects_of((task or {}).get('traj')), named)}/{family}",
        agent_model=named.agent,
        caller=named.caller,
        scenario=_scenario(result),
        trial=_trial(result),
        completed=None if error else completed,
        stop_reason="error" if error else stop,
        final_state=states.state,
        final_status=None if error else status,
        errored=error is not None,
        error=None if error is None else error.strip()[:LONGEST_ERROR],
        errors=[
            {"kind": "tool", "message": each.error, "t": each.t, "tool": each.name}
            for each in states.tool_calls
            if each.error is not None
        ],
        contract=Contract(escalation_terminals=[TRANSFER] if TRANSFER in states.states and not asked else []),
        turns=states.turns,
        events=states.events,
        tool_calls=states.tool_calls,
        expected_steps=steps,
        expected_answers=_answers(own, info, walked.heard),
        channel="text",
        origin=DERIVED,
        passed=passed,
        needs_verdict=passed is None,
        stored={"reward": reward} if reward and not passed else {},
        measured={} if error or completed is not None else {"completion": None},
        defects={NAMELESS: walked.nameless} if walked.nameless else {},
        filled=bool(messages),
    )


class _Walk:
    """Go through the messages of a trajectory: what was said and called, and how it ended."""

    def __init__(self, states: ToolStates, clock: Callable[[int], float | None]) -> None:
        self.states = states
        self.heard: list[str] = []
        self.nameless = 0
        self._clock = clock
        self._last_words = ""
        self._ends_in_tool: str | None = None

    def take(self, messages: Sequence[Mapping[str, Any]]) -> None:
        in_words = any(_LISTED in _text(each) for each in messages if each.get("role") == "system")
        answered = 0
        for place, message in enumerate(messages, 1):
            self.states.begin(self._clock(place))
            role, text = message.get("role"), _text(message)
            if place <= answered or role not in ("assistant", "user"):
                continue
            self._ends_in_tool = None
            if role == "user":
                self._last_words = text
                self._say("caller", spoken(text), place)
            elif in_words:
                answered = self._act(text.rpartition(_ACTION)[2].strip(), messages, place)
            else:
                answered = self._answer(text, objects_of(message.get("tool_calls")), messages, place)

    def _say(self, role: str, text: str, place: int) -> None:
        if text:
            self.states.say(role, text, self._clock(place))

    def _answer(self, text: str, calls: Sequence[Mapping[str, Any]], messages: Sequence[Any], place: int) -> int:
        """Take an agent's message; return the place up to which messages are what its tools answered."""
        self._say("agent", spoken(text), place)
        if text and not calls:
            self.heard.append(text)
        answers = [_text(each) for each in takewhile(lambda each: each.get("role") == "tool", messages[place:])]
        # Of several calls in a message the benchmark runs the first alone.
        for number, call in enumerate(calls[: max(1, len(answers))]):
            function = object_of(call.get("function"))
            answer = answers[number] if number < len(answers) else None
            self._call(function.get("name"), value_in(function.get("arguments")), answer, place)
        return self._until(place + len(answers), messages, bool(answers))

    def _act(self, text: str, messages: Sequence[Any], place: int) -> int:
        """Take an agent's message that says in words what it does, as `_answer` does."""
        action = object_of(value_in(text))
        name, arguments = action.get("name"), action.get("arguments")
        if not isinstance(name, str) or name == _RESPOND:
            said = text_or_number(object_of(arguments).get("content")) or "" if name == _RESPOND else text
            self._say("agent", said.strip(), place)
            self.heard += [said] if said else []
            return place
        answers = [_text(each) for each in messages[place : place + 1] if each.get("role") == "user"]
        self._call(name, arguments, answers[0].removeprefix(_ANSWER) if answers else None, place)
        return self._until(place + len(answers), messages, bool(answers))

    def _until(self, place: int, messages: Sequence[Any], has_answers: bool) -> int:
        if not has_answers or place < len(messages):
            self._ends_in_tool = None
        return place

    def _call(self, name: Any, arguments: Any, answer: str | None, place: int) -> None:
        if not isinstance(name, str) or not name:
            self.nameless += 1
            return
        failed = answer is not None and answer.startswith(_ERRORS)
        self._ends_in_tool = name
        self.states.call(
            name,
            t=self._clock(place),
            arguments=None if is_deep(arguments) else arguments,
            result=None if failed else answer,
            error=(answer or "")[:LONGEST_ERROR] if failed else None,
            segment=phase_of(name),
            changes=told_changes(name, None),
        )

    def end(self, *, is_scored: bool) -> tuple[bool | None, str | None, str | None]:
        """Return whether it was completed, why it stopped, and the word for it."""
        if _STOP in self._last_words:
            return True, "terminal", "stop"
        if self._ends_in_tool == TRANSFER:
            return True, "terminal", "transfer"
        return (None, None, None) if is_scored else (False, "max_turns", None)


def _steps(actions: Sequence[Action], states: ToolStates) -> list[ReferenceStep]:
    """Return the actions that the task asks for: called at all, and with arguments that are equal."""
    found = []
    for action in actions:
        name = action.name or ""
        tried = [call.arguments for call in states.tool_calls if call.name == name]
        changes = told_changes(name, None)
        found.append(
            ReferenceStep(name, "agent", bool(tried), action.arguments in tried, action.arguments, changes=changes)
        )
    return found


def _answers(task: Mapping[str, Any], info: Mapping[str, Any], heard: Sequence[str]) -> list[ExpectedAnswer]:
    """Return what the agent was to say, and whether it did: as the benchmark found, else as it looks for it."""
    found = object_of(object_of(object_of(info.get("reward_info")).get("info")).get("outputs"))
    texts = [text.lower().replace(",", "") for text in heard]
    outputs = task.get("outputs")
    return [
        ExpectedAnswer(wanted, found[wanted] if isinstance(found.get(wanted), bool) else _is_said(wanted, texts))
        for each in (outputs if isinstance(outputs, list) else ())
        if (wanted := text_or_number(each)) is not None
    ]


def _is_said(wanted: str, texts: Sequence[str]) -> bool:
    return any(wanted.lower() in text for text in texts)


def _domain(messages: Sequence[Mapping[str, Any]], named: RunName) -> str:
    """Return the domain by the first line of the policy, else by the file's name."""
    policy = next((_text(each) for each in messages if each.get("role") == "system"), "")
    first = policy.lstrip().partition("\n")[0].lower()
    return next((each for each in _DOMAINS if first.startswith(f"# {each} agent policy")), named.domain or TAU_BENCH)


def _text(message: Mapping[str, Any]) -> str:
    content = message.get("content")
    return content if isinstance(content, str) else ""


def _scenario(result: Mapping[str, Any]) -> str:
    return text_or_number(result.get("task_id")) or ""


def _name(result: Mapping[str, Any]) -> str:
    return f"{_scenario(result)}/{_trial(result)}"


def _trial(result: Mapping[str, Any]) -> int:
    return int(number_of(result.get("trial"), highest=2**31) or 0)
