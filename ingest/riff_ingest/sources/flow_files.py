"""Flows described apart from their calls: native TOML or JSON, and pipecat's flow editor (formats.md, section 3)."""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from riff_ingest.contract import Contract, StateContract
from riff_ingest.segments import segment_of
from riff_ingest.sources.coercion import contract_of
from riff_ingest.sources.lenient_json import as_text, clean, loads
from riff_ingest.sources.lines import BrokenInput, read_whole
from riff_store.facts import DescribedFlow, DescribedState, Skipped

MAX_FLOW_FILE = 16 * 1024 * 1024

_ENDS = (("from", "source"), ("to", "target"))
_ENDINGS = (".gz", ".json", ".toml")
_NATIVE_PARTS = frozenset({"edges", *Contract.__struct_fields__} - {"archetype"})


@dataclass(slots=True)
class FlowFile:
    """A flow as its file describes it, the contract that it promises, and what of the file did not fit."""

    described: DescribedFlow
    contract: Contract
    left_out: list[Skipped] = field(default_factory=list)


def read(path: Path) -> FlowFile:
    """The flow that a file describes; raises `BrokenInput` where it describes none.

    Without a name in it the flow has the name of its file.
    """
    document = load(path)
    if not isinstance(document, dict):
        raise BrokenInput("file is not a JSON object")
    if is_editor_document(document):
        return _editor_flow(document, path)
    if _NATIVE_PARTS.isdisjoint(document):
        raise BrokenInput("file does not describe a flow")
    return _native_flow(document, path)


def load(path: Path) -> Any:
    """The value of a file that is one JSON or TOML document; raises `BrokenInput`."""
    data = read_whole(path, MAX_FLOW_FILE)
    start = data.lstrip()[:1]
    defects: Counter[str] = Counter()
    if start == b"{":
        return clean(loads(data, defects, what="file"), defects)
    if start == b"[":  # a JSON list, or the name of a TOML table
        with suppress(BrokenInput):
            return clean(loads(data, defects, what="file"), defects)
    return clean(_toml(data), defects)


def is_editor_document(document: Mapping[str, Any]) -> bool:
    """Whether a document is what pipecat's flow editor writes."""
    nodes = document.get("nodes")
    return isinstance(nodes, list) and any(isinstance(node, dict) and "id" in node and "type" in node for node in nodes)


def is_native_document(document: Mapping[str, Any]) -> bool:
    """Whether a document is the native form: a flow with at least one part of a contract, or edges."""
    return isinstance(document.get("flow"), str) and not _NATIVE_PARTS.isdisjoint(document)


def _toml(data: bytes) -> dict[str, Any]:
    try:
        return tomllib.loads(as_text(data, Counter()))
    except tomllib.TOMLDecodeError as error:
        raise BrokenInput("file is neither JSON nor TOML", _toml_line(error)) from error
    except RecursionError as error:
        raise BrokenInput("file is nested too deeply") from error
    except ValueError as error:
        raise BrokenInput("file holds a number or a date out of range") from error


def _toml_line(error: tomllib.TOMLDecodeError) -> int | None:
    _, _, place = str(error).rpartition("(at line ")
    number = place.partition(",")[0]
    return int(number) if number.isascii() and number.isdigit() else None


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
    """What one node of the editor says of its state, and what end of the call it is, if one."""
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
    """Edges as pairs or as tables whose ends have either form's names, each once."""
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
    """The union of what a node's functions require, in the editor's own form or in that of a model's tools."""
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
