"""Count what came of the calls of a run, from what is added to its transcripts."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TypeAlias

from riff_ingest.runner.finished_calls import LONGEST_LINE, CallPlace, FinishedCall, finished_call
from riff_ingest.runner.line_tail import LineTail
from riff_ingest.runner.run_status import CallCounts, TokenCounts

MOST_FILES = 1000
CallKey: TypeAlias = tuple[str, str]
"""The flow and the conversation id of a call."""


class TranscriptTally:
    """Count the calls that are over; of several lines of a call the last one counts.

    Calls of another agent or caller than the run has by now are those of earlier ones, and not counted.
    """

    def __init__(self, directory: Path, agent: str, caller: str) -> None:
        self.finished: dict[CallKey, FinishedCall] = {}
        self.flows: dict[str, CallCounts] = {}
        self.behind = False
        """Whether there was more to read than one look takes."""
        self.agent, self.caller = agent, caller
        self._directory = directory
        self._tails: dict[Path, LineTail] = {}
        self._tokens: dict[str, tuple[int, int]] = {}

    @property
    def paths(self) -> list[Path]:
        """Return the files that were read."""
        return list(self._tails)

    def tokens(self, side: str, model: str) -> TokenCounts | None:
        """Return the tokens of the `agent` or the `caller`, `None` where no endpoint told of any."""
        return TokenCounts(model, *self._tokens[side]) if side in self._tokens else None

    def read(self) -> None:
        """Count what was added since the last look."""
        self.behind = False
        for path in self._transcripts():
            tail = self._tails.setdefault(path, LineTail(path, LONGEST_LINE))
            for place, line in _new_lines(tail):
                if place is None:
                    self._forget(path)
                elif (call := finished_call(line, place)) is not None and self._is_of_plan(call):
                    self._take(call)
            self.behind = self.behind or tail.behind

    def _transcripts(self) -> list[Path]:
        try:
            with os.scandir(self._directory) as entries:
                names = [each.name for each in entries if _is_transcript(each.name)]
        except OSError:
            return []
        return [self._directory / name for name in sorted(names)[:MOST_FILES]]

    def _is_of_plan(self, call: FinishedCall) -> bool:
        return call.agent in (None, self.agent) and call.caller in (None, self.caller)

    def _take(self, call: FinishedCall) -> None:
        before = self.finished.get(call.key)
        if before is not None:
            self._count(before, -1)
        self.finished[call.key] = call
        self._count(call, 1)

    def _forget(self, path: Path) -> None:
        for call in [each for each in self.finished.values() if each.place.path == path]:
            self._count(self.finished.pop(call.key), -1)

    def _count(self, call: FinishedCall, times: int) -> None:
        self.flows[call.flow] = self.flows.get(call.flow, CallCounts()).plus(counted(call), times)
        for side, tokens in (("agent", call.agent_tokens), ("caller", call.caller_tokens)):
            if tokens is not None:
                read, written = self._tokens.get(side, (0, 0))
                self._tokens[side] = (read + times * tokens[0], written + times * tokens[1])


def counted(call: FinishedCall) -> CallCounts:
    """Return the counts of one call."""
    return CallCounts(
        done=1,
        completed=int(call.completed is True and not call.errored),
        errored=int(call.errored),
        caller_failed=int(call.caller_failed),
        retried=int(call.retried),
    )


def _new_lines(tail: LineTail) -> Iterator[tuple[CallPlace | None, bytes]]:
    """Yield the new lines with their places, first `None` where the file begins anew."""
    told = False
    for start, line in tail.lines():
        if tail.restarted and not told:
            told = True
            yield None, b""
        yield CallPlace(tail.path, start), line
    if tail.restarted and not told:
        yield None, b""


def _is_transcript(name: str) -> bool:
    return name.startswith("flow-transcripts-") and name.endswith(".jsonl")
