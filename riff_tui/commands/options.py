"""Declare the options that commands share, and act on them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from enum import Enum, StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, get_args, get_origin

import click

from riff_tui.commands import completion
from riff_tui.errors import StoreError, UsageError, writing
from riff_tui.output.formats import Format
from riff_tui.shapes import Shape, record

if TYPE_CHECKING:
    from riff_store.database import Store
    from riff_tui.settings import Settings


class _Directory(click.Path):
    """Take a directory that files are written into; an empty name, as of a variable that is not set, is none."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if value == "":
            self.fail("it is empty; name a directory", param, ctx)
        return super().convert(value, param, ctx)


WRITTEN_DIRECTORY = _Directory(path_type=Path)
_DEBUG = "Show where an error came from."


class Diverged(StrEnum):
    """Name what a frozen call is in which the agent goes another way than the recorded one."""

    OK = "ok"
    FAIL = "fail"


class _Declared(NamedTuple):
    """Describe an option, or an argument if it has no names; `limits` are those of a number."""

    names: tuple[str, ...]
    metavar: str | None
    help: str
    complete: Callable[..., Iterable[str]] | None = None
    click_type: click.ParamType[Any] | None = None
    limits: Mapping[str, float] = {}
    once: Callable[[], None] | None = None


def option(
    name: str,
    metavar: str | None,
    help: str,
    complete: Callable[..., Iterable[str]] | None = None,
    *,
    short: str | None = None,
    click_type: click.ParamType[Any] | None = None,
    once: Callable[[], None] | None = None,
    **limits: float,
) -> Any:
    """Return an option; of an enumeration, without `metavar`, help shows the choices.

    One that is asked for `once` does that at once, whatever else is wrong with the line.
    """
    return _Declared((short, name) if short else (name,), metavar, help, complete, click_type, limits, once)


def flag(name: str, help: str, once: Callable[[], None] | None = None) -> Any:
    """Return an option that is given or not."""
    return option(name, None, help, once=once)


def argument(metavar: str, help: str, complete: Callable[..., Iterable[str]] | None = None) -> Any:
    """Return an argument."""
    return _Declared((), metavar, help, complete)


class Argument(click.Argument):
    """Take an argument that help has a line for."""

    help = ""

    def make_metavar(self, ctx: click.Context) -> str:
        """Return what represents it in help."""
        shown = str(self.metavar)
        return shown if self.required or shown.startswith("[") else f"[{shown}]"

    def get_help_record(self, ctx: click.Context) -> tuple[str, str]:
        """Return its line of help."""
        note = "required" if self.required else f"default: {self.default}" if self.default not in (None, "") else ""
        return self.make_metavar(ctx), f"{self.help}  [{note}]" if note else self.help


class Command(click.Command):
    """Show arguments above options in its help."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the lines of arguments and options."""
        for title, kind in (("Arguments", click.Argument), ("Options", click.Option)):
            records = (each.get_help_record(ctx) for each in self.get_params(ctx) if isinstance(each, kind))
            if lines := [record for record in records if record is not None]:
                with formatter.section(title):
                    formatter.write_dl(lines)


class Group(click.Group):
    """Keep its commands in the order in which they were added."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return their names."""
        return list(self.commands)


def made_of(function: Callable[..., Any], kind: type[Any] = Command, **more: Any) -> Any:
    """Return a command that calls a function, with the options and arguments that its parameters are annotated with."""
    signature = inspect.signature(function, eval_str=True).parameters
    told = {name: each for name, each in signature.items() if each.annotation is not click.Context}
    kinds = {name: _kind_of(each.annotation) for name, each in told.items()}

    def called(**given: Any) -> Any:
        typed = {name: _typed(value, *kinds[name], signature[name].default) for name, value in given.items()}
        return function(*([] if len(told) == len(signature) else [click.get_current_context()]), **typed)

    params = [_parameter(name, told[name], *found) for name, found in kinds.items()]
    params.append(click.Option(["--debug"], help=_DEBUG, is_flag=True, expose_value=False))  # cli.py looks for it
    return kind(callback=called, params=params, help=inspect.getdoc(function), **more)


def _kind_of(annotation: Any) -> tuple[type[Any], bool]:
    """Return of what a parameter takes one, or a list."""
    taken = get_args(annotation)[0]
    some = [each for each in get_args(taken) if each is not type(None)]
    if get_origin(taken) is not list and some:
        taken, some = some[0], list(get_args(some[0]))
    return (some[0], True) if some else (taken, False)


def _typed(value: Any, kind: type[Any], is_list: bool, default: Any) -> Any:
    if is_list:
        return None if default is None and not value else [kind(each) for each in value or ()]
    return kind(value) if value is not None and issubclass(kind, Enum) else value


def _parameter(name: str, parameter: inspect.Parameter, kind: type[Any], is_list: bool) -> click.Parameter:
    declared: _Declared = get_args(parameter.annotation)[1]
    is_flag, complete, once = kind is bool, declared.complete, declared.once
    more: dict[str, Any] = {"metavar": declared.metavar, "required": parameter.default is parameter.empty}
    if not more["required"]:
        default = parameter.default
        more["default"] = default.value if isinstance(default, Enum) else default
    if not is_flag:
        more["type"] = declared.click_type or _type_of(kind, declared.limits)
    if complete is not None:
        more["shell_complete"] = lambda ctx, param, incomplete: _completed(complete, ctx, incomplete)
    if not declared.names:
        found = Argument([name], nargs=-1 if is_list else 1, **more)
        found.help = declared.help
        return found
    if once is not None:
        more |= {"is_eager": True, "callback": lambda ctx, param, value: value and once()}
    return click.Option(
        [name, *declared.names],
        help=declared.help,
        is_flag=is_flag,
        multiple=is_list,
        show_default=more.get("default") not in (None, ""),
        **more,
    )


def _type_of(kind: type[Any], limits: Mapping[str, float]) -> Any:
    if issubclass(kind, Enum):
        return click.Choice([each.value for each in kind])
    if issubclass(kind, Path):
        return click.Path(path_type=Path)
    ranges: Mapping[type[Any], type[Any]] = {int: click.IntRange, float: click.FloatRange}
    return ranges[kind](**limits) if limits else kind


def _completed(complete: Callable[..., Iterable[str]], context: click.Context, incomplete: str) -> list[str]:
    asked = inspect.signature(complete).parameters
    given = {name: value for name, value in (("context", context), ("incomplete", incomplete)) if name in asked}
    return [each for each in complete(**given) if each.startswith(incomplete)]


StoreOption = Annotated[
    str | None,
    option("--store", "PATH|URL", "The store; else $RIFF_TUI_STORE, else the one in the user's data directory."),
]
NextStoreOption = Annotated[
    str | None, option("--store", "PATH|URL", "The store to name in the next command; none is read or written here.")
]
JsonOption = Annotated[bool, flag("--json", "Print one JSON object for programs.")]
AsciiOption = Annotated[bool | None, flag("--ascii", "Draw with ASCII characters only.")]
WhereOption = Annotated[
    str, option("--where", "EXPR", "Show only what matches, such as 'flow:dent stall>0.3'.", completion.terms)
]
CallOption = Annotated[str, option("--where", "EXPR", "The call, such as 'run=R conversation=C'.", completion.terms)]
SortOption = Annotated[
    str | None, option("--sort", "KEY|-KEY", "Sort by a column, with - downwards.", completion.sort_keys)
]
LimitOption = Annotated[int | None, option("--limit", "N", "At most N rows.", min=0)]
OutputOption = Annotated[Path | None, option("--output", "FILE", "Write to a file instead of stdout.", short="-o")]
FormatOption = Annotated[Format | None, option("--format", None, "Else by the ending of FILE, else text.")]
CsvRawOption = Annotated[
    bool, flag("--csv-raw", "Leave CSV cells that a spreadsheet would read as a formula as they are.")
]


def split_keys(given: Sequence[str] | None) -> tuple[str, ...]:
    """Return the keys that `--by` was given, one by one or with commas."""
    return tuple(name for part in given or () for name in part.split(","))


def time_of(option: str, text: str) -> int:
    """Return a time that an option was given, in microseconds since the epoch; raise `UsageError` for another text."""
    from riff_ingest.lenient_json import parse_time

    found = parse_time(text)
    if found is None:
        raise UsageError(f"{option}: {text!r} is not a time such as 2026-06-22T03:00:00Z")
    return found


def next_ingest(path: Path, store: str | None) -> str:
    """Return the command that brings files into the store."""
    return next_command("ingest", str(path), store=store)


def next_command(*words: str, store: str | None) -> str:
    """Return a command on the store that was named, if one was, as others may see it."""
    import shlex

    from riff_store.location import without_secrets

    return shlex.join(["riff-tui", *words, *(("--store", without_secrets(store)) if store else ())])


def settings_for(store: str | None, **flags: str | bool | int | None) -> Settings:
    """Return the settings of a command; refuse an empty `--store`, for it would mean the default one."""
    from riff_tui.settings import load

    if store == "":
        raise UsageError("--store needs a path; leave it out for the default store")
    apply_store_limits()
    return load(store=store, **flags)


def apply_limits() -> None:
    """Apply the limits of the settings to all inputs that are read from here on."""
    from riff_ingest.lines import set_limits
    from riff_tui.settings import limits

    set_limits(limits())


def apply_store_limits() -> None:
    """Apply the limits of the settings to all stores that are opened from here on."""
    from riff_store.statement_limit import set_steps_per_byte
    from riff_tui.settings import statement_steps

    set_steps_per_byte(statement_steps())


@contextmanager
def store_to_write(location: str, *, create: bool) -> Iterator[Store]:
    """Open the store at a location for writing; where that migrates it, name on stderr the copy that is kept.

    One that was made for it, and is empty, goes again where the block fails or is ended.
    """
    from riff_store.database import open_store
    from riff_tui.output.streams import say

    with open_store(location, write=True, create=create) as opened:
        if opened.copy_before is not None:
            say(f"The store was migrated; as it was before it is kept in {opened.copy_before}.")
        try:
            yield opened
        except BaseException:
            if opened.is_new:
                with suppress(StoreError):
                    opened.wait_at_most(0)  # the one who writes there has begun to use it
                    opened.discard_empty()
            raise


def print_json(members: Mapping[str, Any]) -> None:
    """Print one object for programs, with the version of its schema before all else."""
    from riff_tui.output.sinks.json import SCHEMA_VERSION, write_members
    from riff_tui.output.sinks.parts import Options
    from riff_tui.output.streams import standard_output

    with writing("stdout"):
        write_members({"schema_version": SCHEMA_VERSION, **members}.items(), standard_output().stream, Options())


def printed(members: Mapping[str, Shape], sometimes: Collection[str] = ()) -> Shape:
    """Return the schema of what a command prints so."""
    return record({"schema_version": {"type": "integer"}, **members}, sometimes)
