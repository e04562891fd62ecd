"""Read what evaluations of voice agents leave behind, and score it.

The names below are what scripts may rely on; each is loaded when it is first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from riff_ingest.conversation import (
        Contract,
        Conversation,
        ExpectedAnswer,
        ReferenceStep,
        StateContract,
        ToolCall,
        Turn,
    )
    from riff_ingest.driver import Driver
    from riff_ingest.events import Event, EventBus, GuardEvaluated, SlotFilled, StateEntered, StateExited, TurnComplete
    from riff_ingest.flow_aspects import compute_flow_aspects
    from riff_ingest.library import SourceReader, StoredConversations, read_source, store_conversations
    from riff_ingest.lines import BrokenInput
    from riff_ingest.source import DirectoryInput, FileHead, ReadContext, Source
    from riff_ingest.state_aspects import compute_state_aspects
    from riff_ingest.transcript_writer import write_transcripts
    from riff_store.facts import JudgedScore, Skipped

__all__ = [
    "BrokenInput",
    "Contract",
    "Conversation",
    "DirectoryInput",
    "Driver",
    "Event",
    "EventBus",
    "ExpectedAnswer",
    "FileHead",
    "GuardEvaluated",
    "JudgedScore",
    "ReadContext",
    "ReferenceStep",
    "Skipped",
    "SlotFilled",
    "Source",
    "SourceReader",
    "StateContract",
    "StateEntered",
    "StateExited",
    "StoredConversations",
    "ToolCall",
    "Turn",
    "TurnComplete",
    "compute_flow_aspects",
    "compute_state_aspects",
    "read_source",
    "store_conversations",
    "write_transcripts",
]

_HOMES = {
    "conversation": (
        "Contract",
        "Conversation",
        "ExpectedAnswer",
        "ReferenceStep",
        "StateContract",
        "ToolCall",
        "Turn",
    ),
    "driver": ("Driver",),
    "events": ("Event", "EventBus", "GuardEvaluated", "SlotFilled", "StateEntered", "StateExited", "TurnComplete"),
    "flow_aspects": ("compute_flow_aspects",),
    "library": ("SourceReader", "StoredConversations", "read_source", "store_conversations"),
    "lines": ("BrokenInput",),
    "source": ("DirectoryInput", "FileHead", "ReadContext", "Source"),
    "state_aspects": ("compute_state_aspects",),
    "transcript_writer": ("write_transcripts",),
}
_HOME_OF = {name: f"{__name__}.{home}" for home, names in _HOMES.items() for name in names}
_HOME_OF |= dict.fromkeys(("JudgedScore", "Skipped"), "riff_store.facts")


def __getattr__(name: str) -> Any:
    """Load a public name from the module that is its home."""
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(_HOME_OF[name]), name)
