"""Reads that nobody waits for any more: they end, nothing else does."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.support.endless import ENDLESS, announced
from tests.surface.arrays import numbered
from tests.surface.store import Factor, Interrupted, Interruption, Observations, Store, check_interrupted, open_store

HANGS_AFTER_S = 60
COUNTED = "WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 3000) SELECT count(*) FROM n"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "one.db"
    with open_store(path, write=True, create=True) as store, store.writing():
        store.execute_sql("INSERT INTO run (name) VALUES ('r')")
    return path


@pytest.fixture
def reader(path: Path) -> Iterator[Store]:
    with open_store(path) as store:
        yield store


@pytest.fixture
def thread() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(1) as pool:
        yield pool


def asked(store: Store, sql: str, interruption: Interruption) -> list[tuple[Any, ...]]:
    with interruption.in_force():
        return store.execute_sql(sql)


def until_it_ends(answer: Future[Any], interruption: Interruption) -> BaseException | None:
    """Interrupt a question again and again; return what it ended with."""
    while not answer.done():
        interruption.interrupt()
    return answer.exception(HANGS_AFTER_S)


def test_a_read_that_was_left_ends(reader: Store, thread: ThreadPoolExecutor) -> None:
    begun, interruption = announced(reader), Interruption()
    answer = thread.submit(asked, reader, ENDLESS, interruption)
    assert begun.wait(HANGS_AFTER_S)
    assert isinstance(until_it_ends(answer, interruption), Interrupted)


def test_a_store_answers_on_after_a_read_was_left(reader: Store, thread: ThreadPoolExecutor) -> None:
    begun, interruption = announced(reader), Interruption()

    def in_a_snapshot() -> None:
        with reader.snapshot():
            asked(reader, ENDLESS, interruption)

    answer = thread.submit(in_a_snapshot)
    assert begun.wait(HANGS_AFTER_S)
    assert isinstance(until_it_ends(answer, interruption), Interrupted)
    assert not reader.engine.in_transaction
    assert thread.submit(asked, reader, COUNTED, Interruption()).result(HANGS_AFTER_S) == [(3_000,)]


def test_what_was_left_before_it_began_asks_nothing(reader: Store) -> None:
    interruption = Interruption()
    interruption.interrupt()
    with pytest.raises(Interrupted):
        asked(reader, COUNTED, interruption)


def test_the_next_read_is_never_hit(reader: Store, thread: ThreadPoolExecutor) -> None:
    """A read is interrupted just when it ends and another one begins, at many places of both."""
    chance = random.Random(14)
    ends = []
    for _ in range(150):
        left, kept = Interruption(), Interruption()
        first = thread.submit(asked, reader, COUNTED, left)
        second = thread.submit(asked, reader, COUNTED, kept)
        for _ in range(chance.randrange(300)):
            pass
        if chance.random() < 0.5:
            first.exception(HANGS_AFTER_S)
        left.interrupt()
        ends.append(first.exception(HANGS_AFTER_S))
        assert second.result(HANGS_AFTER_S) == [(3_000,)]
    assert {type(end) for end in ends} <= {Interrupted, type(None)}
    assert any(ends)


def test_a_write_is_never_interrupted(path: Path, thread: ThreadPoolExecutor) -> None:
    interruption, halfway, interrupted = Interruption(), threading.Event(), threading.Event()

    def write(store: Store) -> None:
        with interruption.in_force(), store.writing():
            store.execute_sql("UPDATE run SET label = 'half'")
            halfway.set()
            assert interrupted.wait(HANGS_AFTER_S)
            store.execute_sql("UPDATE run SET label = 'whole'")

    with open_store(path, write=True) as store:
        written = thread.submit(write, store)
        assert halfway.wait(HANGS_AFTER_S)
        interruption.interrupt()
        interrupted.set()
        written.result(HANGS_AFTER_S)
        assert store.execute_sql("SELECT DISTINCT label FROM run") == [("whole",)]


def test_loops_that_ask_no_store_end_as_well() -> None:
    interruption = Interruption()
    with interruption.in_force():
        check_interrupted()
        interruption.interrupt()
        with pytest.raises(Interrupted):
            check_interrupted()
    check_interrupted()


@pytest.mark.parametrize(
    "work",
    [
        lambda: numbered([np.array([1, 2, 1])]),
        lambda: Observations({1: np.array([3.0, 4.0])}, {1: "judge-1"}, [Factor("flow", [1, 2], {1: "a", 2: "b"})]),
    ],
    ids=["grouping", "fitting"],
)
def test_what_is_computed_of_many_calls_ends_too(work: Callable[[], object]) -> None:
    interruption = Interruption()
    with interruption.in_force():
        work()
        interruption.interrupt()
        with pytest.raises(Interrupted):
            work()
