"""A catalog in which every conversation is a voice call, and one among them is written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from riff_store.voice import Voice
from riff_tui.catalog import Request
from riff_tui.table import Table
from riff_tui.tui.places import START, Place, Stack
from riff_tui.views.conversation import conversation
from tests.tui.tui.fake import FakeCatalog
from tests.tui.views.by_hand import detail
from tests.tui.views.voice_by_hand import VOICE, document

IN_LIST: Stack = (*START, Place("conversations"))
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
        return replace(conversation(detail(kept)), dump="riff-tui dump conversation", filter=request.where)
