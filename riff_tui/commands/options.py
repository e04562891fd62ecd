"""Declare the options that commands share, and act on them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import click
import typer

from riff_tui.commands import completion

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
StoreOption = Annotated[
    str | None,
    typer.Option(
        "--store",
        metavar="PATH|URL",
        help="The store; else $RIFF_TUI_STORE, else the one in the user's data directory.",
        show_default=False,
    ),
]
NextStoreOption = Annotated[
    str | None,
    typer.Option(
        "--store",
        metavar="PATH|URL",
        help="The store to name in the next command; none is read or written here.",
        show_default=False,
    ),
]
DebugOption = Annotated[bool, typer.Option("--debug", help="Show where an error came from.", show_default=False)]
AsciiOption = Annotated[
    bool | None, typer.Option("--ascii", help="Draw with ASCII characters only.", show_default=False)
]
WhereOption = Annotated[
    str,
    typer.Option(
        "--where",
        metavar="EXPR",
        autocompletion=completion.terms,
        help="Show only what matches, such as 'flow:dent stall>0.3'.",
        show_default=False,
    ),
]
CallOption = Annotated[
    str,
    typer.Option(
        "--where",
        metavar="EXPR",
        autocompletion=completion.terms,
        help="The call, such as 'run=R conversation=C'.",
        show_default=False,
    ),
]
SortOption = Annotated[
    str | None,
    typer.Option(
        "--sort",
        metavar="KEY|-KEY",
        autocompletion=completion.sort_keys,
        help="Sort by a column, with - downwards.",
        show_default=False,
    ),
]
LimitOption = Annotated[
    int | None, typer.Option("--limit", metavar="N", min=0, help="At most N rows.", show_default=False)
]
OutputOption = Annotated[
    Path | None,
    typer.Option("-o", "--output", metavar="FILE", help="Write to a file instead of stdout.", show_default=False),
]
CsvRawOption = Annotated[
    bool,
    typer.Option("--csv-raw", help="Leave CSV cells that a spreadsheet would take for a formula as they are."),
]


def split_keys(given: Sequence[str] | None) -> tuple[str, ...]:
    """Return the keys that `--by` was given, one by one or with commas."""
    return tuple(name for part in given or () for name in part.split(","))


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
