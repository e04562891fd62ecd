"""docs/json.md: what programs can rely on, as `riff-tui schema` says it, for people to read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tests.surface.tui import schema_of, schema_of_all

_HEAD = """\
# JSON for programs

`riff-tui schema` prints all of this as [JSON Schema](https://json-schema.org), `riff-tui schema states` that of one
view and `riff-tui schema gate` that of one command; `make readme` writes this page from it. Every JSON has
`schema_version`: a key may be added within a version, none goes or changes its meaning. What `eva` prints has none:
names of metrics and calls are its keys, and what a call contains is EVA's.

- `riff-tui dump VIEW --format json` prints one object: {of_all}; `--format jsonl` prints the rows alone, one a line.
- A row that leads somewhere has `drill`: `view`, `where` and `argv`, a list of arguments that runs as it is.
- Numbers are unrounded, and what is not measured is null. Shares are 0 to 1, scores 0 to 10. Times are UTC (ISO 8601).
- With `--by` a row has the keys that it names instead of, or beside, those of the view.
- A key marked with `?` is not in every row, or not in every dump. An object `{{name: …}}` has names for keys.
- With `--json`, or `--format json`, an error is a line on stderr: {error}.

## Exit codes

{exits}

## Views
"""


def json_page() -> str:
    """The whole page."""
    found = schema_of_all()
    of_all = set.intersection(*(set(view["properties"]) for view in found["views"].values()))
    any_view = next(iter(found["views"].values()))
    head = _HEAD.format(
        of_all=", ".join(f"`{key}`" for key in any_view["properties"] if key in of_all),
        error=f"`{_type(found['error'])}`",
        exits=", ".join(f"{code} {name}" for code, name in found["exit_codes"].items()) + ".",
    )
    parts = [head]
    for name, view in found["views"].items():
        parts.append("\n".join(_view(name, view, of_all)))
    parts.append("## Commands\n")
    parts.append("\n".join(_commands(found["commands"])) + "\n")
    shown = {view for command in found["commands"].values() for view in _views(command)}
    parts += ["\n".join(_view(name, schema_of(name), of_all)) for name in sorted(shown - found["views"].keys())]
    return "\n".join(parts).rstrip("\n") + "\n"


def _view(name: str, view: Mapping[str, Any], of_all: set[str]) -> Iterator[str]:
    row = view["$defs"]["row"]
    yield f"### {name}\n"
    yield f"{view['description']}\n"
    yield "| key | value | what it is |\n|---|---|---|"
    for key, shape in row["properties"].items():
        if key in view["by"] and key not in view["meaning"]:
            continue
        yield f"| `{key}`{_mark(key, row)} | {_cell(shape)} | {_words(view['meaning'].get(key, ''))} |"
    for key, shape in view["properties"].items():
        if key not in of_all:
            yield f"| top: `{key}`{_mark(key, view)} | {_cell(shape)} |  |"
    yield ""


def _commands(commands: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    yield "| command | JSON |\n|---|---|"
    for name, command in commands.items():
        if views := _views(command):
            yield f"| `{name}` | {', '.join(f'[{view}](#{view})' for view in views)} |"
        elif command["json"] is not None:
            yield f"| `{name}` | {_cell(command['json'])} |"


def _views(command: Mapping[str, Any]) -> list[str]:
    """Return the views that a command prints."""
    shapes = (command["json"] or {}).get("anyOf", [command["json"]])
    return [shape["properties"]["view"]["const"] for shape in shapes if shape and "$defs" in shape]


def _mark(key: str, of: Mapping[str, Any]) -> str:
    return "" if key in of["required"] else "?"


def _cell(shape: Mapping[str, Any]) -> str:
    return f"`{_type(shape)}`".replace("|", "\\|")


def _words(text: str) -> str:
    return text.replace("|", "\\|")


def _type(shape: Mapping[str, Any]) -> str:
    """A schema in few words."""
    if "anyOf" in shape:
        first, *others = shape["anyOf"]
        named = [] if first == {} else [each for each in others if each.get("additionalProperties") == first]
        told = [_type(each) for each in (first, *(each for each in others if each not in named))]
        return " | ".join(told) + ", or {name: such a one}" * len(named)
    if "const" in shape or "enum" in shape:
        return " | ".join("null" if each is None else str(each) for each in shape.get("enum", [shape.get("const")]))
    kind = shape.get("type", "anything")
    if kind == "null":
        return "null"
    if isinstance(kind, list):
        return " | ".join(_type({**shape, "type": each}) for each in kind)
    if kind == "array":
        return f"[{_type(shape['items'])}]"
    if kind == "object" and shape.get("properties"):
        members = shape["properties"].items()
        return "{" + ", ".join(f"{key}{_mark(key, shape)}: {_type(each)}" for key, each in members) + "}"
    if kind == "object":
        return f"{{name: {_type(shape['additionalProperties'])}}}" if "additionalProperties" in shape else "object"
    return "time" if "pattern" in shape else str(kind)
