"""Promises name tests that there are and lines that stand in the code, and the page says what they say."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache

import pytest

from tests.promises.breaking import applied, places
from tests.promises.descriptions import ROOT, Break, Promise, promises
from tests.promises.page import with_promises

PROMISES = promises()
PAGE = ROOT / "docs" / "promises.md"


@cache
def defined(file: str) -> frozenset[str]:
    """Return the tests of a file as pytest names them, without their parameters."""
    path = ROOT / file
    return frozenset(_tests(ast.parse(path.read_bytes()).body, "")) if path.is_file() else frozenset()


def _tests(nodes: list[ast.stmt], within: str) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.ClassDef):
            yield from _tests(node.body, f"{within}{node.name}::")
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
            yield within + node.name


def test_each_promise_has_a_name_of_its_own() -> None:
    names = [promise.id for promise in PROMISES]
    assert sorted(set(names)) == sorted(names)


@pytest.mark.parametrize("promise", PROMISES, ids=lambda promise: promise.id)
def test_a_promise_is_shown_and_can_be_broken(promise: Promise) -> None:
    assert promise.says.endswith(".")
    assert promise.tests
    missing = [test for test in promise.tests if test.partition("::")[2] not in defined(test.partition("::")[0])]
    assert missing == []
    assert bool(promise.breaks) != bool(promise.why_no_break), "it has a line to break or says why there is none"
    for broken in promise.breaks:
        assert set(broken.tests) <= set(promise.tests)
        text = (ROOT / broken.file).read_text(encoding="utf-8")
        assert len(places(text, broken)) == 1, f"stands once in {broken.file}: {broken.line}"
        compile(applied(text, broken), broken.file, "exec")


def test_the_page_says_what_is_promised() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert with_promises(text) == text, "`make readme` writes it anew"


def test_a_break_changes_its_line_and_leaves_the_indentation() -> None:
    text = "def f():\n    g(1)\n    return g(2)\n"
    assert applied(text, Break("f.py", "g(1)", "pass")) == "def f():\n    pass\n    return g(2)\n"
    with pytest.raises(ValueError, match="not enough values"):
        applied(text, Break("f.py", "g(2)", "pass"))
