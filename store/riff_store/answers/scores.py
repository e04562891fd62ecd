"""One score of one call, with everything that tells it from any other."""

from __future__ import annotations

from typing import NamedTuple

from riff_store.answers.edits import Edit


class Score(NamedTuple):
    """What a judge, or `(computed)`, gave a call for an aspect; `value` is None where it could not be measured.

    Times are microseconds since the epoch: `started_at` of the call, `judged_at` of the verdict that counts.
    A judge in several versions of its prompt is named by the start of the prompt's hash as well. `model`,
    `prompt_hash` and `prompt_version` are of that verdict. `edit` is the flow's last before the run.
    """

    run: str
    commit: str | None
    started_at: int | None
    conversation: str
    flow: str
    agent: str
    persona: str | None
    errored: bool
    aspect: str
    judge: str
    value: float | None
    judged_at: int | None
    model: str | None
    prompt_hash: str | None
    prompt_version: str | None
    edit: Edit | None
