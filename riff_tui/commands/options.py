"""The options that every command has, and what follows from them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from pathlib import Path

    from riff_tui.settings import Settings

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
        help="The store for what to do next; here none is read or written.",
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
        help="Show only what matches, such as 'flow:dent stall>0.3'.",
        show_default=False,
    ),
]


def next_ingest(path: Path, store: str | None) -> str:
    """What to type next to have files in the store."""
    import shlex

    return shlex.join(["riff-tui", "ingest", str(path), *(("--store", store) if store else ())])


def settings_for(store: str | None, **flags: str | bool | int | None) -> Settings:
    """The settings of a command; an empty `--store` is refused, for it would mean the default one."""
    from riff_tui.errors import UsageError
    from riff_tui.settings import load

    if store == "":
        raise UsageError("--store needs a path; leave it out for the default store")
    return load(store=store, **flags)
