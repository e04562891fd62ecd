"""Print what programs can rely on: the `schema` command."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Annotated, Any

import click

from riff_tui.commands import completion
from riff_tui.commands.options import argument
from riff_tui.errors import UsageError, writing

EXAMPLES = (
    "riff-tui schema",
    "riff-tui schema states",
    "riff-tui schema gate",
    "riff-tui schema 'notes import'",
)
NameArgument = Annotated[
    str | None, argument("VIEW|COMMAND", "A view or a command; without one, all of them.", completion.view_names)
]


def schema(name: NameArgument = None) -> None:
    """Print JSON Schemas of what views and commands print.

    Of a view: the keys of its JSON, the fields that its filter knows, what its rows can be split and sorted by. Of a
    command: its arguments, its options, and its JSON where it prints some.
    """
    from riff_tui.output.sinks.json import write_members
    from riff_tui.output.sinks.parts import Options
    from riff_tui.output.streams import standard_output

    found = whole() if name is None else named(name)
    with writing("stdout"):
        write_members(found.items(), standard_output().stream, Options())


def whole() -> dict[str, Any]:
    """Return the description of all views and commands."""
    from riff_tui.output.sinks.json import SCHEMA_VERSION
    from riff_tui.schema import ERROR, exit_codes, of_view
    from riff_tui.view_registry import views

    return {
        "schema_version": SCHEMA_VERSION,
        "views": {spec.name: of_view(spec) for spec in views()},
        "commands": _commands(),
        "error": ERROR,
        "exit_codes": exit_codes(),
    }


def named(name: str) -> dict[str, Any]:
    """Return the description of one view or command; a view comes before a command of its name."""
    from riff_tui.output.sinks.json import SCHEMA_VERSION
    from riff_tui.schema import of_view
    from riff_tui.view_registry import find, resolve

    spec, commands = find(name), _commands()
    if spec is not None and (spec.listed or spec.command):
        asked = commands.get(name, {})
        return of_view(spec) | {key: asked[key] for key in ("arguments", "options", "json") if asked}
    if name in commands:
        return {"schema_version": SCHEMA_VERSION, **commands[name]}
    try:
        return of_view(resolve(name))
    except UsageError as error:
        raise UsageError(f"{error.message}, and commands are {', '.join(commands)}") from error


def _commands() -> dict[str, dict[str, Any]]:
    """Return the description of each command, of a group that of each of its parts."""
    from riff_tui.command_line import COMMANDS, build

    found: dict[str, dict[str, Any]] = {}
    for name, command in build().commands.items():
        module = importlib.import_module(f"riff_tui.commands.{COMMANDS[name][0]}")
        told = getattr(module, "JSON", None)
        if isinstance(command, click.Group):
            found |= {
                f"{name} {part}": _command(each, told and told.get(part)) for part, each in command.commands.items()
            }
        else:
            found[name] = _command(command, told)
    return found


def _command(command: click.Command, told: Mapping[str, Any] | tuple[str, ...] | None) -> dict[str, Any]:
    from riff_tui.schema import of_view
    from riff_tui.view_registry import spec_of

    command.get_help(click.Context(command))  # names of views are put into the help of options only then
    printed = {"anyOf": [of_view(spec_of(view)) for view in told]} if isinstance(told, tuple) else told
    parameters = [each for each in command.params if not getattr(each, "hidden", False)]
    return {
        "help": " ".join((command.help or "").split()),
        "arguments": [_parameter(each) for each in parameters if isinstance(each, click.Argument)],
        "options": [_parameter(each) for each in parameters if isinstance(each, click.Option)],
        "json": printed,
    }


def _parameter(parameter: click.Parameter) -> dict[str, Any]:
    is_option = isinstance(parameter, click.Option)
    kind = parameter.type
    return {
        "names": [*parameter.opts, *parameter.secondary_opts] if is_option else [parameter.make_metavar(_NO_CONTEXT)],
        "takes": None if is_option and getattr(parameter, "is_flag", False) else parameter.metavar or kind.name,
        "choices": [str(each) for each in kind.choices] if isinstance(kind, click.Choice) else None,
        "required": parameter.required,
        "repeats": parameter.multiple or parameter.nargs == -1,
        "help": getattr(parameter, "help", None) or "",
    }


_NO_CONTEXT = click.Context(click.Command("riff-tui"))
