"""Take from a transcript line that is not as it should be whatever is.

A field that fits is taken, one that does not is left out with a reason; items of lists are
judged one by one, and those that are left out are counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar, get_args

import msgspec

from riff_ingest.contract import Contract
from riff_ingest.conversation import ReferenceStep, ToolCall, Turn
from riff_ingest.events import LONGEST, Event
from riff_ingest.sources.coercion import contract_of, fields_of, fit, fitting, wanted
from riff_ingest.sources.lenient_json import clean, loads
from riff_ingest.sources.lines import BrokenInput
from riff_ingest.sources.transcript_line import MOST, Line, Measured, refusal

NEGATIVE_DURATION = "negative duration"
LONG_DURATION = "duration out of range"

_EVENTS: Mapping[str, type[Event]] = {str(kind.__struct_config__.tag): kind for kind in get_args(Event)}
_REQUIRED = ("conversation_id", "flow")
_LINE_TYPES = {info.name: info.type for info in fields_of(Line) if info.name not in ("schema", "contract")}
_Struct = TypeVar("_Struct", bound=msgspec.Struct)


@dataclass(slots=True)
class Salvage:
    """What could be taken of a line; `contract` is `None` where none was given."""

    line: Line
    contract: Contract | None = None
    defects: Counter[str] = field(default_factory=Counter)
    reasons: list[str] = field(default_factory=list)


def salvage(data: bytes, *, flatten: bool = False) -> Salvage:
    """Read a line leniently; `flatten` takes away what is nested too deeply.

    Raises `BrokenInput` where it is not JSON, no object, of another schema or without a required field.
    """
    defects: Counter[str] = Counter()
    value = loads(data, defects)
    if flatten:
        value = clean(value, defects)
    if not isinstance(value, dict):
        raise BrokenInput("line is not a JSON object")
    _measure(value, "duration_s", defects)
    taken = Salvage(Line(conversation_id="", flow=""), defects=defects)
    for name, kind in _LINE_TYPES.items():
        given = value.get(name)
        if given is not None and not (given == "" and name in _REQUIRED):
            _take_field(taken, name, given, kind)
    _require(taken, value)
    if (given := value.get("contract")) is not None:
        _take_contract(taken, given)
    return taken


def _take_field(taken: Salvage, name: str, given: Any, kind: Any) -> None:
    part = _PARTS.get(name)
    try:
        if part is not None and isinstance(given, part[0]):
            setattr(taken.line, name, part[1](given, taken.defects))
        else:
            setattr(taken.line, name, fit(given, kind))
    except msgspec.ValidationError:
        taken.reasons.append(f"{name} is not {wanted(kind)} and is left out")


def _require(taken: Salvage, value: Mapping[str, Any]) -> None:
    conversation = str(taken.line.conversation_id) or None
    schema = value.get("schema")
    if isinstance(schema, str) and (reason := refusal(schema)):
        raise BrokenInput(reason, conversation=conversation)
    for name in _REQUIRED:
        if getattr(taken.line, name) == "":
            given = value.get(name)
            reason = f"{name} is missing" if given in (None, "") else f"{name} is not text"
            raise BrokenInput(reason, conversation=conversation)


def _take_contract(taken: Salvage, given: Any) -> None:
    if not isinstance(given, dict):
        taken.reasons.append("contract is not an object and is left out")
        return
    taken.contract, misfits = contract_of(given)
    taken.reasons += [f"contract.{misfit} does not fit and is left out" for misfit in misfits]


def _measure(given: dict[str, Any], name: str, defects: Counter[str]) -> None:
    """Take away a latency or a duration that no clock can have measured."""
    value = given.get(name)
    if isinstance(value, int | float) and not 0 <= value <= LONGEST:
        given[name] = None
        defects[NEGATIVE_DURATION if value < 0 else LONG_DURATION] += 1


def _item(given: Any, kind: type[_Struct], label: str, defects: Counter[str]) -> _Struct | None:
    misfits: list[str] = []
    try:
        item = fitting(given, kind, misfits.append) if isinstance(given, dict) else None
    except KeyError:
        item = None
    if item is None:
        defects[f"broken {label}"] += 1
    elif misfits:
        defects[f"broken field of {label}"] += len(misfits)
    return item


def _items(kind: type[_Struct], label: str) -> Callable[[list[Any], Counter[str]], list[_Struct]]:
    def take(given: list[Any], defects: Counter[str]) -> list[_Struct]:
        for item in given:
            if isinstance(item, dict):
                _measure(item, "latency_ms", defects)
        try:
            return msgspec.convert(given, list[kind])  # type: ignore[valid-type]
        except msgspec.ValidationError:
            found = (_item(item, kind, label, defects) for item in given)
            return [item for item in found if item is not None]

    return take


def _events(given: list[Any], defects: Counter[str]) -> list[Event]:
    known = []
    for item in given:
        tag = item.get("type") if isinstance(item, dict) else None
        if isinstance(tag, str) and tag in _EVENTS:
            _measure(item, "latency_ms", defects)
            known.append(item)
        else:
            defects["unknown event" if isinstance(tag, str) else "broken event"] += 1
    try:
        return msgspec.convert(known, list[Event])
    except msgspec.ValidationError:
        found = (_item(item, _EVENTS[item["type"]], "event", defects) for item in known)
        return [event for event in found if event is not None]


def _aspects(given: dict[str, Any], defects: Counter[str]) -> dict[str, float | None]:
    taken = {}
    for name, value in given.items():
        try:
            taken[name] = msgspec.convert(value, Measured | None)
        except msgspec.ValidationError:
            defects["broken aspect"] += 1
    return taken


def _state_rows(given: list[Any], defects: Counter[str]) -> list[dict[str, Any]]:
    rows = [row for row in given if isinstance(row, dict)]
    if len(rows) < len(given):
        defects["broken state row"] += len(given) - len(rows)
    return rows


def _counts(given: dict[str, Any], _: Counter[str]) -> dict[str, int]:
    return {name: count for name, count in given.items() if type(count) is int and 0 <= count <= MOST}


_PARTS: Mapping[str, tuple[type, Callable[[Any, Counter[str]], Any]]] = {
    "turns": (list, _items(Turn, "turn")),
    "events": (list, _events),
    "tool_calls": (list, _items(ToolCall, "tool call")),
    "expected_steps": (list, _items(ReferenceStep, "expected step")),
    "aspects": (dict, _aspects),
    "state_aspects": (list, _state_rows),
    "defects": (dict, _counts),
}
