"""Measure how a caller bears an agent that does not move on."""

from __future__ import annotations

from collections.abc import Sequence

from riff_ingest.runner.callers.utterance import Utterance
from riff_ingest.runner.protocol import CallView

IDLE_TURNS = 12
"""Turns without anything new, whatever is said in them, after which a caller ends the call."""
_SAME = 2
_OTHER = 1


class Mood:
    """Weigh every turn in which nothing moves: one in which the agent asks for the same again weighs double."""

    def __init__(self, patience: int) -> None:
        self.silences = 0
        self.idle = 0
        self._patience = patience
        self._weight = 0
        self._heard: set[str] = set()
        self._asked: Sequence[str] = ()
        self._mark: tuple[int, int] | None = None

    @property
    def annoyance(self) -> int:
        """Return how often the agent has asked for the same again without coming any further."""
        return self._weight // _SAME

    @property
    def is_at_last_try(self) -> bool:
        """Tell whether the next turn that leads nowhere is the last one."""
        return self.annoyance == self._patience - 1

    @property
    def is_over(self) -> bool:
        """Tell whether the caller has had enough."""
        return max(self.annoyance, self.silences - 1) >= self._patience or self.idle >= IDLE_TURNS

    def hears_nothing(self) -> None:
        """Take in that the agent is silent."""
        self.silences += 1

    def hears(self, heard: Utterance, view: CallView, *, told_news: bool, asked_again: Sequence[str]) -> None:
        """Take in what the agent said to a line in which the caller told something new, or did not.

        `asked_again` are the slots that the agent wants to hear though all of them were told.
        """
        self.silences = 0
        mark = (view.entered, len(view.collected))
        moved = self._mark is not None and mark != self._mark
        same = heard.words in self._heard or (bool(asked_again) and asked_again == self._asked)
        self._mark, self._asked = mark, asked_again
        self._heard.add(heard.words)
        self.idle = 0 if moved or told_news else self.idle + 1
        if moved or (told_news and not same):
            self._weight = 0
        elif same and not told_news:
            self._weight += _SAME
        elif asked_again:
            self._weight += _OTHER
