"""Read agents of several prompts as flows: those of Retell with states, squads and workflows of Vapi."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from riff_ingest.lenient_json import object_of, objects_of, text_of
from riff_ingest.private_values import PrivateValues, private_of_agent, short_words
from riff_ingest.sources.flow_files.config import FlowConfig, FlowNode, NodeEnd, NoFlow, PlatformFlow, by_choice, shown

_BY_SERVER = "its target is chosen by a server"
_KEPT_ELSEWHERE = "its tools are named by ids alone, so nothing shows where it leads"
ONE_PROMPT = "one prompt; its calls have the tools as states"

_Object = Mapping[str, Any]


class _Part(NamedTuple):
    """Describe a state as its agent describes it: its name, its instructions, and where it leads, and when.

    The first of `keys` is its name, by all of them others lead to it. `leaves` shows that a call may end or go on
    elsewhere from it, `is_reached` that it may begin without any edge, `unknown` why it is unknown if it leads.
    """

    keys: list[str]
    task: str = ""
    led: Sequence[tuple[str | None, str]] = ()
    required: Sequence[str] = ()
    end: NodeEnd | None = None
    leaves: bool = False
    is_reached: bool = False
    unknown: str | None = None


class _Flow(NamedTuple):
    """Keep the parts of an agent, what its document has, its names, and what one of its parts is called in notes."""

    form: str
    part: str
    names: list[str | None]
    parts: list[_Part | None]
    initial: str | None = None
    role: str = ""
    sources: Sequence[str] = ()
    """Names that edges lead from, where these stand apart from the parts."""


def agents_flow(document: _Object) -> PlatformFlow | None:
    """Return the flow of an agent, `None` for a document of another form; raise `NoFlow` for an agent of one prompt."""
    readers: tuple[Callable[[_Object], _Flow | None], ...] = (_of_states, _of_squad, _of_workflow)
    for read in readers:
        if (flow := read(document)) is not None:
            return _built(flow, private_of_agent(document))
    return None


def _built(flow: _Flow, private: PrivateValues) -> PlatformFlow:
    many = f"{flow.part}s"
    parts = [part for part in flow.parts if part is not None]
    problems = [f"{many}: a {flow.part} has no name"] if len(parts) < len(flow.parts) else []
    remarks: list[str] = []
    known: dict[str, str] = {}
    for part in parts:
        known |= {key: private.text(part.keys[0]) for key in part.keys[1:] if key not in known}
    known |= {part.keys[0]: private.text(part.keys[0]) for part in parts}
    nodes: dict[str, FlowNode] = {}
    ids: dict[str, str] = {}
    for part in parts:
        name = private.text(part.keys[0])
        place = f"{many}.{shown(name)}"
        if name in nodes:
            problems.append(f"{place}: more than one {flow.part} is called this, and calls do not distinguish them")
            continue
        led = []
        for target, condition in part.led:
            if target in known:
                led.append((known[target], condition))
                continue
            meant = (
                f"to {shown(private.text(target))!r}, which is not a known {flow.part}"
                if target
                else f"to no {flow.part}"
            )
            said = f"its edge {short_words(condition, private)!r}" if condition else "an edge"
            problems.append(f"{place}: {said} leads {meant}")
        if part.unknown:
            remarks.append(f"{place}: {part.unknown}")
        elif not part.led and part.end is None and not part.leaves:
            problems.append(f"{place}: nothing leads out of it, and it does not end the call")
        mark: dict[str, Any] = {"required_slots": [private.text(slot) for slot in dict.fromkeys(part.required)]}
        nodes[name] = FlowNode(
            name,
            role=flow.role,
            task=part.task,
            functions=tuple(by_choice(dict.fromkeys(led))),
            ends=part.end is not None,
            mark=mark if part.end is None else {**mark, "terminal": part.end},
        )
        ids[name] = private.text(part.keys[-1])
    problems += [
        f"an edge leads from {shown(private.text(source))!r}, which is not a known {flow.part}"
        for source in flow.sources
        if source not in known
    ]
    initial = known.get(flow.initial or "") or next(iter(nodes), "")
    if flow.initial and flow.initial not in known:
        problems.append(f"it begins in {shown(private.text(flow.initial))!r}, which is not a known {flow.part}")
    config = FlowConfig(initial, nodes, problems=problems)
    led_to = {initial, *(target for _, target in config.edges())}
    led_to |= {known[part.keys[0]] for part in parts if part.is_reached}
    if not any(part.unknown for part in parts):
        remarks += [f"{many}.{shown(name)}: nothing leads to it" for name in nodes if name not in led_to]
    return PlatformFlow(flow.form, [private.text(name) for name in flow.names if name], config, ids, remarks=remarks)


def _texts(*given: Any) -> list[str]:
    return list(dict.fromkeys(each for each in given if isinstance(each, str) and each.strip()))


def _words(*given: Any) -> str:
    return next((text for each in given if (text := text_of(each))), "")


def _required(schema: Any, *, or_all: bool) -> list[str]:
    """Return the names that a schema requires, all of its names where it shows nothing of that."""
    given = object_of(schema)
    required = given.get("required")
    return _texts(*(required if isinstance(required, list) else object_of(given.get("properties")) if or_all else ()))


# Read the agents of Retell: one prompt for each state, and edges that the agent takes by tools of its own.
def _of_states(document: _Object) -> _Flow | None:
    llm = object_of(document.get("retellLlmData")) or document
    states = [*objects_of(llm.get("states"))]
    if not any(map(_is_state, states)):
        if text_of(llm.get("general_prompt")) and not llm.get("states"):
            raise NoFlow(ONE_PROMPT)
        return None
    shared = _kinds(llm.get("general_tools"))
    names = [document.get("flow"), document.get("agent_name"), llm.get("llm_id"), document.get("agent_id")]
    return _Flow(
        "the states of a Retell agent",
        "state",
        [text_of(name) for name in names],
        [_state(each, shared) for each in states],
        text_of(llm.get("starting_state")),
        _words(llm.get("general_prompt")),
    )


def _is_state(state: _Object) -> bool:
    leads = any("destination_state_name" in edge for edge in objects_of(state.get("edges")))
    return bool(_texts(state.get("name"))) and ("state_prompt" in state or leads)


def _state(given: _Object, shared: set[str]) -> _Part | None:
    if not (keys := _texts(given.get("name"))):
        return None
    edges = objects_of(given.get("edges"))
    own = _kinds(given.get("tools"))
    end: NodeEnd | None = None
    if not edges:
        if "end_call" in own:
            end = "success"
        elif "transfer_call" in own:
            end = "escalation"
        elif "end_call" in shared and "agent_swap" not in own:
            end = "success"
    return _Part(
        keys,
        _words(given.get("state_prompt")),
        [(text_of(each.get("destination_state_name")), _condition(each)) for each in edges],
        [slot for each in edges for slot in _required(each.get("parameters"), or_all=False)],
        end,
        leaves=not {"agent_swap", "transfer_call"}.isdisjoint(own | shared),
    )


def _kinds(tools: Any) -> set[str]:
    return {kind for tool in objects_of(tools) if (kind := text_of(tool.get("type")))}


def _condition(edge: _Object) -> str:
    return _words(edge.get("description"), edge.get("condition"))


# Read the squads of Vapi: assistants that hand a call over to each other.
def _of_squad(document: _Object) -> _Flow | None:
    members = objects_of(document.get("members"))
    if not any(map(_is_member, members)):
        model = object_of(document.get("model"))
        if text_of(model.get("provider")) and ("firstMessage" in document or "voice" in document):
            raise NoFlow(ONE_PROMPT)
        return None
    names = [document.get("flow"), document.get("name"), document.get("id")]
    return _Flow(
        "the members of a Vapi squad", "member", [text_of(name) for name in names], [_member(each) for each in members]
    )


def _is_member(member: _Object) -> bool:
    assistant = object_of(member.get("assistant"))
    return "model" in assistant or "name" in assistant or bool(text_of(member.get("assistantId")))


def _member(given: _Object) -> _Part | None:
    assistant, overrides = object_of(given.get("assistant")), object_of(given.get("assistantOverrides"))
    keys = _texts(assistant.get("name"), overrides.get("name"), assistant.get("id"), given.get("assistantId"))
    if not keys:
        return None
    tools = [*_tools(given), *_tools(assistant), *_tools(overrides)]
    handed = objects_of(given.get("assistantDestinations"))
    numbered, leaves, by_server = False, False, False
    for tool in tools:
        if (kind := tool.get("type")) not in ("handoff", "transferCall"):
            continue
        destinations = objects_of(tool.get("destinations"))
        by_server |= not destinations
        for each in destinations:
            where = each.get("type")
            numbered |= kind == "transferCall" and where in ("number", "sip")
            leaves |= kind == "handoff" and where == "squad"
            by_server |= where == "dynamic"
            if where == "assistant" or (kind == "handoff" and where not in ("squad", "dynamic")):
                handed.append(each)
    ends = any(_hangs_up(holder) for holder in (assistant, overrides)) or any(map(_is_end_call, tools))
    end: NodeEnd | None = None
    if not handed:
        end = "success" if ends else "escalation" if numbered else None
    unknown = _BY_SERVER if by_server else None
    if not (handed or end or leaves or by_server) and any(_has_kept_tools(holder) for holder in (assistant, overrides)):
        unknown = _KEPT_ELSEWHERE
    return _Part(
        keys,
        _prompt(assistant, overrides),
        [(_target(each), _condition(each)) for each in handed],
        [slot for each in handed for slot in _extracted(each)],
        end,
        leaves=leaves,
        unknown=unknown,
    )


def _tools(holder: _Object) -> Iterator[dict[str, Any]]:
    """Yield the tools of an assistant, functions of older ones as well."""
    model = object_of(holder.get("model"))
    for each in (model.get("tools"), holder.get("tools"), holder.get("tools:append"), model.get("tools:append")):
        yield from objects_of(each)
    for function in objects_of(model.get("functions")):
        yield {"type": "function", "function": function}


def _has_kept_tools(holder: _Object) -> bool:
    return bool(object_of(holder.get("model")).get("toolIds"))


def _is_end_call(tool: _Object) -> bool:
    name = text_of(object_of(tool.get("function")).get("name")) or ""
    return tool.get("type") == "endCall" or (tool.get("type") == "function" and name.startswith("end_call"))


def _hangs_up(holder: _Object) -> bool:
    phrases = holder.get("endCallPhrases")
    return holder.get("endCallFunctionEnabled") is True or (isinstance(phrases, list) and bool(_texts(*phrases)))


def _target(destination: _Object) -> str | None:
    named = (destination.get("assistantName"), destination.get("assistantId"))
    return next(iter(_texts(*named, object_of(destination.get("assistant")).get("name"))), None)


def _extracted(holder: _Object) -> list[str]:
    return _required(object_of(holder.get("variableExtractionPlan")).get("schema"), or_all=True)


def _prompt(assistant: _Object, overrides: _Object) -> str:
    """Return the instructions of an assistant, and its first words."""
    found, first = "", ""
    for holder in (assistant, overrides):
        model = object_of(holder.get("model"))
        said = (each.get("content") for each in objects_of(model.get("messages")) if each.get("role") == "system")
        found = _words(*said, model.get("systemPrompt")) or found
        first = _words(holder.get("firstMessage")) or first
    return "\n".join(part for part in (f"First say: {first}" if first else "", found) if part)


# Read the workflows of Vapi, which it has retired: nodes that are called by their names.
def _of_workflow(document: _Object) -> _Flow | None:
    nodes, edges = objects_of(document.get("nodes")), objects_of(document.get("edges"))
    if any("id" in node for node in nodes) or not any(map(_is_workflow_node, nodes)):
        return None
    if not any("from" in edge and "to" in edge for edge in edges):
        return None
    leading: dict[str | None, list[tuple[str | None, str]]] = {}
    for edge in edges:
        condition = _words(object_of(edge.get("condition")).get("prompt"))
        leading.setdefault(text_of(edge.get("from")), []).append((text_of(edge.get("to")), condition))
    begins = next((_words(node.get("name")) for node in nodes if node.get("isStart") is True), None)
    names = [document.get("flow"), document.get("name"), document.get("id")]
    return _Flow(
        "the nodes of a Vapi workflow",
        "node",
        [text_of(name) for name in names],
        [_workflow_node(node, leading) for node in nodes],
        begins,
        _words(document.get("globalPrompt")),
        [source for source in leading if source is not None],
    )


def _is_workflow_node(node: _Object) -> bool:
    return bool(_texts(node.get("name"))) and node.get("type") in ("conversation", "tool")


def _workflow_node(given: _Object, leading: Mapping[str | None, list[tuple[str | None, str]]]) -> _Part | None:
    if not (keys := _texts(given.get("name"))):
        return None
    kinds = {text_of(given.get("type")), text_of(object_of(given.get("tool")).get("type"))}
    end: NodeEnd | None = None
    if not kinds.isdisjoint(("endCall", "hangup")):
        end = "success"
    elif "transferCall" in kinds:
        end = "escalation"
    return _Part(
        keys,
        _words(given.get("prompt")),
        led := leading.get(keys[0], []),
        _extracted(given),
        end,
        unknown=_KEPT_ELSEWHERE if given.get("toolId") and not led and end is None else None,
        is_reached=object_of(given.get("globalNodePlan")).get("enabled") is True,
    )
