"""Count what came of the calls of a run, from what is added to its transcripts."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TypeAlias

from riff_ingest.runner.files.finished_calls import LONGEST_LINE, CallPlace, FinishedCall, finished_call
from riff_ingest.runner.files.run_files import transcripts
from riff_ingest.runner.prices import SpentTokens
from riff_ingest.runner.run_tally import TokenSide, TokenTally, count_reason, reason_of
from riff_ingest.runner.status.line_tail import LineTail
from riff_ingest.runner.status.run_status import CallCounts

MOST_FILES = 1000
CallKey: TypeAlias = tuple[str, str]
"""The flow and the conversation id of a call."""


class TranscriptTally:
    """Count the calls that are over; of several lines of a call the last one counts, and each for what it spent.

    Calls of another agent or caller than the run has by now are those of earlier ones, and not counted.
    """

    def __init__(self, directory: Path, agent: str, caller: str) -> None:
        self.agent, self.caller = agent, caller
        self._directory = directory
        self._begin()

    @property
    def paths(self) -> list[Path]:
        """Return the files that were read."""
        return list(self._tails)

    def spent(self, side: TokenSide, model: str) -> SpentTokens | None:
        """Return the tokens of the `agent` or the `caller`, `None` where no model was asked."""
        tokens = self._tokens.get(side)
        return None if tokens is None else SpentTokens(model, tokens.input, tokens.output)

    def read(self) -> None:
        """Count what was added since the last look, or everything where files are not what they were."""
        if not self._read_new():
            self._begin()
            self._read_new()

    def _begin(self) -> None:
        self.finished: dict[CallKey, FinishedCall] = {}
        self.flows: dict[str, CallCounts] = {}
        self.reasons: Counter[str] = Counter()
        self._tails: dict[Path, LineTail] = {}
        self._tokens: dict[TokenSide, TokenTally] = {}

    def _read_new(self) -> bool:
        """Return whether the files are those that were read before, with more at their ends."""
        try:
            paths = transcripts(self._directory)[:MOST_FILES]
        except OSError:
            paths = []
        if not set(self._tails) <= set(paths):
            return False
        for path in paths:
            tail = self._tails.setdefault(path, LineTail(path, LONGEST_LINE))
            for start, line in tail.lines():
                if tail.restarted:
                    return False
                call = finished_call(line, CallPlace(path, start))
                if call is not None and self._is_of_plan(call):
                    self._take(call)
            if tail.restarted:
                return False
        return True

    def _is_of_plan(self, call: FinishedCall) -> bool:
        return call.agent in (None, self.agent) and call.caller in (None, self.caller)

    def _take(self, call: FinishedCall) -> None:
        for side, requests in call.requests.items():
            self._tokens.setdefault(side, TokenTally()).add(requests)
        call.requests.clear()
        counts = self.flows.get(call.flow, CallCounts())
        before = self.finished.get(call.key)
        if before is not None:
            counts = counts.plus(counted(before), -1)
            if before.errored:
                count_reason(self.reasons, reason_of(before.error), -1)
        if call.errored:
            count_reason(self.reasons, reason_of(call.error))
        self.finished[call.key] = call
        self.flows[call.flow] = counts.plus(counted(call))


def counted(call: FinishedCall) -> CallCounts:
    """Return the counts of one call."""
    return CallCounts(
        done=1,
        completed=int(call.completed is True and not call.errored),
        errored=int(call.errored),
        caller_failed=int(call.caller_failed),
        retried=int(call.retried),
    )
