"""A run asks about many calls at once, and comes to a good end whatever the judge does."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import Callable, Iterator
from functools import partial

import pytest

from tests.support.judge_endpoint import verdict
from tests.surface.ingest import Turn
from tests.surface.runner import (
    MOST_IN_A_ROW,
    Answer,
    CallToJudge,
    ConversationName,
    JudgingOutcome,
    Question,
    Refused,
    Retry,
    Rubric,
    Runner,
    RunProgress,
    Unanswered,
    Usage,
    session,
)
from tests.surface.runner import RetryRetryPolicy as RetryPolicy

Play = Callable[[str, int], float | Answer | Exception]


class Played:
    """A judge that plays: for each try at a call, an answer, an error, or how long it thinks before a good answer."""

    def __init__(self, play: Play) -> None:
        self._play = play
        self.asked: list[str] = []
        self.most_at_once = 0
        self.under_way = 0
        self.closed = False

    async def ask(self, question: Question) -> Answer:
        self.asked.append(question.name.conversation)
        played = self._play(question.name.conversation, self.asked.count(question.name.conversation))
        self.under_way += 1
        self.most_at_once = max(self.most_at_once, self.under_way)
        try:
            await asyncio.sleep(played if isinstance(played, float) else 0)
        finally:
            self.under_way -= 1
        if isinstance(played, Exception):
            raise played
        return played if isinstance(played, Answer) else Answer(verdict(), usage=Usage(10, 1))

    async def close(self) -> None:
        self.closed = True


class Run:
    """A run over so many calls, and all that came of it."""

    def __init__(
        self,
        play: Play,
        calls: int = 12,
        at_once: int = 4,
        *,
        stopped: Callable[[], None] | None = None,
        **patience: float,
    ) -> None:
        self._stopped = stopped
        self.judge = Played(play)
        given = {"timeout": 300.0, "pause": 0.01, **patience}
        self.asking = Retry(self.judge, Rubric(), RetryPolicy(tries=3, **given))
        self.kept: dict[str, JudgingOutcome] = {}
        self.progress = RunProgress(calls)
        self.stops: list[int] = []
        self.reports = 0
        self.runner = Runner(
            self.asking,
            self._keep,
            self.progress,
            report=lambda progress: self._report(),
            stopped=self._stop,
        )
        self.runner.run(_calls(calls), at_once)

    def _keep(self, call: CallToJudge, outcome: JudgingOutcome) -> None:
        self.kept[call.name.conversation] = outcome

    def _stop(self, progress: RunProgress) -> None:
        self.stops.append(progress.under_way)
        if self._stopped is not None:
            self._stopped()

    def _report(self) -> None:
        self.reports += 1


def _calls(count: int) -> Iterator[CallToJudge]:
    for number in range(count):
        yield CallToJudge(ConversationName("run-1", f"c-{number}"), [Turn("agent", "Good morning.")])


def test_every_call_is_asked_about_once_and_so_many_at_a_time() -> None:
    run = Run(lambda call, attempt: 0.01)
    assert sorted(run.judge.asked) == sorted(run.kept) == sorted(f"c-{number}" for number in range(12))
    assert run.judge.most_at_once == 4
    assert (run.progress.done, run.progress.scored, run.progress.spent) == (12, 12, Usage(120, 12))
    assert run.judge.closed
    assert run.reports
    assert run.runner.error is None
    assert run.runner.signal is None


def test_a_judge_that_stumbles_is_asked_again() -> None:
    run = Run(lambda call, attempt: 0.0 if attempt == 3 else Unanswered("HTTP 500"))
    assert all(outcome.verdict for outcome in run.kept.values())
    assert len(run.judge.asked) == 36


def test_pauses_grow_and_are_not_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    pauses: list[float] = []

    async def wait(retry: Retry, seconds: float) -> None:
        pauses.extend([seconds] if seconds > 0 else [])

    monkeypatch.setattr(Retry, "_wait", wait)
    Run(lambda call, attempt: Unanswered("HTTP 500") if attempt < 3 else 0.0, pause=0.2)
    first, second = sorted(pauses)[:12], sorted(pauses)[12:]
    assert len(set(pauses)) == len(pauses) == 24
    assert all(0.1 <= pause <= 0.2 for pause in first)
    assert all(0.2 <= pause <= 0.4 for pause in second)


def test_where_the_next_call_is_told_to_wait_as_well_all_wait() -> None:
    times: list[float] = []

    def play(call: str, attempt: int) -> float | Unanswered:
        times.append(time.monotonic())
        return Unanswered("HTTP 429", after=0.5) if len(times) <= 2 else 0.0

    run = Run(play, calls=9, at_once=1)
    assert len(run.kept) == 9
    assert times[2] - times[1] >= 0.5


def test_where_one_in_five_is_told_to_wait_the_others_are_asked_about_meanwhile() -> None:
    times: list[float] = []

    def play(call: str, attempt: int) -> float | Unanswered:
        times.append(time.monotonic())
        return Unanswered("HTTP 429", after=1.5) if len(times) % 5 == 0 else 0.01

    run = Run(play, calls=20)
    assert len(run.kept) == 20
    assert run.judge.most_at_once == 4
    assert times[19] - times[0] < 1.5


@pytest.mark.parametrize("error", [Refused("no key"), OSError(28, "No space left on device"), ZeroDivisionError()])
def test_an_error_for_all_calls_ends_the_run_and_keeps_what_is_on_its_way(error: Exception) -> None:
    run = Run(lambda call, attempt: error if call == "c-3" else 0.2)
    assert run.runner.error is error
    assert sorted(run.kept) == ["c-0", "c-1", "c-2"]
    assert run.judge.closed


def test_a_judge_that_is_out_of_reach_is_not_asked_for_ever() -> None:
    run = Run(lambda call, attempt: Unanswered("no connection to the endpoint", again=False), calls=200)
    assert isinstance(run.runner.error, Refused)
    assert "25 calls in a row got no answer (the last: no connection to the endpoint)" in str(run.runner.error)
    assert MOST_IN_A_ROW <= len(run.kept) < MOST_IN_A_ROW + 4
    assert all(outcome.unscored for outcome in run.kept.values())


def test_bad_answers_are_answers() -> None:
    run = Run(lambda call, attempt: Answer("nine"), calls=40)
    assert run.runner.error is None
    assert len(run.kept) == 40


def test_a_judge_that_now_and_then_gives_none_is_not_out_of_reach() -> None:
    run = Run(lambda call, attempt: 0.0 if call.endswith("0") else Unanswered("x", again=False), calls=100)
    assert run.runner.error is None
    assert run.progress.scored == 10


def interrupting(number: int, played: float | Exception) -> Play:
    """Send this process a signal once four calls are on their way."""
    calls: list[str] = []

    def play(call: str, attempt: int) -> float | Answer | Exception:
        calls.append(call)
        if len(calls) == 4:
            os.kill(os.getpid(), number)
        return played

    return play


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_lets_answers_come_in_that_are_on_their_way(
    number: signal.Signals, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session, "TERMINATED_SECONDS", 300.0)
    before = [signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)]
    run = Run(interrupting(number, 0.3))
    assert run.runner.signal == number
    assert sorted(run.kept) == sorted(run.judge.asked) == ["c-0", "c-1", "c-2", "c-3"]
    assert run.stops == [4]
    assert [signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)] == before


def test_a_second_ctrl_c_drops_them() -> None:
    again = partial(os.kill, os.getpid(), signal.SIGINT)
    run = Run(interrupting(signal.SIGINT, 200.0), stopped=again)
    assert run.runner.signal == signal.SIGINT
    assert not run.kept
    assert run.judge.closed


def test_ctrl_c_does_not_wait_for_pauses_and_leaves_such_calls_unasked() -> None:
    before = time.monotonic()
    run = Run(interrupting(signal.SIGINT, Unanswered("HTTP 500", after=300.0)))
    assert time.monotonic() - before < 150
    assert not run.kept
