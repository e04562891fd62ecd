"""Judge many calls at once, and end a run in every way that it can end."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from riff_ingest.judging.protocol import Refused, Usage
from riff_ingest.judging.retry import CallToJudge, JudgingOutcome, Retry, RunStopped
from riff_ingest.stop_signals import TERMINATED_SECONDS, stop_signals

MOST_IN_A_ROW = 25
"""Calls in a row that got no answer before the judge counts as out of reach."""

REPORT_SECONDS = 0.25


@dataclass(slots=True)
class RunProgress:
    """Count how far a run is."""

    total: int
    done: int = 0
    scored: int = 0
    under_way: int = 0
    spent: Usage = field(default_factory=Usage)


Keep = Callable[[CallToJudge, JudgingOutcome], None]
Report = Callable[[RunProgress], None]


class Runner:
    """Judge calls, `at_once` of them at any time; each outcome is kept as soon as it is there."""

    def __init__(
        self,
        retry: Retry,
        keep: Keep,
        progress: RunProgress,
        *,
        report: Report | None = None,
        stopped: Report | None = None,
    ) -> None:
        self._retry = retry
        self._keep = keep
        self._progress = progress
        self._report = report
        self._stopped = stopped
        self._silent = 0
        self._workers: list[asyncio.Task[None]] = []
        self.error: Exception | None = None
        self.signal: int | None = None

    def run(self, calls: Iterator[CallToJudge], at_once: int) -> None:
        """Ask about all calls.

        A first Ctrl-C lets the answers come in that are on their way, a second one drops them. Afterwards
        `error` holds what ended the run early, `signal` the signal that did.
        """
        with asyncio.Runner() as runner:
            runner.run(self._all(calls, at_once))

    async def _all(self, calls: Iterator[CallToJudge], at_once: int) -> None:
        with stop_signals(self._on_signal):
            ticker = asyncio.create_task(self._tick())
            self._workers = [asyncio.create_task(self._work(calls)) for _ in range(at_once)]
            await asyncio.gather(*self._workers, return_exceptions=True)
            ticker.cancel()
            await self._retry.judge.close()

    async def _work(self, calls: Iterator[CallToJudge]) -> None:
        try:
            for call in calls:
                if self._retry.stopping.is_set():
                    return
                await self._one(call)
        except RunStopped:
            return
        except Exception as error:  # whatever ends one worker ends the run, and is raised when the others are done
            self._end(error)

    async def _one(self, call: CallToJudge) -> None:
        self._progress.under_way += 1
        try:
            outcome = await self._retry.outcome(call)
        finally:
            self._progress.under_way -= 1
        self._keep(call, outcome)
        self._progress.done += 1
        self._progress.spent = self._retry.spent
        self._progress.scored += outcome.verdict is not None
        self._silent = 0 if outcome.answered else self._silent + 1
        if self._silent >= MOST_IN_A_ROW:
            self._end(Refused(f"{self._silent} calls in a row got no answer (the last: {outcome.unscored})"))

    def _end(self, error: Exception) -> None:
        self.error = self.error or error
        self._retry.stopping.set()

    def _on_signal(self, number: int) -> None:
        if self.signal is not None:
            self._drop()
            return
        self.signal = number
        self._retry.stopping.set()
        if number != signal.SIGINT:
            asyncio.get_running_loop().call_later(TERMINATED_SECONDS, self._drop)
        if self._stopped is not None:
            self._stopped(self._progress)

    def _drop(self) -> None:
        for worker in self._workers:
            worker.cancel()

    async def _tick(self) -> None:
        while self._report is not None:
            self._report(self._progress)
            await asyncio.sleep(REPORT_SECONDS)
