"""Read flow files: native ones, and those of pipecat and Retell (docs/formats.md, section 3)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec

from riff_ingest.contract import Contract
from riff_ingest.segments import segment_of
from riff_ingest.sources.coercion import contract_of
from riff_ingest.sources.flow_config import FlowConfig, is_flow_config, read_config
from riff_ingest.sources.flow_editor import is_editor_document, read_editor
from riff_ingest.sources.flow_marks import contract_of_nodes
from riff_ingest.sources.lenient_json import load_document
from riff_ingest.sources.lines import BrokenInput
from riff_ingest.sources.retell_flow import is_retell_flow, read_retell_flow, retell_flow_name
from riff_ingest.sources.source import FileHead, Source
from riff_store.facts import DescribedFlow, DescribedState, Skipped

_ENDS = (("from", "source"), ("to", "target"))
_ENDINGS = (".gz", ".json", ".toml", ".yaml", ".yml")
NO_FLOW = "file does not describe a flow, which has edges or states, or nodes; see docs/formats.md, section 3"
_NATIVE_PARTS = frozenset({"edges", *Contract.__struct_fields__} - {"archetype"})


@dataclass(slots=True)
class FlowFile:
    """Hold a flow as its file describes it, the contract that it promises, and what of the file did not fit.

    `config` has the nodes of a flow of pipecat or Retell; it is `None` for a native one.
    """

    described: DescribedFlow
    contract: Contract
    left_out: list[Skipped] = field(default_factory=list)
    config: FlowConfig | None = None


def read(path: Path) -> FlowFile:
    """Return the flow that a file describes; raise `BrokenInput` where it describes none.

    Without a name in it the flow has the name of its file.
    """
    return flow_of(load_document(path), path)


def flow_of(document: Any, path: Path) -> FlowFile:
    """Return the flow that the document of a file describes; raise `BrokenInput` where it describes none."""
    if not isinstance(document, dict):
        raise BrokenInput("file is not a JSON object")
    if is_flow_config(document):
        return _config_flow(read_config(document), path)
    if is_retell_flow(document):
        return _retell_flow(document, path)
    if is_editor_document(document):
        return _editor_flow(document, path)
    if _NATIVE_PARTS.isdisjoint(document):
        raise BrokenInput(NO_FLOW)
    return _native_flow(document, path)


def _recognises(head: FileHead) -> str | None:
    if any("conversation_id" in record for record in head.records):
        return None
    if is_flow_config(head.document):
        return "it has the nodes of a pipecat flow"
    if is_retell_flow(head.document):
        return "it has the nodes of a Retell flow"
    if is_editor_document(head.document):
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


def _config_flow(config: FlowConfig, path: Path) -> FlowFile:
    misfits: list[str] = []
    contract = contract_of_nodes(config, misfits, unmarked_ends_succeed=True)
    file = _flow_file(_flow_name({}, path), contract, config.edges(), misfits)
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
    file = _flow_file(_flow_name(document, path), contract, edges, [*misfits, *odd_edges])
    file.config = config
    return file


def _retell_flow(document: dict[str, Any], path: Path) -> FlowFile:
    config, ids = read_retell_flow(document)
    misfits: list[str] = []
    contract = contract_of_nodes(config, misfits, unmarked_ends_succeed=False)
    states = {name: msgspec.structs.replace(state, id=ids[name]) for name, state in contract.states.items()}
    contract = msgspec.structs.replace(contract, states=states)
    file = _flow_file(_flow_name({"flow": retell_flow_name(document)}, path), contract, config.edges(), misfits)
    file.left_out += [Skipped("defect", None, problem) for problem in config.problems]
    file.config = config
    return file


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
    version=3,
    read=lambda path, context: _items(path),
    title="Flow file",
    known_by="parts of a contract, or the nodes of a flow of pipecat, its editor or Retell, in TOML, JSON or YAML",
    recognises=_recognises,
    yaml_words=(b"initial_node", b"nodes"),
    keeps_text=False,
    contracts=_contracts,
    rank=30,
)
