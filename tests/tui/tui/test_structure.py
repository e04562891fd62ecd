"""How the explorer hangs together: who knows whom, and how far a controller may reach."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path

import grimp
import pytest

import riff_tui.tui
from tests.surface.explorer import ControlsHost, Host

ROOT = Path(riff_tui.tui.__file__).parent
MODULES = sorted(path for path in ROOT.rglob("*.py") if path.stat().st_size)
HOSTS = {"host", "_host", "screen", "_screen"}
SCREEN = "riff_tui.tui.screen"


@pytest.fixture(scope="module")
def imports() -> Mapping[str, set[str]]:
    """What each module of the explorer imports of it, also where only types are checked."""
    graph = grimp.build_graph("riff_tui", cache_dir=None)
    return {
        name: {each for each in graph.find_modules_directly_imported_by(name) if each.startswith("riff_tui.tui.")}
        for name in graph.modules
        if name.startswith("riff_tui.tui.")
    }


def reach(node: ast.Attribute) -> list[str]:
    """The names of `a.b.c` from the left, empty where it does not begin with a name."""
    names = [node.attr]
    inner = node.value
    while isinstance(inner, ast.Attribute):
        names.insert(0, inner.attr)
        inner = inner.value
    return [inner.id, *names] if isinstance(inner, ast.Name) else []


def chains(tree: ast.AST) -> Iterator[str]:
    """Every way of three steps or more from a host or a screen."""
    for node in ast.walk(tree):
        names = reach(node) if isinstance(node, ast.Attribute) else []
        start = next((index for index, name in enumerate(names) if name in HOSTS), len(names))
        if len(names) - start - 1 >= 3:
            yield ".".join(names)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(ROOT)))
def test_nobody_reaches_through_the_screen(path: Path) -> None:
    assert list(chains(ast.parse(path.read_text(encoding="utf-8")))) == []


def test_a_chain_is_seen() -> None:
    tree = ast.parse("self._host.session.state.sorts\nscreen.say\nhost.worker.ask(host.body.row)")
    assert list(chains(tree)) == ["self._host.session.state.sorts"]


def test_only_the_application_knows_the_screen(imports: Mapping[str, set[str]]) -> None:
    assert {name for name, others in imports.items() if SCREEN in others} == {"riff_tui.tui.app"}


def test_no_modules_import_each_other_in_a_circle(imports: Mapping[str, set[str]]) -> None:
    left = {name: set(others) for name, others in imports.items()}
    while free := {name for name, others in left.items() if not others & left.keys()}:
        left = {name: others for name, others in left.items() if name not in free}
    assert sorted(left) == []


def test_a_host_is_small() -> None:
    members = {name for name in (*vars(Host), *Host.__annotations__) if not name.startswith("_")}
    assert len(members) <= 20
    assert len({name for name in vars(ControlsHost) if not name.startswith("_")}) <= 6
