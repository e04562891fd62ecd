"""Hold calls with all their scores, column by column, since there are many of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from riff_store.answers.edits import LastEdit


class ScoredCall(NamedTuple):
    """Describe a call that has so many scores; `started_at` is microseconds since the epoch.

    `edit` is the flow's last that the run contains.
    """

    run: str
    commit: str | None
    started_at: int | None
    conversation: str
    flow: str
    agent: str
    persona: str | None
    trial: int
    errored: bool
    edit: LastEdit | None
    scores: int


class Scores(NamedTuple):
    """Hold scores by column, each for an aspect by a judge or `(computed)`; `value` is None where it was not measured.

    `judge` says as much of model and prompt as tells it apart from others, `judge_name` what it calls itself. `model`,
    `prompt_hash`, `prompt_version` and `judged_at` (microseconds since the epoch) are of the verdict that counts.
    """

    aspect: Sequence[str]
    judge: Sequence[str]
    judge_name: Sequence[str]
    value: Sequence[float | None]
    judged_at: Sequence[int | None]
    model: Sequence[str | None]
    prompt_hash: Sequence[str | None]
    prompt_version: Sequence[str | None]


class ScorePage(NamedTuple):
    """Hold some calls, and the scores of the first one, then those of the next."""

    calls: Sequence[ScoredCall]
    scores: Scores
