"""A tracker of Rasa with two sessions, as its API and its tracker store keep it."""

from __future__ import annotations

from typing import Any

BEGAN = 1_768_300_000.0
"""2026-01-13 10:26:40 UTC."""


def tracker(sender: str = "s-1", **changes: Any) -> dict[str, Any]:
    """A transfer of money that a question interrupts, and a session later in which somebody says hello."""
    events = [
        event("action", -1.0, name="action_session_start"),
        event("session_started", 0.0),
        event("action", 0.0, name="action_listen"),
        event("user", 1.0, text="Send 50 to Ann.", parse_data={"intent": {"name": "send"}, "commands": []}),
        event("flow_started", 1.1, flow_id="transfer_money"),
        event("slot", 1.2, name="recipient", value="Ann"),
        event("slot", 1.2, name="requested_slot", value="amount"),
        event("action", 1.3, name="utter_ask_phone", policy="FlowPolicy"),
        event("bot", 1.4, text="Your phone?"),
        event("user", 3.0, text="What does it cost? I am at 0301 2345678."),
        event("flow_interrupted", 3.1, flow_id="transfer_money", step_id="ask"),
        event("flow_started", 3.1, flow_id="fees"),
        event("slot", 3.2, name="phone_number", value="03012345678"),
        event("bot", 3.3, text="Nothing."),
        event("flow_completed", 3.4, flow_id="fees", step_id="end"),
        event("flow_resumed", 3.5, flow_id="transfer_money", step_id="ask"),
        event("action", 4.0, name="action_transfer", policy="FlowPolicy"),
        event("bot", 5.5, text="Done."),
        event("flow_completed", 5.6, flow_id="transfer_money", step_id="end"),
        event("session_started", 90_000.0),
        event("user", 90_001.0, text="Hello again"),
    ]
    return {"sender_id": sender, "slots": {"recipient": "Ann"}, "events": events, "latest_message": {}, **changes}


def forms() -> dict[str, Any]:
    """A conversation without flows, in which a form collects what it needs."""
    return {
        "sender_id": "s-2",
        "slots": {},
        "events": [
            event("user", 0.0, text="A table"),
            event("action", 0.1, name="table_form"),
            event("active_loop", 0.1, name="table_form"),
            event("bot", 0.2, text="How many?"),
            event("user", 2.0, text="/six"),
            event("active_loop", 2.1, name=None),
            event("action", 2.2, name="action_book"),
            event("action_execution_rejected", 2.3, name="action_pay"),
        ],
    }


def event(kind: str, second: float, **given: Any) -> dict[str, Any]:
    """An event so many seconds after the conversation began."""
    return {"event": kind, "timestamp": BEGAN + second, "metadata": {"assistant_id": "bank"}, **given}
