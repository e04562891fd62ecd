"""Copy a store into another one: the `copy` command."""

from __future__ import annotations

from typing import Annotated

from riff_tui.commands.options import (
    JsonOption,
    apply_store_limits,
    argument,
    flag,
    print_json,
    printed,
    store_to_write,
)
from riff_tui.shapes import COUNT, TEXT

EXAMPLES = (
    "riff-tui copy calls.db service=evals",
    "riff-tui copy postgresql://evals.example/calls calls.db",
    "riff-tui copy calls.db 'postgresql://evals.example/calls?schema=archive' --replace",
)


JSON = printed({"from": TEXT, "to": TEXT, "calls": COUNT, "rows": COUNT})


def copy(
    source: Annotated[str, argument("FROM", "The store to copy.")],
    target: Annotated[str, argument("TO", "Where to, made if it is not there.")],
    replace: Annotated[bool, flag("--replace", "Overwrite what TO contains.")] = False,
    json: JsonOption = False,
) -> None:
    """Copy a store with all that is in it, between files and servers.

    Both are paths or URLs. TO is new or empty, unless --replace is given, and stays as it is until the copy is whole.
    """
    from riff_store.database import open_store
    from riff_store.write.copying import copy_store, row_count
    from riff_tui.errors import UsageError
    from riff_tui.output.progress import terminal_progress
    from riff_tui.output.streams import say

    if not source or not target:
        raise UsageError("copy needs two stores, each a path or a URL: riff-tui copy FROM TO")
    apply_store_limits()
    with open_store(source) as read, store_to_write(target, create=True) as written, terminal_progress() as progress:
        if read.identity() == written.identity():
            raise UsageError(f"{written.location} is the store that is to be copied; name another place for the copy")
        copied = 0
        total = row_count(read) if progress else 0

        def count(rows: int) -> None:
            nonlocal copied
            copied += rows
            if progress:
                progress.copying(copied, total)

        rows = copy_store(read, written, replace=replace, progress=count)
        calls = int(read.execute_sql("SELECT COUNT(*) FROM conversation WHERE TRUE")[0][0])
    say(f"Copied {calls:,} calls in {rows:,} rows from {read.location} to {written.location}.", fits=True)
    if json:
        print_json({"from": read.location, "to": written.location, "calls": calls, "rows": rows})
