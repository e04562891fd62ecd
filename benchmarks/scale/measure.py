"""Ask every question at every size of both sides, hold the answers against each other and time the processes."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from benchmarks.processes import Taken, riff_tui, take
from benchmarks.scale.question import Question, differences
from benchmarks.scale.questions import questions
from benchmarks.scale.stores import Sized

MOST_SECONDS = 2.0
MOST_BYTES = 300 * 2**20
LONG = 5.0
"""Seconds of a question from which on it is asked but once."""


@dataclass(frozen=True, slots=True)
class Measured:
    """Describe what a question took of whole processes: ours, DuckDB's on all cores and on one, and its query alone."""

    question: Question
    calls: int
    ours: float
    cpu: float
    peak: int
    peer: float
    peer_on_one: float
    query: float
    reads: str

    @property
    def ratio(self) -> float:
        """Our process ÷ DuckDB's on all cores."""
        return self.ours / self.peer

    @property
    def in_time(self) -> bool:
        """Whether it keeps the budget of time, and that of memory."""
        return self.ours <= MOST_SECONDS and self.peak <= MOST_BYTES


def measured(
    sized: Sized, rounds: int, chosen: Callable[[Question], bool] = lambda question: True
) -> Iterator[Measured]:
    """Measure each question of one size; `ValueError` names where both sides differ."""
    since = sized.since
    for question in questions(sized.last_run, f"{since:%Y-%m-%dT%H:%M:%SZ}", int(since.timestamp()) * 1_000_000):
        if chosen(question):
            yield _measured(question, sized, rounds)


def _measured(question: Question, sized: Sized, rounds: int) -> Measured:
    ours, all_cores, one = [], [], []
    for _ in range(rounds):
        ours.append(take([*riff_tui(*question.command), "--store", str(sized.store)]))
        all_cores.append(_ask_peer(sized, question, 0))
        one.append(_ask_peer(sized, question, 1))
        if max(taken.seconds for taken in (*ours, *all_cores, *one)) > LONG:
            break
    answers = [json.loads(taken.output)[0] for taken in all_cores]
    apart = differences(question, json.loads(ours[0].output), answers[0]["rows"])
    if apart:
        raise ValueError(f"{question.name}: {len(apart)} figures differ from DuckDB's: {'; '.join(apart[:3])}")
    return Measured(
        question, sized.calls, _median(ours), statistics.median(taken.cpu for taken in ours),
        max(taken.peak for taken in ours), _median(all_cores), _median(one),
        statistics.median(answer["seconds"] for answer in answers), _reads(question, sized),
    )  # fmt: skip


def _median(taken: Sequence[Taken]) -> float:
    return statistics.median(each.seconds for each in taken)


def _ask_peer(sized: Sized, question: Question, threads: int) -> Taken:
    command = [sys.executable, "-m", "benchmarks.scale.ask_peer", str(sized.peer), str(threads)]
    return take(command, json.dumps([question.sql]))


def _reads(question: Question, sized: Sized) -> str:
    command = [sys.executable, "-m", "benchmarks.scale.reads", str(sized.store), *question.command]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()
