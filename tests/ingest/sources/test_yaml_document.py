"""YAML documents, and what must not happen when a stranger wrote one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.surface.ingest import BrokenInput, load_yaml

BOMB = "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"a{level}: &a{level} [{','.join([f'*a{level - 1}'] * 10)}]\n" for level in range(1, 12)
)
MERGED = "a0: &a0 {x: 1}\n" + "".join(
    f"a{level}: &a{level}\n  <<: [*a{level - 1}, *a{level - 1}]\n" for level in range(1, 40)
)


def read(tmp_path: Path, text: str) -> dict[str, Any]:
    path = tmp_path / "agent.yaml"
    path.write_text(text, encoding="utf-8")
    return load_yaml(path)


def test_a_document_is_what_its_file_says(tmp_path: Path) -> None:
    text = "id: baker\nrole: &r bakes\ninstructions: |\n  Be kind.\n  *r\ntools:\n- {name: bake, role: *r}"
    assert read(tmp_path, text) == {
        "id": "baker",
        "role": "bakes",
        "instructions": "Be kind.\n*r\n",
        "tools": [{"name": "bake", "role": "bakes"}],
    }


def test_values_are_such_as_json_has(tmp_path: Path) -> None:
    found = read(tmp_path, "day: 2026-01-01\n2: 2\ntrue: 1\nnull: 2\nset: !!set {a}\nbytes: !!binary aGk=\nflag: yes\n")
    assert found == {"day": "2026-01-01", "2": 2, "true": 1, "null": 2, "set": ["a"], "bytes": "b'hi'", "flag": True}
    assert read(tmp_path, '{"id": "baker", "tools": []}') == {"id": "baker", "tools": []}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "not a YAML mapping"),
        ("- a", "not a YAML mapping"),
        ("a:\n\tb: 1", "not YAML: line 2"),
        ("a: 1\n---\nb: 1", "not YAML: line 2"),
        ("a: !!python/object/apply:os.system ['echo hi']", "not YAML: line 1"),
        ("a: 1\nb: !include other.yaml", "has !include, which is not followed: line 2"),
        ("a: 2026-99-99", "a value that cannot be read"),
        ("a: " + "9" * 5000, "a value that cannot be read"),
        ("? [a]\n: 1", "not YAML: line 1"),
        ("a: &a [*a]", "refers to itself"),
        ("a: &a {b: {c: *a}}", "refers to itself"),
        ("a: " + "[" * 5000, "nested too deeply"),
        ("a: " + "x" * 2_000_000, "larger than 1 MiB"),
        ("a:\n" + "- b\n" * 60_000, "more than 50,000 values"),
        (BOMB, "more than 50,000 values"),
        (MERGED, "more than 50,000 values"),
    ],
    ids=lambda value: value[:12],
)
def test_what_is_no_document_is_refused_with_a_reason(tmp_path: Path, text: str, reason: str) -> None:
    with pytest.raises(BrokenInput) as caught:
        read(tmp_path, text)
    assert reason in caught.value.reason


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BrokenInput):
        load_yaml(tmp_path / "none.yaml")
