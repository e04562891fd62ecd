"""Which calls failed and what is blamed, once more: plain Python over lines, from the specification alone.

It shares no code with what it checks. Everything that may be blamed is found with the whole call at hand, and then the
earliest of it is chosen. Calls have states of their own.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple, TypeAlias

from tests.surface.store import Annotation

Call: TypeAlias = Mapping[str, Any]
Visit: TypeAlias = dict[str, Any]

ORDER = ["guard error", "tool error", "wrong slot", "missing slot", "missing action", "loop", "hand-off", "dead end",
         "off contract"]  # fmt: skip
CLASSES = {
    "guard error": "tool or guard", "tool error": "tool or guard", "wrong slot": "slot", "missing slot": "slot",
    "missing action": "action", "loop": "ends", "hand-off": "ends", "dead end": "ends", "off contract": "ends",
}  # fmt: skip


class Place(NamedTuple):
    """What is blamed: the last good state, the state, the kind, and the guard, tool, slot, stop reason or code."""

    last_ok: str
    state: str
    kind: str
    detail: str | None

    @property
    def group(self) -> tuple[str, str, str | None]:
        """What calls of one cause share, but for the flow and the error."""
        of_class = CLASSES.get(self.kind, self.kind)
        return self.state, of_class, self.detail if of_class in ("tool or guard", "slot", "marked") else None


NONE_FOUND = Place("(start)", "(none found)", "none", None)


def matrix(places: Iterable[tuple[Call, Place | None]]) -> Counter[tuple[str, str, str]]:
    """Count the failed calls by flow, last good state and the one that is blamed."""
    return Counter((call["flow"], place.last_ok, place.state) for call, place in places if place is not None)


def marked(call: Call, notes: Iterable[Annotation]) -> Place | None:
    """Tell what is blamed where people may have marked it; each note is of another author."""
    place, seen, first = blame(call), visits(call["events"]), dict[str, int]()
    for at, visit in enumerate(seen):
        first.setdefault(visit["state"], at)
        if visit["to"] in set.union(*terminals(call)):
            first.setdefault(visit["to"], at + 1)
    found = [
        note
        for note in notes
        if note.state in first and not note.deleted and note.verdict != "pass" and (note.code or note.verdict)
    ]
    if place is None or not found:
        return place
    found.sort(key=lambda note: (note.code is None, note.turn or math.inf, note.at or -1, note.id))
    mark = min(found, key=lambda note: first[note.state or ""])
    return Place(came_from(str(mark.state), seen, first), str(mark.state), "marked", mark.code)


def came_from(state: str, seen: list[Visit], first: Mapping[str, int]) -> str:
    """The state of the visit before the first to a state; a call that had come back came from where it ever did."""
    at = first[state]
    before = seen[at - 1]["state"] if at else "(start)"
    if at == 0 or first[before] == at - 1:
        return str(before)
    known = [visit["state"] for visit in seen if visit["to"] == state and first[visit["state"]] < at]
    return str(max(known or [other for other in first if first[other] < at], key=first.__getitem__))


# Which calls failed


def is_excluded(call: Call) -> bool:
    return bool(call.get("errored")) or call.get("caller_ok") is False


def success(call: Call) -> bool | None:
    """Served, and correct and complete where that is measured; `None` where nothing says so."""
    successes, escalations = terminals(call)
    reached = touched(call)
    served = True if reached & successes else False if reached & escalations else call.get("completed")
    parts = [part for part in (correct(call), complete(call)) if part is not None]
    return False if served is False or not all(parts) else served


def correct(call: Call) -> bool | None:
    """Whether all that the contract asks for is there; without a contract nothing is measured."""
    contract = call.get("contract")
    if contract is None:
        return None
    goals, statuses = set(contract.get("success_terminals") or ()), contract.get("final_statuses")
    wanted = {*(contract.get("required_slots") or ()), *(contract.get("completion_slots") or ())}
    wrong = {slot for slot in held(call) if wrong_at_the_end(call, slot)}
    of_states = [state.get("required_slots") or () for state in (contract.get("states") or {}).values()]
    wanted |= wrong & {slot for slots in of_states for slot in slots}
    done = {tool["name"] for tool in call.get("tool_calls") or () if by_agent(tool) and not is_bad(tool)}
    deeds = set(contract.get("required_tools") or ())
    for visit in visits(call["events"]):
        deeds |= set(tools_of(call, visit["state"])) if is_forward(call, visit) else set()
    return (not goals or bool(goals & touched(call))) and (
        not statuses or call.get("final_status") in statuses
    ) and wanted <= held(call) - wrong and deeds <= done  # fmt: skip


def complete(call: Call) -> bool | None:
    if call.get("completed") is None and call.get("stop_reason") is None:
        return None
    return bool(call.get("completed")) and call.get("stop_reason") == "terminal"


def touched(call: Call) -> set[Any]:
    seen = visits(call["events"])
    return {visit["state"] for visit in seen} | {visit["to"] for visit in seen} | {call.get("final_state")}


def terminals(call: Call) -> tuple[set[str], set[str]]:
    contract = call.get("contract") or {}
    escalations = contract.get("escalation_terminals")
    return set(contract.get("success_terminals") or ()) - set(escalations or ()), set(
        ("escalated", "escalate") if escalations is None else escalations
    )


# What is blamed


def blame(call: Call) -> Place | None:
    """Tell what went wrong first in a failed call and was not made good, `None` of a call that did not fail."""
    if is_excluded(call) or success(call) is not False:
        return None
    seen, ends = visits(call["events"]), set.union(*terminals(call))
    working = [at for at, visit in enumerate(seen) if visit["state"] not in ends]
    if not working:
        return NONE_FOUND
    found: list[tuple[int, int, int, str, str | None]] = []
    for at, kind, detail in (*troubles(call, seen), *how_it_ended(call, seen, working[-1])):
        # What happens in a terminal is of the working state before it.
        before = [place for place in working if place <= at]
        found.append((before[-1] if before else working[0], ORDER.index(kind), len(found), kind, detail))
    at, _, _, kind, detail = min(found)
    return Place(seen[at - 1]["state"] if at else "(start)", seen[at]["state"], kind, detail)


def troubles(call: Call, seen: list[Visit]) -> Iterator[tuple[int, str, str | None]]:
    events, escalations = call["events"], terminals(call)[1]
    for at, visit in enumerate(seen):
        for index, event in visit["events"]:
            later = events[index + 1 :]
            if event["type"] == "guard_evaluated" and event.get("error"):
                if not any(
                    other["type"] == "guard_evaluated" and other["guard"] == event["guard"] and not other.get("error")
                    for other in later
                ):
                    yield at, "guard error", event["guard"]
            elif is_wrong(call, event) and not any(
                other["type"] == "slot_filled" and other["slot"] == event["slot"] and other["value"] is not None
                and not is_wrong(call, other)
                for other in later
            ):  # fmt: skip
                yield at, "wrong slot", event["slot"]
        if visit["state"] in set.union(*terminals(call)):
            continue
        entries = [each for each in seen[: at + 1] if each["state"] == visit["state"]]
        if len(entries) >= 3 and not new_slots(events, entries[-2]["index"], entries[-1]["index"]):
            yield at, "loop", None
        if visit["to"] in escalations:
            yield at, "hand-off", None
        if is_forward(call, visit):
            for slot in state_of(call, visit["state"]).get("required_slots") or ():
                if slot not in held(call):
                    yield at, "missing slot", slot
            for tool in tools_of(call, visit["state"]):
                if not any(each["name"] == tool and by_agent(each) for each in call.get("tool_calls") or ()):
                    yield at, "missing action", tool
    tools = list(call.get("tool_calls") or ())
    for place, tool in enumerate(tools):
        later = [
            each for each in tools[place + 1 :] if (each["name"], by_agent(each)) == (tool["name"], by_agent(tool))
        ]
        visited = visit_of(call, tool, seen)
        if is_bad(tool) and all(map(is_bad, later)) and visited is not None:
            yield visited, "tool error", ("" if by_agent(tool) else "user:") + tool["name"]


def how_it_ended(call: Call, seen: list[Visit], last: int) -> Iterator[tuple[int, str, str | None]]:
    contract, stop = call.get("contract") or {}, call.get("stop_reason")
    successes, escalations = terminals(call)
    is_over = call.get("completed") is True and stop in (None, "terminal")
    ended_in = call.get("final_state") or seen[-1]["state"]
    if not touched(call) & successes:
        if touched(call) & escalations:
            yield last, "hand-off", None
        elif is_over:
            yield last, "off contract", ended_in
        else:
            yield last, "dead end", stop
        return
    missing = [*(contract.get("required_slots") or ()), *(contract.get("completion_slots") or ())]
    yield from ((last, "missing slot", slot) for slot in missing if slot not in held(call))
    for tool in contract.get("required_tools") or ():
        if not any(each["name"] == tool and by_agent(each) for each in call.get("tool_calls") or ()):
            yield last, "missing action", tool
    statuses = contract.get("final_statuses")
    if statuses and call.get("final_status") not in statuses:
        yield last, "off contract", call.get("final_status")
    elif is_over:
        yield last, "off contract", ended_in
    else:
        yield last, "dead end", stop


def state_of(call: Call, state: str) -> Mapping[str, Any]:
    found = ((call.get("contract") or {}).get("states") or {}).get(state) or {}
    return dict(found)


def tools_of(call: Call, state: str) -> list[str]:
    named = state_of(call, state).get("tool")
    return [named] if isinstance(named, str) else list(named or ())


def is_forward(call: Call, visit: Visit) -> bool:
    """Left for another state that is no escalation."""
    to = visit["to"]
    if to is None and visit["is last"] and call.get("final_state") in terminals(call)[0]:
        to = call["final_state"]
    return to not in {None, visit["state"], *terminals(call)[1]}


def is_bad(tool: Call) -> bool:
    return bool(tool.get("error")) or tool.get("fits") is False


def by_agent(tool: Call) -> bool:
    return bool(tool.get("by", "agent") == "agent")


def is_wrong(call: Call, event: Call) -> bool:
    facts, slots = call.get("facts") or {}, call.get("slots") or {}
    # What a call holds at its end has made good what events show.
    if slots.get(event.get("slot")) is not None and slots[event["slot"]] == facts.get(event["slot"]):
        return False
    return (
        event["type"] == "slot_filled"
        and event["value"] is not None
        and event["slot"] in facts
        and facts[event["slot"]] != event["value"]
    )


def held(call: Call) -> set[str]:
    """Slots that hold a value at the end of a call."""
    return filled(call["events"]) | {slot for slot, value in (call.get("slots") or {}).items() if value is not None}


def wrong_at_the_end(call: Call, slot: str) -> bool:
    if (value := (call.get("slots") or {}).get(slot)) is not None:
        return slot in (call.get("facts") or {}) and call["facts"][slot] != value
    values = [
        event
        for event in call["events"]
        if event["type"] == "slot_filled" and event["slot"] == slot and event["value"] is not None
    ]
    return bool(values) and is_wrong(call, values[-1])


def filled(events: Iterable[Call]) -> set[str]:
    return {each["slot"] for each in events if each["type"] == "slot_filled" and each.get("value") is not None}


def new_slots(events: list[Any], start: int, end: int) -> set[str]:
    """Slots that were filled between two events and not before."""
    return filled(events[start:end]) - filled(events[:start])


def visit_of(call: Call, tool: Call, seen: list[Visit]) -> int | None:
    """The visit that a tool was called in.

    It is one to the state that the call names, else to the only one that the contract gives the tool to. Of several its
    place among the events decides, else its time: named after the tool the last that holds it, else the first.
    """
    of_tool = [
        name for name in (call.get("contract") or {}).get("states") or {} if tool["name"] in tools_of(call, name)
    ]
    names = [tool.get("state"), *(of_tool if len(of_tool) == 1 and by_agent(tool) else ())]
    named = next((own for name in names if (own := [at for at, each in enumerate(seen) if each["state"] == name])), [])
    among = named or list(range(len(seen)))
    if not among or len(named) == 1:
        return among[0] if among else None
    if tool.get("seq") is not None:
        return ([at for at in among if seen[at]["index"] < events_before(call, tool["seq"])] or among[:1])[-1]
    if tool.get("t") is None:
        return named[0] if named else None
    started = [at for at in among if seen[at]["start"] is not None and seen[at]["start"] <= tool["t"]]
    if named:
        return started[-1] if started else named[0]
    holding = [
        at for at in started if seen[at]["is open"] or (seen[at]["end"] is not None and seen[at]["end"] >= tool["t"])
    ]
    own = [at for at in holding if seen[at]["state"] == tool["name"]]
    return next(iter(own[-1:] or holding[:1] or started[-1:]), None)


def events_before(call: Call, seq: int) -> int:
    """How many of the first things that happened are events: each turn of the agent has one that comes with it."""
    turns, merged = [turn["role"] in ("agent", "assistant") for turn in call.get("turns") or ()], list[str]()
    for event in call["events"]:
        merged.append("event")
        if event["type"] == "turn_complete" and any(turns):
            said = turns.index(True) + 1
            merged += ["turn"] * said
            del turns[:said]
    return (merged + ["turn"] * len(turns))[:seq].count("event")


def visits(events: Iterable[Call]) -> list[Visit]:
    """Part events into visits, each with its events by their place in the call."""
    found: list[Visit] = []
    for index, event in enumerate(events):
        last = found[-1] if found and found[-1]["is open"] else None
        if event["type"] == "state_entered":
            if last is not None:
                last.update({"to": event["state"], "end": event.get("t"), "is open": False})
            found.append({"state": event["state"], "to": None, "start": event.get("t"), "end": None, "events": [],
                          "index": index, "is open": True})  # fmt: skip
        elif last is not None and event["type"] == "state_exited" and last["state"] == event["state"]:
            last.update({"to": event.get("to_state"), "end": event.get("t"), "is open": False})
        elif last is not None:
            last["events"].append((index, event))
    for visit in found:
        visit["is last"] = visit is found[-1]
    return found
