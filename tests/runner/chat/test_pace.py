"""A host that complains gets fewer requests at once, and more again when it answers."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from random import Random

import pytest

from tests.surface.runner import GOOD_ANSWERS, Pace, pace_of
from tests.surface.runner import RetriesRetryPolicy as RetryPolicy


async def test_nothing_is_held_back_before_a_complaint() -> None:
    pace = Pace()
    for _ in range(50):
        await pace.enter()
    assert (pace.limit, pace.under_way) == (None, 50)


async def test_a_complaint_halves_what_is_under_way_once_for_a_crowd() -> None:
    pace = Pace()
    entered = [await pace.enter() for _ in range(16)]
    for each in entered:
        pace.slow_down(each)
        pace.leave()
    assert pace.limit == 8
    pace.slow_down(await pace.enter())
    assert pace.limit == 1


async def test_twenty_good_answers_make_room_for_one_more() -> None:
    pace = Pace()
    pace.slow_down(await pace.enter())
    for _ in range(GOOD_ANSWERS - 1):
        pace.answered()
    assert pace.limit == 1
    pace.answered()
    assert pace.limit == 2


async def test_those_that_wait_come_in_in_their_order_and_know_that_they_waited() -> None:
    pace = Pace()
    pace.slow_down(await pace.enter())
    order: list[str] = []

    @contextmanager
    def waiting(name: str) -> Iterator[None]:
        order.append(f"{name} waits")
        yield
        order.append(f"{name} enters")

    async def one(name: str) -> None:
        await pace.enter(lambda: waiting(name))
        pace.leave()

    tasks = [asyncio.create_task(one(name)) for name in "abc"]
    await asyncio.sleep(0)
    assert order == ["a waits", "b waits", "c waits"]
    tasks[1].cancel()
    pace.leave()
    await asyncio.gather(*tasks, return_exceptions=True)
    assert order[3:] == ["a enters", "c enters"]
    assert pace.under_way == 0


async def test_one_that_goes_away_as_it_is_let_in_leaves_its_place() -> None:
    pace = Pace()
    pace.slow_down(await pace.enter())
    waits = asyncio.create_task(pace.enter())
    await asyncio.sleep(0)
    pace.leave()
    waits.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waits
    assert pace.under_way == 0


async def test_a_host_has_one_pace_whatever_the_path() -> None:
    assert pace_of("http://Host:1/v1") is pace_of("http://host:1/v2")
    assert pace_of("http://host:1/v1") is not pace_of("http://host:2/v1")


@pytest.mark.parametrize(
    ("failed", "asked", "least", "most"),
    [(1, None, 0.375, 0.5), (2, None, 0.75, 1.0), (1, 0.0, 0.0, 0.0), (2, 120.0, 120.0, 120.0)],
)
def test_pauses_double_and_what_the_endpoint_asks_for_comes_first(
    failed: int, asked: float | None, least: float, most: float
) -> None:
    pauses = [RetryPolicy().pause(failed, asked, Random(seed)) for seed in range(50)]
    assert all(pause is not None and least <= pause <= most for pause in pauses)


def test_pauses_are_bounded_and_tries_end() -> None:
    policy = RetryPolicy(tries=12)
    assert policy.pause(11, None, Random(0)) is not None
    assert 6.0 <= (policy.pause(11, None, Random(0)) or 0.0) <= 8.0
    assert policy.pause(12, None, Random(0)) is None
    assert policy.pause(1, 120.1, Random(0)) is None
