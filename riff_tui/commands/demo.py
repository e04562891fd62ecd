"""Simulate calls, ingest them and look at the result: the `demo` command."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from riff_tui.commands import edits, ingest, ui
from riff_tui.commands.calls import simulate
from riff_tui.commands.ingest import report
from riff_tui.commands.options import (
    WRITTEN_DIRECTORY,
    AsciiOption,
    StoreOption,
    next_command,
    option,
    settings_for,
    store_to_write,
)

EXAMPLES = (
    "riff-tui demo",
    "riff-tui demo --out trial --conversations 200 --seed 7",
)
STORE_NAME = "demo.db"
LISTED_CALLS = 40
DRAWN_AT = 1_782_115_200_000_000
"""When the demo's calls were drawn for reading: the morning after its last night, in microseconds."""


def demo(
    out: Annotated[Path, option("--out", "DIR", "Where files and store go.", click_type=WRITTEN_DIRECTORY)] = Path(
        "demo"
    ),
    conversations: simulate.ConversationsOption = None,
    seed: simulate.SeedOption = 0,
    ascii_only: AsciiOption = None,
    store: StoreOption = None,
) -> None:
    """Simulate calls, ingest them and open the explorer.

    With them come 32 voice calls of two evenings (flow night_train), the git repository of the flow files in DIR/agent
    with a commit before each night, notes of two people and a list of calls to read. No call touches what the last
    edits of dental_clinic and austin_plumbing added. All of it is made up. Without a terminal, print the worklist and
    the flow matrix. The store is DIR/demo.db unless --store names another one; what was noted in it stays when this is
    run again.
    """
    from riff_runner.simulate.flow_history import PATTERNS
    from riff_runner.simulate.voice_calls import write_voice_calls
    from riff_store.database import open_store
    from riff_tui.catalog import Request, show
    from riff_tui.errors import writing
    from riff_tui.output.streams import say, standard_output
    from riff_tui.settings import store_location

    settings = settings_for(store or str(out / STORE_NAME), ascii=ascii_only)
    location, agent = store_location(settings), out / "agent"
    calls = simulate.run(out, None, conversations, seed)
    with writing(str(out)):
        spoken = write_voice_calls(out / "voice")
        no_history = _write_history(agent)
        notes = _write_notes(out / "notes.jsonl", calls.conversations if seed == 0 else 0)
    summary = ingest.run(location, [*calls.files, *spoken, *sorted((agent / "flows").glob("*.toml")), notes])
    if not no_history:
        edits.run(location, agent, PATTERNS)
    _draw_calls(location)
    say(f"{calls.conversations} simulated conversations and {len(spoken)} voice calls below {out}.")
    say(list(report(summary, store=settings.store or ""))[-1])
    if no_history:
        say(f"There are no edits of flows in it: {no_history}.")
    say(f"Next: {next_command('ui', store=settings.store)}")
    if ui.has_terminal():
        ui.explore(settings)
        return
    printed = standard_output(ascii_only=bool(settings.ascii))
    with open_store(location) as opened, opened.snapshot():
        for number, view in enumerate(("worklist", "flows")):
            if number:
                printed.stream.write("\n")
            printed.print_table(show(opened, view, Request()))


def _write_history(agent: Path) -> str:
    """Write the repository of the flow files; return why it has no history, if it has none."""
    from riff_ingest.edits import GitProblem
    from riff_runner.simulate.flow_history import write_flow_history

    try:
        write_flow_history(agent)
    except GitProblem as problem:
        return str(problem)
    return ""


def _write_notes(path: Path, calls: int) -> Path:
    """Write what two people noted on voice calls, and on so many of the first simulated ones."""
    from importlib import resources

    from riff_ingest.lenient_json import loads
    from riff_ingest.transcript_writer import LineFile

    made = resources.files("riff_runner.simulate").joinpath("demo", "notes.jsonl").read_bytes()
    with LineFile(path) as lines:
        for note in map(loads, made.splitlines()):
            number = note["conversation_id"].removeprefix("c-")
            if not number.isdigit() or int(number) < calls:
                lines.write(note)
    return path


def _draw_calls(location: str) -> None:
    """Draw calls to read as `riff-tui sample` does, unless the store has a list."""
    from riff_store.reading_list import KeptList, Sample, keep_list, kept_list
    from riff_store.sampling import counts_of
    from riff_tui.commands.sample import MIX, parts_of
    from riff_tui.views.reading import draw_calls

    asked = Sample(LISTED_CALLS, counts_of(parts_of(MIX), LISTED_CALLS), 1, "", DRAWN_AT)
    with store_to_write(location, create=False) as opened:
        if kept_list(opened) is None:
            keep_list(opened, KeptList(asked, draw_calls(opened, asked).calls))
