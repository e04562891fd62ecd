"""Describe what the JSON of each view has, in JSON Schema, from what describes the view."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from riff_store.errors import ExitCode
from riff_store.metrics import OF_CALLS, plugins
from riff_store.vocabulary import FIELDS
from riff_tui.output.sinks.json import SCHEMA_VERSION
from riff_tui.shapes import COUNT, NUMBER, TEXT, Shape, list_of, or_null, record
from riff_tui.views.spec import BY, ViewSpec, shapes_of

DIALECT = "https://json-schema.org/draft/2020-12/schema"
VERSION: Shape = {"const": SCHEMA_VERSION}
ERROR = record({"error": TEXT, "hint": TEXT, "exit": {"enum": [int(code) for code in ExitCode if code]}})
"""What stands on stderr where JSON was asked for and a command ends by an error."""
DRILL = record({"view": TEXT, "where": TEXT, "argv": {**list_of(TEXT), "minItems": 3}})
"""What leads below a row."""
_COLUMN = record(
    {"key": TEXT, "title": TEXT, "unit": TEXT, "better": {"enum": ["higher", "lower", None]}},
)
_COUNTS = ("total", "matched", "hidden")


def row_of(spec: ViewSpec) -> Shape:
    """Return the schema of a row of a view."""
    members = shapes_of(spec.columns, spec.rows, spec.keys)
    sometimes = set(spec.sometimes)
    if spec.takes_by:
        sometimes |= set(BY) - (set(spec.keys) if spec.splits else set())
        members |= {key: members.get(key, or_null(TEXT)) for key in BY}
    if spec.filters.added_aspects:
        # Not every store has these aspects.
        optional = [key for key, metric in OF_CALLS.items() if metric.optional] + [*plugins().metrics]
        members |= {key: or_null(NUMBER) for key in optional if key not in members}
        sometimes |= set(optional)
    if spec.screen.below or spec.screen.rows_of:
        members["drill"] = DRILL
        sometimes.add("drill")
    return record(members, sometimes)


def of_view(spec: ViewSpec) -> dict[str, Any]:
    """Return the schema of the whole JSON of a view, and beside it what can be asked of it."""
    members = {
        "view": {"const": spec.name},
        "schema_version": VERSION,
        "filter": TEXT,
        "columns": list_of(_COLUMN),
        "rows": list_of({"$ref": "#/$defs/row"}),
        "notes": list_of(TEXT),
        **dict.fromkeys(_COUNTS, COUNT),
        **spec.top,
    }
    return {
        "$schema": DIALECT,
        "schema_version": SCHEMA_VERSION,
        "title": spec.title,
        "description": " ".join(spec.help),
        **record(members, spec.sometimes),
        "$defs": {"row": row_of(spec)},
        "command": spec.command or f"riff-tui dump {spec.name}",
        "aliases": list(spec.aliases),
        "by": list(BY) if spec.takes_by else [],
        "sort": [] if spec.words.ranked else [each.key for each in spec.columns if each.kind != "object"],
        "fields": fields_of(spec),
        "meaning": {column.key: column.help for column in spec.columns if column.help},
    }


def fields_of(spec: ViewSpec) -> dict[str, str]:
    """Return the kind of each field that a filter of a view knows: those of its rows, then those of calls."""
    rows = {column.key: _KIND_OF_FIELD.get(column.kind, "number") for column in spec.columns}
    own = {key: FIELDS[key].kind if key in FIELDS else rows.get(key, "number") for key in spec.row_fields}
    if spec.filters.refusal:
        return own
    return own | {name: field.kind for name, field in FIELDS.items() if field.level != "row" and name not in own}


_KIND_OF_FIELD: Mapping[str, str] = {"name": "name", "text": "name", "flag": "flag", "time": "time"}


def exit_codes() -> dict[str, str]:
    """Return the meaning of each exit code of a command."""
    return {str(int(code)): code.name.lower().replace("_", " ") for code in ExitCode}
