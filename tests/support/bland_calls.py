"""A call of Bland as its API gives it, the events of its pathway, and the pathway."""

from __future__ import annotations

from typing import Any

NUMBERS = ("+15550100001", "+15550100002", "15550100003")


def pathway() -> dict[str, Any]:
    """Three nodes, of which the second finds out what is wanted."""
    return {
        "pathway_id": "pw-1",
        "name": "Plant desk",
        "nodes": [
            {"id": "1", "type": "Default", "data": {"name": "Hello", "isStart": True, "prompt": "Greet."}},
            {
                "id": "2",
                "type": "Webhook",
                "data": {"name": "Stock", "extractVars": [["plant", "string", "which one"], ["phone", "string", "x"]]},
            },
            {"id": "3", "type": "End Call", "data": {"name": "Sorry"}},
            {"id": "4", "type": "Transfer Call", "data": {"name": "Human", "isGlobal": True}},
            {"globalConfig": {"globalPrompt": "Be kind."}},
        ],
        "edges": [
            {"id": "e1", "source": "1", "target": "2", "label": "names a plant"},
            {"id": "e2", "source": "2", "target": "3", "label": "none left"},
            {"id": "e3", "source": "3", "target": "9", "label": "odd"},
        ],
    }


def call(name: str = "b-1", **changes: Any) -> dict[str, Any]:
    """33 seconds in which the caller asks for ferns."""
    said = (
        (2, "46.000", "user", f"Two ferns. I am at {NUMBERS[1]}."),
        (1, "41.000", "assistant", "Plant desk."),
        (3, "50.000", "robot", "I cannot see the stock."),
        (4, "52.000", "agent-action", "Ended call"),
    )
    return {
        "call_id": name,
        "to": NUMBERS[0],
        "from": NUMBERS[1],
        "call_length": 0.55,
        "completed": True,
        "created_at": "2026-01-13T10:26:38.000Z",
        "started_at": "2026-01-13T10:26:40.000Z",
        "call_ended_by": "USER",
        "answered_by": "human",
        "pathway_id": "pw-1",
        "error_message": None,
        "transferred_to": None,
        "summary": "No stock.",
        "recording_url": "https://sound.example/b-1.mp3?token=s3cr3t-s3cr3t",
        "variables": {"from": NUMBERS[1], "plant": "fern", "phone": 15550100002, "city": "Bonn"},
        "transcripts": [{"id": id_, "created_at": at(s), "text": text, "user": who} for id_, s, who, text in said],
        "pathway_logs": [
            {"role": "assistant", "text": "Plant desk.", "chosen_node_id": "1", "created_at": at("40.500")},
            {"role": "assistant", "text": "I cannot see the stock.", "chosen_node_id": "3", "created_at": at("49.500")},
        ],
        **changes,
    }


def events(name: str = "b-1") -> list[dict[str, Any]]:
    """What the pathway logged of it, in the order of a page that was sorted by type."""
    happened: tuple[tuple[int, str, str, int | None, Any, str], ...] = (
        (1, "conversation.init", "1", None, {}, "40.500"),
        (2, "node.transition", "2", None, {"reason": "names a plant"}, "46.500"),
        (5, "node.transition", "3", None, {}, "49.500"),
        (6, "node.tag", "3", None, {"tag": "lost"}, "49.600"),
        (4, "operation.error", "2", 3, {"message": "no answer in 2 s"}, "49.000"),
        (
            3,
            "webhook.invoke",
            "2",
            None,
            {"name": "stock", "body": {"plant": "fern", "phone": "15550100003"}, "headers": {"a": "b"}},
            "47.000",
        ),
    )
    return [
        {
            "conversation_id": name,
            "sequence": number,
            "event_type": kind,
            "node_id": node,
            "operation_id": operation,
            "payload": payload,
            "created_at": at(second),
        }
        for number, kind, node, operation, payload, second in happened
    ]


def at(second: str) -> str:
    """A moment of the minute in which the call was."""
    return f"2026-01-13T10:26:{second}Z"
