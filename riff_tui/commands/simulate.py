"""`simulate`: make calls to try things on."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from riff_tui.commands.options import DebugOption

if TYPE_CHECKING:
    from riff_ingest.simulate import SimulationSummary

EXAMPLES = (
    "riff-tui simulate --out demo",
    "riff-tui simulate --out load --conversations 1000 --seed 7",
    "riff-tui simulate --out one --flows dental_clinic,generic_inquiry",
)

ConversationsOption = Annotated[
    int | None,
    typer.Option("--conversations", metavar="N", min=1, help="How many calls to make.", show_default=False),
]
SeedOption = Annotated[int, typer.Option("--seed", metavar="S", help="The same seed makes the same calls.")]


def simulate(
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="Where to write the files.", show_default=False)],
    flows: Annotated[
        list[str] | None,
        typer.Option("--flows", metavar="F,F", help="Only these of the built-in flows.", show_default=False),
    ] = None,
    conversations: ConversationsOption = None,
    seed: SeedOption = 0,
    debug: DebugOption = False,
) -> None:
    """Play callers against built-in flows and write transcripts and humanness scores as files."""
    import shlex

    from riff_tui.streams import say

    chosen = [name.strip() for part in flows or () for name in part.split(",") if name.strip()]
    summary = run(out, chosen if flows else None, conversations, seed)
    say(f"{summary.conversations} conversations in {len(summary.files)} files below {out}.")
    say(f"Next: riff-tui ingest {shlex.quote(str(out))}")


def run(out: Path, flows: list[str] | None, conversations: int | None, seed: int) -> SimulationSummary:
    """Write a simulation below `out`, with progress on a terminal; raises `UsageError` for an unknown flow."""
    from riff_ingest.simulate import DEFAULT_CONVERSATIONS
    from riff_ingest.simulate import simulate as write
    from riff_tui.errors import UsageError
    from riff_tui.progress import on_terminal

    with on_terminal() as progress:
        try:
            return write(
                out,
                flows=flows,
                conversations=DEFAULT_CONVERSATIONS if conversations is None else conversations,
                seed=seed,
                progress=progress.counting if progress else None,
            )
        except ValueError as error:
            raise UsageError(str(error)) from error
