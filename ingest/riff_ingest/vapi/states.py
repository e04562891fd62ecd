"""Tell which states a call of Vapi was in: nodes of a workflow, or assistants of a squad."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from riff_ingest.sources.json_parts import number_of, object_of, objects_of, text_of
from riff_ingest.vapi.record import artifact_of

_HANDING_OVER = ("handoff", "transfer")
_OF_THE_CALL = frozenset(
    {"call", "customer", "date", "day", "month", "now", "phoneNumber", "time", "transport", "year"}
)


class Entry(NamedTuple):
    """Hold that a call entered a state, with the slots that it then filled there; `t` in seconds since it began."""

    state: str
    t: float | None
    slots: Mapping[str, Any]


def entries_of(call: Mapping[str, Any], messages: Sequence[dict[str, Any]]) -> list[Entry] | None:
    """Return the states in their order, `None` where the call tells of none.

    Those of a squad are seen by who speaks; where no message names an assistant, the next one of the squad's comes
    with each call of a tool that hands over.
    """
    artifact = artifact_of(call)
    if nodes := objects_of(artifact.get("nodes")):
        return _nodes(nodes)
    activations = objects_of(artifact.get("assistantActivations"))
    names = [name for each in activations if (name := assistant_of(each))]
    if not (call.get("squadId") or object_of(call.get("squad")) or len(dict.fromkeys(names)) > 1):
        return None
    by_id = {text_of(each.get("assistantId")): assistant_of(each) for each in activations}
    spoken = _spoken(messages, {key: name for key, name in by_id.items() if key and name})
    return _completed(spoken, names) if spoken else _handed_over(messages, names)


def assistant_of(value: Mapping[str, Any]) -> str | None:
    """Return what an assistant is called, by name else by id."""
    return text_of(value.get("assistantName")) or text_of(value.get("assistantId"))


def variables_of(given: Any) -> dict[str, Any]:
    """Return the variables of a call that are its own, and not those that Vapi gives to every call."""
    return {key: value for key, value in object_of(given).items() if key not in _OF_THE_CALL and value is not None}


def seconds_of(message: Mapping[str, Any]) -> float | None:
    """Return when a message began, in seconds since the call did."""
    return number_of(message.get("secondsFromStart"))


def _nodes(nodes: Sequence[dict[str, Any]]) -> list[Entry] | None:
    found: list[Entry] = []
    before: dict[str, Any] = {}
    for node in nodes:
        name = text_of(node.get("nodeName"))
        if name is None:
            continue
        times = (seconds_of(message) for message in objects_of(node.get("messages")))
        variables = variables_of(node.get("variableValues"))
        new = {slot: value for slot, value in variables.items() if slot not in before or before[slot] != value}
        found.append(Entry(name, next((t for t in times if t is not None), None), new))
        before |= variables
    return found or None


def _spoken(messages: Sequence[dict[str, Any]], known: Mapping[str, str]) -> list[Entry]:
    """Return the assistants by what they say; one that speaks on is in its state still."""
    found: list[Entry] = []
    for message in messages:
        key = text_of(message.get("assistantId")) or ""
        name = text_of(message.get("assistantName")) or known.get(key) or key
        if name and (not found or found[-1].state != name):
            found.append(Entry(name, seconds_of(message) if found else _begin(messages), {}))
    return found


def _completed(spoken: list[Entry], names: Sequence[str]) -> list[Entry]:
    """Return the assistants that spoke, and those that came after the last of them and did not."""
    last = spoken[-1].state
    silent = names[len(names) - names[::-1].index(last) :] if last in names else ()
    return [*spoken, *(Entry(name, None, {}) for name in silent)]


def _handed_over(messages: Sequence[dict[str, Any]], names: Sequence[str]) -> list[Entry] | None:
    times = [seconds_of(message) for message in messages if _hands_over(message)]
    places = [_begin(messages), *times, *[None] * len(names)]
    return [Entry(name, t, {}) for name, t in zip(names, places, strict=False)] or None


def _begin(messages: Sequence[dict[str, Any]]) -> float | None:
    known = (t for message in messages if (t := seconds_of(message)) is not None)
    return min(known, default=None)


def _hands_over(message: Mapping[str, Any]) -> bool:
    for call in objects_of(message.get("toolCalls")):
        name = text_of(object_of(call.get("function")).get("name")) or ""
        if name.lower().startswith(_HANDING_OVER):
            return True
    return False
