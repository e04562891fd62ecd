"""Read off a stored call what its caller knew and said, and how far it went well."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from riff_runner.run.cases.case_file import CASE_SCHEMA, CaseFact, CaseFailure, CaseFile, CaseLine, CaseOrigin
from riff_runner.simulate.cast import personas
from riff_runner.simulate.lexicon import SpokenValue, pools
from riff_store.answers.calls import Call, CallDetail
from riff_tui.errors import UsageError
from riff_tui.timeline_events import Moment, moments

LOOPING = 3
SHORTEST = 3


def case_of_call(
    detail: CallDetail, slot_pools: Mapping[str, str], *, until: int | None = None, name: str | None = None
) -> CaseFile:
    """Return the case of a call, up to turn `until` where one is given, counted from 1.

    `slot_pools` names the pool of the simulator for each slot of the flow that has one; by these it is known what the
    caller said and the agent never took down. Raises `UsageError` where the
    words of the call were not kept, where it has no such turn, and where its caller says nothing.
    """
    call = detail.call
    if detail.document is None:
        raise UsageError(
            f"the words of {call.conversation} were not kept, so there is nothing to say again",
            "ingest its file without --no-text",
        )
    happened = moments(detail.document)
    lines = _lines(happened, until)
    if not lines:
        raise UsageError(f"the caller of {call.conversation} says nothing{' until there' if until else ''}")
    entered = [moment.state for moment in happened if moment.kind == "state" and moment.state]
    return CaseFile(
        case_schema=CASE_SCHEMA,
        flow=call.flow,
        name=name or call.conversation.removeprefix(f"{call.flow}-"),
        persona=call.persona if call.persona in {persona.name for persona in personas()} else None,
        path=entered[: _broken_at(call, entered)],
        origin=CaseOrigin(call.run, call.conversation, call.agent, call.scenario, call.trial),
        broke=_failure(call),
        facts=_facts(detail.document, slot_pools, lines),
        lines=lines,
    )


def _lines(happened: Sequence[Moment], until: int | None) -> list[CaseLine]:
    """Return what the caller said in one go each: what the agent did not come between is one line."""
    spoken = [moment for moment in happened if moment.kind == "turn"]
    if until is not None and not 1 <= until <= len(spoken):
        raise UsageError(f"--until {until}: the call has turns 1 to {len(spoken)}")
    lines: list[CaseLine] = []
    goes_on = False
    for moment in spoken[:until]:
        text = str(moment.entry.get("text") or "").strip()
        if moment.entry.get("role") != "caller":
            goes_on = False
        elif text:
            said = CaseLine(text, moment.state)
            if goes_on:
                said = CaseLine(f"{lines[-1].text} {text}", lines.pop().state)
            lines.append(said)
            goes_on = True
    return lines


def _broken_at(call: Call, entered: Sequence[str]) -> int:
    """Return the place of the visit in which the call first went wrong, or how many there are where it did not."""
    places = [place for place, state in enumerate(entered) if state == call.first_failed]
    if not places:
        return len(entered)
    if call.failure == "loop":
        return places[min(len(places), LOOPING) - 1]
    return places[-1] if call.failure in ("stall", "escalation") else places[0]


def _failure(call: Call) -> CaseFailure | None:
    if call.first_failed is None:
        return None
    detail = ": ".join(filter(None, (call.failure_detail, call.failure_error)))
    return CaseFailure(call.first_failed, call.failure, call.last_ok, detail or None)


def _facts(
    document: Mapping[str, Any], slot_pools: Mapping[str, str], lines: Sequence[CaseLine]
) -> dict[str, CaseFact]:
    """Return what the agent took down, in the words of the caller where these are known, and what it missed."""
    slots = document.get("slots")
    said = "\n".join(line.text for line in lines)
    taken = {str(slot): value for slot, value in slots.items() if value is not None} if isinstance(slots, dict) else {}
    facts = {slot: CaseFact(value, _spoken(value, slot_pools.get(slot), said)) for slot, value in taken.items()}
    for slot, pool in slot_pools.items():
        if slot not in facts and (found := _missed(pool, said)) is not None:
            facts[slot] = CaseFact(found.value, "" if found.say == found.value else found.say)
    return facts


def _spoken(value: Any, pool: str | None, said: str) -> str:
    """Return how a value is said, an empty text where it is said as it is spelled."""
    if isinstance(value, str) and value:
        place = said.casefold().find(value.casefold())
        found = said[place : place + len(value)] if place >= 0 else ""
        if found.casefold() == value.casefold():
            return "" if found == value else found
    ways = [each.say for each in _values(pool) if type(each.value) is type(value) and each.value == value]
    if ways:
        return next((way for way in ways if way in said), ways[0])
    return ("yes" if value else "no") if isinstance(value, bool) else ""


def _missed(pool: str, said: str) -> SpokenValue | None:
    """Return the value of a pool that a caller says and no agent took down, the longest where there are several."""
    heard = said.casefold()
    spoken = (each for each in _values(pool) if _stands_alone(each.say.casefold(), heard))
    return max(spoken, key=lambda each: len(each.say), default=None)


def _stands_alone(part: str, text: str) -> bool:
    if len(part) < SHORTEST or part not in text:
        return False
    return re.search(rf"(?<![\w-]){re.escape(part)}(?![\w-])", text) is not None


def _values(pool: str | None) -> Sequence[SpokenValue]:
    return pools()[pool].values if pool in pools() else ()
