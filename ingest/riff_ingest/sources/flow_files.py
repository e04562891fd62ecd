"""Read flow files: native TOML or JSON, and what pipecat's flow editor writes (docs/formats.md, section 3)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from riff_ingest.contract import Contract, StateContract
from riff_ingest.segments import segment_of
from riff_ingest.sources.coercion import contract_of
from riff_ingest.sources.lenient_json import load_document
from riff_ingest.sources.lines import BrokenInput
from riff_ingest.sources.source import FileHead, Source
from riff_store.facts import DescribedFlow, DescribedState, Skipped

_ENDS = (("from", "source"), ("to", "target"))
_ENDINGS = (".gz", ".json", ".toml")
_NATIVE_PARTS = frozenset({"edges", *Contract.__struct_fields__} - {"archetype"})


@dataclass(slots=True)
class FlowFile:
    """Hold a flow as its file describes it, the contract that it promises, and what of the file did not fit."""

    described: DescribedFlow
    contract: Contract
    left_out: list[Skipped] = field(default_factory=list)


def read(path: Path) -> FlowFile:
    """Return the flow that a file describes; raise `BrokenInput` where it describes none.

    Without a name in it the flow has the name of its file.
    """
    return flow_of(load_document(path), path)


def flow_of(document: Any, path: Path) -> FlowFile:
    """Return the flow that the document of a file describes; raise `BrokenInput` where it describes none."""
    if not isinstance(document, dict):
        raise BrokenInput("file is not a JSON object")
    if _is_editor_document(document):
        return _editor_flow(document, path)
    if _NATIVE_PARTS.isdisjoint(document):
        raise BrokenInput("file does not describe a flow")
    return _native_flow(document, path)


def _is_editor_document(document: Mapping[str, Any]) -> bool:
    """Tell whether a document is what pipecat's flow editor writes."""
    nodes = document.get("nodes")
    return isinstance(nodes, list) and any(isinstance(node, dict) and "id" in node and "type" in node for node in nodes)


def _recognises(head: FileHead) -> str | None:
    if any("conversation_id" in record for record in head.records):
        return None
    if _is_editor_document(head.document):
        return "it has the nodes of a flow editor"
    if isinstance(head.document.get("flow"), str) and not _NATIVE_PARTS.isdisjoint(head.document):
        return "it has a flow and parts of its contract"
    return None


def _items(path: Path) -> Iterator[DescribedFlow | Skipped]:
    found = read(path)
    yield found.described
    yield from found.left_out


def _contracts(path: Path) -> dict[str, Contract]:
    found = read(path)
    return {found.described.flow: found.contract}


def _native_flow(document: dict[str, Any], path: Path) -> FlowFile:
    contract, misfits = contract_of(document)
    edges = _edges(document.get("edges"), misfits)
    return _flow_file(_flow_name(document, path), contract, edges, misfits)


def _editor_flow(document: dict[str, Any], path: Path) -> FlowFile:
    misfits: list[str] = []
    states: dict[str, StateContract] = {}
    terminals: dict[str, list[str]] = {"success": [], "escalation": []}
    completion: dict[str, None] = {}
    for node in document["nodes"]:
        name = _table(node).get("id")
        if not isinstance(name, str) or not name:
            misfits.append("nodes")
            continue
        marks, terminal = _marks(name, _table(_table(node).get("data")), misfits)
        states[name] = marks.states[name]
        completion |= dict.fromkeys(marks.completion_slots or ())
        if terminal in terminals:
            terminals[terminal].append(name)
    contract = Contract(
        success_terminals=terminals["success"] or None,
        escalation_terminals=terminals["escalation"] or None,
        completion_slots=list(completion) or None,
        states=states,
    )
    edges = _edges(document.get("edges"), misfits)
    return _flow_file(_flow_name(document, path), contract, edges, misfits)


def _marks(name: str, data: Mapping[str, Any], misfits: list[str]) -> tuple[Contract, str]:
    """Return what one node of the editor says of its state, and what end of the call it is, if one."""
    riff = _table(data.get("riff"))
    state = {part: riff.get(part) for part in ("segment", "required_slots")}
    marks, wrong = contract_of({"states": {name: state}, "completion_slots": riff.get("completion_slots")})
    misfits += wrong
    if state["required_slots"] is None:
        marked = StateContract(marks.states[name].segment, _needed_by_functions(data))
        marks = msgspec.structs.replace(marks, states={name: marked})
    terminal = riff.get("terminal")
    return marks, terminal if isinstance(terminal, str) else ""


def _flow_file(flow: str, contract: Contract, edges: list[tuple[str, str]], misfits: list[str]) -> FlowFile:
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
    body = msgspec.json.encode(contract).decode()
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


def _needed_by_functions(data: Mapping[str, Any]) -> list[str]:
    """Return the union of what a node's functions require, in the editor's own form or in that of a model's tools."""
    functions = data.get("functions")
    needed: dict[str, None] = {}
    for entry in functions if isinstance(functions, list) else ():
        function = _table(_table(entry).get("function")) or _table(entry)
        required = function.get("required") or _table(function.get("parameters")).get("required")
        needed |= (
            dict.fromkeys(slot for slot in required if isinstance(slot, str)) if isinstance(required, list) else {}
        )
    return list(needed)


def _table(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _flow_name(document: Mapping[str, Any], path: Path) -> str:
    flow = document.get("flow")
    if isinstance(flow, str) and flow:
        return flow
    name = path.name
    for ending in _ENDINGS:
        name = name.removesuffix(ending) or name
    return name.encode(errors="surrogateescape").decode(errors="backslashreplace")


SOURCE = Source(
    kind="flow-file",
    version=1,
    read=lambda path, context: _items(path),
    title="Flow file",
    known_by="the parts of a contract or the nodes of a flow editor, in TOML or JSON",
    recognises=_recognises,
    keeps_text=False,
    contracts=_contracts,
    rank=30,
)
