"""What is blamed once people marked calls, once more: counts and groups over lines of transcripts."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, TypeAlias

from tests.support import blame_oracle
from tests.support.blame_oracle import escalations, successes, visits
from tests.surface.store import Annotation

Call: TypeAlias = Mapping[str, Any]
Visit: TypeAlias = dict[str, Any]

SEVERAL = "(several)"
CLASSES = {
    "guard error": "tool or guard", "tool error": "tool or guard", "wrong slot": "slot", "missing slot": "slot",
    "missing action": "action", "loop": "end", "hand-off": "end", "dead end": "end", "off contract": "end",
}  # fmt: skip
DIVIDED = ("tool or guard", "slot", "marked")
"""What is grouped by its detail as well."""


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
        return self.state, of_class, self.detail if of_class in DIVIDED else None


def matrix(places: Iterable[tuple[Call, Place | None]]) -> Counter[tuple[str, str, str]]:
    """Count the failed calls by flow, last good state and the one that is blamed."""
    return Counter((call["flow"], place.last_ok, place.state) for call, place in places if place is not None)


def marked(call: Call, notes: Iterable[Annotation]) -> Place | None:
    """Return what is blamed where people may have marked it; each note is of another author."""
    place, seen, first = blame(call), visits(call), dict[str, int]()
    for at, visit in enumerate(seen):
        first.setdefault(visit["state"], at)
        if visit["to"] in successes(call) | escalations(call):
            first.setdefault(visit["to"], at + 1)
    end = call.get("final_state")
    if seen and end in successes(call) | escalations(call) and end not in first:
        # An end that no event shows is what the last visit led to.
        first[str(end)] = len(seen)
        if end in escalations(call) and seen[-1]["to"] is None:
            seen[-1] = {**seen[-1], "to": end}
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


def blame(call: Call) -> Place | None:
    """Return what went wrong first in a failed call and was not made good, `None` of a call that did not fail."""
    found = blame_oracle.blame(call)
    return found and Place(found.before or "(start)", found.state or "(none found)", found.kind, found.detail)
