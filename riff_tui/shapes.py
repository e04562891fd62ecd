"""Describe values of JSON where they are made, in the words of JSON Schema."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, TypeAlias

Shape: TypeAlias = Mapping[str, Any]
"""What a value may be, as JSON Schema says it."""

ANY: Shape = {}
"""Whatever the file held that was read."""
TEXT: Shape = {"type": "string"}
NUMBER: Shape = {"type": "number"}
COUNT: Shape = {"type": "integer"}
FLAG: Shape = {"type": "boolean"}
TIME: Shape = {"type": "string", "pattern": r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$"}


def or_null(shape: Shape) -> Shape:
    """Return the shape of what may be not measured, not known or not there."""
    if isinstance(shape.get("type"), str):
        return {**shape, "type": [shape["type"], "null"]}
    return {"anyOf": [shape, {"type": "null"}]}


def list_of(shape: Shape) -> Shape:
    """Return the shape of a list."""
    return {"type": "array", "items": shape}


def by_name(shape: Shape) -> Shape:
    """Return the shape of an object whose keys are names, of agents, judges, states and the like."""
    return {"type": "object", "additionalProperties": shape}


def record(members: Mapping[str, Shape], sometimes: Collection[str] = ()) -> Shape:
    """Return the shape of an object with these keys and no other; those that are there `sometimes` may be missing."""
    return {
        "type": "object",
        "properties": dict(members),
        "required": [key for key in members if key not in sometimes],
        "additionalProperties": False,
    }


def numbers(keys: Collection[str]) -> dict[str, Shape]:
    """Return the shapes of figures that may be not measured."""
    return dict.fromkeys(keys, or_null(NUMBER))


COUNTS = by_name(COUNT)
INTERVALS = by_name({"type": "array", "items": NUMBER, "minItems": 2, "maxItems": 2})
"""The 95 % intervals of those figures that have one."""
