"""Whether a call failed and where it went wrong, once more: plain Python over lines, from the pages alone.

It shares no code with what it checks. Every kind is looked for by itself, in the whole call, and the earliest counts.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

Call: TypeAlias = Mapping[str, Any]
Row: TypeAlias = dict[str, Any]

KINDS = (
    "guard error", "tool error", "wrong slot", "missing slot", "missing action", "loop", "hand-off", "dead end",
    "off contract",
)  # fmt: skip
"""In the order that decides within one visit."""

READING = {"read", "get", "find", "list", "search", "check", "calculate", "look", "think", "verify", "count"}
INFRASTRUCTURE = re.compile(r"time-?d?[ -]?out|connection|\b5\d\d\b|unavailable", re.IGNORECASE)
NUMBERS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


class Blame(NamedTuple):
    """Describe where a call went wrong; `t` is the moment, `before` the state of the visit before."""

    state: str | None
    kind: str
    detail: str | None = None
    who: str = "agent"
    t: float | None = None
    before: str | None = None


# How a call ended


def is_errored(call: Call) -> bool:
    return bool(call.get("errored")) or call.get("caller_ok") is False


def contract_of(call: Call) -> Mapping[str, Any]:
    return call.get("contract") or {}


def escalations(call: Call) -> set[str]:
    named = contract_of(call).get("escalation_terminals")
    return {"escalated", "escalate"} if named is None else set(named)


def successes(call: Call) -> set[str]:
    return set(contract_of(call).get("success_terminals") or ()) - escalations(call)


def touched(call: Call) -> set[str | None]:
    seen = visits(call)
    return {visit["state"] for visit in seen} | {visit["to"] for visit in seen} | {call.get("final_state")}


def has_reached(call: Call) -> bool:
    return bool(touched(call) & successes(call))


def was_handed_over(call: Call) -> bool:
    return bool(touched(call) & escalations(call)) and not has_reached(call)


def claims_success(call: Call) -> bool:
    """Return whether a call came to where its flow wants it, or marks it if the flow names no such place."""
    return has_reached(call) or bool(not successes(call) and call.get("completed") and not was_handed_over(call))


def served(call: Call) -> bool | None:
    if call.get("passed") is not None:
        return bool(call["passed"])
    if has_reached(call) or was_handed_over(call):
        return has_reached(call)
    return None if call.get("completed") is None else bool(call["completed"])


def completion(call: Call) -> float | None:
    if call.get("completed") is None and call.get("stop_reason") is None:
        return None
    return 10.0 * bool(call.get("completed") and call.get("stop_reason") == "terminal")


def correctness(call: Call) -> float | None:
    if call.get("passed") is not None:
        return 10.0 * bool(call["passed"])
    if call.get("contract") is None:
        return None
    contract = contract_of(call)
    reached = not contract.get("success_terminals") or has_reached(call)
    wanted = {*(contract.get("required_slots") or ()), *(contract.get("completion_slots") or ())}
    wrong = {slot for slot in call.get("facts") or {} if contradicts(call, slot, (values(call, slot) or [None])[-1])}
    wanted |= {slot for slot in wrong for state in states_of(call) if slot in required_slots(call, state)}
    right = {slot for slot in wanted - wrong if is_filled(call, slot)}
    left = {visit["state"] for at, visit in enumerate(visits(call)) if is_forward(call, at)}
    deeds = [all(has_called(call, tool) for tool in tools_of(call, state)) for state in left if tools_of(call, state)]
    deeds += [has_called(call, tool) for tool in contract.get("required_tools") or ()]
    allowed = not contract.get("final_statuses") or call.get("final_status") in contract["final_statuses"]
    return 10.0 * reached * share(len(right), len(wanted)) * share(sum(deeds), len(deeds)) * allowed


def share(part: int, whole: int) -> float:
    return part / whole if whole else 1.0


def success(call: Call) -> bool | None:
    """Return whether a call was one: one part that is known to be no decides, whatever is unknown beside it."""
    parts = [served(call), *(score == 10 for score in (correctness(call), completion(call)) if score is not None)]
    return False if False in parts else None if None in parts else True


def has_failed(call: Call) -> bool:
    return not is_errored(call) and success(call) is False


def lost_in(call: Call) -> str | None:
    """Return the state in which a failed call ended: it stalled there, or was handed over from it."""
    named = contract_of(call).get("success_terminals") or contract_of(call).get("escalation_terminals")
    is_over = call.get("completed") is False or (call.get("completed") is None and bool(named))
    if not has_failed(call) or has_reached(call) or not (is_over or was_handed_over(call)):
        return None
    working = working_visits(call)
    return str(visits(call)[working[-1]]["state"]) if working else None


# What happened in it


def visits(call: Call) -> list[Row]:
    """Return the visits in order, each with its first and last event and what came between."""
    found: list[Row] = []
    is_open = False
    for place, event in enumerate(call["events"]):
        kind = event["type"]
        if kind == "state_entered":
            if is_open:
                found[-1].update(to=event["state"], end=event.get("t"), last=place)
            found.append(
                {"state": event["state"], "to": None, "start": event.get("t"), "end": None, "first": place,
                 "last": None}
            )  # fmt: skip
            is_open = True
        elif kind == "state_exited" and is_open and found[-1]["state"] == event["state"]:
            found[-1].update(to=event.get("to_state"), end=event.get("t"), last=place)
            is_open = False
    return found


def working_visits(call: Call) -> list[int]:
    outcomes = successes(call) | escalations(call)
    return [at for at, visit in enumerate(visits(call)) if visit["state"] not in outcomes]


def visit_at(call: Call, place: int) -> int | None:
    """Return the visit that is open at an event."""
    seen, end = visits(call), len(call["events"])
    open_then = [at for at, visit in enumerate(seen) if visit["first"] < place < (visit["last"] or end)]
    return open_then[0] if open_then else None


def working_at(call: Call, at: int) -> int:
    """Return the visit to a working state that has what happened in a visit: it, or the last before, or the first."""
    working = working_visits(call)
    before = [other for other in working if other <= at]
    return before[-1] if before else working[0]


def is_forward(call: Call, at: int) -> bool:
    """Return whether a visit led on; where the events stop short of the goal, the last one led to the final state."""
    visit, ended = visits(call)[at], call.get("final_state")
    to = visit["to"]
    if to is None and at == len(visits(call)) - 1 and ended in successes(call):
        to = ended
    return to is not None and to != visit["state"] and to not in escalations(call)


def is_error(error: Any) -> bool:
    return error not in (None, False, 0, "")


def values(call: Call, slot: str) -> list[Any]:
    """Return the values that a slot was given, at the end the one that the call ended with."""
    given = [event.get("value") for event in call["events"] if event["type"] == "slot_filled" and event["slot"] == slot]
    return [value for value in (*given, call.get("slots", {}).get(slot)) if value is not None]


def is_filled(call: Call, slot: str) -> bool:
    return bool(values(call, slot))


def contradicts(call: Call, slot: str, value: Any) -> bool:
    facts = call.get("facts") or {}
    return slot in facts and value is not None and plain(facts[slot]) != plain(value)


def plain(value: Any) -> str:
    """Spell a value without case, blanks and punctuation, its numbers in digits."""
    words = re.findall(r"[^\W_]+", str(value).lower())
    return "".join(str(NUMBERS.index(word)) if word in NUMBERS else word for word in words)


def name_of(tool: Call) -> str:
    return ("user:" if tool.get("by") == "caller" else "") + str(tool["name"])


def is_bad(tool: Call) -> bool:
    return is_error(tool.get("error")) or tool.get("fits") is False


def has_called(call: Call, name: str) -> bool:
    return any(name_of(tool) == name and not is_bad(tool) for tool in call.get("tool_calls") or ())


def states_of(call: Call) -> Mapping[str, Any]:
    return contract_of(call).get("states") or {}


def required_slots(call: Call, state: str) -> list[str]:
    return list(states_of(call).get(state, {}).get("required_slots") or ())


def tools_of(call: Call, state: str) -> list[str]:
    named = states_of(call).get(state, {}).get("tool") or []
    return [named] if isinstance(named, str) else list(named)


def visit_of(call: Call, tool: Call) -> int | None:
    """Return the visit that called a tool: of the state that is named, of the only one that has it, or by its place.

    Without a place its time counts: where one visit ends as the next begins it is the first, unless the next is named
    after the tool.
    """
    seen, t, seq = visits(call), tool.get("t"), tool.get("seq")
    owners = [state for state in states_of(call) if tool["name"] in tools_of(call, state)]
    names = [tool.get("state"), *(owners if len(owners) == 1 and tool.get("by") != "caller" else ())]
    states = [visit["state"] for visit in seen]
    own = next((name for name in names if name in states), None)
    of_state = [at for at, state in enumerate(states) if state == own]
    if seq is not None:
        begun = [at for at, visit in enumerate(seen) if visit["first"] < seq]
    else:
        begun = [at for at, visit in enumerate(seen) if None not in (t, visit["start"]) and visit["start"] <= t]
    if of_state:
        return max((at for at in of_state if at in begun), default=of_state[0])
    if seq is None:
        open_then = [seen[at]["last"] is None or (seen[at]["end"] is not None and seen[at]["end"] >= t) for at in begun]
        held = [at for at, is_open in zip(begun, open_then, strict=True) if is_open]
        named = [at for at in held if states[at] == tool["name"]]
        begun = named or held[:1] or begun
    return begun[-1] if begun else None


def end_of(call: Call) -> float | None:
    """Return the time of the last thing in a call."""
    parts = (*call["events"], *(call.get("turns") or ()), *(call.get("tool_calls") or ()))
    return max((part["t"] for part in parts if part.get("t") is not None), default=None)


def left_at(call: Call, visit: Row) -> float | None:
    return end_of(call) if visit["last"] is None else visit["end"]


def who_of(tool: Call) -> str:
    return "caller" if tool.get("by") == "caller" else who(tool.get("error"))


def who(error: Any) -> str:
    said = error.get("message", "") if isinstance(error, Mapping) else error
    return "backend" if isinstance(said, str) and INFRASTRUCTURE.search(said) else "agent"


def not_made_good(is_wrong: Sequence[bool]) -> int | None:
    """Return the first place that is wrong after the last that is right."""
    right = [place for place, wrong in enumerate(is_wrong) if not wrong]
    first = right[-1] + 1 if right else 0
    return first if first < len(is_wrong) else None


# The blame


def blame(call: Call) -> Blame | None:
    """Return the blame of a failed call."""
    if not has_failed(call):
        return None
    has_task = call.get("origin") == "derived" and call.get("passed") is not True  # a step missed there is a hint
    by_task = blame_of_task(call) if has_task else None
    if by_task is not None:
        return by_task
    working = working_visits(call)
    if not working:
        return Blame(None, "none", t=end_of(call))
    found = [
        (working_at(call, at), KINDS.index(each.kind), each)
        for look in LOOKS
        for at, each in look(call)
        if at is not None
    ]
    at, _, first = min(found, key=lambda each: each[:2])
    seen = visits(call)
    return first._replace(state=seen[at]["state"], before=seen[at - 1]["state"] if at else None)


Found: TypeAlias = Iterable[tuple[int | None, Blame]]
"""Visits in which something went wrong, and what."""


def guard_errors(call: Call) -> Found:
    """Yield guards that raised; a tool that failed is a tool error also where its source tells it as a guard."""
    tools = {tool["name"] for tool in call.get("tool_calls") or ()} if call.get("origin") == "derived" else set()
    for place, event in enumerate(call["events"]):
        if event["type"] == "guard_evaluated" and event["guard"] not in tools:
            later = [other for other in call["events"][place:] if other.get("guard") == event["guard"]]
            if all(is_error(other.get("error")) for other in later):
                why = who(event.get("error"))
                yield visit_at(call, place), Blame(None, "guard error", event["guard"], why, event.get("t"))


def tool_errors(call: Call) -> Found:
    tools = call.get("tool_calls") or ()
    for place, tool in enumerate(tools):
        later = [other for other in tools[place:] if name_of(other) == name_of(tool)]
        if all(map(is_bad, later)):
            at = visit_of(call, tool)
            yield at, Blame(None, "tool error", name_of(tool), who_of(tool), tool.get("t"))


def wrong_slots(call: Call) -> Found:
    """Yield slots whose last value contradicts the caller; what a call ended with may come without an event."""
    wrong_from = {
        slot: not_made_good([contradicts(call, slot, value) for value in values(call, slot)])
        for slot in call.get("facts") or {}
    }
    noted = Counter[str]()
    for place, event in enumerate(call["events"]):
        if event["type"] == "slot_filled" and event.get("value") is not None:
            slot = event["slot"]
            if (start := wrong_from.get(slot)) is not None and start <= noted[slot]:
                begun = [visit["state"] == event.get("state") and visit["first"] < place for visit in visits(call)]
                at = len(begun) - 1 - begun[::-1].index(True) if True in begun else visit_at(call, place)
                yield at, Blame(None, "wrong slot", slot, t=event.get("t"))
            noted[slot] += 1
    for slot in call.get("slots", {}):
        if wrong_from.get(slot) == noted[slot] == 0:
            yield last_working(call), Blame(None, "wrong slot", slot, t=end_of(call))


def missing_slots(call: Call) -> Found:
    contract = contract_of(call)
    for at, visit in enumerate(visits(call)):
        for slot in required_slots(call, visit["state"]):
            if is_forward(call, at) and not is_filled(call, slot):
                yield at, Blame(None, "missing slot", slot, t=left_at(call, visit))
    at = last_working(call)
    for slot in (*(contract.get("required_slots") or ()), *(contract.get("completion_slots") or ())):
        if claims_success(call) and not is_filled(call, slot):
            yield at, Blame(None, "missing slot", slot, t=end_of(call))


def missing_actions(call: Call) -> Found:
    tried = {name_of(tool) for tool in call.get("tool_calls") or ()}  # one that only failed is a tool error
    for at, visit in enumerate(visits(call)):
        for tool in tools_of(call, visit["state"]):
            if is_forward(call, at) and tool not in tried:
                yield at, Blame(None, "missing action", tool, t=left_at(call, visit))
    at = last_working(call)
    for tool in contract_of(call).get("required_tools") or ():
        if claims_success(call) and tool not in tried:
            yield at, Blame(None, "missing action", tool, t=end_of(call))


def loops(call: Call) -> Found:
    if call.get("origin") == "derived":
        return
    seen = visits(call)
    for at, visit in enumerate(seen):
        before = [other for other in seen[:at] if other["state"] == visit["state"]]
        if at in working_visits(call) and len(before) >= 2:
            old, new = filled_in(call, 0, before[-1]["first"]), filled_in(call, before[-1]["first"], visit["first"])
            if not new - old:
                yield at, Blame(None, "loop", t=visit["start"])


def filled_in(call: Call, start: int, end: int) -> set[str]:
    events = call["events"][start:end]
    return {event["slot"] for event in events if event["type"] == "slot_filled" and event.get("value") is not None}


def hand_offs(call: Call) -> Found:
    for at in working_visits(call):
        visit = visits(call)[at]
        if visit["to"] in escalations(call):
            yield at, Blame(None, "hand-off", t=visit["end"])
    at = last_working(call)
    if was_handed_over(call):
        visit = visits(call)[at]
        yield at, Blame(None, "hand-off", t=left_at(call, visit))


def ends(call: Call) -> Found:
    """Yield how a call that nobody took over ended short of its goal."""
    if was_handed_over(call):
        return
    at, stop, status = last_working(call), call.get("stop_reason"), call.get("final_status")
    allowed = contract_of(call).get("final_statuses")
    is_whole = stop == "terminal" or (stop is None and not has_reached(call))
    if claims_success(call) and allowed and status not in allowed:
        yield at, Blame(None, "off contract", status, t=end_of(call))
    elif (
        call.get("completed")
        and call.get("origin") != "derived"
        and (is_whole or (call.get("passed") is False and not has_reached(call)))
    ):
        terminal = call.get("final_state") or visits(call)[-1]["state"]
        yield at, Blame(None, "off contract", terminal, t=end_of(call))
    else:
        yield at, Blame(None, "dead end", stop, t=end_of(call))


def last_working(call: Call) -> int:
    return working_visits(call)[-1]


LOOKS: tuple[Callable[[Call], Found], ...] = (
    guard_errors, tool_errors, wrong_slots, missing_slots, missing_actions, loops, hand_offs, ends
)  # fmt: skip


# The blame where states are derived from tools


def changes(call: Call) -> bool:
    """Return whether a call of a tool, or a step, changes something: as the source reports, else by the name."""
    if call.get("changes") is not None:
        return bool(call["changes"])
    words = re.findall(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])", str(call["name"]))
    return not words or words[0].lower() not in READING


def matches(step: Call, tool: Call) -> bool:
    """Return whether a good call of a tool is a step of the task, by the arguments that count."""
    if name_of(step) != name_of(tool) or is_bad(tool):
        return False
    return not differing(step, tool)


def differing(step: Call, tool: Call) -> list[str]:
    """Return the arguments in which a call of its tool differs from a step."""
    wanted, given = step.get("arguments"), tool.get("arguments") or {}
    if wanted is None:
        return []
    names = {*wanted, *given} if step.get("compared") is None else set(step["compared"])
    return sorted(name for name in names if wanted.get(name) != given.get(name))


def blame_of_task(call: Call) -> Blame | None:
    """Return the blame where the steps of the task tell it."""
    tools, steps = list(call.get("tool_calls") or ()), call.get("expected_steps")
    end = end_of(call)
    if steps is not None:
        for place, tool in enumerate(tools):
            if not changes(tool):
                continue
            later = [other for other in tools[place:] if name_of(other) == name_of(tool)]
            if not is_bad(tool) and not any(matches(step, other) for step in steps for other in later):
                return Blame(name_of(tool), "wrong action", wrong_in(steps, tool), who_of(tool), tool.get("t"))
            if is_bad(tool) and all(map(is_bad, later)):
                return Blame(name_of(tool), "refused action", None, who_of(tool), tool.get("t"))
        for step in steps:
            if changes(step) and not any(matches(step, tool) for tool in tools):
                return Blame(name_of(step), "missing action", None, who_of(step), end)
    for answer in call.get("expected_answers") or ():
        if answer.get("said") is False:
            spoken = [turn for turn in call.get("turns") or () if turn["role"] == "agent"]
            last = spoken[-1] if spoken else {"state": visits(call)[-1]["state"], "t": end}
            return Blame(last["state"], "missing answer", answer["text"], t=last["t"])
    for step in steps or ():
        if not any(matches(step, tool) for tool in tools):
            own = [tool for tool in tools if name_of(tool) == name_of(step)]
            if not own:
                return Blame(name_of(step), "missing step", None, who_of(step), end)
            nearest = min(own, key=lambda tool: len(differing(step, tool)))
            detail = ", ".join(differing(step, nearest)) or None
            return Blame(name_of(step), "wrong arguments", detail, who_of(step), nearest.get("t"))
    return None


def wrong_in(steps: Iterable[Call], tool: Call) -> str:
    """Return which arguments differ from the nearest step of the tool, or that it was not asked for."""
    ways = [differing(step, tool) for step in steps if name_of(step) == name_of(tool)]
    nearest = min(ways, key=len, default=None)
    return "not asked for" if nearest is None else ", ".join(nearest)
