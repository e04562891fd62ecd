"""docs/own-data.md leads to every converter, and what they write comes into a store."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from riff_ingest import Conversation, read_source
from tests.support.exported_calls import (
    DEEPEVAL,
    DEEPGRAM,
    DIALOGFLOW,
    DIALOGFLOW_ROWS,
    REALTIME,
    TEXT_RECORDS,
    ULTRAVOX_CALL,
    ULTRAVOX_MESSAGES,
)
from tests.support.facts import fresh
from tests.support.traced_calls import OBSERVATIONS, SCORES, genai_spans, lines, pipecat_spans
from tests.surface.ingest import GuardEvaluated, StateEntered, facts_of, ingest
from tests.surface.store import Writer

ROOT = Path(__file__).parents[2]
CONVERTERS = ROOT / "examples" / "converters"
PAGE = (ROOT / "docs" / "own-data.md").read_text(encoding="utf-8")


def run(script: str, *arguments: Path, given: str = "") -> str:
    command = [sys.executable, "-sEB", str(CONVERTERS / script), *map(str, arguments)]
    return subprocess.run(command, input=given, check=True, capture_output=True, encoding="utf-8").stdout


def converted(directory: Path, script: str, given: str) -> Conversation:
    return written(directory, run(script, given=given))


def written(directory: Path, text: str) -> Conversation:
    path = directory / "flow-transcripts-mine.jsonl"
    path.write_text(text, encoding="utf-8")
    found = read_source(path)
    (call,) = found
    facts, notes = facts_of(call, default_run="mine")
    assert (found.skipped, notes, facts.error) == ([], [], None)
    return call


def test_the_page_leads_to_every_converter() -> None:
    files = re.findall(r"\]\(../examples/converters/(\w+\.py)\)", PAGE)
    assert sorted(files) == sorted(path.name for path in CONVERTERS.glob("*.py"))


@pytest.mark.parametrize("path", sorted(CONVERTERS.glob("*.py")), ids=lambda path: path.stem)
def test_a_converter_is_short_and_needs_nothing_installed(path: Path) -> None:
    code = path.read_text(encoding="utf-8")
    assert len(code.splitlines()) <= (80 if path.stem != "shared" else 100)
    imported = re.findall(r"^(?:import|from) (\w+)", code, re.MULTILINE)
    assert set(imported) <= sys.stdlib_module_names | {"shared"}


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


def _structured(value: Any) -> dict[str, Any]:
    """An attribute whose lists and objects are none of JSON in a text."""
    if isinstance(value, dict):
        return {"kvlistValue": {"values": [{"key": key, "value": _structured(each)} for key, each in value.items()]}}
    if isinstance(value, list):
        return {"arrayValue": {"values": [_structured(each) for each in value]}}
    return {"stringValue": value}


def test_genai_spans_may_be_structured_wrapped_and_named_by_the_last_of_a_trace(tmp_path: Path) -> None:
    def span(name: str, begin: int, end: int, **known: Any) -> dict[str, Any]:
        given = [{"key": f"gen_ai.{key.replace('__', '.')}", "value": _structured(each)} for key, each in known.items()]
        times = {"startTimeUnixNano": f"{begin}000000000", "endTimeUnixNano": f"{end}000000000"}
        return {"traceId": "t", "spanId": name, "name": name, "attributes": given, **times}

    asked, answered = (
        [{"role": role, "parts": [{"type": "text", "content": said}, {"type": "reasoning", "content": "?"}]}]
        for role, said in (("user", "Roses"), ("assistant", "None left."))
    )
    tool = span("execute_tool", 103, 104, tool__name="stock", tool__call__arguments={"plant": "rose"})
    tool["status"] = {"code": "STATUS_CODE_ERROR", "message": "closed"}
    found = [
        tool,
        span("chat", 100, 103, operation__name="chat", input__messages=asked, output__messages=answered),
        span("agent", 100, 104, operation__name="invoke_agent", input__messages=asked, output__messages=answered,
             conversation__id="conv-9"),
    ]  # fmt: skip
    text = json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": found}]}, {"scopeSpans": [{}]}]})
    call = converted(tmp_path, "genai_spans.py", text)
    assert call.conversation_id == "conv-9"
    assert said(call) == [("caller", "Roses", 0, None), ("agent", "None left.", 3, 3000)]
    assert [(tool.arguments, tool.error) for tool in call.tool_calls] == [({"plant": "rose"}, "closed")]


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


def snake(value: Any, *, deep: bool = True) -> Any:
    """The same with keys as the protocol's own names have them."""
    if isinstance(value, list):
        return [snake(each, deep=deep) for each in value]
    if not isinstance(value, dict):
        return value
    return {re.sub("([A-Z])", r"_\1", key).lower(): snake(each) if deep else each for key, each in value.items()}


@pytest.mark.parametrize(
    ("script", "spans"), [("genai_spans.py", genai_spans()), ("pipecat_spans.py", pipecat_spans())]
)
def test_spans_are_read_with_either_names_as_lines_or_one_document(script: str, spans: Any) -> None:
    given = [json.loads(line) for line in lines(spans).splitlines()]
    expected = run(script, given=lines(spans))
    numbers = re.sub(r'("(?:start|end)TimeUnixNano": )"([0-9]+)"', r"\1\2", lines(spans))
    for text in (
        "".join(f"{json.dumps(snake(each))}\n" for each in given),
        "\n".join(json.dumps(each, indent=1) for each in given),
        json.dumps(given),
        numbers,
    ):
        assert run(script, given=text) == expected
    refused = subprocess.run(
        [sys.executable, "-sEB", str(CONVERTERS / script)],
        input="{}",
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert (refused.returncode, refused.stderr) == (1, "no spans: OTLP in JSON has resourceSpans (or resource_spans)\n")


def test_every_form_in_which_langfuse_exports_gives_the_same(tmp_path: Path) -> None:
    def blob(each: dict[str, Any]) -> dict[str, Any]:
        texts = {key: json.dumps(each[key]) for key in ("input", "output") if isinstance(each.get(key), dict | list)}
        times = {
            key: each[key].replace("T", " ").removesuffix("Z") for key in each if key.endswith("Time") and each[key]
        }
        return dict(snake(each | texts | times, deep=False))

    forms = {
        "api": "".join(f"{json.dumps(each)}\n" for each in OBSERVATIONS),
        "blob": "".join(f"{json.dumps(blob(each))}\n" for each in OBSERVATIONS),
        "page": json.dumps([blob(each) for each in OBSERVATIONS], indent=1),
    }
    (tmp_path / "scores.jsonl").write_text("")
    found = set()
    for name, text in forms.items():
        (tmp_path / name).mkdir()
        (tmp_path / f"{name}.json").write_text(text)
        run("langfuse.py", tmp_path / f"{name}.json", tmp_path / "scores.jsonl", tmp_path / name)
        found.add((tmp_path / name / "flow-transcripts-langfuse.jsonl").read_text())
    assert len(found) == 1


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"messages": [{"role": "system", "content": "Sell."}, {"role": "user", "content": "Roses"}]}, "Roses"),
        ([{"role": "user", "content": [{"type": "text", "text": "Roses"}, {"type": "image_url"}]}], "Roses"),
        ({"role": "user", "content": [{"type": "text", "text": "Roses"}]}, "Roses"),
        (["Hello", "Roses"], "Roses"),
        ([{"role": "user", "content": "Roses"}, {"role": "tool", "content": "12"}], None),
        ([], None),
    ],
)
def test_words_of_langfuse_may_stand_in_messages_and_their_parts(tmp_path: Path, given: Any, words: str | None) -> None:
    first = {"type": "GENERATION", "name": "g", "traceId": "t", "startTime": "2026-01-13 10:00:00.000001"}
    rows = [first | {"input": given, "sessionId": "s"}, first | {"output": "Bye", "sessionId": None}]
    (tmp_path / "o.json").write_text(json.dumps(rows))
    (tmp_path / "s.json").write_text("")
    run("langfuse.py", tmp_path / "o.json", tmp_path / "s.json", tmp_path)
    call = written(tmp_path, (tmp_path / "flow-transcripts-langfuse.jsonl").read_text())
    assert (call.conversation_id, [turn.text for turn in call.turns]) == ("s", [*filter(None, [words]), "Bye"])


def test_scores_of_langfuse_are_shares_or_unscored(tmp_path: Path) -> None:
    trace = OBSERVATIONS[0]["traceId"]
    given = [
        ("share", 0.8, "NUMERIC"), ("flag", 1, "BOOLEAN"), ("flag", 0, "BOOLEAN"), ("stars", 1, "NUMERIC"),
        ("stars", 4, "NUMERIC"), ("kind", None, "CATEGORICAL"),
    ]  # fmt: skip
    rows = [{"trace_id": trace, "name": n, "value": v, "data_type": d, "string_value": "good"} for n, v, d in given]
    (tmp_path / "scores.json").write_text(json.dumps(rows))
    (tmp_path / "observations.jsonl").write_text("".join(f"{json.dumps(each)}\n" for each in OBSERVATIONS))
    run("langfuse.py", tmp_path / "observations.jsonl", tmp_path / "scores.json", tmp_path)
    written = [json.loads(line) for line in (tmp_path / "humanness-langfuse.jsonl").read_text().splitlines()]
    assert [each["score"] for each in written] == [8.0, 10, 0, None, None, None]
    assert written[-1]["rationale"] == "good"


def states(call: Conversation) -> list[str]:
    return [event.state for event in call.events if isinstance(event, StateEntered)]


def said(call: Conversation) -> list[tuple[str, str, float | None, float | None]]:
    return [(turn.role, turn.text, turn.t, turn.latency_ms) for turn in call.turns]


def test_a_call_of_ultravox_is_joined_with_its_messages(tmp_path: Path) -> None:
    for name, value in (("call", ULTRAVOX_CALL), ("messages", ULTRAVOX_MESSAGES)):
        (tmp_path / f"{name}.json").write_text(json.dumps(value, indent=1))
    call = written(tmp_path, run("ultravox.py", tmp_path / "call.json", tmp_path / "messages.json"))
    assert (call.conversation_id, call.flow, call.stop_reason) == ("u-1", "Plant desk", "hangup")
    assert states(call) == ["s1", "s2"]
    assert said(call) == [
        ("agent", "Hello.", 0.5, None), ("caller", "A fern.", 2.0, None), ("agent", "Sold.", 4.2, 1200.0),
    ]  # fmt: skip
    assert [(tool.arguments, tool.error, tool.result, tool.state) for tool in call.tool_calls] == [
        ({"n": 1}, "gone", "", "s1"), ({"n": 2}, None, "ok", "s2"),
    ]  # fmt: skip


@pytest.mark.parametrize("given", [DIALOGFLOW, {"conversations": [DIALOGFLOW]}, DIALOGFLOW_ROWS])
def test_pages_of_dialogflow_are_states(tmp_path: Path, given: Any) -> None:
    call = converted(tmp_path, "dialogflow_cx.py", json.dumps(given))
    assert (call.conversation_id, call.flow, call.completed) == ("d-1", "Plants", None)
    assert states(call) == ["Start Page", "Order"]
    assert said(call) == [
        ("caller", "Hi", 0, None), ("agent", "Hello.", 0, None), ("caller", "Mumble", 4, None),
        ("agent", "Sorry?", 4, None), ("caller", "A fern", 8, None), ("agent", "Sold.", 8, None),
    ]  # fmt: skip
    assert [(each.guard, each.error) for each in call.events if isinstance(each, GuardEvaluated)] == [
        ("match", "NO_MATCH")
    ]
    assert call.slots == {"plant": "fern"}


def test_events_of_the_realtime_api_are_ordered_by_item_and_need_times(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    log.write_text("".join(f"{json.dumps(each)}\n" for each in REALTIME))
    call = written(tmp_path, run("openai_realtime.py", log))
    assert (call.conversation_id, call.agent_model) == ("sess-1", "thinker-rt")
    assert said(call) == [("caller", "A fern, please.", 1.0, None), ("agent", "None left.", 3.0, 1000.0)]
    assert [(tool.name, tool.arguments, tool.result, tool.t) for tool in call.tool_calls] == [
        ("stock", {"plant": "fern"}, "none", 2.5)
    ]
    log.write_text(json.dumps(REALTIME[0] | {"t": None}))
    with pytest.raises(subprocess.CalledProcessError) as refused:
        run("openai_realtime.py", log)
    assert refused.value.stderr.endswith('event 1 has no time; have your logger add "t", in seconds, to each\n')


def test_a_log_of_deepgram_has_a_stamp_before_each_line(tmp_path: Path) -> None:
    log = tmp_path / "night.log"
    log.write_text(DEEPGRAM)
    call = written(tmp_path, run("deepgram.py", log))
    assert call.conversation_id == "night"
    assert said(call) == [("caller", "A fern.", 1.5, None), ("agent", "None left.", 3.0, 1250.0)]
    assert [(tool.name, tool.arguments, tool.result) for tool in call.tool_calls] == [("stock", None, "none")]
    assert call.errors == [{"kind": "platform", "message": "SLOW took long", "t": 4.0}]
    log.write_text(json.dumps({"results": {"channels": []}}))
    with pytest.raises(subprocess.CalledProcessError):
        run("deepgram.py", log)


def test_records_with_a_text_transcript_are_parted_by_label(tmp_path: Path) -> None:
    path = tmp_path / "flow-transcripts-mine.jsonl"
    command = [sys.executable, "-sEB", str(CONVERTERS / "text_transcripts.py")]
    done = subprocess.run(command, input=json.dumps(TEXT_RECORDS), check=True, capture_output=True, encoding="utf-8")
    path.write_text(done.stdout)
    first, second = read_source(path)
    assert (first.conversation_id, first.flow, first.stop_reason) == ("t-1", "Desk", "hangup")
    assert [(turn.role, turn.text) for turn in first.turns] == [("agent", "Hello:\nhere we are."), ("caller", "Hi.")]
    assert states(second) == ["n1", "n2"]
    assert done.stderr.splitlines() == [
        "left out t-3: no words with a label that SIDES has",
        "left out t-4: SIDES does not have these speakers: moderator",
    ]


def test_a_test_run_of_deepeval_becomes_calls_and_verdicts(tmp_path: Path) -> None:
    (tmp_path / "test_run_1.json").write_text(json.dumps(DEEPEVAL))
    (tmp_path / "mine").mkdir()
    run("deepeval.py", tmp_path / "test_run_1.json", tmp_path / "mine")
    (call,) = read_source(tmp_path / "mine")
    assert (call.conversation_id, call.run_id, call.flow, call.scenario) == (
        "test_run_1/1", "test_run_1", "desk", "buys a fern",
    )  # fmt: skip
    assert said(call) == [("caller", "A fern.", None, None), ("agent", "None left.", None, None)]
    assert [(tool.name, tool.arguments, tool.result) for tool in call.tool_calls] == [("stock", {"n": 1}, "none")]
    lines_ = (tmp_path / "mine" / "humanness-test_run_1.jsonl").read_text().splitlines()
    scores = [json.loads(line) for line in lines_]
    assert [(each["judge"], each["aspect"], each["score"]) for each in scores] == [
        ("m-1", "Polite", 7.5), ("deepeval", "Right", None),
    ]  # fmt: skip
    with fresh(tmp_path / "calls.db") as store:
        summary = ingest([tmp_path / "mine"], Writer(store))
        assert (summary.scores, summary.skipped, summary.unjoined.waiting) == (2, 0, 0)
