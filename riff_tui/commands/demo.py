"""Simulate calls, ingest them and look at the result: the `demo` command."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from riff_tui.commands import ingest, simulate, ui
from riff_tui.commands.ingest import report
from riff_tui.commands.options import (
    WRITTEN_DIRECTORY,
    AsciiOption,
    DebugOption,
    StoreOption,
    next_command,
    option,
    settings_for,
)

EXAMPLES = (
    "riff-tui demo",
    "riff-tui demo --out trial --conversations 200 --seed 7",
)
STORE_NAME = "demo.db"


def demo(
    out: Annotated[Path, option("--out", "DIR", "Where files and store go.", click_type=WRITTEN_DIRECTORY)] = Path(
        "demo"
    ),
    conversations: simulate.ConversationsOption = None,
    seed: simulate.SeedOption = 0,
    ascii_only: AsciiOption = None,
    store: StoreOption = None,
    debug: DebugOption = False,
) -> None:
    """Simulate calls, ingest them and open the explorer.

    Without a terminal, print the worklist and the flow matrix. The store is DIR/demo.db unless --store names another
    one.
    """
    from riff_store.database import open_store
    from riff_tui.catalog import Request, show
    from riff_tui.output.streams import say, standard_output
    from riff_tui.settings import store_location

    settings = settings_for(store or str(out / STORE_NAME), ascii=ascii_only)
    calls = simulate.run(out, None, conversations, seed)
    summary = ingest.run(str(settings.store), list(calls.files))
    say(f"{calls.conversations} simulated conversations below {out}.")
    say(list(report(summary))[-1])
    say(f"Next: {next_command('ui', store=settings.store)}")
    if ui.has_terminal():
        ui.explore(settings)
        return
    printed = standard_output(ascii_only=bool(settings.ascii))
    with open_store(store_location(settings)) as opened, opened.snapshot():
        for number, view in enumerate(("worklist", "flows")):
            if number:
                printed.stream.write("\n")
            printed.print_table(show(opened, view, Request()))
