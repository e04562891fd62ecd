"""Calls of any kind for hypothesis to draw: flows with contracts, tools and what callers had to say, and tasks."""

from __future__ import annotations

from typing import Any, TypeAlias

from hypothesis import strategies as st

Line: TypeAlias = dict[str, Any]

STATES = ("greet", "listen", "book", "booked", "escalated")
SLOTS = {"name": ("Ada B.", "ada b", "Bob"), "floor": ("three", 3, "3", "4", 0)}
"""Slots with values, some of which are the same in other words."""
TOOLS = ("find_unit", "book_unit")
ERRORS = (None, None, None, False, "", "no such unit 17", "request timed out", {"message": "HTTP 503"})
STATUSES = ("done", "cancelled")

_maybe = st.sampled_from((None, False, True))


@st.composite
def observed_calls(draw: st.DrawFn) -> Line:
    """Return the line of a call that was seen to enter its states, as faulty recorders leave it too."""
    now, events, tools = 0.0, list[Line](), list[Line]()
    for kind in draw(st.lists(st.sampled_from(("go", "go", "go", "in", "out", "guard", "slot", "tool")), max_size=14)):
        now += 1.0 if kind == "tool" or (tools and tools[-1]["t"] == now) else draw(st.sampled_from((0.0, 1.0)))
        match kind:
            case "go":
                state = draw(st.sampled_from(STATES))
                before = [event["state"] for event in events if event["type"] == "state_entered"][-1:]
                events += [{"type": "state_exited", "state": left, "to_state": state, "t": now} for left in before]
                events.append({"type": "state_entered", "state": state, "t": now})
            case "in":
                events.append({"type": "state_entered", "state": draw(st.sampled_from(STATES)), "t": now})
            case "out":
                left, target = draw(st.sampled_from(STATES[:3])), draw(st.sampled_from((None, *STATES)))
                events.append({"type": "state_exited", "state": left, "to_state": target, "t": now})
            case "guard":
                error = draw(st.sampled_from(ERRORS))
                events.append({"type": "guard_evaluated", "guard": "has_date", "error": error, "t": now})
            case "slot":
                slot = draw(_slots)
                value = draw(st.sampled_from((None, *SLOTS[slot])))
                tag = draw(st.sampled_from((None, *STATES[:3])))
                events.append({"type": "slot_filled", "slot": slot, "value": value, "state": tag, "t": now})
            case _:
                entered = [event["state"] for event in events if event["type"] == "state_entered"]
                known = {"seq": len(events), "state": draw(st.sampled_from((None, *entered[-1:])))}
                tools.append(_tool(draw, now) | (known if draw(st.booleans()) else {}))
    noted = [event for event in events if event["type"] == "slot_filled" and event["value"] is not None]
    return {
        "conversation_id": "1",
        "flow": "viewing",
        "events": events,
        "tool_calls": tools,
        "completed": draw(st.sampled_from((False, False, None, True))),
        "stop_reason": draw(st.sampled_from((None, "terminal", "terminal", "max_turns"))),
        "final_state": draw(st.sampled_from((None, None, *STATES))),
        "final_status": draw(st.sampled_from((None, *STATUSES))),
        "errored": draw(st.sampled_from((False, False, False, True))),
        "passed": draw(st.sampled_from((None, None, None, False, True))),
        "facts": draw(_values),
        "slots": draw(_values) | {event["slot"]: event["value"] for event in noted},
        "contract": draw(st.none() | _contracts()),
    }


_slots = st.sampled_from((*SLOTS,))
_values = st.fixed_dictionaries({}, optional={slot: st.sampled_from(values) for slot, values in SLOTS.items()})


def _tool(draw: st.DrawFn, t: float) -> Line:
    return {
        "name": draw(st.sampled_from(TOOLS)),
        "t": t,
        "error": draw(st.sampled_from(ERRORS)),
        "by": draw(st.sampled_from(("agent", "agent", "agent", "caller"))),
        "fits": draw(st.sampled_from((None, None, True, False))),
    }


@st.composite
def _contracts(draw: st.DrawFn) -> Line:
    """Return a contract; what it leaves open it does not have."""
    some_slots, some_tools = (st.lists(st.sampled_from(all_), unique=True, max_size=2) for all_ in ((*SLOTS,), TOOLS))
    states = st.fixed_dictionaries({}, optional={"required_slots": some_slots, "tool": st.sampled_from(TOOLS)})
    parts = {
        "success_terminals": st.just(["booked"]),
        "escalation_terminals": st.sampled_from(([], ["escalated"])),
        "final_statuses": st.just(["done"]),
        "required_slots": some_slots,
        "completion_slots": some_slots,
        "required_tools": some_tools,
        "states": st.dictionaries(st.sampled_from(STATES[:3]), states, max_size=3),
    }
    return draw(st.fixed_dictionaries({}, optional=parts))


ACTIONS = {"get_order": "agent", "cancel_order": "agent", "change_order": "agent", "lookFor": "caller"}
"""Tools, and whose they are."""


@st.composite
def derived_calls(draw: st.DrawFn) -> Line:
    """Return a call whose states are the tools that it called, with the steps of its task where they are known."""
    now, state = 0.0, "opening"
    events: list[Line] = [{"type": "state_entered", "state": state, "t": now}]
    tools, turns = list[Line](), list[Line]()
    changes = draw(st.dictionaries(st.sampled_from((*ACTIONS,)), st.booleans(), max_size=2))
    for name in draw(st.lists(st.sampled_from((None, *ACTIONS)), max_size=7)):
        now += 1
        if name is None:
            role = draw(st.sampled_from(("agent", "caller")))
            events += [{"type": "turn_complete", "t": now}] if role == "agent" else []
            turns.append({"role": role, "text": "x", "t": now, "state": state})
            continue
        error, by = draw(st.sampled_from(ERRORS)), ACTIONS[name]
        entered = name if by == "agent" else f"user:{name}"
        if entered != state:
            events.append({"type": "state_exited", "state": state, "to_state": entered, "t": now})
            events.append({"type": "state_entered", "state": entered, "t": now})
            state = entered
        tools.append(
            {"name": name, "t": now, "error": error, "by": by, "arguments": draw(_arguments), "state": state,
             "seq": len(events) + len(turns), "changes": changes.get(name)}
        )  # fmt: skip
        if error and by == "agent":
            events.append({"type": "guard_evaluated", "guard": name, "error": error, "t": now})
    answers = st.lists(st.fixed_dictionaries({"text": st.sampled_from(("10", "20")), "said": _maybe}), max_size=2)
    return {
        "conversation_id": "1",
        "flow": "orders",
        "origin": "derived",
        "events": events,
        "tool_calls": tools,
        "turns": turns,
        "passed": draw(st.sampled_from((None, False, False, False, True))),
        "completed": draw(_maybe),
        "expected_steps": draw(st.none() | st.lists(_steps(tools, changes), max_size=3)),
        "expected_answers": draw(answers),
        "contract": {"escalation_terminals": []},
    }


_arguments = st.fixed_dictionaries({"id": st.sampled_from((1, 2)), "reason": st.sampled_from(("a", "b"))})


@st.composite
def _steps(draw: st.DrawFn, tools: list[Line], changes: dict[str, bool]) -> Line:
    """Return a step of the task, with what the source reports of whether it was taken."""
    name, arguments, compared = draw(st.sampled_from((*ACTIONS,))), draw(_arguments), draw(st.none() | st.just(["id"]))
    own = [tool for tool in tools if tool["name"] == name]
    keys = compared or list(arguments)
    taken = any(not tool["error"] and all(tool["arguments"][key] == arguments[key] for key in keys) for tool in own)
    return {
        "name": name, "by": ACTIONS[name], "called": bool(own), "matched": taken, "arguments": arguments,
        "compared": compared, "changes": changes.get(name),
    }  # fmt: skip
