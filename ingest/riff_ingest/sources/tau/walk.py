"""Walk through a call in its order, whatever it was made of, and collect what happened in it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Any

from riff_ingest.conversation import ROLES
from riff_ingest.lenient_json import is_deep, too_deep
from riff_ingest.segments import ACTION, AUTH, EXIT, LOOKUP, OTHER, VERIFY
from riff_ingest.sources.tau.judges import Spoken
from riff_ingest.sources.tau.records import Call, Message
from riff_ingest.tool_states import ToolStates
from riff_store.interaction import Interaction
from riff_store.voice import Voice

LONGEST_ERROR = 1000
"""Characters that are kept of what a tool said went wrong."""


@dataclass(slots=True)
class Walked:
    """Hold what happened in a call: what was said and called as `states`, and what only voice has.

    `kinds` are those of the tools that checks tell of, by name; `spoken` says where each turn stands, `last_words` are
    the caller's last, with what steers the simulation. `duration_s` is the length of the call in seconds where its
    record has a clock of its own.
    """

    states: ToolStates
    kinds: Mapping[str, str] = field(default_factory=dict)
    spoken: list[Spoken] = field(default_factory=list)
    last_words: str | None = None
    has_caller: bool = False
    duration_s: float | None = None
    voice: Voice | None = None
    interaction: Interaction | None = None
    defects: Counter[str] = field(default_factory=Counter)

    def call(self, call: Call, answer: Message | None, role: str, t: float | None) -> None:
        """Take a call of a tool by a side, `t` seconds after the call started, with what the tool answered."""
        if not call.name:
            self.defects["call of a tool without a name"] += 1
            return
        arguments = call.arguments
        if is_deep(arguments):
            self.defects[f"arguments {too_deep()}"] += 1
            arguments = None
        tool = tool_of(call.name, arguments)
        said = answer.content if answer else None
        failed = answer is not None and answer.error is True
        self.states.call(
            call.name,
            by=ROLES.get(call.requestor or role, "agent"),
            t=t,
            arguments=arguments,
            result=None if failed else said,
            error=(said or "error")[:LONGEST_ERROR] if failed else None,
            state=tool,
            segment=phase_of(tool, self.kinds.get(tool)),
        )


def answers_to(calls: Sequence[Call], answers: Sequence[Message]) -> Sequence[Message | None]:
    """Return the answer to each call: the one with its id, where none has it the next that is nobody else's."""
    if len(calls) == len(answers) == 1:
        return answers
    left = list(answers)
    found: list[Message | None] = []
    for call in calls:
        place = next((at for at, answer in enumerate(left) if answer.id == call.id), None)
        found.append(None if place is None else left.pop(place))
    known = {call.id for call in calls}
    spare = iter([answer for answer in left if answer.id not in known])
    return [next(spare, None) if answer is None else answer for answer in found]


# Know the tools of the benchmark: which of them write, and which phase of a call each belongs to.
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
