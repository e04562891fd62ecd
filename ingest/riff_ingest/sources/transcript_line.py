"""Decode a native transcript line, leniently where it is not as it should be."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, TypeAlias, TypeVar, get_args

import msgspec

from riff_ingest.coercion import contract_of, fit, fitting, wanted
from riff_ingest.contract import Contract
from riff_ingest.conversation import LINE_FIELDS, SCHEMA, ReferenceStep, ToolCall, Turn
from riff_ingest.events import LONGEST, Duration, Event
from riff_ingest.lenient_json import clean, loads
from riff_ingest.lines import BrokenInput

HIGHEST = 1e5
"""The largest score or count that is believed of what is brought along."""
MOST = 2**31
"""The same for how often something was seen."""

Name: TypeAlias = Annotated[str, msgspec.Meta(min_length=1)]
Whole: TypeAlias = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]
Count: TypeAlias = Annotated[int, msgspec.Meta(ge=0, le=MOST)]
Measured: TypeAlias = Annotated[float, msgspec.Meta(ge=-HIGHEST, le=HIGHEST)]

GIVEN_NOTHING = b"null"

FAMILY, _, _MAJOR = SCHEMA.partition("/")


NEGATIVE_DURATION = "negative duration"
LONG_DURATION = "duration out of range"
_EVENTS: Mapping[str, type[Event]] = {str(kind.__struct_config__.tag): kind for kind in get_args(Event)}
REQUIRED = tuple(field.name for field in LINE_FIELDS if field.required)
_Struct = TypeVar("_Struct", bound=msgspec.Struct)


def refusal(schema: str) -> str | None:
    """Return why a schema cannot be read, `None` if it can: any minor version of the major one is fine."""
    family, _, version = schema.partition("/")
    if schema == SCHEMA or (family == FAMILY and version.partition(".")[0] == _MAJOR):
        return None
    return f"schema {schema[:60]} is not supported, only {SCHEMA} is"


class NativeLine(msgspec.Struct, kw_only=True):
    """Name what a line has beside the fields of a conversation, which `LINE` adds.

    The contract stays bytes: it is the same on line after line, so it is decoded once.
    """

    schema: str | None = None
    contract: msgspec.Raw = msgspec.Raw(GIVEN_NOTHING)


TEXTS = (*REQUIRED, "run_id", "persona", "scenario")
"""The texts that a line may give as whole numbers."""

_OF_LINES: Mapping[str, Any] = {
    **dict.fromkeys(TEXTS, str | int),
    **dict.fromkeys(REQUIRED, Name | int),
    "trial": Whole,
    "duration_s": Duration,
    "errors": list[Any] | Count,
    "aspects": dict[str, Measured | None],
    "defects": dict[str, Count],
}
"""The types of fields that lines are taken with where these are others than those of a conversation."""

_LINE_TYPES: Mapping[str, Any] = {
    field.name: _OF_LINES.get(field.name, field.type)
    if field.required
    else _OF_LINES.get(field.name, field.type) | None
    for field in LINE_FIELDS
    if field.name != "contract"
}

LINE: Any = msgspec.defstruct(
    "Line",
    [(name, kind) if name in REQUIRED else (name, kind, None) for name, kind in _LINE_TYPES.items()],
    bases=(NativeLine,),
    kw_only=True,
)
"""A line with the fields of docs/formats.md, section 1; `None` for what is left out or null."""


@dataclass(slots=True)
class Salvage:
    """Hold what could be taken of a `LINE`; `contract` is `None` where none was given."""

    line: Any
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
    taken = Salvage(LINE(**dict.fromkeys(REQUIRED, "")), defects=defects)
    for name, kind in _LINE_TYPES.items():
        given = value.get(name)
        if given is not None and not (given == "" and name in REQUIRED):
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
    for name in REQUIRED:
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
