"""Calls and a flow as Retell keeps them, of an invented plumber's line; written by hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

FLOW_ID = "conversation_flow_7c1"
SECONDS = 1_781_485_200  # 2026-06-15 01:00 UTC


def words(text: str, start: float, end: float) -> list[dict[str, Any]]:
    """The words of an utterance, spread evenly over its time."""
    parts = text.split()
    each = (end - start) / len(parts)
    return [
        {"word": word, "start": round(start + place * each, 3), "end": round(start + (place + 1) * each, 3)}
        for place, word in enumerate(parts)
    ]


def spoke(role: str, text: str, start: float, end: float, **metadata: Any) -> dict[str, Any]:
    return {"role": role, "content": text, "words": words(text, start, end), "metadata": metadata}


def moved(former: str, new: str, t: float | None = None, kind: str = "normal") -> dict[str, Any]:
    """A transition between nodes by their ids."""
    timed = {} if t is None else {"time_sec": t}
    names = {"former_node_name": NAMES.get(former, former), "new_node_name": NAMES.get(new, new)}
    ends = {"former_node_id": former, "new_node_id": new, "transition_type": kind}
    return {"role": "node_transition", **ends, **names, **timed}


def invoked(key: str, name: str, arguments: str, t: float | None = None, kind: str = "custom") -> dict[str, Any]:
    timed = {} if t is None else {"time_sec": t}
    return {
        "role": "tool_call_invocation",
        "tool_call_id": key,
        "name": name,
        "arguments": arguments,
        "type": kind,
    } | timed


def answered(key: str, content: str, *, successful: bool = True, t: float | None = None) -> dict[str, Any]:
    timed = {} if t is None else {"time_sec": t}
    return {"role": "tool_call_result", "tool_call_id": key, "content": content, "successful": successful} | timed


def node(key: str, name: str, kind: str, *to: str | None, **more: Any) -> dict[str, Any]:
    """A node with an edge by prompt to each other node; `None` is an edge that was drawn to none."""
    edges = []
    for number, target in enumerate(to):
        edge = {"id": f"{key}-e{number}", "transition_condition": {"type": "prompt", "prompt": f"case {number}"}}
        edges.append(edge | ({} if target is None else {"destination_node_id": target}))
    return {
        "id": key,
        "name": name,
        "type": kind,
        "instruction": {"type": "prompt", "text": name},
        "edges": edges,
        **more,
    }


def goes(to: str) -> dict[str, Any]:
    return {"id": f"to-{to}", "destination_node_id": to, "transition_condition": {"type": "prompt", "prompt": "Else"}}


_NODES = [
    node("n1", "Welcome", "conversation", "n2"),
    node("n2", "Ask intent", "conversation", "n3", "n8"),
    node("n3", "Collect address", "conversation", "n4", None, else_edge=goes("n8")),
    node(
        "n4",
        "Extract address",
        "extract_dynamic_variables",
        else_edge=goes("n5"),
        variables=[{"name": "street", "type": "string"}, {"name": "zip", "type": "string"}],
    ),
    node("n5", "Check availability", "function", "n6", tool_id="tool-1"),
    node("n6", "Confirm visit", "conversation", "n7", skip_response_edge=goes("n7")),
    node("n7", "Goodbye", "end"),
    node("n8", "Transfer", "transfer_call", edge=goes("n7")),
]
NAMES = {each["id"]: each["name"] for each in _NODES}


def retell_flow() -> dict[str, Any]:
    """The plumber's flow, with an edge of "Collect address" that leads nowhere."""
    return {
        "conversation_flow_id": FLOW_ID,
        "version": 3,
        "start_node_id": "n1",
        "start_speaker": "agent",
        "global_prompt": "You answer for Plumb & Son.",
        "nodes": _NODES,
        "tools": [],
    }


def retell_call(name: str = "call_1", items: list[dict[str, Any]] | None = None, **fields: Any) -> dict[str, Any]:
    """A call that ended; as long as its items are, those of a short one unless they are given."""
    items = greeting() if items is None else items
    return {
        "call_id": name,
        "call_type": "phone_call",
        "agent_id": "agent_1",
        "agent_name": "Plumb line",
        "agent_version": 3,
        "call_status": "ended",
        "direction": "inbound",
        "from_number": "+14155550123",
        "to_number": "+14155550199",
        "start_timestamp": SECONDS * 1000,
        "end_timestamp": (SECONDS + 60) * 1000,
        "duration_ms": 60000,
        "disconnection_reason": "user_hangup",
        "transcript_with_tool_calls": items,
        "recording_url": "https://retell.example/recording.wav?X-Amz-Signature=5ecret",
        **fields,
    }


def greeting() -> list[dict[str, Any]]:
    """What every call begins with: the agent greets, the caller has a leak, and the agent asks for the address."""
    return [
        moved("start", "n1", 0.1),
        spoke("agent", "Plumb and Son, what is wrong?", 0.5, 2.5),
        moved("n1", "n2", 2.6),
        spoke("user", "My tap leaks.", 3.0, 4.0),
        moved("n2", "n3", 4.5),
        spoke("agent", "Where is that?", 5.0, 6.0),
    ]


def stuck_call(number: int) -> dict[str, Any]:
    """A call that never leaves "Collect address"."""
    items = greeting()
    for turn in range(3):
        at = 7.0 + 6 * turn
        items += [spoke("user", "Twelve Elm Street.", at, at + 1), spoke("agent", "Where is that?", at + 3, at + 4)]
    return retell_call(f"call_stuck_{number}", items, start_timestamp=(SECONDS + 60 * number) * 1000)


def served_call(number: int) -> dict[str, Any]:
    """A call that goes through to its goodbye."""
    items = [
        *greeting(),
        spoke("user", "Twelve Elm Street.", 7.0, 8.0),
        moved("n3", "n4", 8.1),
        invoked("x1", "Extract address", '{"street": "Elm Street", "zip": "12"}', 8.2, "extract_dynamic_variable"),
        answered("x1", "ok", t=8.3),
        moved("n4", "n5", 8.4),
        invoked("t1", "check_availability", '{"zip": "12"}', 8.5),
        answered("t1", '{"slots": ["Tue"]}', t=8.9),
        moved("n5", "n6", 9.0),
        spoke("agent", "Tuesday it is.", 9.5, 10.5),
        spoke("user", "Thanks.", 11.0, 11.5),
        moved("n6", "n7", 11.6),
        spoke("agent", "Goodbye.", 12.0, 12.5),
        invoked("e1", "end_call", "{}", 12.6, "end_call"),
    ]
    return retell_call(
        f"call_served_{number}",
        items,
        start_timestamp=(SECONDS + 60 * number) * 1000,
        disconnection_reason="agent_hangup",
    )


def transferred_call(number: int) -> dict[str, Any]:
    """A call that the flow hands to a human."""
    items = [
        *greeting()[:4],
        moved("n2", "n8", 4.2),
        invoked("t1", "Transfer", "{}", 4.3, "transfer_call"),
        answered("t1", "transferred", t=4.4),
    ]
    return retell_call(
        f"call_transferred_{number}",
        items,
        start_timestamp=(SECONDS + 60 * number) * 1000,
        disconnection_reason="call_transfer",
    )


def a_day_of_calls() -> list[dict[str, Any]]:
    """Thirty calls, of which most never leave "Collect address", with what Retell thinks of them."""
    kinds = [stuck_call] * 18 + [served_call] * 9 + [transferred_call] * 3
    return [make(number) | {"call_analysis": opinion(make is served_call)} for number, make in enumerate(kinds)]


def opinion(is_good: bool) -> dict[str, Any]:
    """What Retell thinks of a call."""
    return {"call_successful": is_good, "user_sentiment": "Positive" if is_good else "Negative"}


def written(path: Path, value: Any) -> Path:
    """A file of a value in JSON, or of one a line where its name reports so."""
    if path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(each) + "\n" for each in value))
    else:
        path.write_text(json.dumps(value))
    return path
