"""The contracts of imports bite: what a room may not import breaks them."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import grimp
import pytest

from tests.support.import_contract import AllowedImports

CONTRACTS = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))["tool"][
    "importlinter"
]["contracts"]
ALLOWED = [contract for contract in CONTRACTS if contract["type"] == "allowed"]


def broken(contract: dict[str, Any], graph: grimp.ImportGraph) -> list[str]:
    found: list[str] = AllowedImports(contract["name"], {}, contract).check(graph, verbose=False).metadata["broken"]
    return found


def graph_of(*imports: tuple[str, str]) -> grimp.ImportGraph:
    graph = grimp.ImportGraph()
    for importer, imported in imports:
        graph.add_import(importer=importer, imported=imported, line_number=7, line_contents="import it")
    return graph


@pytest.mark.parametrize("contract", ALLOWED, ids=lambda contract: contract["name"])
def test_a_room_imports_nothing_that_is_not_listed(contract: dict[str, Any]) -> None:
    rooms = [(room, "json") for room in contract["modules"]]
    rooms += [tuple(each.split(" -> ")) for each in contract.get("ignore_imports", ())]
    room, listed = contract["modules"][0], contract["allowed"][0]
    assert broken(contract, graph_of(*rooms, (f"{room}.part", listed), (f"{room}.part", f"{listed}.deep"))) == []
    assert broken(contract, graph_of(*rooms, (f"{room}.part", "elsewhere.deep"))) == [
        f"{room}.part -> elsewhere.deep (l. 7)"
    ]


def test_a_room_that_is_gone_is_told() -> None:
    contract = {"name": "x", "modules": ["a.gone"], "allowed": []}
    assert broken(contract, graph_of(("a", "json"))) == ["there is no module a.gone"]
