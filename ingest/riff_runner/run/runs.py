"""Make a run: prepare it, make its calls, keep them, and report how it ended."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from riff_ingest.conversation import Conversation
from riff_runner.processes.child_process import TERMINATED_SECONDS, stop_signals
from riff_runner.protocol import EndpointRefused, Unavailable
from riff_runner.run.agent_call import CallProgress, CallStatus
from riff_runner.run.call import Call, CallSetting, MadeCall
from riff_runner.run.cases.case import CallCase
from riff_runner.run.files.progress_file import ProgressFile
from riff_runner.run.files.run_document import Invocation, RunDocument, write_run
from riff_runner.run.files.run_files import RunFiles
from riff_runner.run.run_plan import RunPlan, RunRequest, plan_run
from riff_runner.run.run_tally import RunTally


@dataclass(frozen=True, slots=True)
class RunEnd:
    """Describe what came of a run: `error` ended it early, `signal` did, or neither.

    `conversations` are those of a run without a directory, `cut` the bytes of unfinished lines that were cut off.
    """

    plan: RunPlan
    tally: RunTally
    error: Exception | None = None
    signal: int | None = None
    conversations: tuple[Conversation, ...] = ()
    cut: dict[Path, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RunHooks:
    """Report a run to others: that it begins, that time goes by, and that it will stop; `beside` runs along with it."""

    began: Callable[[RunPlan, RunTally], None] = lambda plan, tally: None
    tick: Callable[[], None] = lambda: None
    stopped: Callable[[], None] = lambda: None
    beside: Callable[[], Coroutine[Any, Any, None]] | None = None


def make_run(request: RunRequest, hooks: RunHooks | None = None) -> RunEnd:
    """Make the calls of a run that are due, and keep each as soon as it ended.

    Nothing is written before agent and caller were found to be reachable. Raises `UsageError`, `EndpointRefused` if one
    of them is not, `OutputError` and `OSError`; what ends the run later is in what is returned.
    """
    hooks = hooks or RunHooks()
    plan = plan_run(request)
    tally = RunTally(plan.document.planned, plan.before)
    if not plan.due:
        hooks.began(plan, tally)
        return RunEnd(plan, tally)
    kept = _Kept(request.out, sync=request.sync)
    setting = CallSetting(request.agent, request.caller, request.tools, request.limits, request.clock, kept.report)
    with RunLoop(setting, tally, at_once=request.settings.concurrency, in_order=request.in_order) as loop:
        hints = loop.check()
        with ExitStack() as stack:
            stack.callback(kept.close)
            kept.open()
            if request.out is not None:  # another process may have gone on with it until this one locked it
                plan = plan_run(request)
                tally.planned, tally.before = plan.document.planned, plan.before
            invocation = Invocation(started_at=request.clock.now(), pid=os.getpid(), host=socket.gethostname())
            plan.document.invocations.append(invocation)
            kept.describe(plan.document)
            hooks.began(replace(plan, warnings=(*plan.warnings, *hints)), tally)

            def tick() -> None:
                kept.flush()
                hooks.tick()

            def keep(made: MadeCall) -> None:
                call, run = made.conversation, plan.document
                call.run_id, call.run_label, call.commit, call.branch = run.run_id, run.label, run.commit, run.branch
                kept.keep(made)

            loop.make(plan.due, keep, replace(hooks, tick=tick))
            invocation.calls, invocation.errored = tally.total.calls, tally.total.errored
            invocation.ended_at = request.clock.now()
            invocation.ended = "done" if loop.signal is None else "interrupted"
            if loop.error is not None:
                invocation.ended = "refused" if isinstance(loop.error, EndpointRefused) else "failed"
            try:
                kept.describe(plan.document)
            except OSError as error:
                loop.error = loop.error or error
    return RunEnd(plan, tally, loop.error, loop.signal, tuple(kept.conversations), kept.cut)


class _Kept:
    """Keep the calls of a run: in files of its directory, which show where each call is, else for whoever made it."""

    def __init__(self, directory: Path | None, *, sync: bool) -> None:
        self.conversations: list[Conversation] = []
        self.cut: dict[Path, int] = {}
        self._directory = directory
        self._sync = sync
        self._files: RunFiles | None = None
        self._progress: ProgressFile | None = None

    def open(self) -> None:
        if self._directory is not None:
            self._files = RunFiles(self._directory, sync=self._sync)
            self.cut = self._files.cut
            self._progress = ProgressFile(self._directory)

    def describe(self, document: RunDocument) -> None:
        if self._directory is not None:
            write_run(self._directory, document)

    def keep(self, made: MadeCall) -> None:
        if self._files is not None:
            self._files.keep(made)
        else:
            self.conversations.append(made.conversation)

    def report(self, progress: CallProgress) -> None:
        if self._progress is not None:
            self._progress.report(progress)

    def flush(self) -> None:
        if self._progress is not None:
            self._progress.flush()

    def close(self) -> None:
        if self._progress is not None:
            self._progress.close()
        if self._files is not None:
            self._files.close()


ATTEMPTS = 3
"""How often a call is made where one side cannot be asked, before it is kept as errored."""
TICK_SECONDS = 0.25


class RunLoop:
    """Make the calls of a run, `at_once` of them at any time.

    Used in a `with` block, at whose end agent, caller and tools are closed. After `make`, `error` has what ended the
    run early, `signal` the signal that did. With `in_order` calls are kept in the order of the plan.
    """

    def __init__(self, setting: CallSetting, tally: RunTally, *, at_once: int, in_order: bool = False) -> None:
        self._setting = setting
        self._tally = tally
        self._at_once = at_once
        self._in_order = in_order
        self._hooks = RunHooks()
        self._workers: list[asyncio.Task[None]] = []
        self._is_stopping = False
        self.error: Exception | None = None
        self.signal: int | None = None

    def __enter__(self) -> RunLoop:
        self._runner = asyncio.Runner()
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self._runner.run(self._close())
        finally:
            self._runner.close()

    def check(self) -> tuple[str, ...]:
        """Find out whether agent, caller and tools can be reached; raises `EndpointRefused`.

        Returns what looks wrong and may be right.
        """
        return self._runner.run(self._check())

    def make(self, cases: Sequence[CallCase], keep: Callable[[MadeCall], None], hooks: RunHooks) -> None:
        """Make all calls, and keep each that ends.

        A first Ctrl-C lets those end that are under way, a second one drops them; so do SIGTERM and SIGHUP after some
        seconds, an endpoint that will not answer at all, and a call that cannot be kept.
        """
        self._hooks = hooks
        self._runner.run(self._make(cases, keep))

    async def _check(self) -> tuple[str, ...]:
        setting = self._setting
        hints = {"agent": await setting.agent.check(), "caller": await setting.caller.check()}
        await setting.tools.check()
        return tuple(f"{side}: {hint}" for side, hint in hints.items() if hint)

    async def _make(self, cases: Sequence[CallCase], keep: Callable[[MadeCall], None]) -> None:
        def keep_and_count(made: MadeCall) -> None:
            keep(made)
            self._tally.add(made)
            self._tell(made.case, "errored" if made.conversation.errored else "done", made.conversation)

        with stop_signals(self._on_signal):
            order = PlanOrder(keep_and_count, self._at_once if self._in_order else None)
            beside = [asyncio.create_task(self._tick())]
            if self._hooks.beside is not None:
                beside.append(asyncio.create_task(self._hooks.beside()))
            places = iter(enumerate(cases))
            self._workers = [asyncio.create_task(self._work(places, order)) for _ in range(self._at_once)]
            await asyncio.gather(*self._workers, return_exceptions=True)
            for task in beside:
                task.cancel()
            await asyncio.gather(*beside, return_exceptions=True)
            with self._ending():
                order.release()

    async def _work(self, places: Iterator[tuple[int, CallCase]], order: PlanOrder) -> None:
        with self._ending():
            await order.room()
            for place, case in places:
                if self._is_stopping:
                    return
                order.take(place, await self._made(case))
                await order.room()

    async def _made(self, case: CallCase) -> MadeCall | None:
        """Return a call, if need be after another try; `None` if the run ends before there is one."""
        self._tally.running += 1
        try:
            for attempts in range(1, ATTEMPTS + 1):
                call = Call(case, self._setting)
                try:
                    return self._after(await call.play(), attempts)
                except Unavailable as problem:
                    made = call.failed(problem)
                    if attempts == ATTEMPTS:
                        return self._after(made, attempts)
                self._tally.spend(made.extra)
                self._tell(case, "retrying", made.conversation)
                if self._is_stopping:
                    break
            return None
        finally:
            self._tally.running -= 1

    def _after(self, made: MadeCall, attempts: int) -> MadeCall:
        """Return a call with how many attempts it took, where it took more than one."""
        self._tally.spend(made.extra)
        return made if attempts == 1 else replace(made, extra={**made.extra, "attempts": attempts})

    def _tell(self, case: CallCase, status: CallStatus, call: Conversation) -> None:
        turns = sum(turn.role == "agent" for turn in call.turns)
        self._setting.report(
            CallProgress(case.conversation_id, case.flow.name, status, call.final_state, turns, call.error)
        )

    @contextlib.contextmanager
    def _ending(self) -> Iterator[None]:
        """End the run with whatever goes wrong in the block; what is under way is dropped."""
        try:
            yield
        except Exception as error:
            self.error = self.error or error
            self._drop()

    def _on_signal(self, number: int) -> None:
        if self.signal is not None:
            self._drop()
            return
        self.signal = number
        self._is_stopping = True
        if number != signal.SIGINT:
            asyncio.get_running_loop().call_later(TERMINATED_SECONDS, self._drop)
        self._hooks.stopped()

    def _drop(self) -> None:
        self._is_stopping = True
        for worker in self._workers:
            worker.cancel()

    async def _tick(self) -> None:
        while True:
            self._hooks.tick()
            await asyncio.sleep(TICK_SECONDS)

    async def _close(self) -> None:
        setting = self._setting
        closing = (setting.agent.close(), setting.caller.close(), setting.tools.close())
        await asyncio.gather(*closing, return_exceptions=True)


class PlanOrder:
    """Keep back what ended before an earlier call did, at most `bound` calls; with `None` nothing is kept back."""

    def __init__(self, keep: Callable[[MadeCall], None], bound: int | None) -> None:
        self._keep = keep
        self._bound = bound
        self._held: dict[int, MadeCall | None] = {}
        self._next = 0
        self._room = asyncio.Event()
        self._room.set()

    async def room(self) -> None:
        """Wait until another call may begin."""
        await self._room.wait()

    def take(self, place: int, made: MadeCall | None) -> None:
        """Take the call of a place in the plan, `None` if nothing came of it, and hand on what is due."""
        if self._bound is None:
            self._hand_on(made)
            return
        self._held[place] = made
        while self._next in self._held:
            self._next += 1
            self._hand_on(self._held.pop(self._next - 1))
        if len(self._held) < self._bound:
            self._room.set()
        else:
            self._room.clear()

    def release(self) -> None:
        """Hand on all that is left, in the order of the plan."""
        for place in sorted(self._held):
            self._hand_on(self._held.pop(place))

    def _hand_on(self, made: MadeCall | None) -> None:
        if made is not None:
            self._keep(made)
