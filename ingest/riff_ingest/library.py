"""Store conversations and read sources from a script."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote

import msgspec

from riff_ingest.conversation import BEYOND_LINES, Conversation
from riff_ingest.facts import facts_of
from riff_ingest.loader import plan_inputs, plan_retries, read_input
from riff_ingest.source import run_of
from riff_ingest.sources.registry import FoundInputs, find_inputs, source_of, sources
from riff_ingest.sources.transcripts import read_line
from riff_ingest.transcript_writer import encode_line, transcript_document
from riff_store.errors import UsageError
from riff_store.facts import ConversationFacts, Skipped, SourceFile

if TYPE_CHECKING:
    from riff_store.database import Store
    from riff_store.write.writer import Writer

RUN = "recorded"
"""The run of conversations that name none."""

_KIND = "recorded"
_VERSION = 1


@dataclass(slots=True)
class StoredConversations:
    """Count what became of conversations: new in the store, in place of an earlier form, or there as they are.

    `forgotten` were taken out of the store (`riff-tui forget`) and stay out. `notes` shows what was wrong with them,
    such as defects of their event streams.
    """

    added: int = 0
    replaced: int = 0
    unchanged: int = 0
    forgotten: int = 0
    notes: list[Skipped] = field(default_factory=list)


def store_conversations(
    store: Store | str | os.PathLike[str],
    conversations: Iterable[Conversation],
    *,
    run: str = RUN,
    with_text: bool = True,
) -> StoredConversations:
    """Score conversations and write them into a store, all of them or none.

    A path opens the store there, which is made if it is missing. `run` names the run of conversations that name none.
    One that is the same call (run, flow, agent, id, trial) is replaced. `with_text=False` leaves out what was said.
    Raises `BrokenInput` for a conversation without an id or a flow, `StoreError` for a store that cannot be written.
    """
    from riff_store.write.writer import Writer

    summary = StoredConversations()
    with _writable(store) as opened:
        writer = Writer(opened)
        with writer.batch():
            for conversation in conversations:
                _put(writer, conversation, summary, run, with_text)
        writer.pack()
    return summary


def read_source(path: str | os.PathLike[str], *, kind: str | None = None) -> SourceReader:
    """Read the conversations of a file or a directory, whatever source they come from, one at a time.

    `kind` takes every file for that kind instead of looking at its content. What is left out is in `skipped` of the
    reader, which is complete once the reader is exhausted. Raises `UsageError` if there is nothing at the path, or no
    such kind.
    """
    if not os.path.exists(path):
        raise UsageError(f"{os.fspath(path)}: there is no such file or directory")
    if kind is not None and source_of(kind) is None:
        raise UsageError(f"{kind}: there is no such kind of source", f"one of {', '.join(s.kind for s in sources())}")
    return SourceReader(find_inputs([path]), kind)


class SkippedPart(NamedTuple):
    """Describe something that was skipped or changed, and the path of the input that has it."""

    path: str
    note: Skipped


class SourceReader(Iterator[Conversation]):
    """Iterate over the conversations of inputs; `skipped` gains what is left out on the way."""

    def __init__(self, found: FoundInputs, kind: str | None = None) -> None:
        left_out = (*found.passed_over, *found.set_aside)
        self.skipped = [SkippedPart(path, Skipped("skipped", None, reason)) for path, reason in left_out]
        self._conversations = self._read(found.files, kind)

    def __next__(self) -> Conversation:
        return next(self._conversations)

    def _read(self, files: Sequence[Path], kind: str | None) -> Iterator[Conversation]:
        plans = plan_inputs(files, kind)
        plan_retries(plans, (), plan_inputs)
        for plan in plans:
            path = plan.file.path
            for item in read_input(plan):
                found = item[1] if isinstance(item, tuple) else item
                if isinstance(found, Skipped):
                    self.skipped.append(SkippedPart(path, found))
                elif isinstance(found, Conversation):
                    found.run_id = found.run_id or run_of(Path(path))
                    yield found


@contextmanager
def _writable(store: Store | str | os.PathLike[str]) -> Iterator[Store]:
    from riff_store.database import Store, open_store

    if isinstance(store, Store) and store.writable:
        yield store
        return
    location, create = (store.address, False) if isinstance(store, Store) else (os.fspath(store), True)
    with open_store(location, write=True, create=create) as opened:
        yield opened


def _put(writer: Writer, given: Conversation, summary: StoredConversations, run: str, with_text: bool) -> None:
    """Write one conversation as an input of its own, so that its next form takes its place."""
    conversation, reasons = _as_read(given, run)
    facts, notes = facts_of(conversation, default_run=run, with_text=with_text)
    notes += [Skipped("defect", None, reason, facts.conversation_id) for reason in reasons]
    content = msgspec.msgpack.encode((facts, notes))
    path = _path(facts)
    file = SourceFile(path, _KIND, hashlib.sha256(content).hexdigest(), len(content), _VERSION, with_text)
    writer.order([path])
    result = writer.put_file(file, [facts, *notes])
    if result.forgotten:
        summary.forgotten += 1
        return
    summary.notes += notes
    if result.status == "unchanged":
        summary.unchanged += 1
    elif result.status == "changed" or result.replaced:
        summary.replaced += 1
    else:
        summary.added += 1


def _path(facts: ConversationFacts) -> str:
    """Return a path that no other call has."""
    named = {
        "run": facts.run_id,
        "flow": facts.flow,
        "agent": facts.agent_model,
        "call": facts.conversation_id,
    }
    parts = [f"{name} {quote(value, safe=' ')}" for name, value in named.items()]
    return f"/(recorded)/{'/'.join(parts)}/trial {facts.trial}"


def _as_read(given: Conversation, run: str) -> tuple[Conversation, list[str]]:
    """Return a conversation as it comes back from a file, so that it is scored alike; with what had to be left out."""
    conversation, reasons = read_line(encode_line(transcript_document(given)), run)
    for name in BEYOND_LINES:
        setattr(conversation, name, getattr(given, name))
    return conversation, reasons
