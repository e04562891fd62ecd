"""One call as tools for tracing export it: spans in OTLP JSON lines, and observations and scores of Langfuse."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

START = 1_755_856_800
"""2025-08-22 10:00:00 UTC, when the call begins."""


def span(
    number: int, name: str, begin: float, end: float, parent: int | None = None, *, failed: bool = False, **known: Any
) -> dict[str, Any]:
    """A span with times in seconds of the call and attributes, whose dots are spelled as double underscores."""
    return {
        "traceId": "0af7651916cd43dd8448eb211c80319c",
        "spanId": f"{number:016x}",
        "parentSpanId": "" if parent is None else f"{parent:016x}",
        "name": name,
        "kind": 1,
        "startTimeUnixNano": str(int((START + begin) * 1e9)),
        "endTimeUnixNano": str(int((START + end) * 1e9)),
        "attributes": [{"key": key.replace("__", "."), "value": _value(value)} for key, value in known.items()],
        "status": {"code": 2} if failed else {},
    }


def lines(spans: Sequence[dict[str, Any]]) -> str:
    """OTLP JSON lines, two spans a line."""
    service = {"attributes": [{"key": "service.name", "value": {"stringValue": "florist"}}]}
    groups = [spans[at : at + 2] for at in range(0, len(spans), 2)]
    traces = [{"resourceSpans": [{"resource": service, "scopeSpans": [{"spans": group}]}]} for group in groups]
    return "".join(f"{json.dumps(trace)}\n" for trace in traces)


def message(role: str, text: str) -> str:
    """What is in `gen_ai.input.messages` and `gen_ai.output.messages`."""
    return json.dumps([{"role": role, "parts": [{"type": "text", "content": text}]}])


def genai_spans() -> list[dict[str, Any]]:
    """A caller who wants roses, a tool that fails, another that does not, and two answers."""
    asked = message("user", "Roses for Ana")
    tool: dict[str, Any] = {"gen_ai__operation__name": "execute_tool"}
    answered = json.dumps([{"role": "tool", "parts": [{"type": "tool_call_response", "id": "1", "response": "none"}]}])
    model: dict[str, Any] = {"gen_ai__request__model": "thinker-2", "gen_ai__conversation__id": "conv-1"}
    called = json.dumps([{"role": "assistant", "parts": [{"type": "tool_call", "id": "1", "name": "find_flowers"}]}])
    return [
        span(1, "chat", 0, 1, gen_ai__input__messages=asked, gen_ai__output__messages=called, **model),
        span(2, "find_flowers", 1, 2, failed=True, gen_ai__tool__name="find_flowers", **tool),
        span(3, "order", 2, 2.5, gen_ai__tool__name="order", gen_ai__tool__call__arguments='{"n": 12}', **tool),
        span(
            4,
            "chat",
            2.5,
            3,
            gen_ai__input__messages=answered,
            gen_ai__output__messages=message("assistant", "Twelve roses it is."),
            **model,
        ),
    ]


def pipecat_spans() -> list[dict[str, Any]]:
    """A greeting, a question, and an answer that took 1.5 seconds."""
    return [
        span(1, "conversation", 0, 8, conversation__id="conv-2", conversation__type="voice"),
        span(2, "turn", 0, 2, 1, turn__number=1),
        span(3, "llm", 0.5, 1, 2, output="Florist, hello!", gen_ai__request__model="thinker-2"),
        span(4, "turn", 3, 8, 1, turn__number=2, turn__user_bot_latency_seconds=1.5),
        span(5, "stt", 3, 4, 4, transcript="Roses, please."),
        span(6, "llm", 5, 6, 4, output="How many?", gen_ai__request__model="thinker-2"),
        span(7, "tts", 6, 7, 4, text="How many?"),
    ]


OBSERVATIONS: list[dict[str, Any]] = [
    {
        "id": "o2",
        "traceId": "t1",
        "sessionId": "conv-3",
        "type": "TOOL",
        "name": "order",
        "startTime": "2025-08-22 10:00:02.000000",
        "endTime": "2025-08-22 10:00:02.500000",
        "input": {"n": 12},
        "output": None,
        "level": "ERROR",
        "statusMessage": "no roses left",
    },
    {
        "id": "o1",
        "traceId": "t1",
        "sessionId": "conv-3",
        "type": "GENERATION",
        "name": "florist",
        "startTime": "2025-08-22 10:00:00.000000",
        "endTime": "2025-08-22 10:00:01.250000",
        "input": [{"role": "user", "content": "Roses for Ana"}],
        "output": {"role": "assistant", "content": "Let me see."},
        "model": "thinker-2",
        "level": "DEFAULT",
    },
]
SCORES: list[dict[str, Any]] = [
    {"id": "s1", "traceId": "t1", "name": "helpful", "value": 0.8, "dataType": "NUMERIC", "comment": "kind"},
    {"id": "s2", "traceId": "t1", "sessionId": "conv-3", "name": "mood", "value": None, "dataType": "CATEGORICAL"},
]


def _value(value: Any) -> dict[str, Any]:
    if isinstance(value, int):
        return {"intValue": str(value)}
    return {"doubleValue": value} if isinstance(value, float) else {"stringValue": value}
