"""Read and score files in other processes, and hand on what they hold in its order."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from riff_ingest.limits import Limits, limits, set_limits
from riff_ingest.loader import InputPlan, Item, load, scored
from riff_ingest.sources.lines import BrokenInput, read_lines
from riff_ingest.sources.source import Contracts, FlowOfRun, left_out
from riff_store.signals import signals_held

if TYPE_CHECKING:
    from concurrent.futures import Future, ProcessPoolExecutor
    from types import TracebackType

    from riff_ingest.contract import Contract

SMALL_BYTES = 32 * 1024 * 1024
"""A larger file is not passed on whole, which would need memory for all of it."""
SHARED_BYTES = 8 * 1024 * 1024
"""A file of lines that is larger is shared between the processes."""
PIECE_BYTES = 1024 * 1024

_Done = TypeVar("_Done")


class _Piece(NamedTuple):
    """Hold some lines of a file, and which contracts the lines before them were known to tell."""

    lines: list[tuple[int, bytes]]
    before: dict[FlowOfRun, Contract]


class _Loaded(NamedTuple):
    """Hold what a piece holds, the contracts that it tells, and those of lines before it that it asked for."""

    items: list[Item]
    given: dict[FlowOfRun, Contract]
    asked: set[FlowOfRun]


def loaded(plans: Sequence[InputPlan], jobs: int, stack: ExitStack) -> Iterator[tuple[InputPlan, Iterable[Item]]]:
    """Yield every plan with its items, in order, whatever `jobs` is; workers end with the stack."""
    tasks = sum(plan.file.size <= SMALL_BYTES for plan in plans)
    if jobs <= 1 or (tasks < 2 and not any(_is_shared(plan) for plan in plans)):
        return ((plan, load(plan)) for plan in plans)
    return _ahead(plans, _Workers(jobs, stack))


def _is_shared(plan: InputPlan) -> bool:
    return plan.file.size > SHARED_BYTES and plan.source is not None and plan.source.read_some is not None


class _Workers:
    """Run tasks in so many processes, a few of them ahead of what is asked for."""

    def __init__(self, jobs: int, stack: ExitStack) -> None:
        import multiprocessing
        from concurrent.futures import ProcessPoolExecutor
        from multiprocessing.resource_tracker import ensure_running

        self.ahead = 2 * jobs
        with signals_held():
            ensure_running()  # which lets signals through when it has started, and is no child of ours to be told
        self._pool: ProcessPoolExecutor = ProcessPoolExecutor(
            jobs, mp_context=multiprocessing.get_context("spawn"), initializer=_begin, initargs=(limits(),)
        )
        stack.push(self._end)

    def _end(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Wait for the processes, or end them where what they read is not wanted any more.

        That is done here, not at the interpreter's end, where the pool's thread races with the one that ends it.
        """
        if kind is not None:
            # Not all children of this process: whoever calls the library may have some of their own.
            for process in [*(self._pool._processes or {}).values()]:
                process.kill()
        self._pool.shutdown(wait=True, cancel_futures=True)

    def submit(self, task: Callable[..., _Done], *given: object) -> Future[_Done]:
        """Let one of them do something."""
        with signals_held():
            return self._pool.submit(task, *given)


def _ahead(plans: Sequence[InputPlan], workers: _Workers) -> Iterator[tuple[InputPlan, Iterable[Item]]]:
    waiting: deque[tuple[InputPlan, Future[list[Item]] | None]] = deque()
    rest = iter(plans)

    def fill() -> None:
        while len(waiting) < workers.ahead:
            plan = next(rest, None)
            if plan is None:
                return
            alone = _is_shared(plan) or plan.file.size > SMALL_BYTES
            waiting.append((plan, None if alone else workers.submit(_load_whole, plan)))

    fill()
    while waiting:
        plan, future = waiting.popleft()
        if future is not None:
            yield plan, future.result()
        else:
            yield plan, _shared(plan, workers) if _is_shared(plan) else load(plan)
        fill()


def _shared(plan: InputPlan, workers: _Workers) -> Iterator[Item]:
    """Yield what a file holds, of which each process reads some lines at a time.

    A line may need a contract that an earlier one tells. A piece that was read without knowing it is read again here.
    """
    broken: list[BrokenInput] = []
    pieces = _pieces(read_lines(Path(plan.file.path), broken.append))
    told: dict[FlowOfRun, Contract] = {}
    waiting: deque[tuple[_Piece, Future[_Loaded]]] = deque()
    # The first piece is read before the others are given away, since it tells most contracts.
    for lines in pieces:
        found = _load_piece(plan, _Piece(lines, told))
        told = told | found.given
        yield from found.items
        break

    def fill() -> None:
        while len(waiting) < workers.ahead and (lines := next(pieces, None)) is not None:
            piece = _Piece(lines, told)
            waiting.append((piece, workers.submit(_load_piece, plan, piece)))

    fill()
    while waiting:
        piece, future = waiting.popleft()
        found = future.result()
        if any(told.get(key) != piece.before.get(key) for key in found.asked):
            found = _load_piece(plan, piece._replace(before=told))
        told = told | found.given
        yield from found.items
        fill()
    yield from left_out(broken)


def _pieces(lines: Iterable[tuple[int, bytes]]) -> Iterator[list[tuple[int, bytes]]]:
    piece: list[tuple[int, bytes]] = []
    size = 0
    for line in lines:
        piece.append(line)
        size += len(line[1])
        if size >= PIECE_BYTES:
            yield piece
            piece, size = [], 0
    if piece:
        yield piece


def _load_piece(plan: InputPlan, piece: _Piece) -> _Loaded:
    if plan.source is None or plan.source.read_some is None:
        raise ValueError(f"{plan.file.kind} cannot be read in pieces")
    contracts = Contracts(piece.before)
    found = plan.source.read_some(Path(plan.file.path), plan.context, piece.lines, contracts)
    return _Loaded(list(scored(plan, found)), contracts.given, contracts.asked)


def _begin(of_parent: Limits) -> None:
    """Take over what a process does not know that was started anew."""
    set_limits(of_parent)
    _end_with_parent()


def _end_with_parent() -> None:
    """End this process, which no signal of a terminal ends, once the one that started it is gone."""
    import multiprocessing
    import threading
    from multiprocessing.connection import wait

    parent = multiprocessing.parent_process()
    assert parent is not None

    def end() -> None:
        wait([parent.sentinel])
        os._exit(1)

    threading.Thread(target=end, name="riff-parent", daemon=True).start()


def _load_whole(plan: InputPlan) -> list[Item]:
    return list(load(plan))
