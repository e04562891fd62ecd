"""Arguments are held against the schema of their tool."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.surface.runner import violation

SCHEMA = {
    "type": "object",
    "properties": {
        "bedrooms": {"type": "integer"},
        "pets": {"enum": ["none", "cat"]},
        "tags": {"type": "array", "items": {"type": "string"}},
        "when": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        "unit": {"type": ["string", "number"]},
        "who": {"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}}},
    },
    "required": ["bedrooms"],
    "additionalProperties": False,
}
NAMES = st.sampled_from(["type", "enum", "items", "properties", "anyOf", "required", "a"])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner),
)  # fmt: skip


@pytest.mark.parametrize(
    "value",
    [
        {"bedrooms": 2},
        {"bedrooms": 2.0, "pets": "cat", "tags": ["a"], "when": None, "unit": 3, "who": {"name": "Ana", "age": 3}},
    ],
)
def test_what_fits_fits(value: Any) -> None:
    assert violation(SCHEMA, value) is None


@pytest.mark.parametrize(
    ("value", "wrong"),
    [
        ([], "the arguments must be object"),
        ({}, "bedrooms is missing"),
        ({"bedrooms": "2"}, "bedrooms must be integer"),
        ({"bedrooms": 2.5}, "bedrooms must be integer"),
        ({"bedrooms": True}, "bedrooms must be integer"),
        ({"bedrooms": 2, "pets": "dog"}, 'pets must be one of "none", "cat"'),
        ({"bedrooms": 2, "tags": ["a", 3]}, "tags[1] must be string"),
        ({"bedrooms": 2, "when": 3}, "when fits none of what it may be"),
        ({"bedrooms": 2, "unit": None}, "unit must be string or number"),
        ({"bedrooms": 2, "who": {}}, "who.name is missing"),
        ({"bedrooms": 2, "rooms": 1}, "rooms is not known; there are bedrooms, pets, tags, when, unit, who"),
    ],
)
def test_what_does_not_fit_is_named(value: Any, wrong: str) -> None:
    assert violation(SCHEMA, value) == wrong


@given(JSON, JSON)
def test_no_schema_is_too_strange(schema: Any, value: Any) -> None:
    assert violation(schema, value) is None or isinstance(violation(schema, value), str)
