"""A call as evidence for a judge: numbered turns as JSON, of bounded length, between marks that nobody can forge."""

from __future__ import annotations

import json
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from riff_ingest.conversation import Turn
from riff_ingest.judging.rubric import Prompt, Rubric
from riff_ingest.judging.visible_text import visible, without_brackets

LONGEST_TURN = 4_000
LONGEST_BLOCK = 120_000
_SPEAKERS = ("agent", "caller")


@dataclass(frozen=True, slots=True)
class Evidence:
    """The JSON array that a judge sees, the numbers of the turns in it, and whether anything was left out."""

    document: str
    turns: frozenset[int]
    is_cut: bool

    def prompt(self, rubric: Rubric) -> Prompt:
        """The prompt with this evidence, under a code that nobody has seen before."""
        code = secrets.token_hex(16)
        while code in self.document:
            code = secrets.token_hex(16)
        return rubric.prompt(self.document, code)


def can_be_judged(turns: Sequence[Turn]) -> bool:
    """Whether the agent said anything."""
    return any(turn.role == "agent" and turn.text.strip() for turn in turns)


def evidence_of(turns: Sequence[Turn]) -> Evidence:
    """What a judge is shown of a call: turns are numbered from 1 as in the transcript, silent ones left out.

    Of a turn at most `LONGEST_TURN` characters are shown, and of a call that is longer than
    `LONGEST_BLOCK` its beginning and its end; what is not shown is said.
    """
    numbered = [(number, turn) for number, turn in enumerate(turns, start=1) if turn.text.strip()]
    lines = [_line(_shown(number, turn)) for number, turn in numbered]
    first, last = _fitting([len(line) for line in lines])
    shown = frozenset(number for place, (number, _) in enumerate(numbered) if place < first or place >= last)
    if first < last:
        gap = {"turns_left_out": {"from": numbered[first][0], "to": numbered[last - 1][0]}}
        lines[first:last] = [_line(gap)]
    is_cut = first < last or any(len(turn.text) > LONGEST_TURN for _, turn in numbered)
    return Evidence("[\n" + ",\n".join(lines) + "\n]", shown, is_cut)


def _shown(number: int, turn: Turn) -> dict[str, Any]:
    speaker = turn.role if turn.role in _SPEAKERS else "other"
    shown = {"turn": number, "speaker": speaker, "text": visible(turn.text[:LONGEST_TURN])}
    if len(turn.text) > LONGEST_TURN:
        shown["characters_left_out"] = len(turn.text) - LONGEST_TURN
    return shown


def _line(element: dict[str, Any]) -> str:
    return without_brackets(json.dumps(element, ensure_ascii=False))


def _fitting(sizes: Sequence[int]) -> tuple[int, int]:
    """The places from which and up to which turns are left out, so that both ends get half of the room."""
    if sum(sizes) <= LONGEST_BLOCK:
        return len(sizes), len(sizes)
    first, room = 0, LONGEST_BLOCK // 2
    while sizes[first] <= room:
        room -= sizes[first]
        first += 1
    last, room = len(sizes), LONGEST_BLOCK // 2
    while sizes[last - 1] <= room:
        room -= sizes[last - 1]
        last -= 1
    return first, last
