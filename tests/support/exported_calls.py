"""Calls as platforms export them that have a converter: of each as little as shows its form."""

from __future__ import annotations

import json
from typing import Any

ULTRAVOX_CALL: dict[str, Any] = {
    "callId": "u-1",
    "created": "2026-01-13T10:26:40Z",
    "joined": "2026-01-13T10:26:41Z",
    "ended": "2026-01-13T10:27:10Z",
    "endReason": "hangup",
    "agent": {"agentId": "a", "name": "Plant desk"},
}


def _message(role: str, stage: str, text: str, **given: Any) -> dict[str, Any]:
    return {"role": f"MESSAGE_ROLE_{role}", "callStageId": stage, "text": text, **given}


ULTRAVOX_MESSAGES: dict[str, Any] = {
    "next": None,
    "results": [
        _message("AGENT", "s1", "Hello.", timespan={"start": "0.5s", "end": "1s"}),
        _message("USER", "s1", "A fern.", timespan={"start": "2s", "end": "3s"}),
        _message("TOOL_CALL", "s1", '{"n": 1}', invocationId="i", toolName="stock"),
        _message("TOOL_RESULT", "s1", "", invocationId="i", errorDetails="gone"),
        _message("TOOL_CALL", "s2", '{"n": 2}', invocationId="i", toolName="stock"),
        _message("TOOL_RESULT", "s2", "ok", invocationId="i"),
        _message("AGENT", "s2", "Sold.", timespan={"start": "4.2s", "end": "5s"}),
    ],
}


def _interaction(second: int, asked: str, page: str, answer: str, match: str, **parameters: Any) -> dict[str, Any]:
    return {
        "request": {"queryInput": {"text": {"text": asked}}},
        "response": {
            "queryResult": {
                "text": asked,
                "currentPage": {"displayName": page},
                "currentFlow": {"displayName": "Plants"},
                "match": {"matchType": match},
                "parameters": parameters,
                "responseMessages": [{"text": {"text": [answer]}}],
            }
        },
        "createTime": f"2026-01-13T10:26:{second}Z",
    }


DIALOGFLOW: dict[str, Any] = {
    "name": "projects/p/locations/l/agents/a/conversations/d-1",
    "startTime": "2026-01-13T10:26:40Z",
    "duration": "12s",
    "metrics": {"hasEndInteraction": True},
    "interactions": [
        _interaction(48, "A fern", "Order", "Sold.", "INTENT", plant="fern"),
        _interaction(40, "Hi", "Start Page", "Hello.", "INTENT"),
        _interaction(44, "Mumble", "Start Page", "Sorry?", "NO_MATCH"),
    ],
}
DIALOGFLOW_ROWS: list[dict[str, Any]] = [
    {
        "conversation_name": DIALOGFLOW["name"],
        "turn_position": place,
        "request_time": each["createTime"].replace("T", " ").replace("Z", " UTC"),
        "request": json.dumps(each["request"]),
        "response": json.dumps(each["response"]),
    }
    for place, each in enumerate(sorted(DIALOGFLOW["interactions"], key=lambda each: each["createTime"]), 1)
]

REALTIME: list[dict[str, Any]] = [
    {"t": 100.0, "type": "session.created", "event_id": "e1", "session": {"id": "sess-1", "model": "thinker-rt"}},
    {"t": 101.0, "type": "input_audio_buffer.speech_started", "event_id": "e2", "item_id": "i1", "audio_start_ms": 900},
    {"t": 102.0, "type": "input_audio_buffer.speech_stopped", "event_id": "e3", "item_id": "i1", "audio_end_ms": 1900},
    {"t": 102.4, "type": "response.output_item.added", "event_id": "e4",
     "item": {"id": "i2", "type": "function_call", "call_id": "c", "name": "stock"}},
    {"t": 102.5, "type": "response.function_call_arguments.done", "event_id": "e5", "item_id": "i2", "call_id": "c",
     "arguments": '{"plant": "fern"}'},
    {"t": 102.6, "type": "conversation.item.create",
     "item": {"type": "function_call_output", "call_id": "c", "output": "none"}},
    {"t": 103.0, "type": "response.output_audio.delta", "event_id": "e6", "item_id": "i3", "delta": "AAAA"},
    {"t": 104.0, "type": "response.output_audio_transcript.done", "event_id": "e7", "item_id": "i3",
     "transcript": "None left."},
    {"t": 104.5, "type": "conversation.item.input_audio_transcription.completed", "event_id": "e8", "item_id": "i1",
     "transcript": "A fern, please.\n"},
]  # fmt: skip

DEEPGRAM = """\
starting up
2026-01-13 10:26:40,000 INFO {"type": "Welcome", "request_id": "r"}
2026-01-13 10:26:41,500 INFO {"type": "ConversationText", "role": "user", "content": "A fern."}
2026-01-13 10:26:42,000 INFO {"type": "FunctionCallRequest", "functions": [{"id": "f", "name": "stock"}]}
2026-01-13 10:26:42,500 INFO {"type": "FunctionCallResponse", "id": "f", "name": "stock", "content": "none"}
2026-01-13 10:26:43,000 INFO {"type": "ConversationText", "role": "assistant", "content": "None left."}
2026-01-13 10:26:43,100 INFO {"type": "LatencyReport", "total_latency": 1.25, "stt_latency": 0.1}
2026-01-13 10:26:44,000 INFO {"type": "Error", "code": "SLOW", "description": "took long"}
"""

TEXT_RECORDS: list[dict[str, Any]] = [
    {"id": "t-1", "agent_name": "Desk", "transcript": "bot: Hello:\nhere we are.\nhuman: Hi.",
     "hangup_reason": "hangup"},
    {"call_id": "t-2", "transcript": [
        {"role": "ASSISTANT", "text": "Hello.", "nodeTransition": {"toNodeId": "n1"}},
        {"role": "HUMAN", "text": "Hi."},
        {"role": "ASSISTANT", "text": "Bye.", "nodeTransition": {"toNodeId": "n2"}},
    ]},
    {"id": "t-3", "transcript": "Seller: I have two."},
    {"id": "t-4", "transcript": [{"role": "moderator", "text": "Quiet."}]},
]  # fmt: skip

DEEPEVAL: dict[str, Any] = {
    "testFile": "test_desk.py",
    "identifier": "desk",
    "testCases": [],
    "conversationalTestCases": [
        {
            "name": "case_0",
            "scenario": "buys a fern",
            "turns": [
                {"role": "user", "content": "A fern."},
                {"role": "assistant", "content": "None left.",
                 "toolsCalled": [{"name": "stock", "inputParameters": {"n": 1}, "output": "none"}]},
            ],
            "metricsData": [
                {"name": "Polite", "score": 0.75, "success": True, "reason": "kind", "evaluationModel": "m-1"},
                {"name": "Right", "score": 0, "success": False, "reason": None, "error": "timed out"},
            ],
        }
    ],
    "metricsScores": [],
}  # fmt: skip
