"""Hold the answers about the codes that people gave calls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from riff_store.answers.failing import Example
from riff_store.measure import Measure


@dataclass(frozen=True, slots=True)
class Code:
    """Describe a code: `n` calls have it from anybody, and `errored` ones that errored, which count nowhere else.

    `share` is over the calls that people failed, of which `failed_calls` have it. `states`, `agents`, `flows` and
    `authors` count calls by name, the most first; without a state the code is of the whole call. `first_at` and
    `last_at` say when it was given, in microseconds since the epoch.
    """

    code: str
    n: int
    errored: int
    failed_calls: int
    share: Measure
    states: Mapping[str | None, int]
    agents: Mapping[str | None, int]
    flows: Mapping[str | None, int]
    authors: Mapping[str | None, int]
    first_at: int | None
    last_at: int | None
    example: Example


@dataclass(frozen=True, slots=True)
class Codes:
    """Hold the codes, those of the most calls first, and the calls that people read: those with any note.

    Of these people failed `failed`, `uncoded` of them without saying by a code why; `errored` ones with a code are in
    neither. No code is new in the last `since_new` calls.
    """

    codes: Sequence[Code]
    read: int
    failed: int
    uncoded: int
    errored: int
    since_new: int
