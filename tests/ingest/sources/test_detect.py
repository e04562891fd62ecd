"""What a file is taken for: by content first, by name where the content says nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.dirty_inputs import FILES, GOOD, packed, record, text_of
from tests.support.source_files import EDITOR, FULL, NATIVE
from tests.support.source_registry import add_source, box_source
from tests.surface.ingest import BrokenInput, Detected, claimed_kind, detect, registry

SCORES = json.dumps(FULL).encode() + b"\n"


@pytest.mark.parametrize(
    ("name", "content", "kind"),
    [
        ("calls.txt", GOOD, "transcripts"),
        ("humanness-a.jsonl", GOOD, "transcripts"),
        ("calls.gz", packed(GOOD), "transcripts"),
        ("calls", b"\n\n{broken\n42\n" + GOOD, "transcripts"),
        ("calls", b'{"conversation_id": 1, "flow": "f"}', "transcripts"),
        ("flow-transcripts-a.jsonl", SCORES, "humanness"),
        ("scores", b'{"conversation_id": "c", "flow": "f", "judge": "j", "score": 1}', "humanness"),
        ("dental.toml", NATIVE.encode(), "flow-file"),
        ("dental", json.dumps(EDITOR, indent=2).encode(), "flow-file"),
        ("dental.json", b'{"flow": "f", "states": {}}', "flow-file"),
        ("flow-transcripts-a.jsonl.gz", b"{broken", "transcripts"),
        ("humanness-a.jsonl", b"not json", "humanness"),
    ],
)
def test_a_file_is_known_by_what_is_in_it(tmp_path: Path, name: str, content: bytes, kind: str) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    found = detect(path)
    assert (found.kind, bool(found.reason)) == (kind, True)


@pytest.mark.parametrize("name", [name for name, (_, calls, _) in FILES.items() if calls])
def test_dirty_transcripts_are_transcripts_under_any_name(tmp_path: Path, name: str) -> None:
    path = tmp_path / "calls"
    path.write_bytes(FILES[name][0])
    assert detect(path).kind == "transcripts"


OTHER = f"; {registry.OWN_DATA}"


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "file is empty"),
        (b"\n \n", "file is empty"),
        (b'{"name": "x", "private": true}', f"not recognised: JSON with the keys name, private{OTHER}"),
        (
            b'{"info": 1,\n "tasks": 2,\n "simulations": []}',
            f"not recognised: JSON with the keys info, tasks, simulations{OTHER}",
        ),
        (b'{"a":1,"b":1,"c":1,"d":1,"e":1,"f":1}', f"not recognised: JSON with the keys a, b, c, d, e, 1 more{OTHER}"),
        (b"[1, 2, 3]", f"not recognised: JSON without a key that is known{OTHER}"),
        (b'[project]\nname = "x"\n', f"not recognised: TOML with the keys project{OTHER}"),
        (b"hello there", "line 1: file is neither JSON nor TOML"),
        (b'{\n "flow": "f",\n', "file is not JSON: it ends too early"),
    ],
)
def test_what_nothing_knows_is_refused_with_the_reason(tmp_path: Path, content: bytes, reason: str) -> None:
    path = tmp_path / "file"
    path.write_bytes(content)
    assert detect(path) == Detected(None, reason)


@pytest.mark.parametrize(
    ("given", "what"),
    [
        (
            {"resourceSpans": []},
            "spans of OpenTelemetry (OTLP): examples/converters/genai_spans.py or pipecat_spans.py",
        ),
        ({"resource_spans": []}, "spans of OpenTelemetry (OTLP): examples/converters/genai_spans.py"),
        ({"id": "o", "trace_id": "t", "type": "GENERATION"}, "an export of Langfuse: examples/converters/langfuse.py"),
        ({"id": "o", "traceId": "t", "dataType": "NUMERIC"}, "an export of Langfuse: examples/converters/langfuse.py"),
        ({"evalId": "e", "results": {}}, "results of single prompts, no calls (promptfoo): docs/own-data.md"),
        ({"testFile": "t", "conversationalTestCases": []}, "a test run of DeepEval: examples/converters/deepeval.py"),
        ({"name": "t", "pass_status": True}, "results of end-to-end tests of Rasa, which passed or failed"),
        ({"callId": "c", "created": "x", "joined": "y"}, "a call of Ultravox: examples/converters/ultravox.py"),
        ({"name": "n", "interactions": []}, "a conversation of Dialogflow CX: examples/converters/dialogflow_cx.py"),
        ({"type": "response.done", "event_id": "e"}, "events of OpenAI's Realtime API, which have no times: examples/"),
        (
            {"type": "ConversationText", "role": "user"},
            "events of a voice agent of Deepgram: examples/converters/deepgram.py",
        ),
        (
            {"next": None, "results": [{"role": "MESSAGE_ROLE_USER", "callStageId": "s"}]},
            "a call of Ultravox: examples/converters/ultravox.py",
        ),
        (
            {"status": "DONE", "test_case_id": "t", "transcript": []},
            "a simulated call of a test platform (Hamming, Coval, Cekura): docs/own-data.md",
        ),
        (
            {"id": "1", "transcript": "bot: Hi"},
            "a record of a call with its transcript as text: examples/converters/text",
        ),
        ({"type": "prompt", "voicePrompt": "Hi"}, "messages of Twilio's ConversationRelay: docs/own-data.md"),
    ],
)
def test_what_others_write_is_named_with_what_converts_it(tmp_path: Path, given: dict[str, Any], what: str) -> None:
    keys = ", ".join(given)
    for name, content, form in (
        ("one.json", json.dumps(given), "JSON"),
        ("list.json", json.dumps([given, given], indent=1), "a JSON list of objects"),
        ("lines.jsonl", f"{json.dumps(given)}\n{json.dumps(given)}\n", "JSON"),
    ):
        (tmp_path / name).write_text(content)
        kind, reason = detect(tmp_path / name)
        assert kind is None
        assert reason.startswith(f"not recognised: {form} with the keys {keys}; it seems to be {what}")


def test_transcripts_of_another_major_version_are_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "flow-transcripts-a.jsonl"
    path.write_text(text_of(record(schema="riff.flow-transcript/2")))
    reason = "schema riff.flow-transcript/2 is not supported, only riff.flow-transcript/1 is"
    assert detect(path) == Detected(None, reason)


def test_what_cannot_be_read_raises_and_a_directory_is_named(tmp_path: Path) -> None:
    with pytest.raises(BrokenInput, match="no such file"):
        detect(tmp_path / "missing")
    assert detect(tmp_path) == Detected(None, "it is a directory")


def test_a_source_can_claim_a_directory_as_a_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    add_source(monkeypatch, box_source(lambda directory: (directory / "box").exists()))
    assert claimed_kind(tmp_path) is None
    (tmp_path / "box").touch()
    assert claimed_kind(tmp_path) == "box"
    assert detect(tmp_path) == Detected("box", "it is a directory of box")


@pytest.mark.parametrize("name", ["flow-transcripts-a.jsonl", "humanness-a.jsonl", "log.eval", "calls.json", "calls"])
def test_a_file_without_a_byte_is_empty_whatever_its_name(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"")
    assert detect(tmp_path / name) == Detected(None, "file is empty")
