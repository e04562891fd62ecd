"""Files of transcripts: what is written reads back, bytes depend on content alone, and nothing is left half done."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.surface.ingest import (
    SCHEMA,
    Contract,
    Conversation,
    ExpectedAnswer,
    GuardEvaluated,
    LineFile,
    ReferenceStep,
    SlotFilled,
    StateContract,
    StateEntered,
    StateExited,
    ToolCall,
    Turn,
    TurnComplete,
    encode_line,
    transcript_document,
    write_transcripts,
)
from tests.surface.store import Interaction, Voice

CALL = Conversation(
    conversation_id="c-1",
    flow="dental_clinic",
    run_id="r",
    completed=False,
    contract=Contract(
        success_terminals=["booked"],
        escalation_terminals=[],
        states={"greeting": StateContract("opening"), "collect": StateContract(None, ["name"])},
    ),
    turns=[Turn("agent", "Hi [noise], Zoë?", 0.0, "greeting", 900.0), Turn("caller", "Sí.", 2.0)],
    events=[StateEntered("greeting", 0.0), GuardEvaluated("known", None, "KeyError: 'x'", 1.0)],
    tool_calls=[ToolCall("find", 1.0, {"name": "Zoë"})],
    expected_steps=[ReferenceStep("find", called=True)],
)

texts = st.text(max_size=8)
plain = st.none() | st.booleans() | st.integers(-(2**53), 2**53) | texts
moments = st.none() | st.floats(0, 1e6)
events = st.one_of(
    st.builds(StateEntered, texts, moments, st.none() | texts),
    st.builds(StateExited, texts, st.none() | texts, st.none() | texts, moments),
    st.builds(TurnComplete, st.none() | st.floats(0, 1e6), moments),
    st.builds(GuardEvaluated, texts, plain, plain, moments),
    st.builds(SlotFilled, texts, plain, st.none() | texts, moments),
)
calls = st.builds(
    Conversation,
    conversation_id=texts,
    flow=texts,
    run_id=st.none() | texts,
    agent_model=texts,
    trial=st.integers(0, 9),
    completed=st.none() | st.booleans(),
    errored=st.booleans(),
    errors=st.integers(0, 5) | st.lists(texts, max_size=2),
    contract=st.none()
    | st.builds(
        Contract,
        success_terminals=st.none() | st.lists(texts, max_size=2),
        escalation_terminals=st.none() | st.lists(texts, max_size=2),
        states=st.dictionaries(
            texts,
            st.builds(
                StateContract,
                st.none() | texts,
                st.lists(texts, max_size=2),
                tool=st.none() | texts | st.lists(texts, min_size=1, max_size=2),
            ),
            max_size=2,
        ),
        required_tools=st.none() | st.lists(texts, max_size=2),
        changing_tools=st.none() | st.lists(texts, max_size=2),
        reading_tools=st.none() | st.lists(texts, max_size=2),
    ),
    slots=st.dictionaries(texts, plain, max_size=3),
    turns=st.lists(st.builds(Turn, texts, texts, moments, st.none() | texts, moments), max_size=3),
    events=st.lists(events, max_size=4),
    tool_calls=st.lists(
        st.builds(
            ToolCall,
            texts,
            moments,
            plain,
            plain,
            texts,
            state=st.none() | texts,
            seq=st.none() | st.integers(0, 99),
            latency_ms=moments,
            changes=st.none() | st.booleans(),
            fits=st.none() | st.booleans(),
        ),
        max_size=2,
    ),
    facts=st.dictionaries(texts, plain, max_size=2),
    channel=st.none() | texts,
    expected_steps=st.none()
    | st.lists(st.builds(ReferenceStep, texts, arguments=plain, compared=st.none() | st.lists(texts, max_size=2))),
    expected_answers=st.lists(st.builds(ExpectedAnswer, texts, st.none() | st.booleans()), max_size=2),
)


@given(calls)
def test_a_line_reads_back_as_the_conversation_that_it_was(call: Conversation) -> None:
    line = encode_line(transcript_document(call))
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    assert msgspec.json.decode(line, type=Conversation) == call


def test_a_line_has_no_place_for_what_only_other_sources_know() -> None:
    more: dict[str, Any] = {"passed": True, "measured": {"a": 1.0}, "interaction": Interaction(1), "filled": 2}
    call = Conversation(conversation_id="c-1", flow="dental", voice=Voice(), unique=True, **more)
    assert set(transcript_document(call)) == {"schema", "conversation_id", "flow"}


def test_a_line_leaves_out_what_is_missing_or_at_its_default() -> None:
    document = json.loads(encode_line(transcript_document(CALL)))
    assert document == {
        "schema": SCHEMA,
        "conversation_id": "c-1",
        "flow": "dental_clinic",
        "run_id": "r",
        "completed": False,
        "contract": {
            "success_terminals": ["booked"],
            "escalation_terminals": [],
            "states": {"greeting": {"segment": "opening"}, "collect": {"required_slots": ["name"]}},
        },
        "turns": [
            {"role": "agent", "text": "Hi [noise], Zoë?", "t": 0.0, "state": "greeting", "latency_ms": 900.0},
            {"role": "caller", "text": "Sí.", "t": 2.0},
        ],
        "events": [
            {"type": "state_entered", "state": "greeting", "t": 0.0},
            {"type": "guard_evaluated", "guard": "known", "error": "KeyError: 'x'", "t": 1.0},
        ],
        "tool_calls": [{"name": "find", "t": 1.0, "arguments": {"name": "Zoë"}, "by": "agent"}],
        "expected_steps": [{"name": "find", "by": "agent", "called": True}],
    }


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("a\ud800b", '"a�b"'),
        ({"k\udfff": ["\udc00"]}, '{"k�":["�"]}'),
        (float("nan"), "null"),
        (float("inf"), "null"),
        (Path("x"), '"x"'),
        ("line\nbreak\u2028", '"line\\nbreak\u2028"'),
    ],
)
def test_what_json_cannot_hold_never_stops_a_line(value: Any, text: str) -> None:
    assert encode_line(value).decode() == text + "\n"


@pytest.mark.parametrize("name", ["flow-transcripts-x.jsonl", "flow-transcripts-x.jsonl.gz"])
def test_the_bytes_depend_on_what_is_written_alone(tmp_path: Path, name: str) -> None:
    one, other = tmp_path / name, tmp_path / f"copy-{name}"
    assert write_transcripts(one, [CALL, CALL]) == 2
    write_transcripts(other, iter([CALL, CALL]))
    os.utime(one, (0, 0))
    assert one.read_bytes() == other.read_bytes()
    data = one.read_bytes()
    lines = (gzip.decompress(data) if name.endswith(".gz") else data).splitlines()
    assert [msgspec.json.decode(line, type=Conversation) for line in lines] == [CALL, CALL]


def test_nobody_else_may_read_what_callers_said(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    write_transcripts(path, [CALL])
    assert path.stat().st_mode & 0o777 == 0o600


def failing() -> Any:
    yield CALL
    raise RuntimeError("the source broke")


@pytest.mark.parametrize("name", ["t.jsonl", "t.jsonl.gz"])
def test_a_failure_leaves_the_file_of_before_and_no_trace(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(b"before")
    with pytest.raises(RuntimeError, match="the source broke"):
        write_transcripts(path, failing())
    assert path.read_bytes() == b"before"
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_shows_under_its_name_only_when_it_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    with LineFile(path) as lines:
        lines.write({"a": 1})
        assert not path.exists()
    assert path.read_bytes() == b'{"a":1}\n'


def test_a_link_is_replaced_and_never_written_through(tmp_path: Path) -> None:
    precious, link = tmp_path / "precious", tmp_path / "t.jsonl"
    precious.write_bytes(b"precious")
    link.symlink_to(precious)
    write_transcripts(link, [CALL])
    assert precious.read_bytes() == b"precious"
    assert not link.is_symlink()


def test_a_directory_in_the_way_is_an_error_and_leaves_no_trace(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.mkdir()
    with pytest.raises(OSError, match=r"t\.jsonl"):
        write_transcripts(path, [CALL])
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real_open = os.open
    monkeypatch.setattr(os, "open", lambda *_: real_open("/dev/full", os.O_WRONLY))
    lines = LineFile(tmp_path / "t.jsonl")
    lines.write({"a": 1})
    with pytest.raises(OSError, match="No space left"):
        lines.close()
    lines.discard()
