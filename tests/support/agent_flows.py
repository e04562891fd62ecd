"""Agents of several prompts as Retell and Vapi keep them, of an invented desk; written by hand."""

from __future__ import annotations

from typing import Any

HIDDEN = ("5550142", "5550143", "5550144", "5550145", "hidden-key", "hidden-token", "hidden-header", "hidden-query")
"""What of these agents must never be stored."""


def retell_llm() -> dict[str, Any]:
    """An agent of Retell with states, one of which leads nowhere, as in the page of its example."""
    wants = {"type": "object", "properties": {"sum": {}}, "required": ["sum"]}
    return {
        "llm_id": "l",
        "agent_name": "Desk",
        "states": [
            {
                "name": "hi",
                "state_prompt": "x",
                "edges": [{"destination_state_name": "pay", "description": "wants", "parameters": wants}],
            },
            {"name": "pay", "state_prompt": "x", "edges": [], "tools": [{"type": "transfer_call", "name": "t"}]},
            {
                "name": "lost",
                "state_prompt": "x",
                "edges": [{"destination_state_name": "nowhere", "description": "y"}],
            },
        ],
        "starting_state": "hi",
    }


def exported_llm() -> dict[str, Any]:
    """An agent that was exported with its prompts, whose tools and prompts hold what nobody may see."""
    states = [
        {
            "name": "greet",
            "state_prompt": "Say hello. Never say +1 415 555 0142.",
            "edges": [{"destination_state_name": "book", "description": "wants a visit"}],
            "tools": [{"type": "custom", "name": "look", "url": "https://x.example/a?key=hidden-query"}],
        },
        {
            "name": "book",
            "state_prompt": "Take the day.",
            "edges": [
                {
                    "destination_state_name": "done",
                    "description": "knows the day",
                    "parameters": {"properties": {"day": {}, "hour": {}}, "required": ["day", "hour"]},
                },
                {"destination_state_name": "human", "description": "is angry"},
                {"destination_state_name": "gone", "description": "calls 4155550143, see https://y.example/hidden-key"},
            ],
        },
        {"name": "done", "state_prompt": "Say goodbye."},
        {
            "name": "human",
            "state_prompt": "",
            "tools": [{"type": "transfer_call", "transfer_destination": {"number": "+14155550144"}}],
        },
        {"name": "other", "state_prompt": "", "tools": [{"type": "agent_swap", "agent_id": "b"}]},
    ]
    llm = {
        "llm_id": "llm_1",
        "general_prompt": "You answer for the desk. Call +1 415 555 0145 for help.",
        "general_tools": [
            {"type": "end_call", "name": "end_call"},
            {"type": "custom", "name": "c", "headers": {"Authorization": "Bearer hidden-header"}},
        ],
        "states": states,
    }
    return {"agent_id": "agent_9", "agent_name": "Visits", "retellLlmData": llm, "webhook_token": "hidden-token"}


def squad() -> dict[str, Any]:
    """A squad of Vapi whose members hand over to each other in all the ways there are."""
    plan = {"schema": {"type": "object", "properties": {"day": {}, "name": {}}, "required": ["day"]}}
    booker = {
        "name": "Booker",
        "model": {
            "provider": "openai",
            "messages": [{"role": "system", "content": "Ask for the day; +1 415 555 0142 is private."}],
            "tools": [
                {
                    "type": "handoff",
                    "destinations": [
                        {"type": "assistant", "assistantName": "Closer", "variableExtractionPlan": plan},
                        {"type": "assistant", "assistantId": "a-4", "description": "asks for a person"},
                    ],
                },
                {"type": "function", "function": {"name": "look"}, "server": {"headers": {"x": "hidden-header"}}},
            ],
        },
    }
    desk = {
        "type": "transferCall",
        "destinations": [{"type": "number", "number": "+14155550144", "message": "hidden-token"}],
    }
    return {
        "id": "squad-1",
        "name": "Clinic squad",
        "members": [
            {
                "assistant": {"name": "Greeter", "firstMessage": "Clinic, hello.", "model": {"provider": "openai"}},
                "assistantDestinations": [
                    {"type": "assistant", "assistantName": "Booker", "description": "wants an appointment"}
                ],
            },
            {"assistant": booker, "assistantId": "a-2"},
            {"assistantId": "a-3", "assistantOverrides": {"name": "Closer", "endCallPhrases": ["goodbye"]}},
            {"assistantId": "a-4", "assistantOverrides": {"tools:append": [desk]}},
        ],
    }


def vapi_workflow() -> dict[str, Any]:
    """A workflow of Vapi, the older form."""
    plan: dict[str, Any] = {"schema": {"properties": {"day_wanted": {}}}}
    return {
        "id": "flow-1",
        "name": "Clinic flow",
        "globalPrompt": "You answer for a clinic.",
        "nodes": [
            {"name": "pick_day", "type": "conversation", "prompt": "Which day?", "variableExtractionPlan": plan},
            {"name": "hello", "type": "conversation", "isStart": True, "prompt": "Hello."},
            {"name": "goodbye", "type": "tool", "tool": {"type": "endCall"}},
            {"name": "person", "type": "tool", "tool": {"type": "transferCall"}},
        ],
        "edges": [
            {"from": "hello", "to": "pick_day", "condition": {"type": "ai", "prompt": "wants a day"}},
            {"from": "hello", "to": "person", "condition": {"type": "ai", "prompt": "is angry"}},
            {"from": "pick_day", "to": "goodbye"},
        ],
    }
