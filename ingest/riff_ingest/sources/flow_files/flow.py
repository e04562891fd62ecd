"""Read the flow that a file describes: a native one, or of pipecat, its flow editor, Retell, ElevenLabs or Bland."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import msgspec

from riff_ingest.conversation import DEFAULT_ESCALATIONS, Contract, StateContract
from riff_ingest.lenient_json import contract_of, load_document, object_of, objects_of
from riff_ingest.lines import BrokenInput
from riff_ingest.private_values import PrivateValues, private_of_agent, short_words
from riff_ingest.segments import segment_of
from riff_ingest.sources.flow_files.config import (
    FlowConfig,
    FlowNode,
    NodeFunction,
    PlatformFlow,
    Way,
    by_choice,
    is_flow_config,
    read_config,
    read_node,
    shown,
)
from riff_ingest.sources.flow_files.forms import CONFIG, EDITOR, NATIVE, Form, UnknownKey, platform_form, unknown_keys
from riff_store.facts import DescribedFlow, DescribedState, Skipped

_ENDS = (("from", "source"), ("to", "target"))
_ENDINGS = (".gz", ".json", ".toml", ".yaml", ".yml")
NO_FLOW = "file does not describe a flow, which has edges or states, or nodes; see docs/flow-file.md"
_PATHWAY_PARTS = frozenset({"nodes", "data", "pathway"})
_NATIVE_PARTS = frozenset({"edges", *Contract.__struct_fields__} - {"archetype", "other_names"})
_AGENT_PARTS = frozenset({"general_prompt", "members", "model", "nodes", "retellLlmData", "states"})
"""One of these stands in every document of an agent of Retell or Vapi, without or with several prompts."""


@dataclass(slots=True)
class FlowFile:
    """Describe a flow as its file describes it, the contract that it promises, and what of the file did not fit.

    `config` has the nodes of a flow of others; it is `None` for a native one. `remarks` are what is odd in a flow that
    can be run all the same, `unknown` the keys that nobody reads.
    """

    described: DescribedFlow
    contract: Contract
    left_out: list[Skipped] = field(default_factory=list)
    config: FlowConfig | None = None
    remarks: Sequence[str] = ()
    form: Form = NATIVE
    unknown: Sequence[UnknownKey] = ()


def read(path: Path) -> FlowFile:
    """Return the flow that a file describes; raise `BrokenInput` if it describes none.

    Without a name in it the flow has the name of its file.
    """
    return flow_of(load_document(path), path)


def flow_of(document: Any, path: Path) -> FlowFile:
    """Return the flow that the document of a file describes; raise `BrokenInput` if it describes none."""
    if not isinstance(document, dict):
        raise BrokenInput("file is not a JSON object")
    if is_flow_config(document):
        file, form = _config_flow(read_config(document), path), CONFIG
    elif (platform := platform_flow(document)) is not None:
        file, form = _platform_flow(platform, path), platform_form(document)
    elif is_editor_document(document):
        file, form = _editor_flow(document, path), EDITOR
    elif _NATIVE_PARTS.isdisjoint(document):
        raise BrokenInput(NO_FLOW)
    else:
        file, form = _native_flow(document, path), NATIVE
    file.form = form
    file.unknown = unknown_keys(document, form)
    return file


def form_of(document: Mapping[str, Any]) -> str | None:
    """Return what the document of a flow has that shows its form, `None` for no such document.

    Raises `NoFlow` for an agent that has none.
    """
    if is_flow_config(document):
        return "the nodes of a pipecat flow"
    if (platform := platform_flow(document)) is not None:
        return platform.form
    if is_editor_document(document):
        return "the nodes of a flow editor"
    if isinstance(document.get("flow"), str) and not _NATIVE_PARTS.isdisjoint(document):
        return "a flow and parts of its contract"
    return None


def platform_flow(document: Mapping[str, Any]) -> PlatformFlow | None:
    """Return the flow of a platform's agent, `None` for any other document; raise `NoFlow` for an agent without one."""
    if is_retell_flow(document):
        return read_retell_flow(document)
    if "workflow" in document or "conversation_config" in document:
        from riff_ingest.sources.flow_files.elevenlabs import workflow_flow

        if (found := workflow_flow(document)) is not None:
            return found
    if not _PATHWAY_PARTS.isdisjoint(document):
        from riff_ingest.sources.flow_files.bland import pathway_flow

        if (found := pathway_flow(document)) is not None:
            return found
    if not _AGENT_PARTS.isdisjoint(document):
        from riff_ingest.sources.flow_files.agents import agents_flow

        return agents_flow(document)
    return None


def _native_flow(document: dict[str, Any], path: Path) -> FlowFile:
    contract, misfits = contract_of(document | _tool_kinds(document.get("tools")))
    edges = _edges(document.get("edges"), misfits)
    scripts = object_of(object_of(document.get("simulate")).get("states"))
    contract = contract.with_tools(_named(scripts, "tool"))
    guards = _named(scripts, "guard") | _named(object_of(document.get("states")), "guard")
    return _flow_file(_flow_name(document, path), contract, edges, misfits, {"guards": guards.values()})


def _named(states: Mapping[str, Any], part: str) -> dict[str, str]:
    """Return by state what a part of it names: the tool that is offered in it alone, the guard that it is left by."""
    named = {name: object_of(state).get(part) for name, state in states.items()}
    return {name: value for name, value in named.items() if isinstance(value, str) and value}


def _tool_kinds(tools: Any) -> dict[str, Any]:
    """Return the parts of a contract that a table of `changing` and `reading` tools represents."""
    given = object_of(tools)
    return {f"{kind}_tools": given[kind] for kind in ("changing", "reading") if kind in given}


def _config_flow(config: FlowConfig, path: Path) -> FlowFile:
    misfits: list[str] = []
    contract = contract_of_nodes(config, misfits, unmarked_ends_succeed=True)
    file = _flow_file(_flow_name({}, path), contract, config.edges(), misfits, _offered(config))
    file.left_out += [Skipped("defect", None, f"{problem}; it is left out") for problem in config.problems]
    file.config = config
    return file


def _editor_flow(document: dict[str, Any], path: Path) -> FlowFile:
    misfits: list[str] = []
    odd_edges: list[str] = []
    edges = _edges(document.get("edges"), odd_edges)
    config = read_editor(document, edges, misfits)
    contract = contract_of_nodes(config, misfits, unmarked_ends_succeed=False)
    edges = list(dict.fromkeys([*edges, *config.edges()]))
    file = _flow_file(_flow_name(document, path), contract, edges, [*misfits, *odd_edges], _offered(config))
    file.config = config
    return file


def _platform_flow(platform: PlatformFlow, path: Path) -> FlowFile:
    misfits: list[str] = []
    config = platform.config
    contract = contract_of_nodes(config, misfits, unmarked_ends_succeed=False)
    states = {
        name: msgspec.structs.replace(state, id=platform.ids[name], exits=(platform.exits or {}).get(name))
        for name, state in contract.states.items()
    }
    names = list(dict.fromkeys(platform.names))
    contract = msgspec.structs.replace(contract, states=states, other_names=names[1:] or None)
    file = _flow_file(_flow_name({"flow": next(iter(names), None)}, path), contract, config.edges(), misfits)
    file.left_out += [Skipped("defect", None, problem) for problem in config.problems]
    file.config, file.remarks = config, platform.remarks
    return file


def _offered(config: FlowConfig) -> dict[str, Iterable[str]]:
    """Return the functions with code that nodes offer, and the guards that their marks name."""
    functions = [*config.global_functions, *(each for node in config.nodes.values() for each in node.functions)]
    return {
        "functions": [each.name for each in functions if not each.by_choice],
        "guards": _named({name: node.mark for name, node in config.nodes.items()}, "guard").values(),
    }


def _flow_file(
    flow: str,
    contract: Contract,
    edges: list[tuple[str, str]],
    misfits: list[str],
    besides: Mapping[str, Iterable[str]] = MappingProxyType({}),
) -> FlowFile:
    """Return a flow; what it names `besides` its contract is in the same JSON."""
    outcomes = dict.fromkeys(contract.successes(), "success") | dict.fromkeys(contract.escalations(), "escalation")
    named = [*contract.states, *(state for edge in edges for state in edge)]
    named += [*(contract.success_terminals or ()), *(contract.escalation_terminals or ())]
    described = [
        DescribedState(
            name,
            segment_of(name, contract),
            outcomes.get(name),
            tuple(contract.states[name].required_slots) if name in contract.states else (),
        )
        for name in dict.fromkeys(named)
    ]
    named_besides = {part: list(dict.fromkeys(names)) for part, names in besides.items()}
    body = msgspec.json.encode({**msgspec.to_builtins(contract), **named_besides}).decode()
    left_out = [Skipped("defect", None, f"{misfit} does not fit and is left out") for misfit in dict.fromkeys(misfits)]
    return FlowFile(DescribedFlow(flow, contract.archetype, described, edges, body), contract, left_out)


def _edges(given: Any, misfits: list[str]) -> list[tuple[str, str]]:
    """Return edges as pairs or as tables whose ends have either form's names, each once."""
    if not isinstance(given, list):
        if given is not None:
            misfits.append("edges")
        return []
    edges: dict[tuple[str, str], None] = {}
    for edge in given:
        ends = [edge.get(one, edge.get(other)) for one, other in _ENDS] if isinstance(edge, dict) else edge
        if isinstance(ends, list) and len(ends) == 2 and all(isinstance(end, str) and end for end in ends):
            edges[(ends[0], ends[1])] = None
        else:
            misfits.append("edges")
    return list(edges)


def _flow_name(document: Mapping[str, Any], path: Path) -> str:
    flow = document.get("flow")
    if isinstance(flow, str) and flow:
        return flow
    name = path.name
    for ending in _ENDINGS:
        name = name.removesuffix(ending) or name
    return name.encode(errors="surrogateescape").decode(errors="backslashreplace")


_EDITOR_DATA = frozenset({"functions", "riff", "role_messages", "task_messages"})


def is_editor_document(document: Mapping[str, Any]) -> bool:
    """Return whether a document is what pipecat's flow editor writes, and not what others draw with nodes and edges."""
    if "connections" in document:
        return False
    for node in objects_of(document.get("nodes")):
        is_editors = node.get("type") == "initial" or not _EDITOR_DATA.isdisjoint(object_of(node.get("data")))
        if "id" in node and "type" in node and is_editors:
            return True
    return False


def read_editor(document: Mapping[str, Any], edges: list[tuple[str, str]], misfits: list[str]) -> FlowConfig:
    """Return the flow that such a document describes, with its edges; a node without a name goes into `misfits`.

    An edge that no function takes is one by choice.
    """
    nodes: dict[str, FlowNode] = {}
    initial = ""
    for given in document["nodes"]:
        name = given.get("id") if isinstance(given, dict) else None
        if not isinstance(name, str) or not name:
            misfits.append("nodes")
            continue
        data = given.get("data")
        node = read_node(name, data if isinstance(data, dict) else {})
        nodes[name] = replace(node, ends=node.ends or given.get("type") == "end")
        if given.get("type") == "initial":
            initial = initial or name
    initial = initial or next(iter(nodes), "")
    for name, node in nodes.items():
        functions = _with_edges(node, [to for source, to in edges if source == name], nodes)
        nodes[name] = replace(node, functions=functions, ends=node.ends or (not functions and name != initial))
    return FlowConfig(initial, nodes)


def _with_edges(node: FlowNode, targets: list[str], nodes: Mapping[str, FlowNode]) -> tuple[NodeFunction, ...]:
    functions = tuple(
        replace(function, ways=tuple(way for way in function.ways if way.to in nodes)) for function in node.functions
    )
    led_to = {way.to for function in functions for way in function.ways}
    drawn = [NodeFunction(to, ways=(Way(to),), by_choice=True) for to in targets if to in nodes and to not in led_to]
    return (*functions, *drawn)


_AT_LARGE = ("completion_slots", "required_tools", "changing_tools", "reading_tools")
"""What nodes say of the whole flow."""


# Work out what a flow of pipecat promises, from its nodes and from the marks that riff-tui knows in them.
def contract_of_nodes(config: FlowConfig, misfits: list[str], *, unmarked_ends_succeed: bool) -> Contract:
    """Return the contract of a flow, with the parts of marks that do not fit in `misfits`.

    A node that ends the call is a success or an escalation as it is marked; without a mark it is an escalation by its
    name, and else a success if those are to be.
    """
    states: dict[str, StateContract] = {}
    at_large: dict[str, dict[str, None]] = {part: {} for part in _AT_LARGE}
    successes, escalations = [], []
    for name, node in config.nodes.items():
        state = {part: node.mark.get(part) for part in ("segment", "required_slots", "tool")}
        given = {part: node.mark.get(part) for part in _AT_LARGE} | _tool_kinds(node.mark.get("tools"))
        marks, wrong = contract_of({"states": {name: state}, **given})
        misfits += wrong
        required = marks.states[name].required_slots if state["required_slots"] is not None else _needed(node)
        states[name] = msgspec.structs.replace(marks.states[name], required_slots=required)
        for part, named in at_large.items():
            named |= dict.fromkeys(getattr(marks, part) or ())
        if node.end == "escalation":
            escalations.append(name)
        elif node.end == "success" or (unmarked_ends_succeed and _succeeds(node)):
            successes.append(name)
    if escalations:
        escalations += [name for name in config.nodes if name in DEFAULT_ESCALATIONS and config.nodes[name].end is None]
    ends = Contract(successes or None, escalations or None, states=states)
    return msgspec.structs.replace(ends, **{part: list(named) or None for part, named in at_large.items()})


def _succeeds(node: FlowNode) -> bool:
    return node.ends and node.end is None and node.name not in DEFAULT_ESCALATIONS


def _needed(node: FlowNode) -> list[str]:
    """Return the union of what a node's functions require."""
    return list(dict.fromkeys(slot for function in node.functions for slot in function.required))


# Read the conversation flows of Retell: nodes become states, what leads to a node an edge.
_EDGE_LISTS = ("edges",)
_SINGLE_EDGES = ("edge", "always_edge", "else_edge", "skip_response_edge")
_SUCCESSES = ("end",)
_ESCALATIONS = ("transfer_call",)
_LEAVING = ("agent_swap", "bridge_transfer", "cancel_transfer")
_EXTRACTION = "extract_dynamic_variables"
_COMPONENT = "component"


def is_retell_flow(document: Mapping[str, Any]) -> bool:
    """Return whether a document is a conversation flow of Retell, or an agent that was exported with one."""
    flow = _flow(document)
    nodes = flow.get("nodes")
    return isinstance(nodes, list) and ("conversation_flow_id" in flow or "start_node_id" in flow)


def read_retell_flow(document: Mapping[str, Any]) -> PlatformFlow:
    """Return the flow that such a document describes; raises nothing.

    It has the name that a user wrote into it, the agent's of an export, else its id. A node is called by its name, by
    its id if it has none. Nodes of one name are one, since calls name them so.
    """
    flow, private = _flow(document), private_of_agent(document)
    given = (
        document.get("flow"),
        document.get("agent_name"),
        flow.get("conversation_flow_id"),
        document.get("agent_id"),
    )
    names = [private.text(name) for name in given if isinstance(name, str) and name]
    return PlatformFlow("the nodes of a Retell flow", names, *_Reader(flow, private).read())


def _flow(document: Mapping[str, Any]) -> Mapping[str, Any]:
    inner = document.get("conversationFlow")
    return inner if isinstance(inner, dict) else document


class _Reader:
    def __init__(self, flow: Mapping[str, Any], private: PrivateValues) -> None:
        self._flow = flow
        self._private = private
        self._problems: list[str] = []
        self._components = {
            str(component[key]): component
            for component in objects_of(flow.get("components"))
            for key in ("component_id", "conversation_flow_component_id", "id", "name")
            if isinstance(component.get(key), str)
        }
        parts = [flow, *objects_of(flow.get("components"))]
        self._nodes = [node for part in parts for node in objects_of(part.get("nodes"))]
        self._names = {
            node["id"]: private.text(_name(node))
            for node in self._nodes
            if isinstance(node.get("id"), str) and node["id"]
        }

    def read(self) -> tuple[FlowConfig, dict[str, str]]:
        nodes: dict[str, FlowNode] = {}
        ids: dict[str, str] = {}
        for given in self._nodes:
            name = self._names.get(str(given.get("id")))
            if name is None:
                self._problems.append("nodes: a node has no id")
            elif name in nodes:
                self._problems.append(
                    f"nodes.{shown(name)}: more than one node is called this, and calls do not distinguish them"
                )
            else:
                nodes[name], ids[name] = self._node(name, given), given["id"]
                if self._is_dead_end(given, nodes[name]):
                    self._problems.append(f"nodes.{shown(name)}: nothing leads out of it, and it does not end the call")
        start = self._names.get(str(self._flow.get("start_node_id")), "")
        return FlowConfig(start or next(iter(nodes), ""), nodes, problems=self._problems), ids

    def _node(self, name: str, given: Mapping[str, Any]) -> FlowNode:
        kind = given.get("type")
        mark: dict[str, Any] = {}
        if kind in _SUCCESSES:
            mark["terminal"] = "success"
        if kind in _ESCALATIONS:
            mark["terminal"] = "escalation"
        if kind == _EXTRACTION:
            mark["required_slots"] = [
                each["name"] for each in objects_of(given.get("variables")) if isinstance(each.get("name"), str)
            ]
        instruction = object_of(given.get("instruction"))
        return FlowNode(
            name=name,
            role=_text(self._flow.get("global_prompt")),
            task=_text(instruction.get("text")),
            functions=tuple(self._ways(name, given)),
            ends=kind in (*_SUCCESSES, *_ESCALATIONS),
            mark=mark,
        )

    def _is_dead_end(self, given: Mapping[str, Any], node: FlowNode) -> bool:
        """Return whether a call cannot go on from a node, in which it does not end either, for want of any edge."""
        leaves = node.ends or given.get("type") in _LEAVING or isinstance(given.get("global_node_setting"), dict)
        return not leaves and not any(True for _ in self._targets(given))

    def _ways(self, name: str, given: Mapping[str, Any]) -> Iterator[NodeFunction]:
        """Return what leads out of a node; an edge that was drawn to none is a problem."""
        led = []
        for condition, target in self._targets(given):
            to = self._names.get(target) if isinstance(target, str) else None
            if to is None:
                is_named = isinstance(target, str) and target
                meant = f"to {shown(self._private.text(target))!r}, which is not a node" if is_named else "to no node"
                self._problems.append(
                    f"nodes.{shown(name)}: its edge {short_words(condition, self._private)!r} leads {meant}"
                )
            else:
                led.append((to, condition))
        return by_choice(led)

    def _targets(self, given: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
        """Yield the conditions of a node's edges, each with the id that it leads to."""
        edges = [(edge, "") for key in _EDGE_LISTS for edge in objects_of(given.get(key))]
        edges += [(given[key], key.removesuffix("_edge")) for key in _SINGLE_EDGES if isinstance(given.get(key), dict)]
        for edge, kind in edges:
            yield _condition(edge) or kind, edge.get("destination_node_id")
        if given.get("type") == _COMPONENT:
            component = self._components.get(str(given.get("component_id")), {})
            if start := component.get("start_node_id"):
                yield "always", start


def _name(node: Mapping[str, Any]) -> str:
    name = node.get("name")
    return name if isinstance(name, str) and name.strip() else str(node["id"])


def _condition(edge: Mapping[str, Any]) -> str:
    """Return when an edge is taken, in words or as its equations."""
    given = object_of(edge.get("transition_condition"))
    if prompt := _text(given.get("prompt")):
        return prompt
    both = " or " if given.get("operator") == "||" else " and "
    equations = (
        " ".join(_text(each.get(part)) for part in ("left", "operator", "right"))
        for each in objects_of(given.get("equations"))
    )
    return both.join(each.strip() for each in equations if each.strip())


def _text(value: Any) -> str:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    return value.strip() if isinstance(value, str) else ""
