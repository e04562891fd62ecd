"""Promises name tests and code that there are, and the page says what they say."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache

import msgspec
import pytest

from tests.promises.breaking import applied, place_of
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
    assert bool(promise.breaks) != bool(promise.why_no_break), "it has code to break or says why there is none"
    for broken in promise.breaks:
        assert set(broken.tests) <= set(promise.tests)
        file, names = place_of(ROOT, broken.code)
        text = (ROOT / file).read_text(encoding="utf-8")
        changed = applied(text, names, broken)
        assert ast.dump(compile(changed, file, "exec", ast.PyCF_ONLY_AST)) != parsed(text)


@cache
def parsed(text: str) -> str:
    return ast.dump(ast.parse(text))


def test_the_page_says_what_is_promised() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert with_promises(text) == text, "`make readme` writes it anew"


CODE = """
LIMIT = 3

class Reader:
    @property
    def line(self):
        \"\"\"Return it.\"\"\"
        found = self.read(
            1,
            LIMIT,
        )
        self.close(1)
        return found

def line():
    return read(1)
"""


def broken_by(code: str, **how: str) -> str:
    return applied(CODE, code.split("."), msgspec.convert({"code": code, **how}, Break))


def test_a_break_changes_a_fragment_of_its_code_however_that_is_laid_out() -> None:
    assert broken_by("Reader.line", replaces="read(1, LIMIT)", **{"with": "read(2)"}) == CODE.replace(
        "read(\n            1,\n            LIMIT,\n        )", "read(2)"
    )
    assert broken_by("line", replaces="1", **{"with": "2"}) == CODE.replace("read(1)", "read(2)")
    assert broken_by("LIMIT", replaces="3", **{"with": "4"}) == CODE.replace("3", "4")


def test_a_break_drops_a_statement_or_leaves_one_value() -> None:
    assert broken_by("Reader.line", drops="self.close(1)") == CODE.replace("self.close(1)", "pass")
    before, _, rest = CODE.partition("        found")
    assert broken_by("Reader.line", returns="None") == before + "        return None\n" + rest.partition("found\n")[2]


@pytest.mark.parametrize("fragment", ["LIM", "1", "close(2)"])
def test_a_fragment_that_stands_not_once_breaks_nothing(fragment: str) -> None:
    with pytest.raises(ValueError, match="values to unpack"):
        broken_by("Reader.line", drops=fragment)


def test_code_that_is_not_there_breaks_nothing() -> None:
    with pytest.raises(ValueError, match=r"Reader\.lines is not there"):
        broken_by("Reader.lines", drops="self.close(1)")
    with pytest.raises(ValueError, match="no module is called riff"):
        place_of(ROOT, "riff.line")
    with pytest.raises(msgspec.ValidationError, match="by one of replaces, drops and returns"):
        broken_by("line", drops="read(1)", returns="None")
