"""Declare the options that commands share, and act on them."""

from __future__ import annotations

import enum
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import click
import typer

from riff_tui.commands import completion
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


class Diverged(enum.StrEnum):
    """Name what a frozen call is in which the agent goes another way than the recorded one."""

    OK = "ok"
    FAIL = "fail"


def option(
    name: str, metavar: str | None, help: str, complete: Callable[..., Iterable[str]] | None = None, **more: Any
) -> Any:
    """Return an option; of an enumeration, without `metavar`, help shows the choices."""
    return typer.Option(name, metavar=metavar, help=help, autocompletion=complete, **more)


def flag(name: str, help: str) -> Any:
    """Return an option that is given or not."""
    return option(name, None, help)


def argument(metavar: str, help: str, complete: Callable[..., Iterable[str]] | None = None) -> Any:
    """Return an argument."""
    return typer.Argument(metavar=metavar, help=help, autocompletion=complete)


StoreOption = Annotated[
    str | None,
    option("--store", "PATH|URL", "The store; else $RIFF_TUI_STORE, else the one in the user's data directory."),
]
NextStoreOption = Annotated[
    str | None, option("--store", "PATH|URL", "The store to name in the next command; none is read or written here.")
]
DebugOption = Annotated[bool, flag("--debug", "Show where an error came from.")]
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
OutputOption = Annotated[
    Path | None, typer.Option("-o", "--output", metavar="FILE", help="Write to a file instead of stdout.")
]
FormatOption = Annotated[Format | None, option("--format", None, "Else what the ending of FILE says, else text.")]
CsvRawOption = Annotated[
    bool, flag("--csv-raw", "Leave CSV cells that a spreadsheet would take for a formula as they are.")
]


def split_keys(given: Sequence[str] | None) -> tuple[str, ...]:
    """Return the keys that `--by` was given, one by one or with commas."""
    return tuple(name for part in given or () for name in part.split(","))


def time_of(option: str, text: str) -> int:
    """Return a time that an option was given, in microseconds since the epoch; raise `UsageError` for another text."""
    from riff_ingest.lenient_json import parse_time
    from riff_tui.errors import UsageError

    found = parse_time(text)
    if found is None:
        raise UsageError(f"{option}: {text!r} is not a time such as 2026-06-22T03:00:00Z")
    return found


def next_ingest(path: Path, store: str | None) -> str:
    """Return the command that brings files into the store."""
    return next_command("ingest", str(path), store=store)


def next_command(*words: str, store: str | None) -> str:
    """Return a command on the store that was named, if one was, as it can be told to others."""
    import shlex

    from riff_store.location import without_secrets

    return shlex.join(["riff-tui", *words, *(("--store", without_secrets(store)) if store else ())])


def settings_for(store: str | None, **flags: str | bool | int | None) -> Settings:
    """Return the settings of a command; refuse an empty `--store`, for it would mean the default one."""
    from riff_tui.errors import UsageError
    from riff_tui.settings import load

    if store == "":
        raise UsageError("--store needs a path; leave it out for the default store")
    apply_store_limits()
    return load(store=store, **flags)


def apply_limits() -> None:
    """Let the limits of the settings hold for all inputs that are read from here on."""
    from riff_ingest.lines import set_limits
    from riff_tui.settings import limits

    set_limits(limits())


def apply_store_limits() -> None:
    """Let the limits of the settings hold for all stores that are opened from here on."""
    from riff_store.statement_limit import set_steps_per_byte
    from riff_tui.settings import statement_steps

    set_steps_per_byte(statement_steps())


@contextmanager
def store_to_write(location: str, *, create: bool) -> Iterator[Store]:
    """Open the store at a location for writing; where that migrates it, name on stderr the copy that is kept.

    One that was made for it, and holds nothing, goes again where the block fails or is ended.
    """
    from riff_store.database import open_store
    from riff_tui.errors import StoreError
    from riff_tui.output.streams import say

    with open_store(location, write=True, create=create) as opened:
        if opened.copy_before is not None:
            say(f"The store was migrated; as it was before it is kept in {opened.copy_before}.")
        try:
            yield opened
        except BaseException:
            if opened.is_new:
                with suppress(StoreError):
                    opened.wait_at_most(0)  # whoever writes there has begun to use it
                    opened.discard_empty()
            raise


def print_json(members: Mapping[str, Any]) -> None:
    """Print one object for programs, with the version of its schema before all else."""
    from riff_tui.errors import writing
    from riff_tui.output.sinks.json import SCHEMA_VERSION, write_members
    from riff_tui.output.sinks.parts import Options
    from riff_tui.output.streams import standard_output

    with writing("stdout"):
        write_members({"schema_version": SCHEMA_VERSION, **members}.items(), standard_output().stream, Options())


def printed(members: Mapping[str, Shape], sometimes: Collection[str] = ()) -> Shape:
    """Return the schema of what a command prints so."""
    return record({"schema_version": {"type": "integer"}, **members}, sometimes)
