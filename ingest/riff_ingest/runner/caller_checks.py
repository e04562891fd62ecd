"""Hold a caller to its part: it speaks, as a caller, it does not repeat itself, and it says what its case says."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from riff_ingest.runner.callers.facts_given import FactsGiven
from riff_ingest.runner.cases.case import CallCase
from riff_ingest.runner.protocol import CallerFailed, CallerSession, CallerTurn, CallView, StopReason

SAME_LINES = 3
"""Lines of a caller in a row that are the same before it counts as repeating itself."""
_AGENTS_WORDS = re.compile(
    r"^[\s*_>\[(]*(?:agent|assistant|ai|bot|system|representative|receptionist|operator)[\s*_\])]*:"
    r"|(?:^|[.!?,;]\s*)as an? (?:ai|language model)\b"
    r"|\bi(?:'m| am) (?:just |only )?an? (?:ai|language model|virtual assistant)\b"
    r"|\bhow (?:can|may) i (?:help|assist) you\b",
    re.IGNORECASE | re.MULTILINE,
)


class CheckedCaller:
    """Ask a caller, once more where what it says makes no sense, and remember whether it kept to its part."""

    def __init__(self, session: CallerSession, case: CallCase) -> None:
        self._session = session
        self._facts = FactsGiven(case)
        self._lines: list[str] = []
        self._broke: str | None = None
        self._is_recorded = False
        self.opinion: dict[str, Any] = {}
        """What the caller itself says of how the call went, once it hung up; no score."""

    async def say(self, heard: str, view: CallView) -> CallerTurn:
        """Return what the caller says; raises `CallerFailed` where it makes no sense a second time."""
        turn = await self._session.say(heard, view)
        if self._fault(turn):
            turn = await self._session.say(heard, replace(view, again=True))
            if fault := self._fault(turn):
                raise CallerFailed(fault)
        self._take(heard, turn)
        return turn

    async def end(self, reason: StopReason) -> None:
        """Take note that the call is over."""
        await self._session.end(reason)

    def broke(self, collected: Mapping[str, Any]) -> str | None:
        """Return in what the caller did not keep to its part, `None` where it did.

        `collected` is what the agent took down at the end.
        """
        if self._is_recorded:
            return None
        return self._broke or self._facts.belies(collected)

    def _take(self, heard: str, turn: CallerTurn) -> None:
        self._lines.append(turn.text)
        self._is_recorded = turn.recorded
        self._facts.hears(heard)
        self._broke = self._broke or self._facts.says(turn.text)
        if turn.ends:
            told = {"success": turn.success, "reason": turn.reason}
            self.opinion = {name: value for name, value in told.items() if value is not None}

    def _fault(self, turn: CallerTurn) -> str | None:
        if turn.recorded:
            return None
        if _AGENTS_WORDS.search(turn.text.replace("\u2019", "'")):
            return "speaks as the agent"
        if turn.ends:
            return None
        if not turn.text.strip():
            return "says nothing"
        last = self._lines[1 - SAME_LINES :]
        if len(last) == SAME_LINES - 1 and all(line == turn.text for line in last):
            return "repeats itself"
        return None
