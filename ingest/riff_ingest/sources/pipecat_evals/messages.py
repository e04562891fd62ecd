"""Turn the messages that pipecat keeps of a conversation into turns, tools and derived states."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from riff_ingest.conversation import DERIVED, ROLES, Contract, Conversation
from riff_ingest.lenient_json import objects_of, text_of
from riff_ingest.private_values import PrivateValues
from riff_ingest.segments import ToolSegments, hands_over
from riff_ingest.tool_states import ToolStates

TOOL = "tool_call"
UNNAMED = "(unnamed tool)"
CANCELLED = "cancelled, because the caller interrupted"


@dataclass(slots=True)
class Messages:
    """Describe what was said and called in a conversation; `answers` are the places of the bot's turns, from 1.

    `odd` counts what is not a message.
    """

    states: ToolStates
    answers: list[int] = field(default_factory=list)
    odd: int = 0

    def fill(self, call: Conversation) -> None:
        """Give a call its turns, its tools and its states; a tool that hands it to a human is an escalation."""
        call.turns, call.events, call.tool_calls = self.states.turns, self.states.events, self.states.tool_calls
        call.final_state, call.origin = self.states.state, DERIVED
        handed = dict.fromkeys(state for state in self.states.states if hands_over(state))
        call.contract = Contract(escalation_terminals=list(handed))


def is_messages(value: Any) -> bool:
    """Return whether a value is the list of messages of a conversation."""
    return isinstance(value, list) and bool(value) and all(_is_message(each) for each in value)


def messages_of(value: Any, segments: ToolSegments) -> Messages:
    """Return what a list of messages contains, without tokens and signatures of links; there are no times.

    Anything else in it is left out.
    """
    found = Messages(ToolStates(segments))
    given = objects_of(PrivateValues().value(value))
    found.odd = len(value) - len(given) if isinstance(value, list) else 0
    for message in given:
        role = message.get("role")
        if role == TOOL:
            cancelled = message.get("cancelled") is True
            found.states.call(
                text_of(message.get("name")) or UNNAMED,
                arguments=message.get("arguments"),
                result=CANCELLED if cancelled else None,
            )
        elif isinstance(role, str) and role in ROLES:
            found.states.say(ROLES[role], text_of(message.get("content")) or "")
            if role == "assistant":
                found.answers.append(len(found.states.turns))
        else:
            found.odd += 1
    return found


def _is_message(value: Any) -> bool:
    if not isinstance(value, dict):
        return False
    role = value.get("role")
    return isinstance(value.get("name"), str) if role == TOOL else role in ("user", "assistant") and "content" in value
