"""A catalog in which every conversation is a voice call, and one among them is written."""

from __future__ import annotations

from collections.abc import Mapping

from tests.support.fake_catalog import FakeCatalog
from tests.support.hostile import HOSTILE
from tests.support.view_answers import detail
from tests.support.voice_answers import VOICE, document
from tests.surface.explorer import START, Location, Stack
from tests.surface.store import Mark, Span, Task, TraceEntry, Voice, VoiceTurn
from tests.surface.tui import Request, Table, conversation

HOSTILE_VOICE = Voice(
    caller=[Span(turn, turn * 3.0, turn * 3.0 + 2) for turn in range(len(HOSTILE))],
    agent=[Span(turn, turn * 3.0 + 1, turn * 3.0 + 3) for turn in range(len(HOSTILE))],
    turns=[
        VoiceTurn(turn, text, f"{text} x", f"{text} y", text, 4.0, True, True, True, 0.1, text, {text: text})
        for turn, text in enumerate(HOSTILE.values())
    ],
    trace=[
        entry
        for turn, text in enumerate(HOSTILE.values())
        for entry in (
            TraceEntry("transcribed", turn, None, "user", f"{text} x"),
            TraceEntry("tool_call", turn, turn * 3.0, tool=text, value={text: text}),
            TraceEntry("tool_response", turn, turn * 3.0, tool=text, value=text),
            TraceEntry("intended", turn, None, "assistant", text),
        )
    ],
    marks=[
        Mark(kind, turn * 3.0, turn * 3.0 + 1, "caller", turn, lone=lone, correct=False, text=text)
        for turn, text in enumerate(HOSTILE.values())
        for kind, lone in (("vocal_tic", True), ("burst_noise", False), (text, False))
    ],
    conditions=list(HOSTILE.values()),
    task=Task(False, "x", "y", {"tables_modified": {text: {text: text} for text in HOSTILE.values()}}),
)
IN_LIST: Stack = (*START, Location("conversations"))
WRITTEN = "c-0003"


class Voices(FakeCatalog):
    """Answers as the catalog does."""

    def __init__(self, voice: Voice = VOICE) -> None:
        super().__init__()
        self.voice = voice

    def show(self, view: str, request: Request) -> Table:
        """A voice call where a conversation is asked for, else what any catalog has."""
        if view != "conversation":
            return super().show(view, request)
        self.asked.append((view, request))
        kept: Mapping[str, object] | None = document(self.voice)
        if WRITTEN in request.where:
            kept = {"turns": [{"role": "agent", "text": "Hello.", "t": 0.0}]}
        return conversation(detail(kept))._replace(dump="riff-tui dump conversation", filter=request.where)
