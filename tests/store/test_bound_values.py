"""Values reach SQL bound: text of statements is made of constants, and in few known places of names of tables."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
_SQL = re.compile(
    r"\b(SELECT\s.*\bFROM|SELECT \w+\(|INSERT INTO|UPDATE \S+ SET|DELETE FROM|(CREATE|DROP|ALTER) [A-Z]+ |PRAGMA \w)",
    re.S,
)
_WORD = re.compile("SELECT|INSERT|UPDATE|DELETE|CREATE|DROP|ALTER|PRAGMA")
"""A word with which a statement begins: a file without one has none."""
MADE_OF_NAMES: Mapping[str, set[str]] = {
    "store/riff_store/arrays/proof.py": {"_is_alike", "_is_kept", "known_keys"},
    "store/riff_store/arrays/reading.py": {"read_interactions"},
    "store/riff_store/chunks.py": {"drop_calls"},
    "store/riff_store/arrays/rows.py": {"all_scores", "call_columns", "row_columns", "outcome_visits"},
    "store/riff_store/database.py": {"discard_empty"},
    "store/riff_store/engines/postgresql.py": {
        "_header",
        "broken_references",
        "create",
        "discard_if",
        "schema",
        "strange_values",
    },
    "store/riff_store/engines/postgresql_connection.py": {"advance_keys", "definitions"},
    "store/riff_store/engines/sqlite.py": {"damages", "wait_at_most"},
    "store/riff_store/engines/sqlite_schema.py": {"_points_nowhere", "broken_references", "strange_values"},
    "store/riff_store/health.py": {"(module)", "_disagreement", "_total"},
    "store/riff_store/write/copying.py": {"_chunks", "_holds_anything", "copy_store"},
    "store/riff_store/write/forgetting.py": {
        "(module)",
        "_drop_sampled",
        "_drop_unused",
        "_names_used",
        "_still_used",
        "_take",
        "names",
    },
    "store/riff_store/write/ledger.py": {"_forgotten"},
    "store/riff_store/write/names.py": {"_add"},
    "store/riff_store/write/notes.py": {"(module)", "_held", "read_notes"},
    "store/riff_store/write/quality.py": {"settle_all", "settle_quality"},
    "store/riff_store/write/rollups.py": {
        "_add_up",
        "_each",
        "_insert",
        "_take_away",
        "drop_empty",
        "recompute_all",
        "take_cells",
    },
    "store/riff_store/write/rows.py": {"_found", "forget_calls", "runs_of"},
    "store/riff_store/write/text_compression.py": {"renew"},
    "store/riff_store/write/verdicts.py": {"calls_of", "touch", "touch_calls"},
    "store/riff_store/write/writer.py": {"_clear", "forget_histories", "held"},
}
"""The functions that put into a statement what is no constant: names of the schema, marks for values, or numbers."""


def made_up(source: str) -> Iterator[str]:
    """Yield the functions in which text of a statement is made of anything but constants."""
    tree = ast.parse(source)
    places = [(node.name, node.lineno, node.end_lineno or 0) for node in ast.walk(tree) if isinstance(node, _FUNCTIONS)]
    for node in ast.walk(tree):
        if isinstance(node, ast.expr) and _is_made_up(node):
            around = [name for name, first, last in places if first <= node.lineno <= last]
            yield around[-1] if around else "(module)"


_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def _is_made_up(node: ast.AST) -> bool:
    if isinstance(node, ast.JoinedStr):
        parts = [part.value for part in node.values if isinstance(part, ast.FormattedValue)]
        return _is_sql(node) and not all(map(_is_constant, parts))
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Mod):
        return _is_sql(node.left) and not _is_constant(node.right)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ("format", "replace"):
        return _is_sql(node.func.value) and not all(map(_is_constant, node.args))
    return False


def _is_sql(node: ast.AST) -> bool:
    texts = [each.value for each in ast.walk(node) if isinstance(each, ast.Constant) and isinstance(each.value, str)]
    return _SQL.search(" ".join(texts)) is not None


def _is_constant(node: ast.expr) -> bool:
    """Say if an expression is a constant of a module, by the way in which it is spelled."""
    match node:
        case ast.Constant() | ast.JoinedStr():
            return True
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name.isupper()
        case ast.BinOp(left=left, right=right):
            return _is_constant(left) and _is_constant(right)
        case ast.Call(func=ast.Attribute(value=value, attr="format"), args=args):
            return _is_constant(value) and all(map(_is_constant, args))
        case ast.Call(func=ast.Name(id="len")):
            return True
        case _:
            return False


def test_the_text_of_statements_is_made_of_constants_and_names_of_the_schema() -> None:
    found = {}
    for package in ("store/riff_store", "ingest/riff_ingest", "riff_tui"):
        for path in sorted((ROOT / package).rglob("*.py")):
            text = path.read_text(encoding="utf-8")
            if _WORD.search(text) and (functions := set(made_up(text))):
                found[str(path.relative_to(ROOT))] = functions
    assert found == MADE_OF_NAMES


@pytest.mark.parametrize(
    "statement",
    [
        "f\"SELECT * FROM run WHERE name = '{name}'\"",
        "'SELECT * FROM run WHERE name = ' + name",
        "'SELECT * FROM run WHERE name = %s' % name",
        "'SELECT * FROM run WHERE name = {}'.format(name)",
    ],
)
def test_a_value_in_a_statement_is_noticed(statement: str) -> None:
    assert list(made_up(f"def f(name):\n    return {statement}")) == ["f"]
    assert list(made_up("def f(name):\n    return ask('SELECT * FROM run WHERE name = ?', name)")) == []
