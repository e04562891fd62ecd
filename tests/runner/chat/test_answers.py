"""Answers are read from their bytes, however they are cut and whatever servers make of the API."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.surface.runner import (
    AnswerReader,
    ChatToolCall,
    ChatUsage,
    NotAnAnswer,
    ReadAnswer,
    SpokenText,
    ToldError,
    is_written_out,
)


def read(body: bytes, cuts: Iterable[int] = ()) -> ReadAnswer:
    """Read an answer from pieces that are cut so."""
    reader = AnswerReader()
    places = sorted({0, len(body), *(cut % (len(body) + 1) for cut in cuts)})
    for start, end in itertools.pairwise(places):
        reader.feed(body[start:end])
    return reader.close()


def outcome(body: bytes, cuts: Iterable[int] = ()) -> Any:
    try:
        return read(body, cuts)
    except (NotAnAnswer, ToldError) as error:
        return type(error), str(error), getattr(error, "error", None)


def stream(*deltas: Mapping[str, Any], finish: str | None = "stop", end: str = "data: [DONE]\n\n") -> bytes:
    chunks: list[Any] = [{"choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas]
    if finish:
        chunks.append({"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]})
    return ("".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks) + end).encode()


def document(message: Any, **others: Any) -> bytes:
    return json.dumps({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}], **others}).encode()


def piece(**call: Any) -> dict[str, Any]:
    return {"tool_calls": [call]}


TEXTS = st.text(st.sampled_from("a <>/think\n\u00fc\U0001f600"), max_size=12) | st.sampled_from(
    ["<think>", "</think>", "\ud83d", "\ude00"]
)
DELTAS = st.one_of(
    st.builds(lambda text: {"content": text}, TEXTS),
    st.builds(lambda text: {"refusal": text}, TEXTS),
    st.builds(
        lambda index, call, name, arguments: piece(
            index=index, id=call, function={"name": name, "arguments": arguments}
        ),
        st.sampled_from([0, 1, None]), st.sampled_from(["", "a", "b", None]), st.sampled_from(["", "go", None]),
        st.sampled_from(["", "{", "}", "{}", None, {"a": 1}]),
    ),
)  # fmt: skip
NAMES = st.sampled_from(
    ["choices", "message", "delta", "content", "tool_calls", "function", "arguments", "usage", "error", "index", "type"]
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner),
)
ENDS = st.sampled_from(["data: [DONE]\n\n", "", "data: {", ": ping\n", 'data: {"error": "no"}\n\n', "oops\r\n"])


@given(st.lists(DELTAS, max_size=6), st.sampled_from(["stop", None]), ENDS, st.lists(st.integers(0, 2000), max_size=30))
def test_any_cutting_of_the_bytes_gives_the_same_answer(
    deltas: list[dict[str, Any]], finish: str | None, end: str, cuts: list[int]
) -> None:
    body = stream(*deltas, finish=finish, end=end)
    assert outcome(body, cuts) == outcome(body) == outcome(body, range(len(body)))


@given(st.lists(TEXTS, max_size=6))
def test_a_stream_says_what_the_whole_answer_says(texts: list[str]) -> None:
    whole = document({"role": "assistant", "content": "".join(texts)})
    assert read(stream(*({"content": text} for text in texts))) == read(whole)


@given(st.binary(max_size=60), st.lists(st.integers(0, 60), max_size=5))
def test_no_bytes_are_too_strange(body: bytes, cuts: list[int]) -> None:
    assert outcome(body, cuts) is not None


@given(JSON)
def test_no_document_is_too_strange(value: Any) -> None:
    assert outcome(json.dumps(value).encode()) is not None
    assert outcome(f"data: {json.dumps(value)}\n\ndata: [DONE]\n\n".encode()) is not None


def test_words_and_usage_are_joined() -> None:
    usage = 'data: {"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 2}}\n\ndata: [DONE]\n\n'
    answer = read(stream({"role": "assistant"}, {"content": "Which "}, {"content": "day?"}, end=usage))
    assert (answer.text, answer.finish_reason, answer.usage) == ("Which day?", "stop", ChatUsage(7, 2))


@pytest.mark.parametrize("usage", [None, [], {"prompt_tokens": -1, "completion_tokens": "9"}, {"prompt_tokens": True}])
def test_tokens_that_nobody_counted_are_not_zero(usage: Any) -> None:
    assert read(document({"content": "Yes."}, usage=usage)).usage == ChatUsage(None, None)


@pytest.mark.parametrize(
    ("deltas", "calls"),
    [
        pytest.param(
            [piece(index=0, id="a", function={"name": "fill", "arguments": ""}),
             piece(index=0, function={"arguments": '{"na'}), piece(index=0, function={"arguments": 'me": "Ana"}'})],
            [("a", "fill", '{"name": "Ana"}')], id="pieces"),
        pytest.param(
            [piece(index=0, id="a", function={"name": "fill", "arguments": "{"}),
             piece(index=1, id="b", function={"name": "go", "arguments": "{"}),
             piece(index=0, function={"arguments": "}"}), piece(index=1, function={"arguments": "}"})],
            [("a", "fill", "{}"), ("b", "go", "{}")], id="interleaved"),
        pytest.param(
            [piece(index=0, id="a", function={"name": "fill", "arguments": '{"x": 1}'}),
             piece(index=0, id="b", function={"name": "go", "arguments": "{}"})],
            [("a", "fill", '{"x": 1}'), ("b", "go", "{}")], id="index 0 for all"),
        pytest.param(
            [piece(index=0, id="", function={"name": "fill", "arguments": "{}"}),
             piece(index=0, id="", function={"name": "fill", "arguments": "{}"})],
            [("call_0", "fill", "{}"), ("call_1", "fill", "{}")], id="index 0 and no ids"),
        pytest.param(
            [piece(index=0, id="a", function={"name": "fill", "arguments": "{"}),
             piece(index=0, id="a", function={"name": "fill", "arguments": "}"})],
            [("a", "fill", "{}")], id="id and name repeated"),
        pytest.param(
            [piece(id="a", function={"name": "fill", "arguments": {"x": 1}})],
            [("a", "fill", '{"x": 1}')], id="arguments as an object"),
        pytest.param([piece(index=0, id="a", function={"name": "go"})], [("a", "go", "{}")], id="no arguments"),
        pytest.param(
            [piece(index=0, id="a"), "no delta", {"tool_calls": [None, 3]}], [("a", "", "{}")], id="no function"),
    ],
)  # fmt: skip
def test_calls_of_tools_are_joined(deltas: list[Any], calls: list[tuple[str, str, str]]) -> None:
    assert read(stream(*deltas)).tool_calls == tuple(ChatToolCall(*call) for call in calls)


def test_calls_in_a_whole_answer_are_as_many_as_there_are() -> None:
    same = {"id": "a", "type": "function", "function": {"name": "go", "arguments": ""}}
    calls = read(document({"content": None, "tool_calls": [same, same]})).tool_calls
    assert calls == (ChatToolCall("a", "go", "{}"), ChatToolCall("call_1", "go", "{}"))


@pytest.mark.parametrize(
    ("text", "spoken"),
    [
        ("<think>They want a flat.</think>\n\nWhich day?", "Which day?"),
        ("They want a flat.</think>Which day?", "Which day?"),
        ("Well.<think>Hm.</think> Which day?<think>cut off", "Well. Which day?"),
        ("<think></think>a</think>b", "ab"),
        ("a < b, <thin ice", "a < b, <thin ice"),
        ("<think>only", ""),
    ],
)
def test_thoughts_are_not_spoken(text: str, spoken: str) -> None:
    joined = SpokenText()
    for character in text:
        joined.feed(character)
    assert (joined.text(), joined.has_words) == (spoken, bool(spoken))


def test_parts_and_reasoning_fields_are_told_apart_from_speech() -> None:
    parts = [{"type": "thinking", "thinking": "Hm."}, {"type": "text", "text": "Which day?"}, "odd", {"type": "text"}]
    assert read(document({"content": parts, "reasoning_content": "Hm."})).text == "Which day?"


def test_parts_that_are_of_no_use_leave_the_others_as_they_are() -> None:
    call = {"index": 0, "id": "a", "function": {"name": "go", "arguments": "{}"}}
    odd: list[Any] = [
        {"content": 3, "refusal": [], "tool_calls": {"0": "go"}},
        {"content": "Yes.", "tool_calls": [3, None, [call], {"index": {}, "function": "go"}, call]},
    ]
    chunks = [{"choices": [None, "hi", {"index": 0, "delta": delta, "finish_reason": 1}], "usage": 7} for delta in odd]
    body = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in [*chunks, {"choices": 5}, {"choices": [{"delta": 1}]}])
    answer = read(f"{body}data: [DONE]\n\n".encode())
    assert (answer.text, answer.finish_reason, answer.usage) == ("Yes.", None, ChatUsage())
    assert answer.tool_calls == (ChatToolCall("call_0", "", "{}"), ChatToolCall("a", "go", "{}"))


def test_a_refusal_is_said_and_noted() -> None:
    answer = read(stream({"refusal": "I can"}, {"refusal": "not."}))
    assert (answer.text, [note.kind for note in answer.notes]) == ("I cannot.", ["refusal"])


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"  <!DOCTYPE html><html>", "a page (HTML) instead of JSON"),
        (b"", "connection closed mid-response"),
        (b"upstream connect error", "not answer in the form of the API"),
        (b"[]", "not answer in the form of the API"),
        (b'{"choices": []}', "not answer in the form of the API"),
        (b'{"choices": [{"message": "hi"}]}', "not answer in the form of the API"),
        (document({"content": "hi"})[:-5], "not answer in the form of the API"),
        (stream({"content": "hi"}, finish=None, end=""), "connection closed mid-response"),
        (b'data: {"choices": [{"del', "connection closed mid-response"),
        (b"data: {oops}\n\n", "a chunk of the stream is not JSON"),
        (b"data: [\n" * 200, "a chunk of the stream is not JSON"),
    ],
)
def test_what_is_no_answer_says_in_what(body: bytes, reason: str) -> None:
    with pytest.raises(NotAnAnswer, match=reason.replace("(", r"\(").replace(")", r"\)")):
        read(body)


@pytest.mark.parametrize(
    "body",
    [
        b'{"error": {"message": "no"}}',
        b'[{"error": {"message": "no"}}]',
        b'data: {"error": {"message": "no"}}\n\n',
        b'event: error\ndata: {"message": "no"}\n\n',
        b'event: error\ndata: [{"message": "no"}]\n\n',
    ],
)
def test_an_error_within_an_answer_is_one(body: bytes) -> None:
    with pytest.raises(ToldError) as caught:
        read(body)
    assert caught.value.error == {"message": "no"}


def test_the_end_of_a_stream_may_be_its_finish_reason() -> None:
    assert read(stream({"content": "Yes."}, end="")).text == "Yes."


def test_what_follows_the_end_is_no_part_of_the_answer() -> None:
    assert read(stream({"content": "Yes."}) + b'data: {"error": "late"}\n\n').text == "Yes."


def test_a_chunk_may_go_over_several_lines() -> None:
    spelled = json.dumps({"choices": [{"delta": {"content": "Yes."}, "finish_reason": "stop"}]}, indent=1)
    lines = "\r\n".join(f"data: {line}" for line in spelled.splitlines())
    assert read(f": ping\r\nevent: message\r\nid: 1\r\n{lines}\r\n\r\n".encode()).text == "Yes."


def test_halves_of_a_character_are_joined() -> None:
    assert read(stream({"content": "\ud83d"}, {"content": "\ude00"})).text == "\U0001f600"
    assert read(stream({"content": "\ud83d"})).text == "\ufffd"


def test_half_a_character_in_a_name_ends_no_call() -> None:
    odd = b'{"choices": [{"index": 0, "message": {"role": "assistant", "content": "Hello", "\\ud800": 1}}]}'
    assert read(odd).text == "Hello"


@pytest.mark.parametrize(
    ("text", "is_call"),
    [
        ('{"name": "fill", "arguments": {}}', True),
        ('```json\n{"name": "fill", "parameters": {}}\n```', True),
        ('{"name": "fill"}', True),
        ("<tool_call>fill</tool_call>", True),
        ('{"name": "Ana"}', False),
        ("I will fill that in.", False),
        ("{not json", False),
        ('["name"]', False),
    ],
)
def test_a_call_that_is_written_out_is_known_by_its_form(text: str, is_call: bool) -> None:
    assert is_written_out(text, ["fill"]) is is_call
