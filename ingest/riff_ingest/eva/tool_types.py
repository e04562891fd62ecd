"""What kind of work a tool does, from the agent's file or from the tool's name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

AUTH, READ, WRITE, SYSTEM = "auth", "read", "write", "system"
UNNAMED = "(unnamed tool)"

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_READS = frozenset({"get", "search", "find", "list", "check", "lookup"})


def tool_name(name: Any) -> str:
    """A tool's name as text."""
    return (name if isinstance(name, str) else "" if name is None else str(name)) or UNNAMED


def tool_types(tools: Iterable[Mapping[str, Any]] | None) -> dict[str, str]:
    """The types of an agent's tools by name and by id, both in lower case."""
    found = {}
    for tool in tools or ():
        kind = tool.get("tool_type")
        for name in (tool.get("id"), tool.get("name")):
            if isinstance(kind, str) and kind and isinstance(name, str) and name:
                found[name.lower()] = kind.lower()
    return found


def segment_of_tool(name: str, types: Mapping[str, str]) -> str:
    """The phase of a call that a tool belongs to: its type, else what its name sounds like."""
    return types.get(name.lower()) or guessed_type(name)


def is_transfer(name: str, types: Mapping[str, str]) -> bool:
    """Whether a tool hands the call to a human; one of a type that does other work, with miles say, does not."""
    return name.lower().startswith("transfer") and types.get(name.lower(), SYSTEM) == SYSTEM


@lru_cache(maxsize=1024)
def guessed_type(name: str) -> str:
    """A tool's type by the words of its name."""
    words = [word.lower() for word in _WORD.findall(name)]
    if any(word.startswith(("auth", "verif")) for word in words):
        return AUTH
    if not _READS.isdisjoint(words):
        return READ
    if any(word == "end" or word.startswith("transfer") for word in words):
        return SYSTEM
    return WRITE
