"""Read and score files in other processes, and hand them on in their order."""

from __future__ import annotations

import signal
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager

from riff_ingest.loader import InputPlan, Item, load

_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
SMALL_BYTES = 32 * 1024 * 1024
"""Larger files are streamed by this process: passing them on whole would need memory for all of it."""


def loaded(plans: Sequence[InputPlan], jobs: int, stack: ExitStack) -> Iterator[tuple[InputPlan, Iterable[Item]]]:
    """Yield every plan with its items, in order, whatever `jobs` is; workers end with the stack."""
    small = [plan for plan in plans if plan.file.size <= SMALL_BYTES]
    if jobs <= 1 or len(small) < 2:
        return ((plan, load(plan)) for plan in plans)
    return _ahead(plans, jobs, stack)


def _ahead(plans: Sequence[InputPlan], jobs: int, stack: ExitStack) -> Iterator[tuple[InputPlan, Iterable[Item]]]:
    import multiprocessing
    from concurrent.futures import Future, ProcessPoolExecutor

    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(jobs, mp_context=context)
    # Waited for here, as the interpreter would at its end: there, the pool's thread races with the one that ends it.
    stack.callback(pool.shutdown, wait=True, cancel_futures=True)
    waiting: deque[tuple[InputPlan, Future[list[Item]] | None]] = deque()
    rest = iter(plans)

    def fill() -> None:
        while len(waiting) < 2 * jobs:
            plan = next(rest, None)
            if plan is None:
                return
            small = plan.file.size <= SMALL_BYTES
            with _signals_held():
                waiting.append((plan, pool.submit(_load_whole, plan) if small else None))

    fill()
    while waiting:
        plan, future = waiting.popleft()
        yield plan, load(plan) if future is None else future.result()
        fill()


@contextmanager
def _signals_held() -> Iterator[None]:
    """Block signals while a worker starts: it ends when this process says so, or is gone."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _ENDING)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _load_whole(plan: InputPlan) -> list[Item]:
    return list(load(plan))
