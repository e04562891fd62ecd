"""The converters of docs/own-data.md stand there as they are, and what they write comes into a store."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from riff_ingest import Conversation, read_source
from tests.support.facts import fresh
from tests.support.traced_calls import OBSERVATIONS, SCORES, genai_spans, lines, pipecat_spans
from tests.surface.ingest import StateEntered, facts_of, ingest
from tests.surface.store import Writer

ROOT = Path(__file__).parents[2]
CONVERTERS = ROOT / "examples" / "converters"
PAGE = (ROOT / "docs" / "own-data.md").read_text(encoding="utf-8")


def run(script: str, *arguments: Path, given: str = "") -> str:
    command = [sys.executable, "-I", str(CONVERTERS / script), *map(str, arguments)]
    return subprocess.run(command, input=given, check=True, capture_output=True, encoding="utf-8").stdout


def converted(directory: Path, script: str, given: str) -> Conversation:
    path = directory / "flow-transcripts-mine.jsonl"
    path.write_text(run(script, given=given), encoding="utf-8")
    found = read_source(path)
    (call,) = found
    facts, notes = facts_of(call, default_run="mine")
    assert (found.skipped, notes, facts.error) == ([], [], None)
    return call


def test_the_page_shows_every_converter_as_it_is() -> None:
    shown = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    assert shown == [
        (CONVERTERS / name).read_text(encoding="utf-8")
        for name in ("genai_spans.py", "pipecat_spans.py", "langfuse.py")
    ]
    assert all(f"](../examples/converters/{path.name})" in PAGE for path in CONVERTERS.glob("*.py"))


@pytest.mark.parametrize("path", sorted(CONVERTERS.glob("*.py")), ids=lambda path: path.stem)
def test_a_converter_is_short_and_needs_nothing_installed(path: Path) -> None:
    code = path.read_text(encoding="utf-8")
    assert len(code.splitlines()) <= 50
    imported = re.findall(r"^(?:import|from) (\w+)", code, re.MULTILINE)
    assert set(imported) <= sys.stdlib_module_names


def test_genai_spans_become_a_call_whose_states_are_its_tools(tmp_path: Path) -> None:
    call = converted(tmp_path, "genai_spans.py", lines(genai_spans()))
    assert (call.conversation_id, call.flow, call.agent_model, call.origin) == (
        "conv-1",
        "florist",
        "thinker-2",
        "derived",
    )
    assert [(turn.role, turn.text, turn.t, turn.latency_ms) for turn in call.turns] == [
        ("caller", "Roses for Ana", 0, None),
        ("agent", "Twelve roses it is.", 3, 3000),
    ]
    assert [event.state for event in call.events if isinstance(event, StateEntered)] == [
        "opening",
        "find_flowers",
        "order",
    ]
    assert [(tool.name, tool.arguments, tool.error) for tool in call.tool_calls] == [
        ("find_flowers", None, "failed"),
        ("order", {"n": 12}, None),
    ]


def test_the_turns_that_pipecat_traces_become_a_call(tmp_path: Path) -> None:
    call = converted(tmp_path, "pipecat_spans.py", lines(pipecat_spans()))
    assert (call.conversation_id, call.agent_model, call.duration_s) == ("conv-2", "thinker-2", 8)
    assert [(turn.role, turn.text, turn.t, turn.latency_ms) for turn in call.turns] == [
        ("agent", "Florist, hello!", 0.5, None),
        ("caller", "Roses, please.", 3, None),
        ("agent", "How many?", 5, 1500),
    ]


def test_an_export_of_langfuse_becomes_calls_and_verdicts(tmp_path: Path) -> None:
    for name, exported in (("observations", OBSERVATIONS), ("scores", SCORES)):
        text = "".join(f"{json.dumps(each)}\n" for each in exported)
        (tmp_path / f"{name}.jsonl").write_text(text, encoding="utf-8")
    (tmp_path / "mine").mkdir()
    run("langfuse.py", tmp_path / "observations.jsonl", tmp_path / "scores.jsonl", tmp_path / "mine")
    (call,) = read_source(tmp_path / "mine")
    assert (call.conversation_id, call.flow, call.agent_model, call.duration_s) == (
        "conv-3",
        "florist",
        "thinker-2",
        2.5,
    )
    assert [(turn.role, turn.text, turn.latency_ms) for turn in call.turns] == [
        ("caller", "Roses for Ana", None),
        ("agent", "Let me see.", 1250),
    ]
    assert [(tool.name, tool.error) for tool in call.tool_calls] == [("order", "no roses left")]
    with fresh(tmp_path / "calls.db") as store:
        summary = ingest([tmp_path / "mine"], Writer(store))
        assert (summary.scores, summary.skipped, summary.unjoined.waiting) == (2, 0, 0)
