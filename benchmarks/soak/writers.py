"""What writes during a soak, each in a process of its own: a box that makes calls, and people who note things on them.

usage: python -m benchmarks.soak.writers calls|notes STORE FOLDER SECONDS NAME
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from pathlib import Path

from riff_ingest.pipeline import ingest
from riff_store import ask
from riff_store.annotations import new_id
from riff_store.database import open_store
from riff_store.facts import Annotation
from riff_store.write.writer import Writer
from riff_tui.notes.notebook import Notebook

HOURS = 2
CALLS_AN_HOUR = 1200
"""What a box makes with sixteen calls at once that take 48 seconds each."""
CALLS_AT_ONCE = 4
NOTES_AN_HOUR = 180
"""What a person notes who reads a call in twenty seconds."""


def main() -> None:
    """Write all that is to be written, evenly over so many seconds, or as fast as it goes if that is slower."""
    kind, store, folder, seconds, name = sys.argv[1:]
    write = {"calls": _append_calls, "notes": _note}[kind]
    write(store, Path(folder), float(seconds), name)


def _append_calls(store: str, folder: Path, seconds: float, name: str) -> None:
    """Add lines to the transcripts of a run, as a run of agents does, and bring each time the run into the store."""
    made = [(path, line) for path in sorted((folder / "made").rglob("*.jsonl")) for line in path.open("rb")]
    steps = range(0, len(made), CALLS_AT_ONCE)
    for start, _ in zip(steps, _paced(len(steps), seconds), strict=False):
        for path, line in made[start : start + CALLS_AT_ONCE]:
            grown = folder / "box" / path.relative_to(folder / "made")
            grown.parent.mkdir(parents=True, exist_ok=True)
            with grown.open("ab") as file:
                file.write(line)
        with open_store(store, write=True) as opened:
            ingest([grown.parent], Writer(opened, name))


def _note(store: str, folder: Path, seconds: float, name: str) -> None:
    """Note something on a call, change every third note and take back every fifth, and keep the ids of all of them."""
    book = Notebook(store, f"{name}@example.org", folder / f"{name}.kept.jsonl")
    calls = ask(store, "conversations", limit=200)
    count = HOURS * NOTES_AN_HOUR
    with (folder / f"{name}.ids").open("a", encoding="utf-8") as written:
        for number, _ in zip(range(count), _paced(count, seconds), strict=False):
            call = calls[number % len(calls)]
            names = {key: call[key] for key in ("run", "flow", "agent", "trial")}
            note = Annotation(
                new_id(), call["conversation"], book.author, **names, note=f"note {number}", at=book.now()
            )
            acts = [note]
            if number % 3 == 2:
                changed = Annotation(
                    new_id(), note.conversation, book.author, **names, note="changed", at=book.now(), supersedes=note.id
                )
                acts.append(changed)
            for each in acts:
                book.write([each], keep=True)
                written.write(f"{each.id}\n")
                written.flush()
            if number % 5 == 4:
                book.undo(keep=True)


def _paced(steps: int, seconds: float) -> Iterator[None]:
    """Yield so many times, evenly over so many seconds."""
    began = time.monotonic()
    for step in range(steps):
        time.sleep(max(0.0, began + step * seconds / steps - time.monotonic()))
        yield


if __name__ == "__main__":
    main()
