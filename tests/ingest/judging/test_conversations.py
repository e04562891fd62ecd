"""Which conversations can be judged, whatever source their transcripts come from."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from riff_ingest import BrokenInput, Conversation, ReadContext, Source, Turn
from riff_ingest.judging.conversations import ConversationName, find_conversations, read_conversations
from tests.support.dirty_inputs import record, write_lines
from tests.support.source_registry import add_source


def read_tape(path: Path, context: ReadContext) -> Iterator[Conversation]:
    for name in path.read_text().split():
        if name == "torn":
            raise BrokenInput("the tape is torn")
        yield Conversation(conversation_id=name, flow="dental", turns=[Turn("agent", f"This is {name}.")])


TAPE = Source(
    kind="tape", version=1, read=read_tape, title="Tapes", known_by="files named *.tape", names=("*.tape",)
)  # fmt: skip


def test_transcripts_are_found_and_read_again(tmp_path: Path) -> None:
    silent = record("c-2", turns=[{"role": "caller", "text": "Hello?"}])
    write_lines(tmp_path / "flow-transcripts-a.jsonl", [record("c-1"), silent, record("c-3", errored=True)])
    found = find_conversations([tmp_path])
    assert list(found.places) == [("nightly", "c-1")]
    assert (found.errored, found.without_text, found.unreadable) == (1, 1, 0)
    calls = list(read_conversations(found, [ConversationName("nightly", "c-1")]))
    assert [call.turns[0].text for call in calls] == ["Grüezi, when?"]


def test_what_another_source_reads_can_be_judged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    add_source(monkeypatch, TAPE)
    folder = tmp_path / "evening"
    folder.mkdir()
    (folder / "a.tape").write_text("first second torn third")
    found = find_conversations([folder])
    names = [ConversationName("evening", name) for name in ("first", "second")]
    assert (list(found.places), found.unreadable) == (names, 1)
    assert [call.turns[0].text for call in read_conversations(found, names)] == ["This is first.", "This is second."]
