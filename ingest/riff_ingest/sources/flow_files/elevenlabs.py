"""Read the workflows of ElevenLabs' agents: nodes become states, what leads to a node an edge, some in both ways."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from riff_ingest.lenient_json import object_of, text_of
from riff_ingest.lines import BrokenInput
from riff_ingest.sources.flow_files.config import FlowConfig, FlowNode, NodeFunction, Way

NO_WORKFLOW = "an agent without a workflow; its calls have the tools as states"

_START, _END, _NUMBER = "start", "end", "phone_number"
_LEAVING = frozenset({"override_agent", "standalone_agent"})
"""Nodes that need no edge out: the agent may hang up there, or another one goes on."""
_ENDS = (("source", "from"), ("target", "to"))


def workflow_of(document: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return the workflow of an agent's document, `None` where it has none; its nodes and edges are objects."""
    for holder in (document, object_of(document.get("conversation_config"))):
        workflow = object_of(holder.get("workflow"))
        nodes = object_of(workflow.get("nodes"))
        begins = any(object_of(node).get("type") == _START for node in nodes.values())
        if begins and isinstance(workflow.get("edges"), dict):
            return workflow
    return None


def flow_name(document: Mapping[str, Any]) -> str | None:
    """Return the name of a flow: the one that a user wrote into it, else the agent's, else its id."""
    return next((name for key in ("flow", "name", "agent_id") if (name := text_of(document.get(key)))), None)


def read_workflow(workflow: Mapping[str, Any]) -> tuple[FlowConfig, dict[str, str]]:
    """Return the flow that a workflow is, and the ids of its nodes by name; raise `BrokenInput` for one without any."""
    given = {id_: object_of(node) for id_, node in workflow["nodes"].items()}
    labels = {id_: _label(node) or id_ for id_, node in given.items()}
    counts = Counter(labels.values())
    names = {id_: name if counts[name] == 1 else id_ for id_, name in labels.items()}
    inner = [id_ for id_, node in given.items() if node.get("type") != _START]
    if not inner:
        raise BrokenInput(NO_WORKFLOW)
    problems: list[str] = []
    ways = list(_ways(workflow, given, names, problems))
    nodes = {}
    for id_ in inner:
        kind, name = given[id_].get("type"), names[id_]
        led = list(dict.fromkeys((target, words) for source, target, words in ways if source == id_))
        if not led and kind not in (_END, _NUMBER, *_LEAVING):
            problems.append(f"nodes.{name}: nothing leads out of it, and it does not end the call")
        terminal = {_END: "success", _NUMBER: "escalation"}.get(str(kind))
        nodes[name] = FlowNode(
            name,
            functions=tuple(_functions(led, names)),
            ends=terminal is not None,
            mark={} if terminal is None else {"terminal": terminal},
        )
    begins = [names[target] for source, target, _ in ways if given[source].get("type") == _START]
    return FlowConfig((begins or [names[inner[0]]])[0], nodes, problems=problems), {names[id_]: id_ for id_ in inner}


def _label(node: Mapping[str, Any]) -> str | None:
    label = text_of(node.get("label"))
    return label if label and label.strip() else None


def _functions(led: list[tuple[str, str]], names: Mapping[str, str]) -> Iterator[NodeFunction]:
    taken: Counter[str] = Counter()
    for target, words in led:
        to = names[target]
        taken[to] += 1
        number = f" {taken[to]}" if taken[to] > 1 else ""
        yield NodeFunction(f"to {to}{number}", words, ways=(Way(to),), by_choice=True)


def _ways(
    workflow: Mapping[str, Any],
    nodes: Mapping[str, Mapping[str, Any]],
    names: Mapping[str, str],
    problems: list[str],
) -> Iterator[tuple[str, str, str]]:
    """Yield from where to where edges lead, by ids in the order of the nodes, and when."""
    edges = {id_: object_of(edge) for id_, edge in workflow["edges"].items()}
    first = [id_ for node in nodes.values() for id_ in _texts(node.get("edge_order")) if id_ in edges]
    for edge in (edges[id_] for id_ in dict.fromkeys((*first, *edges))):
        source, target = (text_of(edge.get(one)) or text_of(edge.get(other)) for one, other in _ENDS)
        if source is None or target is None or source not in nodes or target not in nodes:
            meant = next((end for end in (source, target) if end and end not in nodes), None)
            problems.append(f"edges: one leads {f'to {meant!r}, which is no node' if meant else 'to no node'}")
            continue
        back = object_of(edge.get("backward_condition"))
        yield source, target, _words(object_of(edge.get("forward_condition")))
        if back and nodes[source].get("type") != _START:
            yield target, source, _words(back)


def _words(condition: Mapping[str, Any]) -> str:
    """Return when an edge is taken."""
    words = text_of(condition.get("condition")) or text_of(condition.get("label"))
    if words is None and condition.get("type") == "result":
        words = "worked" if condition.get("successful") is True else "failed"
    return words or text_of(condition.get("type")) or ""


def _texts(given: Any) -> list[str]:
    return [each for each in given if isinstance(each, str)] if isinstance(given, list) else []
