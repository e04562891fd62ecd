"""Run judging from start to end: plan what is left to ask, ask it, and sum up."""

from __future__ import annotations

import asyncio
import signal
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from riff_runner.judge.conversations import FoundConversations, decided, read_conversations, spread
from riff_runner.judge.evidence import evidence_of
from riff_runner.judge.ledger import Ledger
from riff_runner.judge.protocol import ConversationName, Refused, Signature, Usage
from riff_runner.judge.retry import CallToJudge, JudgingOutcome, Retry, RunStopped
from riff_runner.judge.settings import JudgeSettings
from riff_runner.processes.child_process import TERMINATED_SECONDS, stop_signals

MOST_IN_A_ROW = 25
"""Calls in a row that got no answer before the judge counts as out of reach."""

REPORT_SECONDS = 0.25
WAITING = 4
"""Calls that are held for each that is asked about at once, so that others are while some wait to be asked again."""


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

        A first Ctrl-C lets the answers come in that are on their way, a second one drops them. Afterwards `error` has
        what ended the run early, `signal` the signal that did.
        """
        with asyncio.Runner() as runner:
            runner.run(self._all(calls, at_once))

    async def _all(self, calls: Iterator[CallToJudge], at_once: int) -> None:
        with stop_signals(self._on_signal):
            ticker = asyncio.create_task(self._tick())
            self._retry.turns = asyncio.Semaphore(at_once)
            self._workers = [asyncio.create_task(self._work(calls)) for _ in range(at_once * WAITING)]
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
        outcome = await self._retry.outcome(call)
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
            self._progress.under_way = self._retry.asking
            self._stopped(self._progress)

    def _drop(self) -> None:
        for worker in self._workers:
            worker.cancel()

    async def _tick(self) -> None:
        while self._report is not None:
            self._progress.under_way = self._retry.asking
            self._report(self._progress)
            await asyncio.sleep(REPORT_SECONDS)


CHARACTERS_PER_TOKEN = 4


@dataclass(slots=True)
class JudgingPlan:
    """Describe which calls to ask about, and how many need not be asked."""

    due: list[ConversationName] = field(default_factory=list)
    scored_before: int = 0
    unscored_before: int = 0
    unrecorded: int = 0
    beyond_limit: int = 0


@dataclass(slots=True)
class RunEnd:
    """Describe what came of a run: reasons with their counts for what stayed unscored, and what ended it early."""

    progress: RunProgress
    unscored: Counter[str]
    signal: int | None = None
    error: Exception | None = None


@dataclass(frozen=True, slots=True)
class Session:
    """Judge what was found with one judge, its verdicts kept in a ledger.

    `judged_at` is the time that verdicts carry, `None` for that of the answer.
    """

    config: JudgeSettings
    found: FoundConversations
    ledger: Ledger
    judged_at: str | None = None

    def runs(self) -> set[str]:
        """Return the runs of the calls that can be judged."""
        return {name.run for name in self.found.places}

    def plan(self, *, limit: int | None = None, retry_unscored: bool = False) -> JudgingPlan:
        """Return what is left to ask, at most `limit` calls.

        What has a score under the same signature is not asked again.
        """
        known = self.ledger.known(self.runs())
        scored, unscored = (decided(said, self.found.places) for said in (known.scored, known.unscored))
        self.config.expect(self.found.places)
        plan = JudgingPlan()
        for name in self.found.places:
            signature = self.config.sign(name)
            if signature is None:
                plan.unrecorded += 1
            elif (name, signature) in scored:
                plan.scored_before += 1
            elif not retry_unscored and (name, signature) in unscored:
                plan.unscored_before += 1
            else:
                plan.due.append(name)
        chosen = spread(plan.due, limit)
        plan.beyond_limit = len(plan.due) - len(chosen)
        plan.due = chosen
        return plan

    def estimate(self, plan: JudgingPlan) -> int:
        """Estimate the tokens of the prompts of a plan, by their length."""
        rubric = self.config.rubric
        return sum(
            about_tokens(evidence_of(call.turns).prompt(rubric).as_one())
            for call in read_conversations(self.found, plan.due)
        )

    def run(
        self,
        plan: JudgingPlan,
        environ: Mapping[str, str],
        *,
        at_once: int | None = None,
        report: Report | None = None,
        stopped: Report | None = None,
    ) -> RunEnd:
        """Ask, and keep each outcome as it comes; the ledger has to have locked the files of `runs`.

        Raises `Misconfigured`.
        """
        retry = Retry(self.config.judge(environ), self.config.rubric, self.config.retry_policy)
        progress = RunProgress(len(plan.due))
        ended = RunEnd(progress, Counter())

        def keep(call: CallToJudge, outcome: JudgingOutcome) -> None:
            self.ledger.keep(call.name.run, self._line(call, outcome))
            if outcome.unscored is not None:
                ended.unscored[outcome.unscored] += 1

        runner = Runner(retry, keep, progress, report=report, stopped=stopped)
        runner.run(read_conversations(self.found, plan.due), at_once or self.config.at_once)
        progress.spent = retry.spent
        ended.signal, ended.error = runner.signal, runner.error
        return ended

    def _line(self, call: CallToJudge, outcome: JudgingOutcome) -> dict[str, Any]:
        """Return a line of a humanness file (docs/formats/humanness.md)."""
        signature = self.config.sign(call.name) or Signature(None, None)
        verdict = outcome.verdict
        line: dict[str, Any] = {
            "run_id": call.name.run,
            "conversation_id": call.name.conversation,
            "flow": call.name.flow,
            "agent_model": call.name.agent,
            "trial": call.name.trial,
            "judge": self.config.name,
            "score": verdict.score if verdict else None,
            "judged_at": self.judged_at
            or outcome.judged_at
            or datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z"),
            "rationale": verdict.reason if verdict else f"Unscored: {outcome.unscored}",
            "prompt_hash": signature.prompt_hash,
            "model": signature.model,
        }
        if signature.prompt_hash == self.config.rubric.prompt_hash:
            line["prompt_version"] = self.config.rubric.version
        if verdict:
            line["evidence"] = list(verdict.evidence)
        else:
            line["unscored"] = outcome.unscored
        if outcome.is_cut:
            line["evidence_cut"] = True
        return line


def about_tokens(text: str) -> int:
    """Estimate tokens: four letters of ASCII make one, and so does each other character."""
    others = sum(not character.isascii() for character in text)
    return others + (len(text) - others) // CHARACTERS_PER_TOKEN
