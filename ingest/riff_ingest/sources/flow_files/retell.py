"""Read the conversation flows of Retell: nodes become states, what leads to a node an edge."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from riff_ingest.lenient_json import object_of, objects_of
from riff_ingest.sources.flow_files.config import FlowConfig, FlowNode, NodeFunction, Way

_EDGE_LISTS = ("edges",)
_SINGLE_EDGES = ("edge", "always_edge", "else_edge", "skip_response_edge")
_SUCCESSES = ("end",)
_ESCALATIONS = ("transfer_call",)
_LEAVING = ("agent_swap", "bridge_transfer", "cancel_transfer")
_EXTRACTION = "extract_dynamic_variables"
_COMPONENT = "component"
_LONGEST_CONDITION = 60


def is_retell_flow(document: Mapping[str, Any]) -> bool:
    """Tell whether a document is a conversation flow of Retell, or an agent that was exported with one."""
    flow = _flow(document)
    nodes = flow.get("nodes")
    return isinstance(nodes, list) and ("conversation_flow_id" in flow or "start_node_id" in flow)


def retell_flow_name(document: Mapping[str, Any]) -> str | None:
    """Return the name of a flow: the one that a user wrote into it, the agent's of an export, else its id."""
    for name in (document.get("flow"), document.get("agent_name"), _flow(document).get("conversation_flow_id")):
        if isinstance(name, str) and name:
            return name
    return None


def read_retell_flow(document: Mapping[str, Any]) -> tuple[FlowConfig, dict[str, str]]:
    """Return the flow that such a document describes, and the ids of its nodes by name; raises nothing.

    A node is called by its name, by its id where it has none. Nodes of one name are one, since calls tell them so.
    """
    return _Reader(_flow(document)).read()


def _flow(document: Mapping[str, Any]) -> Mapping[str, Any]:
    inner = document.get("conversationFlow")
    return inner if isinstance(inner, dict) else document


class _Reader:
    def __init__(self, flow: Mapping[str, Any]) -> None:
        self._flow = flow
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
            node["id"]: _name(node) for node in self._nodes if isinstance(node.get("id"), str) and node["id"]
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
                    f"nodes.{name}: more than one node is called this, and calls do not tell them apart"
                )
            else:
                nodes[name], ids[name] = self._node(name, given), given["id"]
                if self._is_dead_end(given, nodes[name]):
                    self._problems.append(f"nodes.{name}: nothing leads out of it, and it does not end the call")
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
        """Tell whether a call cannot go on from a node, in which it does not end either, for want of any edge."""
        leaves = node.ends or given.get("type") in _LEAVING or isinstance(given.get("global_node_setting"), dict)
        return not leaves and not any(True for _ in self._targets(given))

    def _ways(self, name: str, given: Mapping[str, Any]) -> Iterator[NodeFunction]:
        """Yield what leads out of a node; an edge that was drawn to none is a problem."""
        taken: Counter[str] = Counter()
        for condition, target in self._targets(given):
            to = self._names.get(target) if isinstance(target, str) else None
            if to is None:
                meant = f"to {target!r}, which is no node" if isinstance(target, str) and target else "to no node"
                self._problems.append(f"nodes.{name}: its edge {_short(condition)!r} leads {meant}")
                continue
            taken[to] += 1
            number = f" {taken[to]}" if taken[to] > 1 else ""
            yield NodeFunction(f"to {to}{number}", condition, ways=(Way(to),), by_choice=True)

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


def _short(condition: str) -> str:
    return condition if len(condition) <= _LONGEST_CONDITION else f"{condition[: _LONGEST_CONDITION - 1]}…"


def _text(value: Any) -> str:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    return value.strip() if isinstance(value, str) else ""
