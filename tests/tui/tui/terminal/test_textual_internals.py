"""Private names of Textual are used in one module, where an update of Textual has to be checked."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import ModuleType

from textual.app import App
from textual.drivers.linux_driver import LinuxDriver
from textual.drivers.web_driver import WebDriver
from textual.message_pump import MessagePump
from textual.screen import Screen
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.timer import Timer
from textual.widget import Widget
from textual.worker import Worker

import riff_tui.tui
from tests.surface.explorer import textual_internals


def _modules() -> Iterator[ModuleType]:
    for found in pkgutil.walk_packages(riff_tui.tui.__path__, "riff_tui.tui."):
        if found.name != textual_internals.__name__:
            yield importlib.import_module(found.name)


def _tree(module: ModuleType) -> ast.AST:
    return ast.parse(Path(str(module.__file__)).read_text(encoding="utf-8"))


def _is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__")


def _own_names(node: ast.AST) -> set[str]:
    """Return the private names that a class defines, or uses of itself."""
    found = {each.name for each in ast.walk(node) if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)}
    found |= {
        each.attr
        for each in ast.walk(node)
        if isinstance(each, ast.Attribute) and isinstance(each.value, ast.Name) and each.value.id in ("self", "cls")
    }
    return {name for name in found if _is_private(name)}


@cache
def _private_names(base: type) -> set[str]:
    """Return the private names that a class of Textual or Rich defines, its instances' among them."""
    return _own_names(ast.parse(inspect.getsource(base).lstrip())) | {name for name in vars(base) if _is_private(name)}


def test_no_other_module_reaches_for_a_private_name_of_an_object_of_textual() -> None:
    classes = {base for owned in (App, Screen, ScrollView, LinuxDriver, Timer, Worker, Strip) for base in owned.__mro__}
    private = set().union(*(_private_names(base) for base in classes if base.__module__.startswith("textual")))
    reached = [
        f"{module.__name__}:{node.lineno} {node.attr}"
        for module in _modules()
        for node in ast.walk(_tree(module))
        if isinstance(node, ast.Attribute) and node.attr in private
        if not (isinstance(node.value, ast.Name) and node.value.id in ("self", "cls"))
    ]
    assert not reached


def test_no_other_module_imports_a_private_module_or_name_of_textual() -> None:
    imported = [
        f"{module.__name__}:{node.lineno}"
        for module in _modules()
        for node in ast.walk(_tree(module))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("textual")
        if any(_is_private(part) for part in [*(node.module or "").split("."), *(each.name for each in node.names)])
    ]
    assert not imported


def test_no_other_widget_overrides_or_uses_a_private_name_of_textual() -> None:
    shared = {}
    for module in _modules():
        for name, own in inspect.getmembers(module, inspect.isclass):
            if own.__module__ != module.__name__ or not issubclass(own, MessagePump):
                continue
            bases = [base for base in own.__mro__ if base.__module__.startswith("textual")]
            private = set().union(*map(_private_names, bases))
            if found := _own_names(ast.parse(inspect.getsource(own).lstrip())) & private:
                shared[f"{module.__name__}.{name}"] = found
    assert not shared


def test_what_draws_on_a_page_replaces_what_is_there() -> None:
    source = inspect.getsource(WebDriver)
    assert all(name in source for name in ("self._write = partial(", "self.fileno = ", "XTermParser(debug="))


def test_the_names_that_are_used_are_there() -> None:
    names = {"_get_terminal_size", "_exception", "_fatal_error", "_close_messages_no_wait", "_driver", "_styles_cache"}
    classes = [*textual_internals.TerminalDriver.__mro__, *textual_internals.QuietApp.__mro__, *Widget.__mro__]
    assert names <= set().union(*(_private_names(base) for base in classes if base.__module__.startswith("textual")))
