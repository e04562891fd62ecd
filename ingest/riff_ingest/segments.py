"""Return the segment (phase) of a state, by its name or by the tool that it is (docs/metrics.md, section 3)."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from fnmatch import fnmatchcase
from functools import lru_cache

import msgspec

from riff_ingest.conversation import Contract

OTHER = "other"

_RULES = (
    ("opening", ("greet", "intro")),
    ("routing", ("triage", "intent", "route", "menu")),
    ("verify", ("verify", "auth", "identify")),
    ("collect", ("collect", "listen", "ask", "gather")),
    ("confirm", ("confirm", "review", "summar")),
    (
        "action",
        ("book", "dispatch", "create", "send", "submit", "update", "cancel", "pay", "lookup", "query"),
    ),
    ("closing", ("close", "goodbye", "wrap")),
)
SEGMENTS = (*(segment for segment, _ in _RULES), OTHER)

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")


def segment_of(state: str, contract: Contract | None, event_segment: str | None = None) -> str:
    """Return the segment of a state: the contract's, else the one on the event, else by the state's name."""
    told = None if contract is None else contract.terms.segments.get(state)
    return told or event_segment or segment_by_name(state)


@lru_cache(maxsize=4096)
def segment_by_name(state: str) -> str:
    """Return the first segment of which a word of the state's name begins with a rule's word or a form of it."""
    words = [word.lower() for word in _WORD.findall(state)]
    for segment, beginnings in _BEGINNINGS:
        if any(word.startswith(beginnings) for word in words):
            return segment
    return OTHER


def _forms(verb: str) -> tuple[str, ...]:
    """Return a rule's word with the forms that change its end: close and closing, verify and verification."""
    if verb.endswith("e"):
        return verb, f"{verb[:-1]}ing", f"{verb[:-1]}ion"
    if verb.endswith("ify"):
        return verb, f"{verb[:-1]}ication"
    return (verb,)


_BEGINNINGS = tuple((segment, tuple(form for verb in verbs for form in _forms(verb))) for segment, verbs in _RULES)

# Find the phase of a call that a tool belongs to, where the states of a call are the tools that were called.
OPENING, CLOSING = "opening", "closing"
AUTH, VERIFY, LOOKUP, ACTION, EXIT = "auth", "verify", "lookup", "action", "exit"

_TOOL_RULES = (
    (("find_user*", "get_customer*", "auth*", "*_auth*", "verify_*", "identify_*"), AUTH),
    (("run_speed_test", "can_send_mms"), VERIFY),
    (("transfer*", "end_call*", "hang_up*"), EXIT),
    (("get_*", "search*", "list_*", "check_*", "find_*", "lookup*", "query*"), LOOKUP),
    (("calculate*", "think*"), OTHER),
)
_HUMANS = frozenset({"human", "humans", "operator", "person", "representative", "specialist", "staff", "support"})
_OF_CALLS = frozenset({"", "agent", "agents", "call"})
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


class ToolSegments(msgspec.Struct, frozen=True):
    """Describe phases by pattern of a tool's name (`find_user*`), as users set them; the first that fits counts.

    What the caller called is matched without `user:`, unless a pattern begins with it.
    """

    patterns: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, table: Mapping[str, str]) -> ToolSegments:
        """Return the phases of a table of them by pattern."""
        return cls(tuple(table.items()))

    def __bool__(self) -> bool:
        return bool(self.patterns)

    def digest(self) -> str:
        """Return what distinguishes these phases from others."""
        return hashlib.sha256(msgspec.json.encode(self.patterns)).hexdigest()

    def segment(self, state: str, known: str | None = None) -> str:
        """Return the phase of a state that is a tool: as the user set it, as its source `known` it, else by name."""
        tool = state.removeprefix("user:")
        for pattern, segment in self.patterns:
            if fnmatchcase(state if pattern.startswith("user:") else tool, pattern):
                return segment
        return known or segment_of_tool(tool)


NO_SEGMENTS = ToolSegments()


@lru_cache(maxsize=4096)
def segment_of_tool(tool: str) -> str:
    """Return the phase of a tool by its name; what only does something is an action."""
    name = _in_snake_case(tool)
    for patterns, segment in _TOOL_RULES:
        if any(fnmatchcase(name, pattern) for pattern in patterns):
            return segment
    return ACTION


def hands_over(tool: str) -> bool:
    """Return whether a tool hands the call to a human, by its name; one that transfers anything else does not."""
    first, _, rest = _in_snake_case(tool).partition("_")
    to_whom = rest.removeprefix("to_").removeprefix("live_")
    return first == "escalate" or (
        first == "transfer" and (to_whom in _OF_CALLS or not _HUMANS.isdisjoint(to_whom.split("_")))
    )


def _in_snake_case(name: str) -> str:
    return _CAMEL.sub("_", name).replace("-", "_").lower()
