"""Answer the tools of a flow in place of the real back end."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Mapping
from random import Random
from typing import Any, Protocol

from riff_runner.protocol import InProcess
from riff_runner.run.cases.case import CallCase
from riff_store.errors import RiffError


class ToolFailed(RiffError):
    """Report that a tool has no result; the agent is shown why."""


class ToolSession(Protocol):
    """Answer the tools of one call."""

    async def result(self, name: str, arguments: Any) -> Any:
        """Return the result of a tool that the flow has; raises `ToolFailed`."""

    async def end(self) -> None:
        """Take note that the call is over."""


class Tools(Protocol):
    """Answer the tools of a run's calls."""

    async def check(self) -> None:
        """Find out whether they can be answered; raises `EndpointRefused` if they cannot."""

    async def begin(self, case: CallCase) -> ToolSession:
        """Begin a call."""

    async def close(self) -> None:
        """Give back what is kept."""


class StubbedTools(InProcess):
    """Answer with what the flow file shows that a tool returns, picked by the case."""

    async def begin(self, case: CallCase) -> ToolSession:
        """Begin a call."""
        return _StubbedSession(case, case.random("tools"))


class _StubbedSession:
    def __init__(self, case: CallCase, random: Random) -> None:
        self._tools = case.flow.tools
        self._random = random

    async def result(self, name: str, arguments: Any) -> Any:
        returns = self._tools[name].returns
        if not returns:
            raise ToolFailed(f"{name} has no result in the flow file")
        # A copy: what an agent does to it changes no other call's.
        return copy.deepcopy(returns[int(self._random.random() * len(returns))])

    async def end(self) -> None:
        return None


# Find out whether arguments fit the JSON schema of a tool, as far as flow files use such schemas.
_IS: Mapping[str, Callable[[Any], bool]] = {
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "string": lambda value: isinstance(value, str),
    "boolean": lambda value: isinstance(value, bool),
    "integer": lambda value: _is_number(value) and value == value // 1,
    "number": lambda value: _is_number(value),
    "null": lambda value: value is None,
}


def violation(schema: Any, value: Any, place: str = "") -> str | None:
    """Return the first thing in which a value does not fit, `None` if it fits.

    Keywords that are not known forbid nothing.
    """
    if not isinstance(schema, Mapping):
        return None
    where = place or "the arguments"
    types = schema.get("type")
    wanted = [str(name) for name in (types if isinstance(types, list) else [types] if types else [])]
    if wanted and not any(name not in _IS or _IS[name](value) for name in wanted):
        return f"{where} must be {' or '.join(wanted)}"
    choices = schema.get("enum")
    if isinstance(choices, list) and value not in choices:
        return f"{where} must be one of {', '.join(json.dumps(choice) for choice in choices)}"
    for name in ("anyOf", "oneOf"):
        options = schema.get(name)
        if isinstance(options, list) and options and all(violation(option, value, place) for option in options):
            return f"{where} fits none of what it may be"
    if isinstance(value, dict):
        return _violation_in_object(schema, value, place)
    if isinstance(value, list):
        found = (violation(schema.get("items"), item, f"{place}[{number}]") for number, item in enumerate(value))
        return next((each for each in found if each), None)
    return None


def _violation_in_object(schema: Mapping[str, Any], value: Mapping[str, Any], place: str) -> str | None:
    inside = f"{place}." if place else ""
    required = schema.get("required")
    for name in required if isinstance(required, list) else ():
        if isinstance(name, str) and name not in value:
            return f"{inside}{name} is missing"
    described = schema.get("properties")
    properties = described if isinstance(described, Mapping) else {}
    for name, item in value.items():
        if name in properties:
            if found := violation(properties[name], item, f"{inside}{name}"):
                return found
        elif schema.get("additionalProperties") is False:
            known = f"; there are {', '.join(properties)}" if properties else ""
            return f"{inside}{name} is not known{known}"
    return None


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
