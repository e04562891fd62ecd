"""Define the trace of a call, with the labels that EVA writes into its texts (R7.3 to R7.5)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

Texts: TypeAlias = dict[int, str | None]
"""What one side said, by turn."""

ASSISTANT_INTERRUPTS = "[assistant interrupts]"
USER_INTERRUPTS = "[user interrupts]"
CUT_OFF_BY_USER = "[likely cut off by user]"
CUT_OFF_BY_ASSISTANT = "[likely cut off by assistant]"
CUT_ITSELF_OFF = "[speaker likely cut itself off]"
LIKELY_INTERRUPTION = "[likely interruption]"
PAUSE = "[pause]"
LABELS = (
    ASSISTANT_INTERRUPTS,
    USER_INTERRUPTS,
    CUT_OFF_BY_USER,
    CUT_OFF_BY_ASSISTANT,
    CUT_ITSELF_OFF,
    LIKELY_INTERRUPTION,
    PAUSE,
)
GENERIC_ERROR = "I'm sorry, I encountered an error processing your request."


EntryType: TypeAlias = Literal["intended", "transcribed", "tool_call", "tool_response"]


def prefixed(label: str, text: str) -> str:
    """Return the text with a label in front."""
    return f"{label} {text}"


def suffixed(text: str, label: str) -> str:
    """Return the text with a label behind it."""
    return f"{text} {label}"


def append(texts: Texts, turn: int, text: str, label: str | None = None) -> None:
    """Add to what a turn has already, behind a label or a blank; an empty turn just takes the text."""
    before = texts.get(turn)
    between = f" {label} " if label else " "
    texts[turn] = f"{before}{between}{text}" if before else text


def suffix(texts: Texts, turn: int, label: str) -> None:
    """Put a label behind what a turn has, if the turn is known."""
    if turn in texts:
        texts[turn] = suffixed(texts[turn] or "", label)


def without_labels(text: str) -> str:
    """Return the text as it was before labels were written into it."""
    for label in LABELS:
        text = text.replace(label, "")
    return text


@dataclass(slots=True)
class LoggedEntry:
    """Represent a message, a tool's call or its response, in the turn that it belongs to.

    `timestamp` is milliseconds since the epoch, `None` if the entry was made up from a turn's text. A message that
    `needs_check` may not have been spoken; a `nudge` stays whether it was or not.
    """

    type: EntryType
    turn_id: int
    timestamp: int | None = None
    role: str | None = None
    content: str | None = None
    tool_name: Any = None
    parameters: Any = None
    tool_response: Any = None
    needs_check: bool = False
    nudge: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Return the entry with the keys that EVA gives to its kind."""
        found: dict[str, Any]
        if self.type == "tool_call":
            found = {"tool_name": self.tool_name, "parameters": self.parameters}
        elif self.type == "tool_response":
            found = {"tool_name": self.tool_name, "tool_response": self.tool_response}
        else:
            found = {"role": self.role, "content": self.content}
        if self.timestamp is not None:
            found["timestamp"] = self.timestamp
        return {**found, "type": self.type, "turn_id": self.turn_id}

    @classmethod
    def from_dict(cls, entry: Mapping[str, Any]) -> LoggedEntry:
        """Return the entry that `to_dict` wrote; keys that are unknown are ignored."""
        known = ("type", "turn_id", "timestamp", "role", "content", "tool_name", "parameters", "tool_response")
        return cls(**{key: entry[key] for key in known if key in entry})


@dataclass(frozen=True, slots=True)
class Tools:
    """Describe calls of tools in order: names as called with repeats, what each was given, what each answered."""

    called: list[str]
    params: list[dict[str, Any]]
    responses: list[dict[str, Any]]


def annotate(trace: list[LoggedEntry], turn: int, role: str, type: EntryType, label: str) -> None:
    """Put a label behind the latest message of that role and type, if the turn is the trace's last and has one."""
    for entry in reversed(trace):
        if entry.turn_id != turn:
            return
        if entry.role == role and entry.type == type:
            entry.content = suffixed(entry.content or "", label)
            return


def tools_of(trace: Iterable[LoggedEntry]) -> Tools:
    """Return the tools that a trace has seen (R7.5)."""
    calls = [entry for entry in trace if entry.tool_name and entry.parameters is not None]
    answers = [entry for entry in trace if entry.tool_response is not None]
    return Tools(
        called=[str(entry.tool_name).lower() for entry in calls],
        params=[{"tool_name": entry.tool_name, "tool_parameters": entry.parameters} for entry in calls],
        responses=[{"tool_name": entry.tool_name, "tool_response": entry.tool_response} for entry in answers],
    )


def grouped(trace: Iterable[LoggedEntry]) -> list[LoggedEntry]:
    """Join neighbours that one side said in one turn to one message; a tool between them keeps them apart (R7.3)."""
    found: list[LoggedEntry] = []
    for entry in trace:
        last = found[-1] if found else None
        if last is None or entry.role is None or (last.role, last.turn_id) != (entry.role, entry.turn_id):
            found.append(replace(entry))
        else:
            last.content = " ".join(text for text in (last.content, entry.content) if text)
    return found


def label_interruptions(trace: list[LoggedEntry], by_assistant: Iterable[int], by_user: Iterable[int]) -> None:
    """Label the first message of a turn that began by interrupting (R7.4)."""
    for turn in by_assistant:
        first = next((entry for entry in trace if entry.role == "assistant" and entry.turn_id == turn), None)
        if first is not None and not (first.content or "").startswith(ASSISTANT_INTERRUPTS):
            first.content = prefixed(ASSISTANT_INTERRUPTS, first.content or "")
    for turn in by_user:
        said = [entry for entry in trace if entry.role == "user" and entry.turn_id == turn]
        if said and not any((entry.content or "").startswith(USER_INTERRUPTS) for entry in said):
            said[0].content = prefixed(USER_INTERRUPTS, said[0].content or "")
