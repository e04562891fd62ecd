"""Know the tools of the benchmark: which of them write, and which phase of a call each belongs to."""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Any

from riff_ingest.segments import OTHER
from riff_ingest.tool_segments import ACTION, AUTH, EXIT, LOOKUP, VERIFY

TRANSFER = "transfer_to_human_agents"
DISCOVERED = "call_discoverable_agent_tool"
"""A tool that hands on to another, which its arguments name."""
WRITE = "write"

_DISCOVERED_NAME = "agent_tool_name"
_READING_WORDS = frozenset(
    {"find", "get", "search", "list", "check", "calculate", "think", "transfer", "run", "can", "grep", "shell"}
)
_NO_WRITES = ("*transfer_to_human_agent*", "give_discoverable_*", "unlock_discoverable_*", "KB_search*")
_PHASES = (
    (("find_user*", "get_customer*"), AUTH),
    (("run_speed_test", "can_send_mms"), VERIFY),
    (("transfer*", "*_transfer_to_human_agent*"), EXIT),
    (("get_*", "search_*", "list_*", "check_*", "KB_search*", "grep", "shell"), LOOKUP),
)


def tool_of(name: str, arguments: Any) -> str:
    """Return the tool that is called: the one behind the call where that only hands a name on, as in banking."""
    if name == DISCOVERED and isinstance(arguments, Mapping):
        inner = arguments.get(_DISCOVERED_NAME)
        if isinstance(inner, str) and inner:
            return inner
    return name


@lru_cache(maxsize=4096)
def writes(tool: str, kind: str | None = None) -> bool:
    """Tell whether a tool changes something: by the kind that a check gives it, else by its name."""
    if kind is not None:
        return kind == WRITE
    return first_word(tool) not in _READING_WORDS and not any(fnmatchcase(tool, pattern) for pattern in _NO_WRITES)


@lru_cache(maxsize=4096)
def phase_of(tool: str, kind: str | None = None) -> str:
    """Return the phase of a call that a tool belongs to."""
    for patterns, phase in _PHASES:
        if any(fnmatchcase(tool, pattern) for pattern in patterns):
            return phase
    return ACTION if writes(tool, kind) else OTHER


def first_word(tool: str) -> str:
    """Return the name of a tool up to its first underscore."""
    return tool.partition("_")[0]
