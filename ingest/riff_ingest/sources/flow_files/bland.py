"""Read the pathways of Bland: nodes become states, what leads to a node an edge."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from riff_ingest.conversation import Exits
from riff_ingest.lenient_json import object_of, objects_of, text_of
from riff_ingest.private_values import PrivateValues, private_of_agent, short_words
from riff_ingest.sources.flow_files.config import LONGEST_REASON, FlowConfig, FlowNode, PlatformFlow, by_choice, shown

_ENDS = {"End Call": "success", "Transfer Call": "escalation"}
_LEAVING = frozenset({"Transfer Pathway", "Transfer Node"})
"""Nodes after which another pathway goes on."""
_KINDS = (
    _ENDS.keys() | _LEAVING | {"Default", "Webhook", "Knowledge Base", "Wait for Response", "Press Button", "Route"}
)
_MARKS = ("isStart", "isGlobal", "extractVars")


def pathway_flow(document: Mapping[str, Any]) -> PlatformFlow | None:
    """Return the flow of a pathway, which a document is or has under `data`, `None` for any other document.

    It has the name that a user wrote into it, else the pathway's, else its id.
    """
    for holder in (document, object_of(document.get("data")), object_of(document.get("pathway"))):
        nodes = objects_of(holder.get("nodes"))
        if isinstance(holder.get("edges"), list) and "connections" not in holder and any(map(_is_marked, nodes)):
            keys = ("flow", "name", "pathway_id", "id")
            names = [name for key in keys for each in (document, holder) if (name := text_of(each.get(key)))]
            return _read(holder, names, private_of_agent(document))
    return None


def _is_marked(node: Mapping[str, Any]) -> bool:
    data = object_of(node.get("data"))
    return text_of(node.get("id")) is not None and (
        any(mark in data for mark in _MARKS) or (text_of(node.get("type")) in _KINDS and "name" in data)
    )


def _read(pathway: Mapping[str, Any], called: list[str], private: PrivateValues) -> PlatformFlow:
    given = {id_: node for node in objects_of(pathway.get("nodes")) if (id_ := text_of(node.get("id"))) is not None}
    labels = {id_: private.text(text_of(object_of(each.get("data")).get("name")) or id_) for id_, each in given.items()}
    counts = Counter(labels.values())
    names = {id_: id_ if counts[name] > 1 or name in given else name for id_, name in labels.items()}
    problems: list[str] = []
    leading: dict[str, dict[tuple[str, str], None]] = {}
    exits: Exits = {}
    for edge, source, target, words in _ways(pathway, names, private, problems):
        leading.setdefault(source, {})[(names[target], words)] = None
        if reason := short_words(words, private, LONGEST_REASON):
            exits.setdefault(names[source], {}).setdefault(names[target], {})[edge] = reason
    nodes = {}
    for id_, node in given.items():
        kind, data, name = text_of(node.get("type")) or "", object_of(node.get("data")), names[id_]
        led = leading.get(id_, {})
        mark: dict[str, Any] = {"required_slots": _extracted(data)}
        if kind in _ENDS:
            mark["terminal"] = _ENDS[kind]
        elif not led and kind not in _LEAVING and data.get("isGlobal") is not True:
            problems.append(f"nodes.{shown(name)}: nothing leads out of it, and it does not end the call")
        nodes[name] = FlowNode(name, functions=tuple(by_choice(led)), ends=kind in _ENDS, mark=mark)
    starts = [names[id_] for id_, node in given.items() if object_of(node.get("data")).get("isStart") is True]
    initial = (starts or list(nodes) or [""])[0]
    config = FlowConfig(initial, nodes, problems=problems)
    ids = {names[id_]: id_ for id_ in given}
    return PlatformFlow("the nodes of a Bland pathway", [private.text(each) for each in called], config, ids, exits)


def _extracted(data: Mapping[str, Any]) -> list[str]:
    """Return the variables that a node is to find out: each a list of its name, its type and words for it."""
    listed = data.get("extractVars")
    found = (each[0] for each in (listed if isinstance(listed, list) else ()) if isinstance(each, list) and each)
    return list(dict.fromkeys(name for name in found if isinstance(name, str) and name))


def _ways(
    pathway: Mapping[str, Any], names: Mapping[str, str], private: PrivateValues, problems: list[str]
) -> Iterator[tuple[str, str, str, str]]:
    """Yield the ids of edges, from where to where they lead, by ids, and when."""
    for number, edge in enumerate(objects_of(pathway.get("edges"))):
        source, target = text_of(edge.get("source")), text_of(edge.get("target"))
        if source in names and target in names:
            words = text_of(edge.get("label")) or text_of(object_of(edge.get("data")).get("label"))
            yield text_of(edge.get("id")) or str(number), str(source), str(target), words or ""
        else:
            meant = next((shown(private.text(end)) for end in (source, target) if end and end not in names), None)
            problems.append(f"edges: one leads {f'to {meant!r}, which is not a node' if meant else 'to no node'}")
