"""The house stays simple: its modules are few and have a reason to be modules, and nothing runs in a circle."""

from __future__ import annotations

import ast
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.conftest import ROOT

PACKAGES = {
    "riff_tui": ROOT,
    "riff_store": ROOT / "store",
    "riff_ingest": ROOT / "ingest",
    "riff_runner": ROOT / "ingest",
}
MOST_LINES = 500
FEWEST, MOST_MODULES = 3, 25
LARGE = 250
"""A module of more lines than these needs no second importer to be one."""

REGISTRIES = {
    "riff_tui.commands": "commands",
    "riff_tui.commands.calls": "commands that make calls",
    "riff_tui.views": "views",
    "riff_store.queries": "the questions that views ask",
    "riff_ingest.sources": "formats",
    "riff_ingest.eva.metrics": "metrics of voice calls",
    "riff_tui.output.sinks": "formats of output",
    "riff_tui.tui.actions": "kinds of actions",
}
"""The packages whose modules are entries of a registry."""

BY_THEMSELVES = {
    "riff_tui.__main__": "run by `python -m riff_tui`",
    "riff_tui.cli": "the console script",
    "riff_ingest.runner": "the name by which scripts know riff_runner",
    "riff_runner.processes.program": "a program of its own, which loads nothing else",
    "riff_tui.tui.terminal.browser_driver": "named to Textual in a variable of the environment",
}


class Imports(NamedTuple):
    """Describe which modules one imports: while it is loaded, only inside functions, and only for types."""

    at_once: frozenset[str]
    later: frozenset[str]
    for_types: frozenset[str]


@cache
def modules() -> dict[str, Path]:
    found = {}
    for package, parent in PACKAGES.items():
        for path in (parent / package).rglob("*.py"):
            parts = path.relative_to(parent).with_suffix("").parts
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def lines_of(name: str) -> int:
    return len(modules()[name].read_text(encoding="utf-8").splitlines())


@cache
def imports_of(name: str) -> Imports:
    at_once: set[str] = set()
    later: set[str] = set()
    for_types: set[str] = set()

    def look(nodes: list[ast.stmt], into: set[str]) -> None:
        for node in nodes:
            if isinstance(node, ast.ImportFrom | ast.Import):
                into.update(named_by(node) & modules().keys())
            elif isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
                look(node.body, for_types)
            else:
                inner = later if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) else into
                look([each for each in ast.iter_child_nodes(node) if isinstance(each, ast.stmt)], inner)
                for case in getattr(node, "cases", ()):
                    look(case.body, inner)
                for handler in getattr(node, "handlers", ()):
                    look(handler.body, inner)

    look(ast.parse(modules()[name].read_bytes()).body, at_once)
    sets = (at_once, later - at_once, for_types - at_once - later)
    return Imports(*(frozenset(each - {name}) for each in sets))


def named_by(node: ast.Import | ast.ImportFrom) -> set[str]:
    if isinstance(node, ast.Import):
        return {alias.name for alias in node.names}
    names = {f"{node.module}.{alias.name}" for alias in node.names}
    return {name if name in modules() else node.module or "" for name in names}


@cache
def importers() -> dict[str, set[str]]:
    found = defaultdict(set)
    for name in modules():
        for each in imports_of(name):
            for other in each:
                found[other].add(name)
    return found


def reason(name: str) -> str:
    """Why a module is one, empty if it is part of the one that imports it."""
    users = importers()[name]
    if name in BY_THEMSELVES:
        return BY_THEMSELVES[name]
    if modules()[name].name == "__init__.py":
        return "a package"
    if len(users) > 1:
        return "it has two importers"
    if lines_of(name) > LARGE:
        return "it is large"
    if name.rpartition(".")[0] in REGISTRIES:
        return f"an entry among {REGISTRIES[name.rpartition('.')[0]]}"
    if users and all(name not in imports_of(user).at_once for user in users):
        return "it is loaded later than the one that needs it"
    return ""


def test_a_module_has_a_reason_to_be_one() -> None:
    assert [f"{name} <- {', '.join(importers()[name])}" for name in sorted(modules()) if not reason(name)] == []


def test_what_stands_by_itself_is_there() -> None:
    assert BY_THEMSELVES.keys() | REGISTRIES.keys() <= modules().keys()


def test_no_module_is_too_long_to_be_read() -> None:
    assert {name: lines_of(name) for name in modules() if lines_of(name) > MOST_LINES} == {}


def test_a_folder_has_neither_too_many_modules_nor_too_few() -> None:
    beside, with_package = Counter[Path](), Counter[Path]()
    for path in modules().values():
        is_package = path.name == "__init__.py"
        beside[path.parent] += not is_package
        # A package that only shows what it is for is none of its modules.
        with_package[path.parent] += not is_package or len(ast.parse(path.read_bytes()).body) > 1
    roots = {parent / package for package, parent in PACKAGES.items()}
    assert {folder: count for folder, count in beside.items() if count > MOST_MODULES} == {}
    assert {folder: count for folder, count in with_package.items() if count < FEWEST and folder not in roots} == {}


def test_no_imports_run_in_a_circle() -> None:
    assert list(circles({name: imports_of(name).at_once for name in modules()})) == []


@pytest.mark.parametrize("package", sorted({name.rpartition(".")[0] for name in modules() if "." in name}))
def test_no_import_from_room_to_room_runs_back(package: str) -> None:
    below = f"{package}."
    rooms: dict[str, set[str]] = defaultdict(set)
    for name in modules():
        if name.startswith(below):
            room = name.removeprefix(below).partition(".")[0]
            inside = (other for other in imports_of(name).at_once if other.startswith(below))
            rooms[room] |= {other.removeprefix(below).partition(".")[0] for other in inside} - {room}
    assert list(circles(rooms)) == []


def circles(graph: Mapping[str, Collection[str]]) -> Iterator[list[str]]:
    """Yield a circle for each that a walk in depth comes upon."""
    done: set[str] = set()
    for start in sorted(graph):
        path: list[str] = []
        pending = [(start, iter(sorted(graph[start])))] if start not in done else []
        while pending:
            name, rest = pending[-1]
            path[len(pending) - 1 :] = [name]
            following = next(rest, None)
            if following is None:
                done.add(name)
                pending.pop()
            elif following in path[: len(pending)]:
                yield [*path[path.index(following) : len(pending)], following]
            elif following not in done:
                pending.append((following, iter(sorted(graph[following]))))


@pytest.mark.parametrize("package", PACKAGES)
def test_no_string_names_a_function(package: str) -> None:
    # The store may not import what computes a metric, so that is named as an entry point would be.
    found = [
        f"{name}: {match[0]}"
        for name, path in modules().items()
        if name.partition(".")[0] == package
        for match in re.finditer(r'(?<!compute=)"riff_\w+(\.\w+)+:\w+"', path.read_text(encoding="utf-8"))
    ]
    assert found == ['riff_tui.browser: "riff_tui.tui.terminal.browser_driver:BrowserDriver"'] * (package == "riff_tui")


def test_tests_import_packages_and_their_pages_alone() -> None:
    public = {*PACKAGES, "riff_ingest.eva", "riff_ingest.runner", "riff_tui.tui"}
    found = {
        f"{path.relative_to(ROOT)}: {name}"
        for path in (ROOT / "tests").rglob("*.py")
        if path.parent.name != "surface"
        for node in ast.walk(ast.parse(path.read_bytes()))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in named_by(node) & modules().keys() - public
    }
    assert found == set(), "what tests use is named in tests/surface"
