"""Calls as Vapi keeps them, of an invented clinic; written by hand."""

from __future__ import annotations

from typing import Any

EPOCH = 1_781_485_200_000  # 2026-06-15 01:00 UTC, in milliseconds


def said(role: str, text: str, t: float, duration: float = 1000, **more: Any) -> dict[str, Any]:
    """A message at `t` seconds that lasted so many milliseconds."""
    times = {"time": EPOCH + t * 1000, "endTime": EPOCH + t * 1000 + duration, "secondsFromStart": t}
    return {"role": role, "message": text, "duration": duration, **times, **more}


def called(key: str, name: str, arguments: str, t: float) -> dict[str, Any]:
    tool = {"id": key, "type": "function", "function": {"name": name, "arguments": arguments}}
    return {"role": "tool_calls", "toolCalls": [tool], "message": "", "time": EPOCH, "secondsFromStart": t}


def answered(key: str, name: str, result: str, t: float) -> dict[str, Any]:
    return {"role": "tool_call_result", "toolCallId": key, "name": name, "result": result, "secondsFromStart": t}


def conversation() -> list[dict[str, Any]]:
    """A greeting, a wish, a tool and its answer."""
    return [
        {"role": "system", "message": "You are the clinic.", "secondsFromStart": 0.0, "time": EPOCH},
        said("bot", "Clinic, hello.", 0.5),
        said("user", "Tuesday, please.", 2.0),
        called("t1", "check_day", '{"day": "Tue"}', 3.5),
        answered("t1", "check_day", "free", 3.9),
        said("bot", "Tuesday is free.", 4.5),
        said("user", "Thanks.", 6.0),
        said("bot", "Goodbye.", 8.0),
    ]


def vapi_call(name: str = "c-1", messages: list[dict[str, Any]] | None = None, **fields: Any) -> dict[str, Any]:
    """A call with one assistant that ended; `artifact` adds to what it left behind."""
    artifact = {
        "messages": conversation() if messages is None else messages,
        "recordingUrl": "https://files.vapi.example/r.wav?sig=5ecret",
        **fields.pop("artifact", {}),
    }
    return {
        "id": name,
        "orgId": "org-1",
        "type": "inboundPhoneCall",
        "status": "ended",
        "endedReason": "customer-ended-call",
        "createdAt": "2026-06-15T00:59:58.000Z",
        "startedAt": "2026-06-15T01:00:00.000Z",
        "endedAt": "2026-06-15T01:01:30.000Z",
        "assistantId": "assistant-1",
        "assistantVersion": "4",
        "customer": {"number": "+14155550123"},
        "monitor": {"listenUrl": "wss://vapi.example/c-1/listen"},
        "artifact": artifact,
        **fields,
    }


def report(call: dict[str, Any]) -> dict[str, Any]:
    """The body of the webhook that reports a call at its end: most of it is beside the call."""
    told = {key: call[key] for key in ("endedReason", "artifact", "analysis", "startedAt", "endedAt") if key in call}
    kept = {key: call[key] for key in call if key not in told}
    return {"message": {"type": "end-of-call-report", "call": kept, **told}}


def squad_call(name: str = "c-squad") -> dict[str, Any]:
    """A call in which a greeter hands over to a booker."""
    messages = [
        said("bot", "Clinic, hello.", 0.5, assistantName="Greeter"),
        said("user", "An appointment.", 2.0),
        called("h1", "handoff_to_booker", "{}", 3.2),
        said("bot", "Which day?", 4.0, assistantName="Booker"),
        said("user", "Tuesday.", 6.0),
        said("bot", "Which day?", 8.0, assistantName="Booker"),
    ]
    names = {"a-1": "Greeter", "a-2": "Booker"}
    activations = [{"assistantName": each, "assistantId": key} for key, each in names.items()]
    artifact = {"assistantActivations": activations}
    return vapi_call(name, messages, squadId="squad-1", assistantId=None, artifact=artifact)


def workflow_call(name: str = "c-flow") -> dict[str, Any]:
    """A call through the nodes of a workflow, the older form."""
    messages = conversation()
    nodes = [
        {"nodeName": "hello", "messages": messages[:3], "variableValues": {"now": "Monday"}},
        {"nodeName": "pick_day", "messages": messages[3:6], "variableValues": {"now": "Monday", "day_wanted": "Tue"}},
        {"nodeName": "goodbye", "messages": [], "variableValues": {"day_wanted": "Tue", "name": None}},
    ]
    values = {"day_wanted": "Tue", "customer": {"number": "+14155550123"}}
    return vapi_call(name, messages, workflowId="flow-1", artifact={"nodes": nodes, "variableValues": values})
