"""What is done to a store from its making on, each as something that can be interrupted and done again."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.support import tiny_store
from tests.support.earlier_schema import earlier_store, stepped
from tests.surface.arrays import arrays_blocks as blocks
from tests.surface.ingest import ingest, pipeline
from tests.surface.store import (
    Annotation,
    CallNames,
    Commit,
    Drawn,
    FlowEdit,
    KeptList,
    Sample,
    Writer,
    add_notes,
    chunks,
    copy_store,
    forget,
    keep_list,
    open_store,
)

Work = Callable[[str], None]
"""Does something to the store at a place, opening it itself."""


@dataclass(frozen=True)
class StoreWork:
    """Name a work, and the file of the store that it begins with, `None` if it makes one.

    Done again where it was interrupted it leaves all rows as they are undisturbed, with their keys if `keeps_keys`.
    """

    name: str
    begin: Path | None
    work: Work
    keeps_keys: bool = True


@contextmanager
def few_are_many() -> Iterator[None]:
    """Let eight calls be a batch, and twelve so many that a store packs their columns."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(chunks, "GROUP_CALLS", 8)
        patch.setattr(chunks, "FEWEST_CALLS", 12)
        patch.setattr(blocks, "BLOCK_GROUPS", 3)
        patch.setattr(pipeline, "BATCH_CONVERSATIONS", 8)
        patch.setattr(pipeline, "BATCH_ITEMS", 16)
        patch.setattr(pipeline, "READ_AHEAD", 8)
        yield


def store_works(folder: Path) -> list[StoreWork]:
    """Make in a folder what works begin with, and return them; call and use them inside `few_are_many`."""
    first, changed = folder / "first", folder / "changed"
    tiny_store.write(first)
    tiny_store.write(changed)
    ingested, changing = folder / "ingested.db", folder / "changing.db"
    _ingest(first, str(ingested))
    _ingest(changed, str(changing))
    _change(changed)
    return [
        StoreWork("first ingest", None, partial(_ingest, first)),
        StoreWork("ingest of what changed", changing, partial(_ingest, changed)),
        StoreWork("ingest of everything anew", ingested, partial(_ingest, first, rebuild=True), keeps_keys=False),
        StoreWork("edits of flows", ingested, _put_edits),
        StoreWork("notes", ingested, _note),
        StoreWork("reading list", ingested, _draw),
        StoreWork("forgetting", ingested, _forget),
        StoreWork("copy", None, partial(_copy, ingested)),
    ]


def migration(folder: Path) -> StoreWork:
    """Return the migration from a made-up earlier schema."""
    return StoreWork("migration", earlier_store(folder / "earlier.db"), _migrate)


def _change(folder: Path) -> None:
    """Take calls away, add some, let one are in another file, and let a judge say other things."""
    one, other = (folder / run / "flow-transcripts-tiny.jsonl" for run in ("run-1", "run-2"))
    lines = one.read_text("utf-8").splitlines(keepends=True)
    more = [json.dumps(tiny_store.viewing(30 + each, "gemini", "books", run="run-2", latency=800)) for each in range(9)]
    one.write_text("".join(lines[2:]), "utf-8")
    other.write_text("".join([*lines[3:5], *(f"{line}\n" for line in more)]), "utf-8")
    scores = [score | {"score": 9.0} for score in tiny_store.scores()][1:]
    for judge in ("codex", "gemini"):
        text = "".join(json.dumps(score | {"judge": judge}) + "\n" for score in scores)
        (folder / "run-1" / f"humanness-{judge}.jsonl").write_text(text, "utf-8")


def _ingest(folder: Path, location: str, *, rebuild: bool = False) -> None:
    with open_store(location, write=True, create=True) as opened:
        ingest([folder], Writer(opened), rebuild=rebuild)


def _put_edits(location: str) -> None:
    ids = [f"{number}" * 40 for number in range(1, 4)]
    edits = {
        flow: [FlowEdit(flow, id, place, "ann", "mend it", f"{flow}.toml") for place, id in enumerate(ids)]
        for flow in ("viewing", "weather")
    }
    commits = [Commit(id, tuple(ids[max(place - 1, 0) : place])) for place, id in enumerate(ids)]
    with open_store(location, write=True) as opened:
        writer = Writer(opened)
        with writer.batch():
            writer.put_edits("/flows", edits, commits)


def _note(location: str) -> None:
    """Note something, change it and take it back, as three people's acts of one moment each."""
    note = Annotation("1", tiny_store.name(0), "ann", run="run-1", code="wrong", note="greets twice", at=1)
    edited = replace(note, id="2", note="greets thrice", at=2, supersedes="1")
    gone = replace(edited, id="3", at=3, supersedes="2", deleted=True)
    for act in ([note, replace(note, id="4", conversation=tiny_store.name(1))], [edited], [gone]):
        with open_store(location, write=True) as opened:
            add_notes(opened, act)


def _draw(location: str) -> None:
    calls = [
        Drawn(CallNames("run-1", "viewing", "gemini", tiny_store.name(number), 0), "random") for number in range(3)
    ]
    with open_store(location, write=True) as opened:
        keep_list(opened, KeptList(Sample(3, {"random": 3}, 1, "", 5), calls))


def _forget(location: str) -> None:
    with open_store(location, write=True) as opened, opened.writing():
        lost = "SELECT id FROM conversation WHERE success = ? OR name = ?"
        forget(opened, [key for (key,) in opened.execute_sql(lost, (False, tiny_store.name(4)))])


def _copy(source: Path, location: str) -> None:
    with open_store(source) as read, open_store(location, write=True, create=True) as opened:
        copy_store(read, opened, replace=True)


def _migrate(location: str) -> None:
    with stepped():
        open_store(location, write=True).close()
