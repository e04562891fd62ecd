"""Read what pipecat's flow editor saves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from riff_ingest.sources.flow_config import FlowConfig, FlowNode, NodeFunction, Way, read_node


def is_editor_document(document: Mapping[str, Any]) -> bool:
    """Tell whether a document is what pipecat's flow editor writes."""
    nodes = document.get("nodes")
    return isinstance(nodes, list) and any(isinstance(node, dict) and "id" in node and "type" in node for node in nodes)


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
