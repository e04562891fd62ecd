"""Make calls to try things on: the `simulate` command."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from riff_tui.commands import completion
from riff_tui.commands.options import WRITTEN_DIRECTORY, NextStoreOption, next_ingest, option
from riff_tui.errors import UsageError, writing

if TYPE_CHECKING:
    from riff_runner.simulate.suite import SimulationSummary

EXAMPLES = (
    "riff-tui simulate --out demo",
    "riff-tui simulate --out load --conversations 1000 --seed 7",
    "riff-tui simulate --out one --flows dental_clinic,generic_inquiry",
    "riff-tui simulate --out two --run nightly-1 --seed 1",
    "riff-tui simulate --out two --run nightly-2 --seed 2 --weaken dental_clinic=0.4",
)

ConversationsOption = Annotated[int | None, option("--conversations", "N", "How many calls to make.", min=1)]
SeedOption = Annotated[int, option("--seed", "S", "The same seed makes the same calls.")]


def simulate(
    out: Annotated[Path, option("--out", "DIR", "Where to write the files.", click_type=WRITTEN_DIRECTORY)],
    flows: Annotated[
        list[str] | None, option("--flows", "F,F", "Only these of the built-in flows.", completion.flows)
    ] = None,
    conversations: ConversationsOption = None,
    seed: SeedOption = 0,
    one_run: Annotated[str | None, option("--run", "ID", "Make one run of this id instead of ten nights.")] = None,
    weaken: Annotated[
        list[str] | None,
        option("--weaken", "FLOW=SHARE", "In that run, let this share of a flow's calls get stuck; repeatable."),
    ] = None,
    store: NextStoreOption = None,
) -> None:
    """Play callers against built-in flows and write transcripts.

    Humanness scores are written as well. Two runs with different seeds are of the same quality, but for what --weaken
    takes from one of them: write them into one directory, ingest that, and gate the one against the other.
    """
    from riff_tui.output.streams import say

    chosen = [name.strip() for part in flows or () for name in part.split(",") if name.strip()]
    summary = run(out, chosen if flows else None, conversations, seed, one_run, weaken or ())
    say(f"{summary.conversations} conversations in {len(summary.files)} files below {out}.")
    say(f"Next: {next_ingest(out, store)}")


def run(
    out: Path,
    flows: list[str] | None,
    conversations: int | None,
    seed: int,
    one_run: str | None = None,
    weaken: Sequence[str] = (),
) -> SimulationSummary:
    """Write a simulation below `out`, with progress on a terminal; raises `UsageError` for what cannot be made."""
    from riff_runner.simulate.suite import DEFAULT_CONVERSATIONS, custom_run
    from riff_runner.simulate.suite import simulate as write
    from riff_tui.output.progress import terminal_progress

    shares = _shares(weaken)
    if shares and one_run is None:
        raise UsageError("--weaken needs --run ID: it takes from one run what another one has")
    with terminal_progress() as progress, writing(str(out)):
        return write(
            out,
            flows=flows,
            conversations=DEFAULT_CONVERSATIONS if conversations is None else conversations,
            seed=seed,
            run=None if one_run is None else custom_run(one_run, seed, shares),
            progress=progress.counting if progress else None,
        )


def _shares(weaken: Sequence[str]) -> dict[str, float]:
    """Return the shares that `--weaken` names, by flow."""
    found: dict[str, float] = {}
    for said in weaken:
        flow, _, share = said.partition("=")
        try:
            found[flow.strip()] = float(share)
        except ValueError:
            raise UsageError(f"--weaken {said}: it takes FLOW=SHARE, such as dental_clinic=0.4") from None
    return found
