"""Check allow-lists of imports: what each room may import, apart from itself and the standard library."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any

from grimp import ImportGraph
from importlinter import Contract, ContractCheck, fields, output
from importlinter.application import contract_utils


class AllowedImports(Contract):
    """Break where a module of a room imports what is neither in the room nor allowed.

    `modules` are packages or modules with all below them, `allowed` what they may import directly, with all below it.
    `ignore_imports` are single imports, `importer -> imported`, that are allowed besides.
    """

    type_name = "allowed"
    modules: Any = fields.ListField(subfield=fields.StringField())
    allowed: Any = fields.ListField(subfield=fields.StringField())
    ignore_imports: Any = fields.SetField(subfield=fields.ImportExpressionField(), required=False)

    def check(self, graph: ImportGraph, verbose: bool) -> ContractCheck:
        """Return the imports of the rooms that are not allowed."""
        ignored = contract_utils.remove_ignored_imports_and_report(
            graph=graph, ignore_imports=self.ignore_imports, unmatched_alerting=contract_utils.AlertLevel.ERROR
        )
        broken = [f"there is no module {module}" for module in self.modules if module not in graph.modules]
        allowed = (*sys.stdlib_module_names, *self.modules, *self.allowed)
        for importer in sorted(module for module in graph.modules if _is_within(module, self.modules)):
            for imported in sorted(graph.find_modules_directly_imported_by(importer)):
                if not _is_within(imported, allowed):
                    places = graph.get_import_details(importer=importer, imported=imported)
                    broken.append(f"{importer} -> {imported} (l. {places[0]['line_number']})")
        return ContractCheck(kept=not broken, warnings=list(ignored.warnings), metadata={"broken": broken})

    def render_broken_contract(self, check: ContractCheck) -> None:
        """Print the imports that are not allowed."""
        for line in check.metadata["broken"]:
            output.print_error(line)


def _is_within(module: str, packages: Iterable[str]) -> bool:
    return any(module == package or module.startswith(f"{package}.") for package in packages)
