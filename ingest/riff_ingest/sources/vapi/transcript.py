"""Read what was said and done in a call of Vapi (docs/formats/vapi.md)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

from riff_ingest.lenient_json import epoch_ms, number_of, object_of, objects_of, text_of, value_in
from riff_ingest.platforms import NOTHING_SAID, joined, parted, with_times
from riff_ingest.private_values import PrivateValues, addresses_in
from riff_ingest.segments import ToolSegments
from riff_ingest.tool_states import ObservedStates, ToolStates, answers_in_order, fill

REPORT = "end-of-call-report"
"""The kind of the message that tells of a call as a whole."""
AGENT_ROLES, CALLER_ROLES = ("bot", "assistant"), ("user",)
_FAILED = frozenset({"no result returned", "ok, no result returned"})
"""What Vapi itself says for a result; what a server says went wrong comes as any other result."""
TOOL_CALLS = ("tool_calls", "tool_call")

Message: TypeAlias = dict[str, Any]


class Words(NamedTuple):
    """Keep the messages of a call, whether they have times of their own, and why not all that was said is in them."""

    messages: list[Message]
    is_timed: bool = True
    problem: str | None = None

    @property
    def sides(self) -> set[str]:
        """Return which sides said anything."""
        return {side for message in self.messages if (side := _side(message)) and _said(message)}


def read_transcript(
    call: Mapping[str, Any],
    words: Words,
    private: PrivateValues,
    segments: ToolSegments,
    entries: Sequence[Entry] | None,
    names: Mapping[str, str],
) -> ToolStates:
    """Return a call as it went through its states; one without `entries` has the tools that were called.

    `names` are those of states as a flow file has them, by their ids and by themselves.
    """
    messages = words.messages
    states = ToolStates(segments) if entries is None else ObservedStates()
    entered: list[tuple[float | None, Entry | Message]] = [(entry.t, entry) for entry in entries or ()]
    said: list[tuple[float | None, Entry | Message]] = [(seconds_of(message), message) for message in messages]
    ordered = joined(with_times(entered, _end(messages)), with_times(said))
    latencies = _latencies(messages, _measured(call)) if words.is_timed else {}
    results = _results(messages)
    for t, each in ordered:
        if isinstance(each, Entry):
            _enter(states, each, t, private, names)
        elif each.get("role") in TOOL_CALLS:
            for tool in tools_of(each):
                _call(states, tool, results.get(id(tool), {}).get("result"), t, private)
        elif (role := _side(each)) and (text := _said(each)):
            states.say(role, private.text(text), seconds_of(each), latencies.get(id(each)))
    return states


def _results(messages: Sequence[Message]) -> dict[int, Message]:
    """Return what came back of calls of tools by the identity of the calls."""
    steps: list[tuple[str | None, bool, Message]] = []
    for message in messages:
        steps += [(text_of(tool.get("id")), False, tool) for tool in tools_of(message)]
        if message.get("role") not in TOOL_CALLS:
            steps.append((text_of(message.get("toolCallId")), True, message))
    answers = answers_in_order((key, is_answer) for key, is_answer, _ in steps)
    return {id(steps[call][2]): steps[answer][2] for call, answer in answers.items()}


def tools_of(message: Message) -> list[Message]:
    """Return the calls of tools that a message makes."""
    return objects_of(message.get("toolCalls")) if message.get("role") in TOOL_CALLS else []


def _enter(states: ToolStates, entry: Entry, t: float | None, private: PrivateValues, names: Mapping[str, str]) -> None:
    if not isinstance(states, ObservedStates):
        return
    known = names.get(entry.state) or names.get(entry.id or "")
    states.enter(known or private.text(entry.state), t)
    for slot, value in entry.slots.items():
        fill(states, private.text(slot), private.value(value), t)


def _call(states: ToolStates, tool: Message, answer: Any, t: float | None, private: PrivateValues) -> None:
    function = object_of(tool.get("function"))
    name = text_of(function.get("name")) or text_of(tool.get("type")) or "(unnamed tool)"
    arguments, result = private.value(value_in(function.get("arguments"))), private.value(answer)
    failed = isinstance(answer, str) and answer.strip().lower().removesuffix(".") in _FAILED
    error = str(result) if failed else None
    states.call(private.text(name), t=t, arguments=arguments, result=None if failed else result, error=error)


def _side(message: Message) -> str | None:
    role = message.get("role")
    return "agent" if role in AGENT_ROLES else "caller" if role in CALLER_ROLES else None


def _said(message: Message) -> str | None:
    said = text_of(message.get("message")) or text_of(message.get("content"))
    return said if said is not None and said.strip() else None


def _end(messages: Sequence[Message]) -> float | None:
    known = [t for message in messages for t in (seconds_of(message), _until(message)) if t is not None]
    return max(known, default=None)


def _until(message: Message) -> float | None:
    """Return when a message ended, in seconds since the call began."""
    t, lasted = seconds_of(message), number_of(message.get("duration"))
    return None if t is None or lasted is None else t + lasted / 1000


def _measured(call: Mapping[str, Any]) -> list[float | None]:
    """Return what Vapi measured of turns, in milliseconds."""
    metrics = object_of(artifact_of(call).get("performanceMetrics"))
    return [number_of(turn.get("turnLatency")) for turn in objects_of(metrics.get("turnLatencies"))]


def _latencies(messages: Sequence[Message], measured: Sequence[float | None]) -> dict[int, float | None]:
    """Return the latencies of the agent's turns by the identity of their messages, in milliseconds.

    They are those that Vapi measured: for every turn, or for every answer if there are as many as answers. Without any
    they are from the end of what the caller said to the agent's begin.
    """
    turns, answers = [], []
    heard: Message | None = None
    for message in messages:
        side = _side(message) if _said(message) else None
        if side == "caller":
            heard = message
        elif side == "agent":
            turns.append(message)
            if heard is not None:
                answers.append((message, heard))
            heard = None
    if not measured:
        return {id(message): _between(_until(before), seconds_of(message)) for message, before in answers}
    of = [each for each, _ in answers] if len(measured) == len(answers) else turns
    return {id(message): latency for message, latency in zip(of, measured, strict=False)}


def _between(until: float | None, start: float | None) -> float | None:
    return None if until is None or start is None or start < until else round((start - until) * 1000, 3)


def call_of(record: Mapping[str, Any]) -> tuple[dict[str, Any], str | None]:
    """Return the call that a record has, and the kind of the message that brought it, if one did.

    A report has most of a call beside the call and not in it.
    """
    message = object_of(record.get("message"))
    if not message:
        return dict(record), None
    kind, call = message.get("type"), object_of(message.get("call"))
    if kind == REPORT:
        told = {key: value for key, value in message.items() if not _is_empty(value) and key not in ("call", "type")}
        artifact = {key: value for key, value in artifact_of(told).items() if not _is_empty(value)}
        call = {**call, **told, "artifact": artifact_of(call) | artifact}
    return call, kind if isinstance(kind, str) else None


def _is_empty(value: Any) -> bool:
    return value is None or value in ("", [], {})


def artifact_of(call: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a call left behind."""
    return object_of(call.get("artifact"))


_FORMATTED, _TEXT = "messagesOpenAIFormatted", "transcript"


def words_of(call: Mapping[str, Any], private: PrivateValues) -> Words:
    """Return what was said in a call: its messages, those of its nodes, those as OpenAI has them, else its transcript.

    The first of these counts in which anything was said.
    """
    artifact = artifact_of(call)
    nodes = [message for node in objects_of(artifact.get("nodes")) for message in objects_of(node.get("messages"))]
    given = [objects_of(artifact.get("messages")), objects_of(call.get("messages")), nodes]
    told = [Words(_timed(messages)) for messages in given if messages]
    told += [Words(_from_openai(holder.get(_FORMATTED)), is_timed=False) for holder in (artifact, call)]
    problems: list[str] = []
    for words in told:
        if words.sides:
            return words
    for text in (artifact.get(_TEXT), call.get(_TEXT)):
        if isinstance(text, str) and text.strip():
            said, problem = parted(text, _labels(call), private)
            if said:
                roles = {"agent": AGENT_ROLES[0], "caller": CALLER_ROLES[0]}
                return Words([{"role": roles[side], "message": each} for side, each in said], False, problem)
            problems += [problem] if problem else []
    return told[0]._replace(problem=(problems or [NOTHING_SAID])[0])


def kept_words(told: Mapping[str, Any]) -> list[Any]:
    """Return what a record keeps of what was said in its call, in all the forms of it."""
    keys, artifact = ("messages", _FORMATTED, _TEXT), artifact_of(told)
    return [artifact.get("nodes"), *(holder.get(key) for key in keys for holder in (artifact, told))]


def _from_openai(given: Any) -> list[Message]:
    """Return messages as OpenAI has them in the form of Vapi's own."""
    found: list[Message] = []
    for message in objects_of(given):
        content = message.get("content")
        if isinstance(content, list):
            parts = (text_of(part.get("text")) for part in objects_of(content) if part.get("type") == "text")
            content = "\n".join(part for part in parts if part)
        if message.get("role") == "tool":
            found.append({"role": "tool_call_result", "toolCallId": message.get("tool_call_id"), "result": content})
            continue
        found.append({"role": message.get("role"), "message": content})
        if calls := objects_of(message.get("tool_calls")):
            found.append({"role": TOOL_CALLS[0], "toolCalls": calls})
    return found


def _labels(call: Mapping[str, Any]) -> dict[str, str]:
    """Return which side each label of a transcript represents: names that the call's assistant sets, else Vapi's."""
    plans = (
        object_of(object_of(object_of(call.get(key)).get("artifactPlan")).get("transcriptPlan"))
        for key in ("assistantOverrides", "assistant")
    )
    names = {
        key: name
        for plan in plans
        for key in ("assistantName", "userName")
        if (name := (text_of(plan.get(key)) or "").strip())
    }
    agent, caller = names.get("assistantName", "AI"), names.get("userName", "User")
    sides = dict.fromkeys(("assistant", "bot"), "agent") | dict.fromkeys(("customer", "caller"), "caller")
    return sides | {caller.lower(): "caller", agent.lower(): "agent"}


def _timed(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return messages with the seconds since the call began also where only the time of day is given."""
    begins = [_begin(message) for message in messages]
    begin = next((each for each in begins if each is not None), None)
    if begin is None:
        begin = min((each for each in map(_time, messages) if each is not None), default=None)
    if begin is None:
        return messages
    return [
        {**message, "secondsFromStart": (t - begin) / 1000}
        if message.get("secondsFromStart") is None and (t := _time(message)) is not None
        else message
        for message in messages
    ]


def _begin(message: Mapping[str, Any]) -> float | None:
    """Return when the call began by a message with both its time and how long after the begin that was."""
    t, seconds = _time(message), number_of(message.get("secondsFromStart"))
    return None if t is None or seconds is None else t - seconds * 1000


def _time(message: Mapping[str, Any]) -> float | None:
    return epoch_ms(message.get("time"))


def private_values(call: Mapping[str, Any]) -> PrivateValues:
    """Return what must not be stored of a call."""
    return PrivateValues(_numbers(call), _tokens(object_of(call.get("transport"))), addresses_in(call))


def _numbers(call: Mapping[str, Any]) -> Iterator[Any]:
    transfers = objects_of(artifact_of(call).get("transfers"))
    destinations = (object_of(transfer.get("destination")) for transfer in transfers)
    for holder in (*(object_of(call.get(key)) for key in ("customer", "phoneNumber", "destination")), *destinations):
        yield from (holder.get(key) for key in ("number", "callerId", "sipUri"))


def _tokens(transport: Mapping[str, Any]) -> Iterator[Any]:
    for key, value in transport.items():
        if "token" in key.lower():
            yield value


# Find which states a call of Vapi was in: nodes of a workflow, or assistants of a squad.
_HANDING_OVER = ("handoff", "transfer")
_OF_THE_CALL = frozenset(
    {"call", "customer", "date", "day", "month", "now", "phoneNumber", "time", "transport", "year"}
)


class Entry(NamedTuple):
    """Describe that a call entered a state, with the slots that it then filled there; `t` in seconds since it began.

    `id` is that of the assistant that the state is, where it has a name besides.
    """

    state: str
    t: float | None
    slots: Mapping[str, Any]
    id: str | None = None


def entries_of(call: Mapping[str, Any], messages: Sequence[dict[str, Any]]) -> list[Entry] | None:
    """Return the states in their order, `None` if the call shows none.

    Those of a squad are seen by who speaks; where no message names an assistant, the next one of the squad's comes
    with each call of a tool that hands over.
    """
    artifact = artifact_of(call)
    if nodes := objects_of(artifact.get("nodes")):
        return _nodes(nodes)
    activations = objects_of(artifact.get("assistantActivations"))
    names = [name for each in activations if (name := assistant_of(each))]
    if not (call.get("squadId") or object_of(call.get("squad")) or len(dict.fromkeys(names)) > 1):
        return None
    by_id = {text_of(each.get("assistantId")): assistant_of(each) for each in activations}
    spoken = _spoken(messages, {key: name for key, name in by_id.items() if key and name})
    entries = _completed(spoken, names) if spoken else _handed_over(messages, names)
    ids = {assistant_of(each): text_of(each.get("assistantId")) for each in (*messages, *activations)}
    return None if entries is None else [entry._replace(id=ids.get(entry.state)) for entry in entries]


def assistant_of(value: Mapping[str, Any]) -> str | None:
    """Return what an assistant is called, by name else by id."""
    return text_of(value.get("assistantName")) or text_of(value.get("assistantId"))


def variables_of(given: Any) -> dict[str, Any]:
    """Return the variables of a call that are its own, and not those that Vapi gives to every call."""
    return {key: value for key, value in object_of(given).items() if key not in _OF_THE_CALL and value is not None}


def seconds_of(message: Mapping[str, Any]) -> float | None:
    """Return when a message began, in seconds since the call did."""
    return number_of(message.get("secondsFromStart"))


def _nodes(nodes: Sequence[dict[str, Any]]) -> list[Entry] | None:
    found: list[Entry] = []
    before: dict[str, Any] = {}
    for node in nodes:
        name = text_of(node.get("nodeName"))
        if name is None:
            continue
        times = (seconds_of(message) for message in objects_of(node.get("messages")))
        variables = variables_of(node.get("variableValues"))
        new = {slot: value for slot, value in variables.items() if slot not in before or before[slot] != value}
        found.append(Entry(name, next((t for t in times if t is not None), None), new))
        before |= variables
    return found or None


def _spoken(messages: Sequence[dict[str, Any]], known: Mapping[str, str]) -> list[Entry]:
    """Return the assistants by what they say; one that speaks on is in its state still."""
    found: list[Entry] = []
    for message in messages:
        key = text_of(message.get("assistantId")) or ""
        name = text_of(message.get("assistantName")) or known.get(key) or key
        if name and (not found or found[-1].state != name):
            found.append(Entry(name, seconds_of(message) if found else _first_second(messages), {}))
    return found


def _completed(spoken: list[Entry], names: Sequence[str]) -> list[Entry]:
    """Return the assistants that spoke, and those that came after the last of them and did not."""
    last = spoken[-1].state
    silent = names[len(names) - names[::-1].index(last) :] if last in names else ()
    return [*spoken, *(Entry(name, None, {}) for name in silent)]


def _handed_over(messages: Sequence[dict[str, Any]], names: Sequence[str]) -> list[Entry] | None:
    times = [seconds_of(message) for message in messages if _hands_over(message)]
    places = [_first_second(messages), *times, *[None] * len(names)]
    return [Entry(name, t, {}) for name, t in zip(names, places, strict=False)] or None


def _first_second(messages: Sequence[dict[str, Any]]) -> float | None:
    known = (t for message in messages if (t := seconds_of(message)) is not None)
    return min(known, default=None)


def _hands_over(message: Mapping[str, Any]) -> bool:
    for call in objects_of(message.get("toolCalls")):
        name = text_of(object_of(call.get("function")).get("name")) or ""
        if name.lower().startswith(_HANDING_OVER):
            return True
    return False
