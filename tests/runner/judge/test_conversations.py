"""Which conversations can be judged, whatever source their transcripts come from."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from riff_ingest import BrokenInput, Conversation, ReadContext, Source, Turn
from tests.support.dirty_inputs import record, write_lines
from tests.support.source_registry import add_source
from tests.surface.runner import ConversationName, Signature, decided, find_conversations, read_conversations


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
    assert [name.id for name in found.places] == [("nightly", "c-1")]
    assert (found.errored, found.without_text, found.unreadable) == (1, 1, 0)
    calls = list(read_conversations(found, found.places))
    assert [call.turns[0].text for call in calls] == ["Grüezi, when?"]


def test_what_another_source_reads_can_be_judged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    add_source(monkeypatch, TAPE)
    folder = tmp_path / "evening"
    folder.mkdir()
    (folder / "a.tape").write_text("first second torn third")
    found = find_conversations([folder])
    names = [ConversationName("evening", name, "dental", "(unknown)", 0) for name in ("first", "second")]
    assert (list(found.places), found.unreadable) == (names, 1)
    assert [call.turns[0].text for call in read_conversations(found, names)] == ["This is first.", "This is second."]


def test_calls_of_one_id_are_told_apart_by_flow_agent_and_trial(tmp_path: Path) -> None:
    others: list[dict[str, Any]] = [{"flow": "garage"}, {"agent_model": "m-2"}, {"trial": 1}]
    write_lines(tmp_path / "flow-transcripts-a.jsonl", [record("c-1"), *(record("c-1", **other) for other in others)])
    write_lines(tmp_path / "flow-transcripts-b.jsonl", [record("c-1", **others[0])])
    found = find_conversations([tmp_path])
    assert len(found.places) == 4
    assert {call.name for call in read_conversations(found, found.places)} == set(found.places)


def test_a_verdict_of_before_is_that_of_the_only_call_it_may_be_of() -> None:
    signature = Signature("m", "h")
    calls = [ConversationName("r", "c-1", flow, "m", 0) for flow in ("dental", "garage")]
    alone = ConversationName("r", "c-2", "garage", "m", 0)
    said = [("c-1", None), ("c-1", "garage"), ("c-2", None), ("c-3", None)]
    names = [(ConversationName("r", call, flow), signature) for call, flow in said]
    assert decided(names, [*calls, alone]) == {(calls[1], signature), (alone, signature)}
