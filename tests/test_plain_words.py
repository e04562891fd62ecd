"""What people read of the program itself is in plain words: help, headings, notes, hints, refusals and reasons."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import ROOT
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
