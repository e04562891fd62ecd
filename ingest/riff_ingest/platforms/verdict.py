"""Hold what a platform's own judge said of a call."""

from __future__ import annotations

from typing import Any, NamedTuple

from riff_ingest.conversation import Conversation
from riff_ingest.platforms.start import LATEST
from riff_ingest.private_values import PrivateValues
from riff_ingest.sources.json_parts import number_of
from riff_store.facts import JudgedScore

LONGEST_RATIONALE = 1000


class PlatformVerdict(NamedTuple):
    """Hold one verdict: a score from 0 to 10, `None` where there is none, and why."""

    aspect: str
    score: float | None
    rationale: str | None = None

    def of(self, judge: str, call: Conversation, judged_at: int | None) -> JudgedScore:
        """Return the verdict as a judge's on a call; `judged_at` in microseconds since the epoch."""
        return JudgedScore(
            run=call.run_id or "",
            conversation=call.conversation_id,
            judge=judge,
            score=self.score,
            judged_at=judged_at,
            aspect=self.aspect,
            rationale=self.rationale,
            flow=call.flow,
            agent=call.agent_model,
            trial=call.trial,
        )


def judged_at(*times: Any) -> int | None:
    """Return the first of some times that is one, in milliseconds since the epoch, as microseconds."""
    known = (number_of(each, lowest=1, highest=LATEST) for each in times)
    milliseconds = next((each for each in known if each is not None), None)
    return None if milliseconds is None else int(milliseconds * 1000)


def yes_or_no(value: Any) -> float | None:
    """Return the score of what is true or false, `None` for anything else."""
    return (10.0 if value else 0.0) if isinstance(value, bool) else None


def short(said: str | None, private: PrivateValues) -> str | None:
    """Return a reason as it may be stored, cut where it is long."""
    if said is None:
        return None
    said = private.text(said.strip())
    return said if len(said) <= LONGEST_RATIONALE else f"{said[: LONGEST_RATIONALE - 1]}…"
