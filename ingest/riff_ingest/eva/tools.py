"""Type the tools of an agent, and compare those called with those expected (docs/metrics.md, section 9)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

from riff_ingest.conversation import ReferenceStep

AUTH, READ, WRITE, SYSTEM = "auth", "read", "write", "system"
UNNAMED = "(unnamed tool)"

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_READS = frozenset({"get", "search", "find", "list", "check", "lookup"})
_NAMES = ("tool_name", "tool", "name", "function")
_ARGUMENTS = ("parameters", "tool_parameters", "arguments", "args", "params")


def tool_name(name: Any) -> str:
    """Return a tool's name as text."""
    return (name if isinstance(name, str) else "" if name is None else str(name)) or UNNAMED


def tool_types(tools: Iterable[Mapping[str, Any]] | None) -> dict[str, str]:
    """Return the types of an agent's tools by name and by id, both in lower case."""
    found = {}
    for tool in tools or ():
        kind = tool.get("tool_type")
        for name in (tool.get("id"), tool.get("name")):
            if isinstance(kind, str) and kind and isinstance(name, str) and name:
                found[name.lower()] = kind.lower()
    return found


def segment_of_tool(name: str, types: Mapping[str, str]) -> str:
    """Return the phase of a call that a tool belongs to: its type, else what its name sounds like."""
    return types.get(name.lower()) or guessed_type(name)


def is_transfer(name: str, types: Mapping[str, str]) -> bool:
    """Tell whether a tool hands the call to a human; one of a type that does other work, with miles say, does not."""
    return name.lower().startswith("transfer") and types.get(name.lower(), SYSTEM) == SYSTEM


@lru_cache(maxsize=1024)
def guessed_type(name: str) -> str:
    """Return a tool's type by the words of its name."""
    words = [word.lower() for word in _WORD.findall(name)]
    if any(word.startswith(("auth", "verif")) for word in words):
        return AUTH
    if not _READS.isdisjoint(words):
        return READ
    if any(word == "end" or word.startswith("transfer") for word in words):
        return SYSTEM
    return WRITE


def expected_steps(trace: Iterable[Any] | None, called: Iterable[Mapping[str, Any]]) -> list[ReferenceStep]:
    """Return the reference steps of a dataset's `expected_trace`; entries that are no calls of tools are passed over.

    `called` are a context's `tool_params`. A step without arguments matches nothing and misses nothing.
    """
    given = [(tool_name(call.get("tool_name")), call.get("tool_parameters")) for call in called]
    steps = []
    for entry in trace or ():
        name = _name(entry)
        if name is None:
            continue
        wanted = _arguments(entry)
        tried = [arguments for tool, arguments in given if tool.lower() == name.lower()]
        # The state of a step is that of the call, however the dataset spells its name.
        spelled = next((tool for tool, _ in given if tool.lower() == name.lower()), name)
        matched = None if wanted is None else wanted in tried
        steps.append(ReferenceStep(spelled, called=bool(tried), matched=matched))
    return steps


def _name(entry: Any) -> str | None:
    if isinstance(entry, str):
        return entry or None
    if not isinstance(entry, Mapping) or "tool_response" in entry or entry.get("type") == "tool_response":
        return None
    return next((entry[key] for key in _NAMES if isinstance(entry.get(key), str) and entry[key]), None)


def _arguments(entry: Any) -> Any:
    if not isinstance(entry, Mapping):
        return None
    return next((entry[key] for key in _ARGUMENTS if isinstance(entry.get(key), Mapping)), None)
