"""Where a call first went wrong, once more: plain Python over the lines of transcripts, from the specification alone.

It shares no code with what it checks. Every visit is judged by itself, with the whole call at hand.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

from tests.surface.store import Annotation

Call: TypeAlias = Mapping[str, Any]
Place: TypeAlias = tuple[str, str, str, str | None]
"""Last good state, first failed state, kind, and the guard or tool."""

NONE_FOUND: Place = ("(start)", "(none found)", "none", None)


def matrix(places: Iterable[tuple[Call, Place | None]]) -> Counter[tuple[str, str, str]]:
    """Count the failing calls by flow, last good and first failed state."""
    return Counter((call["flow"], place[0], place[1]) for call, place in places if place is not None)


def marked(call: Call, notes: Iterable[Annotation]) -> Place | None:
    """Tell where a call went wrong where people may have marked it; each note is of another author."""
    place, seen, first = first_failed(call), visits(call["events"]), dict[str, int]()
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
    return (came_from(str(mark.state), seen, first), str(mark.state), "marked", mark.code)


def came_from(state: str, seen: list[dict[str, Any]], first: Mapping[str, int]) -> str:
    """The state of the visit before the first to a state; a call that had come back came from where it ever did."""
    at = first[state]
    before = seen[at - 1]["state"] if at else "(start)"
    if at == 0 or first[before] == at - 1:
        return str(before)
    known = [visit["state"] for visit in seen if visit["to"] == state and first[visit["state"]] < at]
    return str(max(known or [other for other in first if first[other] < at], key=first.__getitem__))


def first_failed(call: Call) -> Place | None:
    """Tell where a call went wrong, `None` for one that did not, or of which nobody knows."""
    successes, escalations = terminals(call)
    seen = visits(call["events"])
    ended = call.get("final_state") if call["events"] else None
    touched = {visit["state"] for visit in seen} | {visit["to"] for visit in seen} | {ended}
    if call.get("errored") or call.get("caller_ok") is False or touched & successes:
        return None
    if call.get("completed"):
        return None
    contract = call.get("contract") or {}
    names_any = contract.get("success_terminals") or contract.get("escalation_terminals")
    tells = bool(call["events"]) and bool(names_any or touched & escalations)
    if call.get("completed") is None and not tells:
        return None
    working = [at for at, visit in enumerate(seen) if visit["state"] not in successes | escalations]
    for at in working:
        why = trouble(call, seen, at, last=at == working[-1], escalations=escalations, touched=touched)
        if why is not None:
            return (seen[at - 1]["state"] if at else "(start)", seen[at]["state"], *why)
    return NONE_FOUND


def terminals(call: Call) -> tuple[set[str], set[str]]:
    contract = call.get("contract") or {}
    escalations = contract.get("escalation_terminals")
    return set(contract.get("success_terminals") or ()) - set(escalations or ()), set(
        ("escalated", "escalate") if escalations is None else escalations
    )


def trouble(
    call: Call, seen: list[dict[str, Any]], at: int, *, last: bool, escalations: set[str], touched: set[Any]
) -> tuple[str, str | None] | None:
    visit = seen[at]
    for guard in visit["guards"]:
        if guard.get("error"):
            return "guard error", guard["guard"]
    tool = unmended(call, seen, at)
    if tool is not None:
        return "tool error", tool
    handed_over = bool(touched & escalations)
    if last and not handed_over:
        return "stall", None
    if last or visit["to"] in escalations:
        return "escalation", None
    entries = [each for each in seen[: at + 1] if each["state"] == visit["state"]]
    if len(entries) >= 3 and not new_slots(call["events"], entries[-2]["index"], entries[-1]["index"]):
        return "loop", None
    return None


def new_slots(events: list[Any], start: int, end: int) -> set[str]:
    """Slots that were filled between two events and not before."""

    def filled(some: list[Any]) -> set[str]:
        return {each["slot"] for each in some if each["type"] == "slot_filled" and each.get("value") is not None}

    return filled(events[start:end]) - filled(events[:start])


def unmended(call: Call, seen: list[dict[str, Any]], at: int) -> str | None:
    """The tool whose failure in a visit nothing made good, of several the one that failed first."""
    timed = [tool for tool in call.get("tool_calls") or () if tool.get("t") is not None]
    here = [tool for tool in sorted(timed, key=lambda tool: tool["t"]) if visit_of(tool, seen) == at]
    names = [("" if tool.get("by", "agent") == "agent" else "user:") + tool["name"] for tool in here]
    bad = [bool(tool.get("error")) for tool in here]
    for place, name in enumerate(names):
        later = [bad[other] for other in range(place + 1, len(here)) if names[other] == name]
        if bad[place] and all(later):
            # The first failure since the last good call of each tool; the earliest of them is this one's name.
            return str(name)
    return None


def visit_of(tool: Call, seen: list[dict[str, Any]]) -> int | None:
    """The visit that holds a tool's time; named after the tool the last such, else the first, else the one before."""
    started = [at for at, visit in enumerate(seen) if visit["start"] is not None and visit["start"] <= tool["t"]]
    holding = [at for at in started if seen[at]["end"] is not None and seen[at]["end"] >= tool["t"]]
    open_ended = [at for at in started if at == len(seen) - 1 and seen[at]["end"] is None]
    candidates = holding + open_ended
    named = [at for at in candidates if seen[at]["state"] == tool["name"]]
    if named:
        return named[-1]
    if candidates:
        return candidates[0]
    return started[-1] if started else None


def visits(events: Iterable[Call]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    is_open = False
    for index, event in enumerate(events):
        kind = event["type"]
        if kind == "state_entered":
            if is_open:
                found[-1].update(to=event["state"], end=event.get("t"))
            found.append(
                {
                    "state": event["state"],
                    "to": None,
                    "start": event.get("t"),
                    "end": None,
                    "guards": [],
                    "index": index,
                }
            )
            is_open = True
        elif kind == "state_exited" and is_open and found[-1]["state"] == event["state"]:
            found[-1].update(to=event.get("to_state"), end=event.get("t"))
            is_open = False
        elif kind == "guard_evaluated" and is_open:
            found[-1]["guards"].append(event)
    return found
