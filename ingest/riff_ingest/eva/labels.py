"""The labels that EVA writes into texts, and how a text takes one."""

from __future__ import annotations

from typing import TypeAlias

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


def prefixed(label: str, text: str) -> str:
    """The text with a label in front."""
    return f"{label} {text}"


def suffixed(text: str, label: str) -> str:
    """The text with a label behind it."""
    return f"{text} {label}"


def append(texts: Texts, turn: int, text: str, label: str | None = None) -> None:
    """Add to what a turn holds already, behind a label or a blank; an empty turn just takes the text."""
    before = texts.get(turn)
    between = f" {label} " if label else " "
    texts[turn] = f"{before}{between}{text}" if before else text


def suffix(texts: Texts, turn: int, label: str) -> None:
    """Put a label behind what a turn holds, if the turn is known."""
    if turn in texts:
        texts[turn] = suffixed(texts[turn] or "", label)


def without_labels(text: str) -> str:
    """The text as it was before labels were written into it."""
    for label in LABELS:
        text = text.replace(label, "")
    return text
