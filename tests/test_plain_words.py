"""What people read of the program is in plain words: help, notes, hints, refusals, reasons, docstrings and comments."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.support.plain_words import SPOKEN as SPEECH
from tests.support.plain_words import found

CODE = [
    ROOT / "riff_tui",
    ROOT / "store" / "riff_store",
    ROOT / "ingest" / "riff_ingest",
    ROOT / "ingest" / "riff_runner",
]
# What models are told, and what made-up callers and agents say.
SPOKEN = ("riff_runner/judge/protocol.py", "riff_runner/run/agents", "riff_runner/run/callers", "riff_runner/simulate")


def strings(path: Path) -> Iterator[tuple[int, str]]:
    """Texts of several words in a module, and the help of its commands; no other docstring."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    alone = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in alone:
            if " " in node.value and not node.value.lstrip().startswith(
                ("SELECT", "WITH", "INSERT", "CREATE", "UPDATE", ") held", ") joined", "state through")
            ):
                yield node.lineno, node.value
        elif isinstance(node, ast.FunctionDef) and path.parent.name in ("commands", "calls") and node.decorator_list:
            yield node.lineno, ast.get_docstring(node) or ""


@pytest.mark.parametrize("package", CODE, ids=lambda path: path.name)
def test_the_program_has_plain_words(package: Path) -> None:
    odd = [
        f"{path.relative_to(ROOT)}:{line}: {words}"
        for path in sorted(package.rglob("*.py"))
        if not any(part in path.as_posix() for part in SPOKEN)
        for line, text in strings(path)
        for words in found(text)
    ]
    assert odd == []


def explained(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the docstrings and comments of a module, without what is quoted in them."""
    text = path.read_text(encoding="utf-8")
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.body[0].lineno if node.body else 1, ast.get_docstring(node) or ""
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string


@pytest.mark.parametrize("package", [*CODE, ROOT / "examples", ROOT / "benchmarks"], ids=lambda path: path.name)
def test_the_code_is_explained_in_plain_words(package: Path) -> None:
    odd = [
        f"{path.relative_to(ROOT)}:{line}: {words}"
        for path in sorted(package.rglob("*.py"))
        for line, text in explained(path)
        for words in found(" ".join(re.sub("`[^`]+`", "``", text).split()), SPEECH)
    ]
    assert odd == []


def test_what_builds_and_reports_has_plain_words() -> None:
    names = ("Makefile", "pyproject.toml", "mkdocs.yml", ".pre-commit-config.yaml", ".ci/run", ".github/**/*.*")
    files = [path for name in names for path in ROOT.glob(name) if path.is_file()]
    assert len(files) > len(names)
    assert {
        path.relative_to(ROOT).as_posix(): words for path in files if (words := found(path.read_text("utf-8")))
    } == {}
