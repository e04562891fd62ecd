"""Calls whose events come in any order, as faulty recorders deliver them, and calls of which much is asked."""

from __future__ import annotations

import random
from typing import Any

STATES = ("greet", "listen", "book", "booked", "escalated")
_CONTRACTS: tuple[dict[str, list[str]] | None, ...] = (
    None,
    {},
    {"success_terminals": ["booked"]},
    {"escalation_terminals": ["escalated"]},
)
_TOOLS = ("find", "book")
_ERRORS = (None, False, 0, "", "timeout after 5 s", {"message": "no such id 17"})


def random_call(number: int, chance: random.Random) -> dict[str, Any]:
    """Return a line of a transcript: few states and slots, so that calls come back to them."""
    caller = random.Random(number)
    now, events = 0.0, []
    for _ in range(chance.randrange(14)):
        now += chance.choice((0, 0, 1, 3))
        events.append(_event(chance, None if chance.random() < 0.05 else now))
    return {
        "conversation_id": f"c-{number}",
        "flow": chance.choice(("viewing", "grooming")),
        "run_id": chance.choice(("night-1", "night-2")),
        "agent_model": chance.choice(("model-a", "model-b")),
        "completed": chance.choices((False, None, True), (0.8, 0.1, 0.1))[0],
        "errored": chance.random() < 0.05,
        "final_state": chance.choice((None, None, *STATES)),
        "contract": chance.choice(_CONTRACTS),
        "events": events,
        "tool_calls": [_tool(chance, now) for _ in range(chance.randrange(4))],
        "caller": caller.choice((None, "scripted", "gpt")),
        "caller_ok": caller.choices((None, True, False), (6, 3, 1))[0],
        "errors": caller.choices(([], [{"kind": "tool"}, {"kind": "retried", "message": "429"}], 2), (8, 1, 1))[0],
    }  # fmt: skip


def demanding_call(number: int, chance: random.Random) -> dict[str, Any]:
    """Return the same with what can be asked of a call: slots and tools of states, facts, statuses, an end."""
    call = random_call(number, chance)
    contract = dict(call["contract"] or {})
    if chance.random() < 0.7:
        contract["states"] = {
            state: {"required_slots": chance.choices((["name"], ["date", "email"], []), (2, 1, 3))[0],
                    "tool": chance.choice((None, "find", ["find", "book"], "book"))}
            for state in STATES[:3] if chance.random() < 0.5
        }  # fmt: skip
    parts = {"required_slots": ["name"], "required_tools": ["book"], "final_statuses": ["ok"]}
    contract |= {part: values for part, values in parts.items() if chance.random() < 0.15}
    for event in call["events"]:
        if event["type"] == "slot_filled" and event["value"] is not None:
            event["value"] = chance.choice(("Ada", "Bob"))
    for tool in call["tool_calls"]:
        tool |= {
            "fits": chance.choice((None, True, False)),
            "state": chance.choice((None, None, *STATES[:3])),
            "seq": chance.choice((None, chance.randrange(len(call["events"]) + 2))),
        }
    return call | {
        "contract": contract,
        "facts": {slot: "Ada" for slot in ("name", "date") if chance.random() < 0.4},
        "final_status": chance.choice((None, "ok", "lost")),
        "completed": chance.choice((None, False, True, True)),
        "stop_reason": chance.choice((None, "terminal", "terminal", "max_turns")),
    }


def _event(chance: random.Random, t: float | None) -> dict[str, Any]:
    match chance.choices(("in", "out", "guard", "slot"), (6, 4, 1, 2))[0]:
        case "in":
            return {"type": "state_entered", "state": chance.choices(STATES, (6, 6, 4, 1, 1))[0], "t": t}
        case "out":
            state, target = chance.choice(STATES[:3]), chance.choices((None, *STATES), (3, 3, 3, 3, 1, 1))[0]
            return {"type": "state_exited", "state": state, "to_state": target, "t": t}
        case "guard":
            return {"type": "guard_evaluated", "guard": "heard", "error": chance.choice(_ERRORS), "t": t}
        case _:
            slot = chance.choice(("name", "date", "email"))
            return {"type": "slot_filled", "slot": slot, "value": chance.choice((None, 0, "x")), "t": t}


def _tool(chance: random.Random, end: float) -> dict[str, Any]:
    return {
        "name": chance.choice(_TOOLS),
        "t": None if chance.random() < 0.1 else chance.randrange(int(end) + 2),
        "error": chance.choice(_ERRORS),
        "by": chance.choice(("agent", "agent", "caller")),
    }
