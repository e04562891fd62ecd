"""Read the workflows of ElevenLabs' agents: nodes become states, what leads to a node an edge, some in both ways."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from riff_ingest.conversation import Exits
from riff_ingest.lenient_json import object_of, text_of
from riff_ingest.private_values import PrivateValues, private_of_agent, short_words
from riff_ingest.sources.flow_files.config import (
    LONGEST_REASON,
    FlowConfig,
    FlowNode,
    NoFlow,
    PlatformFlow,
    by_choice,
    shown,
)

NO_WORKFLOW = "an agent without a workflow; its calls have the tools as states"

_START, _END, _NUMBER, _OTHER_AGENT = "start", "end", "phone_number", "standalone_agent"
_ENDING = frozenset({_END, _NUMBER, _OTHER_AGENT})
_LEAVING = _ENDING | {"override_agent"}
"""Nodes that need no edge out: the call ends there, the agent may hang up there, or another one goes on."""
_ENDS = (("source", "from"), ("target", "to"))


def workflow_flow(document: Mapping[str, Any]) -> PlatformFlow | None:
    """Return the flow of an agent's document, `None` for any other document; raise `NoFlow` for an agent without one.

    The nodes and edges of a workflow are objects. The flow has the name that a user wrote into it, else the agent's,
    else its id.
    """
    agent = object_of(document.get("conversation_config"))
    for holder in (document, agent):
        workflow = object_of(holder.get("workflow"))
        nodes = object_of(workflow.get("nodes"))
        begins = any(object_of(node).get("type") == _START for node in nodes.values())
        if begins and isinstance(workflow.get("edges"), dict):
            names = [name for key in ("flow", "name", "agent_id") if (name := text_of(document.get(key)))]
            return _read(workflow, names, _prompt(agent), private_of_agent(document))
    if text_of(document.get("agent_id")) and "agent" in agent and not document.get("workflow"):
        raise NoFlow(NO_WORKFLOW)
    return None


def _read(workflow: Mapping[str, Any], called: list[str], role: str, private: PrivateValues) -> PlatformFlow:
    given = {id_: object_of(node) for id_, node in workflow["nodes"].items()}
    labels = {id_: private.text(_label(node) or id_) for id_, node in given.items()}
    counts = Counter(labels.values())
    names = {id_: private.text(id_) if counts[name] > 1 or name in given else name for id_, name in labels.items()}
    inner = [id_ for id_, node in given.items() if node.get("type") != _START]
    if not inner:
        raise NoFlow(NO_WORKFLOW)
    problems: list[str] = []
    leading: dict[str, dict[tuple[str, str], None]] = {}
    exits: Exits = {}
    begins: list[str] = []
    for edge, source, target, words in _ways(workflow, given, private, problems):
        if given[source].get("type") == _START:
            begins.append(names[target])
            continue
        leading.setdefault(source, {})[(names[target], words)] = None
        if reason := short_words(words, private, LONGEST_REASON):
            exits.setdefault(names[source], {}).setdefault(names[target], {})[edge] = reason
    nodes = {}
    for id_ in inner:
        kind, name = text_of(given[id_].get("type")), names[id_]
        led = leading.get(id_, {})
        if not led and kind not in _LEAVING:
            problems.append(f"nodes.{shown(name)}: nothing leads out of it, and it does not end the call")
        terminal = {_END: "success", _NUMBER: "escalation"}.get(kind or "")
        nodes[name] = FlowNode(
            name,
            role=role,
            task=text_of(given[id_].get("additional_prompt")) or "",
            functions=tuple(by_choice(led)),
            ends=kind in _ENDING,
            mark={} if terminal is None else {"terminal": terminal},
        )
    config = FlowConfig((begins or [names[inner[0]]])[0], nodes, problems=problems)
    ids = {names[id_]: id_ for id_ in inner}
    return PlatformFlow(
        "the nodes of an ElevenLabs workflow", [private.text(each) for each in called], config, ids, exits
    )


def _prompt(agent: Mapping[str, Any]) -> str:
    return text_of(object_of(object_of(agent.get("agent")).get("prompt")).get("prompt")) or ""


def _label(node: Mapping[str, Any]) -> str | None:
    label = text_of(node.get("label"))
    return label if label and label.strip() else None


def _ways(
    workflow: Mapping[str, Any],
    nodes: Mapping[str, Mapping[str, Any]],
    private: PrivateValues,
    problems: list[str],
) -> Iterator[tuple[str, str, str, str]]:
    """Yield the ids of edges, from where to where they lead, by ids in the order of the nodes, and when."""
    edges = {id_: object_of(edge) for id_, edge in workflow["edges"].items()}
    first = [id_ for node in nodes.values() for id_ in _texts(node.get("edge_order")) if id_ in edges]
    for id_ in dict.fromkeys((*first, *edges)):
        edge = edges[id_]
        source, target = (text_of(edge.get(one)) or text_of(edge.get(other)) for one, other in _ENDS)
        if source is None or target is None or source not in nodes or target not in nodes:
            meant = next((end for end in (source, target) if end and end not in nodes), None)
            where = f"to {shown(private.text(meant))!r}, which is not a node" if meant else "to no node"
            problems.append(f"edges: one leads {where}")
            continue
        back = object_of(edge.get("backward_condition"))
        yield id_, source, target, _words(object_of(edge.get("forward_condition")))
        if back and nodes[source].get("type") != _START:
            yield id_, target, source, _words(back)


def _words(condition: Mapping[str, Any]) -> str:
    """Return when an edge is taken."""
    words = text_of(condition.get("condition")) or text_of(condition.get("label"))
    if words is None and condition.get("type") == "result":
        words = "worked" if condition.get("successful") is True else "failed"
    return words or text_of(condition.get("type")) or ""


def _texts(given: Any) -> list[str]:
    return [each for each in given if isinstance(each, str)] if isinstance(given, list) else []
